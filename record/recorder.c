/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.c - the order of steps: the side-band is on before /proc is read, so changes in between are recorded twice
 * rather than lost; the output replaces an older file only when nothing else can fail.
 */
#include "record/recorder.h"

#include "formats/base/clock.h"
#include "formats/base/diag.h"
#include "formats/base/memory.h"
#include "formats/event_multiplexing.h"
#include "formats/recording.h"
#include "record/system/confine.h"
#include "record/description.h"
#include "record/event/event_attr.h"
#include "record/event/event_group.h"
#include "record/follow_mode.h"
#include "record/sample/rename_limit.h"
#include "record/task/proc_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- multiplexed events ---- */

#define ON_NS_MIN 10000000 /* an event that was on for less may just have come too late */
#define ENOUGH    0.95	   /* of the time: an event that has less is reported */

/* The events that had no counter for all of the time. */
struct findings {
	const char *never;    /* their names */
	const char *least;    /* of the multiplexed events, the one that ran for the least time */
	double least_part;
	unsigned nshared;
};

static struct findings find(const struct recording *rec, struct arena *arena)
{
	struct findings f = { .never = "", .least_part = ENOUGH };

	for (uint32_t i = 0; i < rec->nevents; i++) {
		const struct event_multiplexing multiplexing = event_multiplexing_of(rec, i);
		double part = event_multiplexing_share(&multiplexing);
		const char *name = rec->events[i].name;

		if (!event_attr_needs_counter(rec->events[i].type) || multiplexing.enabled_ns < ON_NS_MIN)
			continue;
		if (event_multiplexing_never(&multiplexing)) {
			f.never = arena_printf(arena, "%s%s'%s'", f.never, *f.never ? ", " : "", name);
			continue;
		}
		f.nshared += part < ENOUGH;
		if (part < f.least_part) {
			f.least_part = part;
			f.least = name;
		}
	}
	return f;
}

static void tell(const struct recording_note *from, struct diag *diag)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct recording_note *note = ARENA_NEW(&diag->arena, struct recording_note);

	*note = *from;
	note->subject = arena_strdup(&diag->arena, from->subject);
	note->text = event_group_cause(&diag->arena);
	diag_err_of(diag,
		    err_remedy(err_new(ERR_UNSUPPORTED, "%s", recording_note_message(note, &arena)), "%s",
			       recording_note_hint(note, &arena)),
		    note);
}

/* Warn of multiplexed events. The counts of @rec are final; warnings in @diag become notes of the trace. */
static void multiplexing_tell(const struct recording *rec, struct diag *diag)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct findings f = find(rec, &arena);

	if (*f.never)
		tell(&(struct recording_note){ .kind = RECORDING_NOTE_NEVER, .subject = f.never }, diag);
	if (f.nshared)
		tell(&(struct recording_note){ .kind = RECORDING_NOTE_MULTIPLEXED,
					       .count = f.nshared,
					       .share = (uint32_t)(10000 * f.least_part + 0.5),
					       .subject = f.least },
		     diag);
}

#define TICK_MS           1000 /* between passes when no ring asks for one */
#define STATUS_TICK_MS    500
#define STATUS_OWN_FAILURE 125
#define MANAGED_TICK_MS   100 /* in case a reader of interpreters' stacks hangs, which should wake us when rings fill */
#define IDLE_TICK_MS      100 /* between fetches of waiting threads' stacks */
#define JIT_TICK_MS       50 /* while processes make code, which they may free before it is read */
#define JIT_FIRST_MS      10 /* the first look is early: few samples come before frees are tracked */
#define JIT_LASTS_NS      2000000000ULL /* from the last new code on */
#define LIVES_TICK_MS     50 /* the shortest time between checks whether the targets are alive, which are slow for many threads */
#define NODES_DIR         "/sys/devices/system/node"

static struct err *told_event(void *context, const struct event *ev)
{
	struct recorder *s = context;

	return drain_event(s->drain, ev);
}

static void told_process(void *context, uint32_t pid, uint32_t nthreads)
{
	struct recorder *s = context;

	drain_existing_process(s->drain, pid, nthreads);
}

