/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_stat.c - runs the command once or -r times, reads the counters at each interval and at the end.
 *
 * Counts of a command begin at its exec and are complete: they are read after it has been waited for, when
 * the kernel has added its children's counts. Results go to standard error, as those of time(1) do, because
 * standard output is the command's; without a command they go to standard output, with -o to a file.
 */
#include "formats/base/clock.h"
#include "formats/base/text.h"
#include "formats/perf/perf_command.h"
#include "record/commands.h"
#include "record/event/topdown_events.h"
#include "record/perf_options.h"
#include "record/sample/watch.h"
#include "record/stat/counter_set.h"
#include "record/stat/stat_metric.h"
#include "record/stat/stat_report.h"
#include "record/task/workload.h"
#include "record/time_span.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS           200 /* between checks whether the tasks are alive */
#define INTERVAL_MIN_MS   10
#define WAIT_AFTER_SIGNAL 2000000000ULL
#define SOFTWARE_SET      "context-switches,cpu-migrations,page-faults"
#define HARDWARE_SET      "cycles,instructions,branches,branch-misses"
#define DETAILED_SET      "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses"

struct stat_args {
	struct target_args target;
	struct event_list events;
	struct topdown_args topdown;
	uint64_t interval_ms, interval_count, repeat, duration_ns, delay_ms;
	bool per_cpu, per_core, per_socket, per_thread, no_inherit;
	bool detailed, all_user, all_kernel;
	const char *format, *separator, *output;
};

struct stat_session {
	struct stat_args *args;
	char **command;
	struct watch watch;
	struct perf_fds no_fds; /* none: watch_init() takes one */
	struct workload workload;
	struct target target;
	struct counter_set set;
	struct stat_table table;
	struct stat_report report;
	struct diag diag;
	struct stat_times times;
	double elapsed_sq; /* seconds, squared and summed */
	uint64_t start_ns; /* of this run */
	uint64_t interval_start_ns;
	uint64_t intervals; /* that were printed */
	int signal;         /* that ended it */
	bool chosen;        /* what to count */
};

static const char *const formats[] = { "text", "csv", "json", NULL };

#define ARGS struct stat_args

/* perf's -1 waits for a word through --control, which is not here. */
static struct err *parse_delay(void *field, const char *value)
{
	if (strcmp(value, "-1") == 0)
		return err_remedy(err_new(ERR_USAGE, "nothing could begin to count: stat has no --control"),
				  "type precord stat -p PID when it is to begin; 'precord -D -1 --control' samples");
	if (!text_parse_u64(value, field) || *(uint64_t *)field > UINT64_MAX / 2000000)
		return err_new(ERR_USAGE, "it must be a whole number of milliseconds");
	return NULL;
}

static const struct opt stat_opts[] = {
	OPT_GROUP(ARGS, target, target_opts),
	OPT_PARSE(ARGS, events, "event", 'e', "LIST", "events to count, see 'precord list'",
		  event_list_parse),
	OPT_PARSE(ARGS, events, "filter", 0, "EXPR", "count only matching events of the tracepoints before it",
		  event_list_parse_filter),
	OPT_UINT(ARGS, interval_ms, "interval", 'I', "MS", "print the counts every MS milliseconds"),
	OPT_UINT(ARGS, interval_count, "interval-count", 0, "N", "stop after N intervals"),
	OPT_UINT(ARGS, repeat, "repeat", 'r', "N", "run the command N times, show mean and spread"),
	OPT_PARSE(ARGS, duration_ns, "duration", 0, "TIME", "stop after TIME: 10s, 5m",
		  time_span_parse),
	OPT_PARSE(ARGS, delay_ms, "delay", 'D', "MS", "count from MS milliseconds on", parse_delay),
	OPT_FLAG(ARGS, detailed, "detailed", 'd', "caches too: loads and misses"),
	OPT_PARSE(ARGS, events, "metrics", 'M', "NAME,..",
		  "the events of these ratios: " STAT_METRIC_NAMES, stat_metric_parse),
	OPT_PARSE(ARGS, topdown, "topdown", 0, "[LEVEL]",
		  "where the processor's issue slots went, to level 1 or 2", topdown_args_parse),
	OPT_FLAG(ARGS, all_user, "all-user", 0, "count user code only"),
	OPT_FLAG(ARGS, all_kernel, "all-kernel", 0, "count kernel code only"),
	OPT_FLAG(ARGS, per_cpu, "per-cpu", 0, "a row for each CPU (with -a or -C)"),
	OPT_FLAG(ARGS, per_core, "per-core", 0, "a row for each physical core (with -a or -C)"),
	OPT_FLAG(ARGS, per_socket, "per-socket", 0, "a row for each socket (with -a or -C)"),
	OPT_FLAG(ARGS, per_thread, "per-thread", 0, "a row for each thread (with -a, -p, -t or -u)"),
	OPT_FLAG(ARGS, no_inherit, "no-inherit", 'i', "do not follow children and new threads"),
	OPT_CHOICE(ARGS, format, "format", 0, "FORMAT", "text, csv or json", formats),
	OPT_STR(ARGS, separator, "field-separator", 'x', "SEP",
		"fields as perf stat -x writes them, SEP between them"),
	OPT_STR(ARGS, output, "output", 'o', "FILE", "write the counts to FILE"),
	OPT_FOREIGN(perf_stat_options),
	OPT_END,
};

