/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.c - losses are always reported, each with its remedy.
 */
#include "record/summary.h"

#include "formats/base/text.h"
#include "formats/event_missed.h"

#include <inttypes.h>
#include <sys/resource.h>

#define PREFIX          "precord: "
#define FLAT_SAMPLE_LEN 512 /* bytes of a sample beside its stack */

void summary_print_notes(const struct recorder *s, FILE *out)
{
	for (size_t i = 0; i < s->plan.nnotes; i++) {
		fputs(PREFIX, out);
		text_put_escaped(out, s->plan.notes[i]);
		fputc('\n', out);
	}
}

/* The kernel's final count if it keeps one, else the sum of its records of losses. */
static uint64_t lost_samples(const struct recorder *s)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < s->recording.ncounts; i++)
		lost += s->recording.counts[i].lost_kernel + s->recording.counts[i].lost_recorder;
	if (event_plan_has(&s->plan, EVENT_FEATURE_FORMAT_LOST))
		return lost;
	return MAX(lost, drain_totals(s->drain)->lost);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_losses(const struct recorder *s, uint64_t lost, FILE *out)
{
	const struct drain_totals *totals = drain_totals(s->drain);

	if (lost)
		fprintf(out,
			PREFIX "%" PRIu64
			       " samples (%.1f %%) were lost because the ring buffers were full; "
			       "a larger -m or a lower -F avoids that\n",
			lost, percent(lost, lost + totals->samples));
	if (totals->side_lost)
		fprintf(out,
			PREFIX "%" PRIu64 " records of mappings, names and forks were lost; "
			       "some addresses may stay without a name; a larger -m avoids that\n",
			totals->side_lost);
	if (totals->shortened)
		fprintf(out,
			PREFIX "%" PRIu64 " stacks were shortened because the recorder was behind; "
			       "a lower -F avoids that\n",
			totals->shortened);
	if (totals->throttled)
		fprintf(out,
			PREFIX "the kernel throttled sampling %" PRIu64 " time%s; a lower -F avoids that\n",
			totals->throttled, totals->throttled == 1 ? "" : "s");
	if (s->guard.off_ns)
		fprintf(out,
			PREFIX "threads switched so often that switches were recorded for %.0f %% of the time; "
			       "--all-switches records all\n",
			100 - percent(s->guard.off_ns, s->recording.end_ns - s->recording.start_ns));
	if (drain_thinned(s->drain))
		fprintf(out,
			PREFIX "threads switched so often that only one switch in up to %" PRIu64
			       " was recorded with its stack; their times are exact\n",
			drain_thinned(s->drain));
	if (totals->broken)
		fprintf(out, PREFIX "%" PRIu64 " records of the kernel could not be understood\n",
			totals->broken);
}

/* Only the event's counter has them. */
static void print_missed(const struct recorder *s, FILE *out)
{
	const struct recording *rec = &s->recording;
	struct event_missed missed;

	for (uint32_t i = 0; i < rec->nevents; i++) {
		if (!event_missed_of(rec, i, &missed))
			continue;
		fputs(PREFIX "'", out);
		text_put_escaped(out, rec->events[i].name);
		fprintf(out, "' gave %" PRIu64 " of the %" PRIu64 " samples that its count implies",
			missed.came, missed.implied);
		if (!missed.everywhere && missed.ncpus == 1)
			fprintf(out, " on CPU %" PRIu32, missed.cpu);
		else if (!missed.everywhere)
			fprintf(out, " on %" PRIu32 " CPUs", missed.ncpus);
		fputs(": its counter does not always interrupt here, as in some virtual machines\n"
		      PREFIX "-e cpu-clock samples by a timer\n", out);
	}
}