/* Write what runs already: the whole machine or the recorded processes. */
static struct err *scan(struct recorder *s)
{
	const struct proc_visitor visitor = {
		.event = told_event,
		.process = told_process,
		.context = s,
		.info = &s->process_info,
		.data = s->args->extras.data,
		.first = &s->hands[0].priority,
		.stop = &s->stop,
	};
	struct err *err =
		proc_scan_kernel(s->recording.kernel_text, s->recording.kernel_text_end, &visitor);
	pid_t previous = 0;
	size_t stuck = 0;

	if (!err && s->target.system_wide)
		err = proc_scan_all(&visitor, &stuck);
	for (size_t i = 0; i < s->target.tasks.len && !err && !s->target.system_wide; i++) {
		pid_t pid = s->target.tasks.items[i].pid;

		if (pid != previous)
			err = proc_scan_process(pid, &visitor, &stuck);
		previous = pid;
	}
	if (stuck)
		diag_warn(&s->diag,
			  "the mappings of %zu of the processes that ran before could not be read because they are locked: "
			  "code there has no names", stuck);
	return err;
}

static enum attach_bundle bundle(const char *name)
{
	if (!strcmp(name, "none"))
		return ATTACH_NONE;
	return strcmp(name, "full") ? ATTACH_SYMBOLS : ATTACH_FULL;
}

/*
 * Raise the priority as soon as rings fill: a reader behind a thousand busy threads would not even notice that it is
 * late.
 */
static void hurry(struct recorder *s)
{
	uint64_t level = s->args->realtime;

	if (level == RECORD_NOT_REALTIME)
		return;
	if (!priority_raise(&s->hands[0].priority, level ? (int)level : 1, level) && level)
		diag_err(&s->diag, err_remedy(err_new(ERR_SYSTEM,
						      "real-time priority %" PRIu64
						      " is not permitted; the recorder runs like any "
						      "other program",
						      level),
					      "run as root, or raise 'ulimit -r'"));
}

/* One for each thread that reads rings; this thread's is the first. */
static struct err *begin_hands(struct recorder *s)
{
	struct affinity first;
	struct err *err = affinity_open(&s->args->affinity, &s->target.cpus, NODES_DIR, &first);

	s->nreaders = MAX(MIN(s->args->reader_threads, s->target.cpus.len), (size_t)1);
	s->hands = memory_zeroed(s->nreaders, sizeof(*s->hands));
	for (size_t i = 0; i < s->nreaders; i++) {
		s->hands[i].affinity = first;
		if (i)
			s->hands[i].affinity.arena = (struct arena){ 0 };
	}
	return err;
}

/* The file's header, and the processes that exist before the first sample. */
static struct err *begin_trace(struct recorder *s)
{
	s->reader = foreign_reader_new(FOREIGN_DRAIN);
	foreign_reader_stop_at(s->reader, &s->stop);
	s->process_info.reader = s->reader;
	struct drain_options options = {
		.by_cpu = s->target.by_cpu,
		.raw_stacks = s->args->raw_stacks,
		.code_mask = s->recording.code_mask,
		.skip_pid = s->args->exclude_self ? (uint32_t)getpid() : 0,
		.nreaders = s->nreaders,
		.hands = s->hands,
		.guard = &s->guard,
		.scope = &s->scope,
		.process_info = &s->process_info,
		.stop = &s->stop,
	};

	if (s->args->managed)
		s->managed = options.managed =
			managed_readers_new(&s->perf_fds, s->target.by_cpu,
					    &s->hands[0].priority);
	if (s->managed && s->args->locals)
		managed_table_ask_locals(managed_readers_table(s->managed));

	s->process_info.no_cmdline = s->args->no_cmdline;
	description_begin(&s->recording, s->args, &s->target, &s->plan);
	s->attach = attach_new(bundle(s->args->bundle));
	if (s->args->jvm_perfmap)
		attach_ask_jvms(s->attach);
	attach_read_by(s->attach, s->reader);
	attach_run_as(s->attach, &s->hands[0].priority);
	attach_limit(s->attach, &s->args->embed);
	attach_kernel_text(s->attach, s->recording.kernel_text, s->recording.kernel_text_end);
	s->args->output_files.nstreams = s->nreaders;
	s->args->output_files.stop = &s->stop;
	struct err *err = output_files_open(&s->output_files, &s->args->output_files, s->args->output,
				       &s->recording, &s->plan, s->attach, &s->diag);