static void stat_defaults(void *args)
{
	struct stat_args *stat = args;

	stat->format = formats[0];
	stat->repeat = 1;
}

static void stat_release(void *args)
{
	event_list_deinit(&((struct stat_args *)args)->events);
}

static double children_s(bool user)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	const struct timeval *tv = user ? &usage.ru_utime : &usage.ru_stime;

	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

/* ---- events ---- */

static struct err *check(const struct stat_args *args, bool has_command)
{
	bool tasks = args->target.pids || args->target.tids || args->target.user;
	bool cpus = !tasks && (args->target.all || args->target.cpus || args->target.cgroup);

	if (args->per_cpu + args->per_core + args->per_socket + args->per_thread > 1)
		return err_new(ERR_USAGE, "more than one of --per-cpu, --per-core, --per-socket, "
					  "--per-thread");
	if ((args->per_cpu || args->per_core || args->per_socket) && !cpus)
		return err_remedy(err_new(ERR_USAGE, "counters of tasks are not kept by CPU"),
				  "use --per-cpu, --per-core and --per-socket with -a or -C");
	if (args->all_user && args->all_kernel)
		return err_new(ERR_USAGE, "--all-user and --all-kernel exclude each other");
	if (args->interval_count && !args->interval_ms)
		return err_new(ERR_USAGE, "--interval-count needs -I");
	if (args->separator && strcmp(args->format, "text") != 0)
		return err_new(ERR_USAGE, "-x and --format exclude each other");
	if (args->per_thread && !tasks && !args->target.all)
		return err_new(ERR_USAGE, "--per-thread needs threads: -a, -p, -t or -u");
	if (args->per_thread && args->target.cpus)
		return err_new(ERR_USAGE, "--per-thread and -C exclude each other");
	if (args->topdown.apart)
		return err_new(ERR_USAGE, "',apart' is for samples: --topdown takes level 1 or 2 here");
	if (args->interval_ms && args->interval_ms < INTERVAL_MIN_MS)
		return err_new(ERR_USAGE, "an interval is %d ms or more", INTERVAL_MIN_MS);
	if (args->repeat == 0)
		return err_new(ERR_USAGE, "-r takes 1 run or more");
	if (args->repeat > 1 && args->interval_ms)
		return err_new(ERR_USAGE, "-r and -I exclude each other");
	if (args->repeat > 1 && !has_command)
		return err_new(ERR_USAGE, "-r needs a command to repeat");
	return NULL;
}

/* --topdown needs all hardware counters. */
static struct err *default_events(struct stat_args *args, bool by_cpu)
{
	struct event_list *list = &args->events;
	struct err *err = event_list_add(list, by_cpu ? "cpu-clock," SOFTWARE_SET : "task-clock," SOFTWARE_SET);

	if (!err && !args->topdown.level)
		err = event_list_add(list, HARDWARE_SET);
	return err;
}

/* The events of all runs, before the first. */
static struct err *choose_events(struct stat_session *s, bool by_cpu)
{
	struct stat_args *args = s->args;
	struct err *err = args->events.len ? NULL : default_events(args, by_cpu);