/* No samples, and that was expected. */
static void print_never_enabled(const struct recorder *s, FILE *out)
{
	const struct record_args *args = s->args;

	if (!args->delay.given || s->sampling_switch.was_enabled)
		return;
	fputs(PREFIX "nothing was sampled: ", out);
	if (args->delay.windows.len)
		fputs("it was over before -D lets sampling begin\n", out);
	else if (args->control.given)
		fputs("after -D -1 sampling was never enabled; send 'enable' to --control, or "
		      "SIGUSR1\n",
		      out);
	else
		fputs("after -D -1 sampling was never enabled; send precord SIGUSR1, or give "
		      "--control and send 'enable'\n",
		      out);
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void print_priority(const struct recorder *s, FILE *out)
{
	uint64_t given_up = recorder_given_up(s);

	if (!s->hands[0].priority.was_raised)
		fputs(PREFIX "priority: that of an ordinary program\n", out);
	else if (given_up)
		fprintf(out, PREFIX "priority: real-time, given up %" PRIu64 " times\n", given_up);
	else
		fputs(PREFIX "priority: real-time\n", out);
}

/* How long the recorder may get no CPU before samples are lost: it is woken when a quarter of a ring is full. */
static void print_endurance(const struct recorder *s, FILE *out)
{
	uint64_t bytes = 0; /* a second */

	for (size_t i = 0; i < s->plan.nevents; i++) {
		const struct perf_event_attr *attr = &s->plan.events[i].attr;

		if (attr->freq)
			bytes += attr->sample_freq *
				 MIN(attr->sample_stack_user + FLAT_SAMPLE_LEN, RING_RECORD_MAX);
	}
	if (bytes)
		fprintf(out,
			PREFIX "a ring holds %.2f s of samples of the largest size; at any moment "
			       "the recorder may stand still for %.2f s\n",
			(double)s->perf_fds.ring_len / (double)bytes,
			(double)(s->perf_fds.ring_len - s->perf_fds.ring_len / 4) / (double)bytes);
	print_priority(s, out);
	if (s->nreaders > 1)
		fprintf(out, PREFIX "%zu threads read the rings\n", s->nreaders);
}

/* The share of interpreters' samples that have a script's stack, and why others have none. */
static void print_managed(const struct recorder *s, FILE *out)
{
	const struct managed_totals totals =
		s->managed ? managed_readers_totals(s->managed) : (struct managed_totals){ 0 };
	const uint64_t *states = totals.states;
	uint64_t whole = states[EVENT_MANAGED_WHOLE] + states[EVENT_MANAGED_CUT] +
			 states[EVENT_MANAGED_NO_FRAMES];
	uint64_t none = states[EVENT_MANAGED_TORN] + states[EVENT_MANAGED_LATE] + states[EVENT_MANAGED_FAILED] + totals.dropped;
	uint64_t samples = MAX(totals.samples, whole + none); /* a process's samples are counted until its exit is seen */

	if (!samples)
		return;
	fprintf(out,
		PREFIX "interpreters: %" PRIu64 " samples, the stack was read for %.1f %%; torn %" PRIu64
		       ", late %" PRIu64 ", unreadable %" PRIu64 "\n",
		samples, percent(whole, samples), states[EVENT_MANAGED_TORN],
		states[EVENT_MANAGED_LATE] + totals.dropped, states[EVENT_MANAGED_FAILED]);
	if (!whole && totals.not_by_cpu)
		fputs(PREFIX "stacks of interpreters are read only where events follow CPUs: run as root, or: sysctl "
			     "kernel.perf_event_paranoid=0\n",
		      out);
}

/* Second stacks: threads in a signal handler with its own stack, or in C code called from Go. */
static void print_other_stacks(const struct recorder *s, FILE *out, bool verbose)
{
	struct stack_shelves *shelves = s->managed ? managed_readers_shelves(s->managed) : NULL;
	const struct stack_shelf_totals totals =
		shelves ? stack_shelves_totals(shelves) : (struct stack_shelf_totals){ 0 };

	if (verbose && (totals.read || totals.failed))
		fprintf(out,
			PREFIX "second stacks, and stacks behind their snapshots: %" PRIu64 " read, %" PRIu64
			       " bytes; %" PRIu64 " not, for the thread had gone on, %" PRIu64 " without a sample\n",
			totals.read, totals.bytes, totals.failed, totals.dropped);
	if (verbose && totals.deep)
		fprintf(out, PREFIX "rests of deep stacks: %" PRIu64 ", %.1f KB of each not as before\n", totals.deep,
			(double)totals.fresh / (double)totals.deep / 1000);
}

/* Interpreters whose script stacks are not read; their samples have only native frames. */
static void print_refusals(const struct recorder *s, struct arena *arena, FILE *out)
{
	const struct managed_refusals refusals = s->managed ? managed_readers_refusals(s->managed) :
							      (struct managed_refusals){ 0 };

	for (size_t i = 0; i < refusals.len; i++) {
		const struct managed_refusal *r = &refusals.items[i];

		fprintf(out, PREFIX "'%s': %s: no functions of its scripts (%" PRIu64 " process%s)\n",
			text_escape(arena, r->path), r->why, r->count, r->count == 1 ? "" : "es");
	}
	if (refusals.more)
		fprintf(out, PREFIX "%" PRIu64 " more processes run interpreters that are not read\n",
			refusals.more);
	if (refusals.names)
		fprintf(out, PREFIX "%" PRIu64 " names of functions and files were left out: there are "
				    "more than %u MiB of them\n",
			refusals.names, MANAGED_NAMES_MAX >> 20);
}

/* Waits without a stack (wait_probe.h). */
static void print_probes(const struct recorder *s, FILE *out, bool verbose)
{
	const struct wait_probe_totals totals = drain_probe_totals(s->drain);

	if (verbose && totals.asked)
		fprintf(out, PREFIX "%" PRIu64 " long waits were looked at from outside; %" PRIu64 " stacks were found\n",
			totals.asked, totals.found);
	if (totals.dropped)
		fprintf(out,
			PREFIX "%" PRIu64 " waits were not looked at, however long they took: more than %u threads "
			       "waited at a time\n",
			totals.dropped, WAIT_PROBE_WAITERS_MAX);
}

/* Waiting threads that were read (idle_reader.h). */
static void print_idle(const struct recorder *s, FILE *out)
{
	const struct idle_totals totals = drain_idle_totals(s->drain);
	double elapsed = (double)(s->recording.end_ns - s->recording.start_ns) / 1e9;

	if (!s->args->idle_rate)
		return;
	fprintf(out, PREFIX "idle: up to %" PRIu64 " threads looked at %.1f times a second, %" PRIu64
			    " stacks read, %.2f %% of a CPU\n",
		totals.threads, elapsed > 0 ? (double)totals.rounds / elapsed : 0, totals.looks,
		elapsed > 0 ? (double)totals.cpu_ns / 1e7 / elapsed : 0);
	if (totals.put_off)
		fprintf(out, PREFIX "idle: sampled less often to stay below %.0f %% of a CPU; each sample covers the time since the last\n",
			IDLE_READER_SHARE * 100);
	if (totals.dropped_ns)
		fprintf(out, PREFIX "idle: %.1f s of waiting did not fit and are left out\n", (double)totals.dropped_ns / 1e9);
	if (totals.too_many)
		fprintf(out, PREFIX "idle: only %d threads are followed at a time, others were left out\n",
			IDLE_READER_THREADS_MAX);
}

static void print_details(const struct recorder *s, struct arena *arena, FILE *out)
{
	const struct drain_totals *totals = drain_totals(s->drain);
	const struct trace_sizes sizes = output_files_sizes(&s->output_files);
	double elapsed = (double)(s->recording.end_ns - s->recording.start_ns) / 1e9;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	fprintf(out, PREFIX "CPU time %.3f s user, %.3f s system; memory %s\n",
		seconds(&usage.ru_utime), seconds(&usage.ru_stime),
		text_size(arena, (uint64_t)usage.ru_maxrss * 1024));
	fprintf(out,
		PREFIX "%zu rings of %s, side-band %zu of %s; fullest at a pass: %" PRIu64 " %%\n",
		s->perf_fds.samples.len, text_size(arena, s->perf_fds.ring_len), s->perf_fds.side.len,
		text_size(arena, s->perf_fds.side_len), totals->fullest);
	print_endurance(s, out);
	fprintf(out,
		PREFIX "%" PRIu64 " wake-ups (%.1f a second), %" PRIu64
		       " of them for new code; %" PRIu64 " passes\n",
		s->watch.wakeups, elapsed > 0 ? (double)s->watch.wakeups / elapsed : 0,
		s->bell.wakeups + s->jit_wakeups, totals->passes);
	if (s->no_bell)
		fprintf(out, PREFIX "new code does not wake it: %s\n", err_message(s->no_bell));
	fprintf(out,
		PREFIX
		"stacks copied: %s; in the file: samples %s, stacks %s, side-band %s (%" PRIu64
		" records), images %s, symbols %s\n",
		text_size(arena, totals->stack_bytes), text_size(arena, sizes.samples),
		text_size(arena, sizes.stacks), text_size(arena, sizes.side_band),
		totals->side_band, text_size(arena, sizes.images),
		text_size(arena, sizes.symbols));
	if (s->managed && managed_readers_totals(s->managed).read_ns)
		fprintf(out, PREFIX "reading stacks of interpreters took %.1f ms\n",
			(double)managed_readers_totals(s->managed).read_ns / 1e6);
	fprintf(out, PREFIX "embedded %" PRIu64 " of %" PRIu64 " files in %.0f ms\n",
		s->output_files.attached.images, s->output_files.attached.files, (double)s->output_files.attached.time_ns / 1e6);
	if (s->output_files.attached.kernel_code.status == RECORDING_CODE_EMBEDDED)
		fprintf(out, PREFIX "embedded the code of %" PRIu32 " kernel functions, %s, in %.1f ms\n",
			s->output_files.attached.kernel_code.functions,
			text_size(arena, s->output_files.attached.kernel_code.elf_len),
			(double)s->output_files.attached.kernel_code.time_ns / 1e6);
}

/* Where the samples are; after an error, how many of them. */
static void print_place(const struct recorder *s, struct arena *arena, FILE *out)
{
	const struct output_files *files = &s->output_files;
	struct trace_sizes sizes = output_files_sizes(files);
	const char *path = output_files_last_path(files, arena);

	if (!files->placed) {
		fputs("none of them are in a file\n", out);
		return;
	}
	if (files->complete)
		fprintf(out, "%s in ", text_size(arena, sizes.total));
	else if (files->log)
		fputs("not all of them are in ", out);
	else
		fprintf(out, "%" PRIu64 " of them are in ", sizes.nsamples);
	if (files->output.is_pipe)
		fputs("the pipe", out);
	else
		text_put_escaped(out, path);
	fputc('\n', out);
}

void summary_print(const struct recorder *s, FILE *out, bool verbose)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct drain_totals *totals = drain_totals(s->drain);
	uint64_t lost = lost_samples(s);

	fprintf(out,
		PREFIX "%.1f s, %" PRIu64
		       " samples, %.1f %% lost, %.1f %% of snapshots full; ",
		(double)(s->recording.end_ns - s->recording.start_ns) / 1e9, totals->samples,
		percent(lost, lost + totals->samples), percent(totals->cut, totals->samples));
	print_place(s, &arena, out);
	print_never_enabled(s, out);
	print_losses(s, lost, out);
	print_missed(s, out);
	print_managed(s, out);
	print_other_stacks(s, out, verbose);
	print_idle(s, out);
	print_refusals(s, &arena, out);
	print_probes(s, out, verbose);
	if (verbose)
		print_details(s, &arena, out);
}