	if (err)
		return err;
	task_filter_init(&s->tasks, &s->target);
	task_filter_look(&s->tasks, clock_now_ns(CLOCK_MONOTONIC));
	/* On the whole machine most threads wait and are of no interest. */
	options.idle_scope = s->recording.system_wide ? IDLE_SCOPE_INTERPRETERS : IDLE_SCOPE_ALL;
	s->drain = drain_new(&s->perf_fds, &s->output_files.journal, s->attach, &s->tasks, &options);
	s->output_files.drain = s->drain;
	return scan(s);
}

/* If it fails, files that are deleted soon are missed; recording goes on. */
static void hang_bell(struct recorder *s)
{
	if (bundle(s->args->bundle) == ATTACH_NONE)
		return;
	s->no_bell = mmap_wakeup_open(&s->bell, &s->plan, &s->target);
	if (!s->no_bell)
		s->no_bell = watch_bell(&s->watch, s->bell.fd);
	if (s->no_bell)
		mmap_wakeup_close(&s->bell);
}

/* Out of memory: complete the file. */
static void give_up(void *context)
{
	struct recorder *s = context;

	if (!s->recording.end_ns)
		s->recording.end_ns = clock_now_ns(CLOCK_MONOTONIC);
	output_files_abandon(&s->output_files, "the recording ended because precord had no memory left");
}

/* Requests complete in an interrupt, in whatever thread runs then. */
static struct err *add_block_io(struct recorder *s)
{
	if (!s->target.system_wide)
		return err_remedy(err_new(ERR_USAGE, "--block-io follows requests to their end in whatever thread that comes"),
				  "record all of them: -a");
	return event_list_add_block_io(&s->args->events);
}

/* Events that options other than -e add. */
static struct err *add_events(struct recorder *s)
{
	struct record_args *args = s->args;
	struct err *err = NULL;

	if (args->off_cpu || args->wakers)
		err = event_list_add_off_cpu(&args->events, args->wakers);
	if (!err && args->idle_rate)
		err = event_list_add_idle(&args->events, args->idle_rate);
	if (!err && args->trace_syscalls)
		err = event_list_add_syscalls(&args->events);
	if (!err && args->block_io)
		err = add_block_io(s);
	if (!err && args->kernel_locks)
		err = event_list_add_kernel_locks(&args->events);
	return err;
}

struct err *recorder_open(struct recorder *s, struct record_args *args, char **command)
{
	bool pipe = !strcmp(args->output, "-");
	struct err *err;

	*s = (struct recorder){ .args = args, .output_files.output = TRACE_OUTPUT_NONE, .bell.fd = -1 };
	s->target.cgroup_fd = -1;
	s->deadline_ns = UINT64_MAX;
	memory_last_words(give_up, s, STATUS_OWN_FAILURE);
	/* SIGPIPE and SIGXFSZ become errors of writing; the command gets the defaults back. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	err = watch_open(&s->watch);
	if (!err)
		err = record_args_settle(args);
	if (!err)
		err = sampling_switch_open(&s->sampling_switch, &args->control);
	if (!err && args->control.given)
		err = watch_control(&s->watch, s->sampling_switch.control.command_fd);
	if (!err && command)
		err = workload_fork(command, &s->watch.old_mask, pipe, &s->workload);
	if (!err)
		err = target_find(&args->target, s->workload.pid, &s->target);
	if (!err) {
		err = topdown_events_add(&args->events, &args->topdown, &s->diag);
		s->no_topdown = err != NULL;
	}
	if (!err)
		err = add_events(s);
	if (!err)
		err = follow_mode_choose(args, &s->target, s->workload.pid != 0, &s->plan, &s->shy);
	if (!err)
		err = begin_hands(s);
	if (!err)
		hurry(s);
	if (!err)
		err = perf_fds_open(
			&s->plan, &s->target,
			follow_mode_ring_len(args, &s->target, &s->plan, &s->diag),
			&s->diag, &s->perf_fds);
	if (!err)
		err = begin_trace(s);
	if (!err) {
		confine_recorder();
		err = watch_rings(&s->watch, &s->perf_fds);
	}
	if (!err && s->managed)
		err = watch_eventfd(&s->watch, managed_readers_fd(s->managed));
	if (!err)
		hang_bell(s);
	hotplug_init(&s->hotplug, &s->perf_fds, &s->target, &s->watch, &s->bell, &s->diag);
	return err;
}

/* Events that children inherited cannot be closed and opened again. */
static bool wants_guard(const struct recorder *s)
{
	return s->target.by_cpu && s->plan.side_band.context_switch && !s->args->all_switches;
}

static struct err *start(struct recorder *s)
{
	const struct record_args *args = s->args;
	bool by_exec = s->workload.pid && !s->target.by_cpu;