	if (!err && args->detailed)
		err = event_list_add(&args->events, DETAILED_SET);
	if (!err)
		err = topdown_events_add(&args->events, &args->topdown, &s->diag);
	diag_print(&s->diag, "precord", stderr);
	if (!err && (args->all_user || args->all_kernel))
		event_list_limit(&args->events, args->all_user);
	return err;
}

/* Is the command counted, or does it only set the duration? */
static bool counts_command(const struct stat_session *s)
{
	const struct target_args *target = &s->args->target;

	return s->command && !target->all && !target->cpus && !target->cgroup && !target->pids &&
	       !target->tids && !target->user;
}

static const char *subject(struct stat_session *s, struct arena *arena)
{
	const struct target_args *target = &s->args->target;
	const char *text = "";

	if (target->cpus)
		return arena_printf(arena, "CPU %s", text_escape(arena, target->cpus));
	if (target->all && !target->cgroup)
		return "the whole system";
	if (target->cgroup)
		return arena_printf(arena, "cgroup %s", text_escape(arena, target->cgroup));
	if (target->pids)
		return arena_printf(arena, "process %s", text_escape(arena, target->pids));
	if (target->tids)
		return arena_printf(arena, "thread %s", text_escape(arena, target->tids));
	if (target->user)
		return arena_printf(arena, "user %s", text_escape(arena, target->user));
	for (char **word = s->command; *word; word++)
		text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", *word);
	return arena_printf(arena, "'%s'", text_escape(arena, text));
}

/* ---- a run ---- */

static struct err *open_run(struct stat_session *s)
{
	struct stat_args *args = s->args;
	struct err *err = NULL;

	if (s->command)
		err = workload_fork(s->command, &s->watch.old_mask, false, &s->workload);
	if (!err)
		err = target_find(&args->target, s->workload.pid, &s->target);
	if (!err && !s->chosen)
		err = choose_events(s, !s->target.tasks.len);
	if (err)
		return err;
	s->chosen = true;

	bool own = s->command && s->target.tasks.len == 1 &&
		   s->target.tasks.items[0].pid == s->workload.pid;
	struct counter_request request = {
		.inherit = !args->no_inherit && s->target.inherit,
		.on_exec = own && !s->args->delay_ms,
	};

	return counter_set_open(&args->events, &s->target, &request, &s->set);
}

static void close_run(struct stat_session *s)
{
	counter_set_close(&s->set);
	target_deinit(&s->target);
	workload_deinit(&s->workload);
}

static bool targets_live(const struct stat_session *s)
{
	for (size_t i = 0; i < s->target.tasks.len; i++)
		if (kill(s->target.tasks.items[i].tid, 0) == 0 || errno == EPERM)
			return true;
	return !s->target.tasks.len;
}

static void end_interval(struct stat_session *s)
{
	stat_table_add(&s->table, &s->set);
	stat_table_end_run(&s->table);
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	s->report.elapsed_s = (double)(now - s->interval_start_ns) / 1e9;
	s->interval_start_ns = now;
	s->intervals++;
	stat_report_rows(&s->report, (double)(now - s->start_ns) / 1e9);
	stat_table_reset(&s->table);
}

static bool had_all_intervals(const struct stat_session *s)
{
	return s->args->interval_count && s->intervals >= s->args->interval_count;
}

/* -D: counting begins at @*enable_ns, which is UINT64_MAX from then on. */
static void enable_late(struct stat_session *s, uint64_t now, uint64_t *enable_ns)
{
	if (now < *enable_ns)
		return;
	*enable_ns = UINT64_MAX;
	counter_set_enable(&s->set);
}