	if (s->managed)
		managed_readers_begin(s->managed, /* all= */ !s->target.system_wide);
	s->recording.start_ns = clock_now_ns(CLOCK_MONOTONIC);
	status_line_init(&s->status, args->quiet, s->recording.start_ns);
	if (args->duration_ns)
		s->deadline_ns = s->recording.start_ns + args->duration_ns;
	priority_begin(&s->hands[0].priority);
	sampling_switch_start(&s->sampling_switch, &s->perf_fds, &args->delay, s->recording.start_ns, by_exec);
	task_times_begin(&s->task_times, s->plan.side_band.context_switch, s->recording.start_ns, &s->stop);
	switch_guard_begin(&s->guard, wants_guard(s), s->recording.start_ns);
	switch_scope_begin(&s->scope, wants_guard(s) && s->tasks.selected, s->target.inherit, s->recording.start_ns);

	struct err *err = task_times_read(&s->task_times, &s->tasks, told_event, s);

	return !err && s->workload.pid ? workload_start(&s->workload) : err;
}

/* While interpreters run, samples wake the readers of their stacks; rings then do not wake us, unless a BPF program wakes the readers. */
static void steer_managed(struct recorder *s, uint64_t now)
{
	bool wanted = s->managed && managed_readers_wanted(s->managed, now) && !managed_readers_have_bells(s->managed);

	if (wanted && s->perf_fds.narrow)
		drain_narrow(s->drain, false, now, &s->diag);
	if (wanted == s->perf_fds.waking || !perf_fds_set_waking(&s->perf_fds, &s->target, wanted))
		return;
	watch_leave_samples(&s->watch, &s->perf_fds, wanted);
}

/* The next deadline if nothing happens, the pause of mmap wake-ups not counted. */
static uint64_t next_pass_ns(const struct recorder *s, uint64_t now)
{
	if (s->stop.signal)
		return now;
	uint64_t until = MIN(MIN(s->deadline_ns, s->sampling_switch.next_ns), output_files_next_ns(&s->output_files));

	until = MIN(until, MIN(s->task_times.next_ns, s->guard.next_ns));
	uint64_t tick = s->status.shown ? STATUS_TICK_MS : TICK_MS;

	if (s->perf_fds.waking)
		tick = MIN(tick, MANAGED_TICK_MS);
	if (s->args->idle_rate)
		tick = MIN(tick, IDLE_TICK_MS);
	if (drain_probes_waits(s->drain))
		tick = MIN(tick, WAIT_PROBE_TICK_MS);
	if (now < s->jit_until_ns)
		tick = MIN(tick, s->jit_wakeups ? JIT_TICK_MS : JIT_FIRST_MS);
	return MIN(until, now + tick * 1000000);
}

static int ms_until(uint64_t until, uint64_t now)
{
	return until <= now ? 0 : (int)((until - now + 999999) / 1000000);
}

/* Twice: the second pass takes what came during the first. */
static struct err *drain_rest(struct recorder *s)
{
	struct err *err = NULL;

	for (int i = 0; i < 2 && !err; i++)
		err = drain_pass(s->drain);
	return err;
}

/* Per-task events hang up when all tasks have ended; with per-CPU events, check the tasks. */
static bool targets_live(struct recorder *s, uint64_t now)
{
	if (!s->target.by_cpu)
		return s->watch.live_rings > 0;
	if (now < s->asked_ns + LIVES_TICK_MS * 1000000ULL)
		return true;
	s->asked_ns = now;
	return task_filter_lives(&s->tasks);
}

/* Everything in the rings goes to the file that ends here. If the next one cannot be opened the recording ends. */
static struct err *snapshot(struct recorder *s)
{
	if (!output_files_can_snapshot(&s->output_files))
		return err_new(ERR_USAGE, "'snapshot' needs --overwrite or --switch-output");
	struct err *err = drain_rest(s);

	return err ? err : output_files_snapshot(&s->output_files, clock_now_ns(CLOCK_MONOTONIC));
}

/* SIGUSR2. */
static struct err *snapshot_by_signal(struct recorder *s)
{
	struct err *err = output_files_can_snapshot(&s->output_files) ? snapshot(s) : NULL;

	if (!err || !output_files_can_go_on(&s->output_files))
		return err;
	diag_err(&s->diag, err);
	return NULL;
}

/* Execute control commands; true if one of them ends the recording. */
static bool obey(struct recorder *s)
{
	enum sampling_switch_order order;
	bool more = sampling_switch_read(&s->sampling_switch);

	while ((order = sampling_switch_obey(&s->sampling_switch)) != SAMPLING_SWITCH_NOTHING) {
		CLEANUP(err_freep) struct err *err =
			order == SAMPLING_SWITCH_SNAPSHOT ? snapshot(s) : NULL;

		sampling_switch_answer(&s->sampling_switch, err);
		if (order == SAMPLING_SWITCH_STOP || (err && !output_files_can_go_on(&s->output_files)))
			return true;
	}
	if (!more)
		watch_forget_control(&s->watch, s->sampling_switch.control.command_fd);
	return false;
}

static bool end_by_signal(struct recorder *s, struct watch_result *result)
{
	if (!result->signal && s->stop.signal) { /* it came while the recorder was at something else */
		result->signal = s->stop.signal;
		result->from_process = s->stop.from_process;
	}
	/* The terminal signals the whole process group; any other signal is for us only. */
	if (result->signal && result->from_process)
		workload_signal(&s->workload, result->signal);
	s->signal = result->signal;
	if (!s->signal)
		return false;
	stop_time_begin(&s->stop);
	attach_end_by(s->attach, s->stop.read_ns);
	return true;
}

/* Handle what ended the wait; true if it ends the recording. */
static bool react(struct recorder *s, struct watch_result result)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	sampling_switch_tick(&s->sampling_switch, now);
	if (result.toggles % 2)
		sampling_switch_toggle(&s->sampling_switch);
	if (end_by_signal(s, &result))
		s->end = RECORDER_SIGNAL;
	else if (result.control && obey(s))
		s->end = RECORDER_STOPPED;
	else if (s->workload.pid && workload_ended(&s->workload))
		s->end = RECORDER_COMMAND_ENDED;
	else if (!s->workload.pid && !targets_live(s, now))
		s->end = RECORDER_TARGETS_GONE;
	else if (now >= s->deadline_ns)
		s->end = RECORDER_TIME_UP;
	else if (output_files_sizes(&s->output_files).total >= s->args->max_len)
		s->end = RECORDER_SIZE_REACHED;
	else
		return false;
	return true;
}

uint64_t recorder_given_up(const struct recorder *s)
{
	uint64_t times = 0;

	for (size_t i = 0; i < s->nreaders; i++)
		times += s->hands[i].priority.given_up;
	return times;
}

/* Real-time priority was given up because the recorder needed too much CPU: losses after that have this reason. */
static void note_priority(struct recorder *s)
{
	uint64_t given_up = recorder_given_up(s);

	if (given_up == s->noted_given_up)
		return;
	s->noted_given_up = given_up;
	diag_err(&s->diag,
		 err_remedy(err_new(ERR_SYSTEM,
				    "the recorder needed more than %d %% of a CPU and gave up its "
				    "real-time priority for a while",
				    BUDGET_PERCENT),
			    "a lower -F, fewer events or smaller stacks; --realtime=1 insists"));
}

/* End the pause of mmap wake-ups. @woke: nothing else woke us. True if something was mapped meanwhile. */
static bool let_ring(struct recorder *s, uint64_t now, bool woke)
{
	if (!mmap_wakeup_rested(&s->bell, now, woke && !mmap_wakeup_missed(&s->bell)))
		return false;
	if (mmap_wakeup_missed(&s->bell))
		return true;
	s->no_bell = watch_bell(&s->watch, s->bell.fd);
	if (s->no_bell)
		mmap_wakeup_close(&s->bell);
	return mmap_wakeup_missed(&s->bell);
}