/* Wait until the command or the tasks end, a signal comes, or --duration is over. */
static void wait_for_end(struct stat_session *s)
{
	uint64_t interval_ns = s->args->interval_ms * 1000000, next_ns = s->start_ns + interval_ns;
	uint64_t end_ns = s->args->duration_ns ? s->start_ns + s->args->duration_ns : UINT64_MAX;
	uint64_t delay_ns = s->args->delay_ms * 1000000;
	uint64_t enable_ns = delay_ns ? s->start_ns + delay_ns : UINT64_MAX;

	for (;;) {
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
		uint64_t until = MIN(interval_ns ? MIN(next_ns, end_ns) : end_ns, enable_ns);
		int ms = until <= now ? 0 : (int)MIN((until - now + 999999) / 1000000, TICK_MS);
		struct watch_result result = watch_wait(&s->watch, &s->no_fds, ms);

		now = clock_now_ns(CLOCK_MONOTONIC);
		enable_late(s, now, &enable_ns);
		if (result.signal && result.signal != SIGUSR1 && !s->signal) {
			if (result.from_process)
				workload_signal(&s->workload, result.signal);
			s->signal = result.signal;
			end_ns = s->workload.pid ? now + WAIT_AFTER_SIGNAL : now;
		}
		if (s->workload.pid ? workload_ended(&s->workload) : !targets_live(s))
			return;
		if (now >= end_ns)
			return;
		if (interval_ns && now >= next_ns) {
			end_interval(s);
			if (had_all_intervals(s))
				return;
			next_ns += interval_ns * (1 + (now - next_ns) / interval_ns);
		}
	}
}

static struct err *run_once(struct stat_session *s)
{
	double user_s = children_s(true), system_s = children_s(false);
	bool on_exec = s->command && s->target.tasks.len;
	struct err *err = NULL;

	s->start_ns = s->interval_start_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (s->args->delay_ms)
		; /* wait_for_end() does it */
	else if (!on_exec || s->target.tasks.items[0].pid != s->workload.pid)
		counter_set_enable(&s->set);
	if (s->command)
		err = workload_start(&s->workload);
	if (err)
		return err;
	wait_for_end(s);
	counter_set_disable(&s->set);

	double elapsed_s = (double)(clock_now_ns(CLOCK_MONOTONIC) - s->start_ns) / 1e9;

	s->times.elapsed_s += elapsed_s;
	s->elapsed_sq += elapsed_s * elapsed_s;
	s->times.user_s += children_s(true) - user_s;
	s->times.system_s += children_s(false) - system_s;
	return NULL;
}

/* ---- the command ---- */

static void settle_times(struct stat_session *s, unsigned runs)
{
	struct stat_times *times = &s->times;
	double n = runs ? runs : 1;

	times->elapsed_s /= n;
	times->user_s /= n;
	times->system_s /= n;
	times->has_command = counts_command(s);
	if (runs < 2 || times->elapsed_s <= 0)
		return;
	double variance =
		fmax(0, (s->elapsed_sq - n * times->elapsed_s * times->elapsed_s) / (n - 1));

	times->elapsed_spread = 100 * sqrt(variance / n) / times->elapsed_s;
}

static struct err *open_report(struct stat_session *s)
{
	const struct stat_args *args = s->args;
	FILE *out = s->command ? stderr : stdout;

	if (args->output)
		out = fopen(args->output, "we");
	if (!out)
		return err_system(errno, "cannot write '%s'", args->output);
	s->report = (struct stat_report){
		.out = out,
		.separator = args->separator,
		.format = args->separator			  ? STAT_FIELDS
			  : !strcmp(args->format, "csv")  ? STAT_CSV
			  : !strcmp(args->format, "json") ? STAT_JSON
							  : STAT_TEXT,
		.table = &s->table,
		.list = &args->events,
		.hide_idle = args->per_thread && args->target.all,
		.runs = (unsigned)args->repeat,
	};
	return NULL;
}

static struct err *close_report(struct stat_session *s)
{
	FILE *out = s->report.out;
	bool failed = out && (fflush(out) != 0 || ferror(out));

	if (out && s->args->output)
		failed |= fclose(out) != 0;
	s->report.out = NULL;
	return failed ? err_system(errno, "cannot write the counts") : NULL;
}

static enum stat_by by_of(const struct stat_args *args)
{
	return args->per_cpu      ? STAT_BY_CPU
	       : args->per_core   ? STAT_BY_CORE
	       : args->per_socket ? STAT_BY_SOCKET
	       : args->per_thread ? STAT_BY_THREAD
				  : STAT_BY_ALL;
}

/* Progress, on a terminal. */
static void show_progress(unsigned done, unsigned wanted)
{
	if (wanted < 2 || !isatty(STDERR_FILENO))
		return;
	if (done < wanted)
		fprintf(stderr, "\rrun %u of %u is over ", done, wanted);
	else
		fprintf(stderr, "\r%*s\r", 40, "");
}

static struct err *all_runs(struct stat_session *s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	unsigned runs = 0, wanted = (unsigned)s->args->repeat;
	bool is_default = !s->args->events.len;
	struct err *err = open_report(s);

	s->report.is_default = is_default;
	for (; !err && runs < wanted && !s->signal; runs++) {
		err = open_run(s);
		if (!err && !runs) {
			stat_table_init(&s->table, &s->args->events, by_of(s->args));
			stat_table_prepare(&s->table, &s->set);
			s->report.subject = subject(s, &arena);
			stat_report_begin(&s->report);
			if (s->set.user_only)
				fprintf(stderr, "precord: kernel code is not counted: no "
						"permission\n");
		}
		if (!err)
			err = run_once(s);
		if (err)
			return err;
		show_progress(runs + 1, wanted);
		if (s->args->interval_ms) {
			if (!had_all_intervals(s))
				end_interval(s);
		} else {
			stat_table_add(&s->table, &s->set);
			stat_table_end_run(&s->table);
		}
		if (runs + 1 < wanted && !s->signal)
			close_run(s);
	}
	if (err)
		return err;
	settle_times(s, runs);
	if (!s->args->interval_ms)
		s->report.elapsed_s = s->times.elapsed_s;
	s->report.refusals = s->set.refusals;
	if (s->args->per_thread && !s->args->interval_ms)
		stat_table_sort(&s->table);
	if (!s->args->interval_ms)
		stat_report_rows(&s->report, -1);
	stat_report_end(&s->report, &s->times);
	return NULL;
}

/* "perf stat record" is no program. */
static struct err *refuse_word(const char *word)
{
	const char *instead = perf_command_instead("stat", word);

	if (!instead || workload_in_path(word))
		return NULL;
	return err_remedy(err_new(ERR_USAGE, "precord stat has no command '%s'", word), "type %s", instead);
}

static struct err *stat_run(void *raw_args, char **operands, int noperands, int *ret_status)
{
	struct stat_args *args = raw_args;
	struct stat_session s = { .args = args, .command = noperands ? operands : NULL };
	int signal_number = 0;
	struct err *err = noperands ? refuse_word(operands[0]) : NULL;

	if (!err)
		err = check(args, noperands);
	s.target.cgroup_fd = -1;
	args->target.by_thread = args->per_thread;
	if (err)
		return err;
	err = watch_open(&s.watch);
	if (!err)
		err = all_runs(&s);
	struct err *close_err = close_report(&s);

	if (!err)
		err = close_err;
	else
		err_free(close_err);

	int status = workload_exit_status(&s.workload, &signal_number);

	if (err && s.workload.exec_errno) {
		/* Not a failure of ours: the shell's status for it, so the message is printed here. */
		fprintf(stderr, "precord: '%s': %s\n", operands[0], err_message(err));
		err_free(err);
		err = NULL;
	}
	if (!err)
		*ret_status = status;
	close_run(&s);
	stat_table_deinit(&s.table);
	diag_deinit(&s.diag);
	watch_close(&s.watch);
	if (!err && signal_number)
		workload_die_by(signal_number);
	return err;
}

const struct command cmd_stat = {
	.name = "stat",
	.summary = "count events without sampling",
	.operands = "[-- COMMAND [ARG]...]",
	.details =
		"Without a target the command and its children are counted; with one (-a, -C, -p, -t, -G, -u) counting ends when the command does.\n"
		"The counts of a command go to standard error. The exit status is the command's.",
	.examples = "  precord stat -- ./program ARGUMENT  what a command counts\n"
		    "  precord stat -a -I 1000             the whole machine, every second\n"
		    "  precord stat -r 10 -- ./program     ten runs, mean and spread\n",
	.manual = "precord-stat(1)",
	.opts = stat_opts,
	.args_size = sizeof(struct stat_args),
	.defaults = stat_defaults,
	.run = stat_run,
	.release = stat_release,
	.order = OPT_BEFORE_OPERANDS,
};