/* The end of the pause needs no pass, if nothing was mapped meanwhile. */
static struct watch_result wait(struct recorder *s)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC), until = next_pass_ns(s, now);
	bool by_jit = now < s->jit_until_ns, missed;
	struct watch_result result;

	do {
		result = watch_wait(&s->watch, &s->perf_fds, ms_until(MIN(until, s->bell.rests_until_ns), now));
		now = clock_now_ns(CLOCK_MONOTONIC);
		missed = let_ring(s, now, result.timed_out && now < until);
		result.bell |= missed;
	} while (result.timed_out && now < until && !missed);
	s->jit_wakeups += by_jit && !result.bell;
	return result;
}

static void note_jit(struct recorder *s)
{
	uint64_t news = attach_jit_news(s->attach);

	if (news != s->jit_news)
		s->jit_until_ns = clock_now_ns(CLOCK_MONOTONIC) + JIT_LASTS_NS;
	s->jit_news = news;
}

static struct err *read_task_times(struct recorder *s)
{
	return task_times_read(&s->task_times, &s->tasks, told_event, s);
}

/* Stop or resume recording switches. The scheduler's accounts before and after say what threads did meanwhile. */
static struct err *turn_guard(struct recorder *s)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	bool stop = !s->guard.off;
	struct event ev = { .kind = EVENT_THROTTLE, .time_ns = now, .cpu = EVENT_NO_CPU, .pid = UINT32_MAX, .tid = UINT32_MAX,
			    .throttle = { drain_off_cpu_event(s->drain), stop, /* by_recorder */ true } };
	struct err *err = NULL;

	if (stop) {
		err = drain_event(s->drain, &ev);
		drain_set_waits(s->drain, false, now, &s->diag);
	}
	if (!err)
		err = read_task_times(s);
	if (!stop && !err) {
		drain_set_waits(s->drain, true, clock_now_ns(CLOCK_MONOTONIC), &s->diag);
		ev.time_ns = clock_now_ns(CLOCK_MONOTONIC);
		err = drain_event(s->drain, &ev);
	}
	uint64_t done = clock_now_ns(CLOCK_MONOTONIC);

	switch_guard_turned(&s->guard, done, done - now);
	return err;
}

static void set_scope(struct recorder *s, bool narrow)
{
	drain_narrow(s->drain, narrow, clock_now_ns(CLOCK_MONOTONIC), &s->diag);
	s->scope.narrow = narrow;
}

/* Limit switch records to the recorded tasks, where that pays. */
static void steer_scope(struct recorder *s)
{
	if (s->guard.off || s->perf_fds.waking)
		return;
	s->scope.narrow = s->perf_fds.narrow;
	if (!switch_scope_wants_narrow(&s->scope, clock_now_ns(CLOCK_MONOTONIC)))
		return;
	set_scope(s, switch_scope_add_all(&s->scope, &s->perf_fds, &s->tasks));
}

/* Per-task events cannot be paused cheaply: follow all CPUs again first. */
static struct err *guard_switches(struct recorder *s)
{
	if (!switch_guard_decide(&s->guard, clock_now_ns(CLOCK_MONOTONIC)))
		return NULL;
	if (!s->perf_fds.narrow)
		return turn_guard(s);
	set_scope(s, false);
	return NULL;
}

/* One wake-up; *@ret_over is true if it was the last. */
static struct err *pass(struct recorder *s, bool *ret_over)
{
	struct watch_result result = wait(s);
	struct err *err = result.snapshot ? snapshot_by_signal(s) : NULL;

	mmap_wakeup_look(&s->bell);
	if (!err) {
		*ret_over = react(s, result);
		task_filter_look(&s->tasks, clock_now_ns(CLOCK_MONOTONIC));
		drain_follow_idle(s->drain, s->sampling_switch.enabled);
		err = drain_pass(s->drain);
	}
	note_jit(s);
	if (result.bell)
		mmap_wakeup_rest(&s->bell, clock_now_ns(CLOCK_MONOTONIC), attach_news(s->attach));
	note_priority(s);
	steer_managed(s, clock_now_ns(CLOCK_MONOTONIC));
	/* The last read before the events are disabled. */
	if (!err && (*ret_over || s->task_times.next_ns <= clock_now_ns(CLOCK_MONOTONIC)))
		err = read_task_times(s);
	if (!err && !*ret_over) {
		steer_scope(s);
		err = guard_switches(s);
	}
	if (!err && *ret_over)
		err = drain_look_last(s->drain);
	if (!err && !*ret_over)
		err = output_files_tick(&s->output_files, clock_now_ns(CLOCK_MONOTONIC));
	return err;
}

struct err *recorder_run(struct recorder *s)
{
	struct err *err = start(s);
	bool over = false;

	note_jit(s);
	while (!err && !over) {
		hotplug_check(&s->hotplug, clock_now_ns(CLOCK_MONOTONIC), s->sampling_switch.enabled);
		err = pass(s, &over);
		struct trace_sizes sizes = output_files_sizes(&s->output_files);

		status_line_update(&s->status, clock_now_ns(CLOCK_MONOTONIC), drain_totals(s->drain), &sizes);
	}
	if (err && end_by_signal(s, &(struct watch_result){ 0 }))
		s->end = RECORDER_SIGNAL;
	perf_fds_disable(&s->perf_fds);
	s->recording.end_ns = clock_now_ns(CLOCK_MONOTONIC);
	switch_guard_end(&s->guard, s->recording.end_ns);
	priority_finish(&s->hands[0].priority);
	status_line_wipe(&s->status);
	return err;
}

/* Per-task clocks start anew in each task, and in -F 99 a process of 10 ms gets one tick at most. */
static void warn_of_short_tasks(struct recorder *s)
{
	diag_err(&s->diag,
		 err_remedy(err_new(ERR_UNSUPPORTED, "processes and threads that ran for less than "
						     "a sampling period were not seen"),
			    "they are if events may follow CPUs: run as root, or: sysctl "
			    "kernel.perf_event_paranoid=0"));
}

/* Reaching the limit is no error, but the file says why it ends. */
static void note_size(struct recorder *s)
{
	diag_warn(&s->diag, "the recording ended because the file had reached --max-size");
}

struct err *recorder_finish(struct recorder *s)
{
	struct recording *rec = &s->recording;

	drain_end_idle(s->drain);

	struct err *err = drain_rest(s);

	if (!err)
		err = drain_tell_side_losses(s->drain);
	affinity_close(&s->hands[0].affinity);
	if (s->shy)
		warn_of_short_tasks(s);
	if (s->end == RECORDER_SIZE_REACHED)
		note_size(s);
	if (s->process_info.skipped)
		diag_warn(&s->diag,
			  "more than %u processes a second executed a program: %" PRIu64
			  " have no command line and cgroup of their own",
			  PROCESS_INFO_RATE, s->process_info.skipped);
	if (drain_totals(s->drain)->renames)
		diag_warn(&s->diag,
			  "threads changed their names %" PRIu64 " times more than %u times at once and once a second: such names were "
			  "left out, but for each thread's last one", drain_totals(s->drain)->renames, RENAME_LIMIT_AT_ONCE);
	foreign_reader_note(s->reader, &s->diag);
	stop_time_note(&s->stop, &s->diag);
	rec->counts = drain_counts(s->drain, &rec->arena, &rec->ncounts);
	multiplexing_tell(rec, &s->diag);
	if (s->workload.ended)
		rec->exit_status = s->workload.status;
	return err ? err : output_files_finish(&s->output_files);
}

void recorder_close(struct recorder *s)
{
	memory_last_words(NULL, NULL, 0);
	if (s->hands)
		affinity_close(&s->hands[0].affinity);
	watch_close(&s->watch);
	sampling_switch_close(&s->sampling_switch);
	workload_deinit(&s->workload);
	drain_free(s->drain);
	managed_readers_free(s->managed);
	free(s->hands);
	task_filter_deinit(&s->tasks);
	task_times_deinit(&s->task_times);
	switch_guard_deinit(&s->guard);
	switch_scope_deinit(&s->scope);
	output_files_close(&s->output_files);
	attach_free(s->attach);
	process_info_deinit(&s->process_info);
	foreign_reader_free(s->reader);
	hotplug_deinit(&s->hotplug);
	mmap_wakeup_close(&s->bell);
	err_free(s->no_bell);
	perf_fds_close(&s->perf_fds);
	event_plan_deinit(&s->plan);
	target_deinit(&s->target);
	arena_deinit(&s->recording.arena);
	diag_deinit(&s->diag);
}
