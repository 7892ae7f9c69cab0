/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_args.c - the option table of precord record, and parsers of its values.
 */
#include "record/record_args.h"

#include "formats/base/pool.h"
#include "formats/base/text.h"
#include "record/event/event_rate.h"
#include "record/event/event_spec.h"
#include "record/sample/idle_reader.h"
#include "record/perf_options.h"
#include "record/time_span.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_LEN_MAX 65528 /* a record's size is 16 bits, and the snapshot's a multiple of 8 */
#define RING_LEN_MAX  (1ULL << 30)

#define FLIGHT_LEN     (32ULL << 20)
#define FLIGHT_LEN_MIN (1ULL << 20)

/* "dwarf", "dwarf,BYTES", "fp", "none" */
static struct err *parse_chain(void *field, const char *value)
{
	struct record_chain *chain = field;
	uint64_t len;

	if (!strcmp(value, "fp") || !strcmp(value, "none")) {
		chain->kind = *value == 'f' ? RECORDING_CHAIN_FP : RECORDING_CHAIN_NONE;
		return NULL;
	}
	if (!strcmp(value, "lbr"))
		return event_list_refuse_lbr();
	if (strncmp(value, "dwarf", 5) != 0 || (value[5] && value[5] != ','))
		return err_new(ERR_USAGE, "'%s' is not one of dwarf, dwarf,BYTES, fp, none", value);
	*chain = (struct record_chain){ .kind = RECORDING_CHAIN_DWARF };
	if (!value[5])
		return NULL;
	if (!text_parse_size(value + 6, &len) || !len || len > 65536)
		return err_new(ERR_USAGE, "'%s' is not a snapshot size from 8 to %d bytes", value + 6,
			       STACK_LEN_MAX);
	chain->stack_len = (uint32_t)MIN((len + 7) & ~7ULL, (uint64_t)STACK_LEN_MAX);
	return NULL;
}

/* Bare -g: stacks, which is the default. */
static struct err *parse_bare_chain(void *field, const char *value)
{
	return value ? parse_chain(field, value) : NULL;
}

static bool is_chain(const char *word)
{
	return !strcmp(word, "fp") || !strcmp(word, "none") || !strcmp(word, "dwarf") || !strcmp(word, "lbr") ||
	       !strncmp(word, "dwarf,", 6);
}

/* A number of pages, or a size with a unit; rounded up to a power of two. */
static struct err *parse_ring_len(void *field, const char *value)
{
	uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE), len;
	bool pages = text_parse_u64(value, &len);

	if ((!pages && !text_parse_size(value, &len)) || !len || len > RING_LEN_MAX ||
	    (pages && len > RING_LEN_MAX / page_len))
		return err_new(ERR_USAGE,
			       "'%s' is not a number of pages or size up to 1G, like 512 or 2M",
			       value);
	if (pages)
		len *= page_len;
	uint64_t rounded = page_len;

	while (rounded < len)
		rounded *= 2;
	*(uint64_t *)field = rounded;
	return NULL;
}

/* A priority, or "never". */
static struct err *parse_realtime(void *field, const char *value)
{
	uint64_t level;

	if (!strcmp(value, "never")) {
		*(uint64_t *)field = RECORD_NOT_REALTIME;
		return NULL;
	}
	if (!text_parse_u64(value, &level) || level < 1 || level > 99)
		return err_new(ERR_USAGE, "'%s' is not a priority from 1 to 99, nor 'never'", value);
	*(uint64_t *)field = level;
	return NULL;
}

/* "signal", a size with a unit, or a time with one. */
static struct err *parse_switch(void *field, const char *value)
{
	struct output_files_args *output_files = field;
	bool signal = !value || !strcmp(value, "signal");
	char unit = !signal && *value ? value[strlen(value) - 1] : '\0';

	output_files->switches = true;
	output_files->switch_len = output_files->switch_time_ns = 0;
	if (signal || (strchr("BKMG", unit) && text_parse_size(value, &output_files->switch_len) &&
		       output_files->switch_len))
		return NULL;
	if (unit && strchr("smhd", unit)) {
		struct err *err = time_span_parse(&output_files->switch_time_ns, value);

		if (!err)
			return NULL;
		err_free(err);
	}
	return err_new(ERR_USAGE,
		       "'%s' is neither a size like 100M, nor a time like 30s or 5m, nor 'signal'", value);
}

static struct err *parse_flight_len(void *field, const char *value)
{
	uint64_t *len = field;

	*len = FLIGHT_LEN;
	if (value && (!text_parse_size(value, len) || *len < FLIGHT_LEN_MIN))
		return err_new(ERR_USAGE, "'%s' is not a size from 1M on", value);
	return NULL;
}

static struct err *parse_max_len(void *field, const char *value)
{
	uint64_t len;

	if (!text_parse_size(value, &len) || !len)
		return err_new(ERR_USAGE, "'%s' is not a size like 500M", value);
	*(uint64_t *)field = len;
	return NULL;
}

static struct err *parse_max_files(void *field, const char *value)
{
	uint64_t *count = field;

	if (!text_parse_u64(value, count) || !*count)
		return err_new(ERR_USAGE, "'%s' is not a number from 1 on", value);
	return NULL;
}

static struct err *parse_reader_threads(void *field, const char *value)
{
	uint64_t *count = field;

	if (!text_parse_u64(value, count) || !*count || *count > POOL_THREADS_MAX)
		return err_new(ERR_USAGE, "'%s' is not a number of threads from 1 to %d", value,
			       POOL_THREADS_MAX);
	return NULL;
}

static struct err *parse_idle(void *field, const char *value)
{
	uint64_t *rate = field;

	if (!value)
		*rate = IDLE_READER_RATE;
	else if (!text_parse_u64(value, rate) || !*rate || *rate > IDLE_READER_RATE_MAX)
		return err_new(ERR_USAGE, "'%s' is not a rate from 1 to %d Hz", value, IDLE_READER_RATE_MAX);
	return NULL;
}

static const char *const bundles[] = { "none", "symbols", "full", NULL };

static const char *const build_id_readers[] = { "files", "kernel", NULL };

#define ARGS struct record_args

const struct opt record_opts[] = {
	OPT_GROUP(ARGS, target, target_opts),
	OPT_PARSE(ARGS, rate, "freq", 'F', "N|max", "samples a second on each CPU (99)",
		  event_rate_parse_freq),
	OPT_PARSE(ARGS, rate, "count", 'c', "N", "a sample every N events instead",
		  event_rate_parse_period),
	OPT_PARSE(ARGS, events, "event", 'e', "LIST",
		  "events to sample, see 'precord list' (cycles)", event_list_parse),
	OPT_PARSE(ARGS, events, "filter", 0, "EXPR", "keep only matching events of the tracepoints before it",
		  event_list_parse_filter),
	OPT_FLAG(ARGS, off_cpu, "off-cpu", 0,
		 "also record where threads wait: context switches, with their stacks"),
	OPT_FLAG(ARGS, wakers, "wakers", 0,
		 "with waits, also record who ended them (sched:sched_waking)"),
	OPT_PARSE(ARGS, idle_rate, "idle", 0, "[HZ]",
		  "also sample waiting threads, HZ times a second (20): those of interpreters, or of -p and a command", parse_idle),
	OPT_FLAG(ARGS, block_io, "block-io", 0, "also record how long requests to block devices take (with -a)"),
	OPT_FLAG(ARGS, kernel_locks, "kernel-locks", 0, "also record waits for locks of the kernel"),
	OPT_FLAG(ARGS, trace_syscalls, "trace-syscalls", 0,
		 "also record system calls, by tracepoints; see preport syscalls"),
	OPT_PARSE(ARGS, topdown, "topdown", 0, "[LEVEL]",
		  "why the processor stalls, to level 1 or 2; see preport topdown",
		  topdown_args_parse),
	OPT_PARSE(ARGS, chain, "call-graph", 0, "MODE",
		  "stacks: dwarf[,BYTES], fp or none (dwarf)", parse_chain),
	OPT_MAYBE(ARGS, chain, NULL, 'g', "[MODE]", "the same; alone: dwarf", parse_bare_chain,
		  is_chain),
	OPT_FLAG(ARGS, all_user, "all-user", 0, "sample user code only"),
	OPT_FLAG(ARGS, all_kernel, "all-kernel", 0, "sample kernel code only"),
	OPT_FLAG(ARGS, target.no_inherit, "no-inherit", 'i', "do not follow children and new threads"),
	OPT_GROUP(ARGS, extras, sample_extras_opts),
	OPT_STR(ARGS, output, "output", 'o', "FILE", "write to FILE, - for a pipe (precord.trace)"),
	OPT_PARSE(ARGS, output_files, "switch-output", 0, "[SIZE|TIME|signal]",
		  "start a new file at this size, after this time, or at SIGUSR2", parse_switch),
	OPT_PARSE(ARGS, output_files.max_files, "max-files", 0, "N",
		  "keep only the newest N files with a time in their names", parse_max_files),
	OPT_PARSE(ARGS, max_len, "max-size", 0, "SIZE", "stop after writing SIZE",
		  parse_max_len),
	OPT_PARSE(ARGS, output_files.flight_len, "overwrite", 0, "[SIZE]",
		  "flight recorder: keep the newest data in memory (32M), write it at SIGUSR2 and at the end",
		  parse_flight_len),
	OPT_PARSE(ARGS, ring_len, "mmap-pages", 'm', "PAGES|SIZE", "size of each CPU's ring buffer",
		  parse_ring_len),
	OPT_PARSE(ARGS, delay, "delay", 'D', "MS",
		  "start sampling after MS milliseconds, at a signal (-1), or sample in windows: 10-20,30-40",
		  delay_parse),
	OPT_PARSE(ARGS, control, "control", 0, "CTL",
		  "take commands from fifo:CTL[,ACK] or fd:CTL[,ACK]", control_parse),
	OPT_PARSE(ARGS, duration_ns, "duration", 0, "TIME", "stop after TIME: 10s, 5m",
		  time_span_parse),
	OPT_PARSE(ARGS, realtime, "realtime", 0, "PRIO",
		  "real-time priority of the recorder, or never (1, if permitted)", parse_realtime),
	OPT_PARSE(ARGS, reader_threads, "reader-threads", 0, "N",
		  "read the ring buffers with N threads (1)", parse_reader_threads),
	OPT_PARSE(ARGS, affinity, "affinity", 0, "CPUS|node|cpu|sys",
		  "where the recorder runs: these CPUs, each ring's node or CPU, or anywhere (sys)", affinity_parse),
	OPT_CHOICE(ARGS, bundle, "bundle", 0, "WHAT",
		   "embed from binaries: none, symbols or full (symbols)", bundles),
	OPT_PARSE(ARGS, embed.time_ns, "embed-time", 0, "TIME",
		  "at the end, read binaries and JIT code for at most TIME (20s)", time_span_parse),
	OPT_PARSE(ARGS, embed.len, "embed-size", 0, "SIZE",
		  "embed at most SIZE of them (4G)", parse_max_len),
	OPT_FLAG(ARGS, switch_events, "switch-events", 0,
		 "record context switches, for preport script --all"),
	OPT_FLAG(ARGS, all_switches, "all-switches", 0,
		 "record each switch and waking, also where they are so many that this slows threads down"),
	OPT_CHOICE(ARGS, build_ids, "build-ids", 0, "FROM",
		   "take build IDs from the files or from the kernel (files)",
		   build_id_readers),
	OPT_FLAG(ARGS, jvm_perfmap, "jvm-perfmap", 0,
		 "ask sampled Java virtual machines for perf maps at the end"),
	OPT_FLAG(ARGS, no_cmdline, "no-cmdline", 0, "leave this command line out of the file"),
	OPT_FLAG(ARGS, exclude_self, "exclude-self", 0, "leave precord itself out of the samples"),
	OPT_FLAG(ARGS, raw_stacks, "raw-stacks", 0,
		 "keep whole stacks, application data included"),
	OPT_NOT(ARGS, managed, "no-managed", 0,
		"do not read the stacks that interpreters keep"),
	OPT_FLAG(ARGS, quiet, "quiet", 'q', "print errors and warnings only"),
	OPT_FLAG(ARGS, verbose, "verbose", 'v', "print more details of the recording"),
	OPT_FOREIGN(perf_record_options),
	OPT_END,
};

void record_args_defaults(void *args)
{
	struct record_args *a = args;

	a->output = "precord.trace";
	a->bundle = "symbols";
	a->managed = true;
	a->build_ids = "files";
	a->embed = (struct embed_limits){ .time_ns = EMBED_TIME_NS, .len = EMBED_LEN };
	a->max_len = UINT64_MAX;
	a->chain.kind = RECORDING_CHAIN_DWARF;
}

struct err *record_args_settle(struct record_args *args)
{
	if (args->all_user && args->all_kernel)
		return err_new(ERR_USAGE, "--all-user and --all-kernel exclude each other");
	if (!args->all_user && !args->all_kernel)
		return NULL;
	event_list_default(&args->events);
	event_list_limit(&args->events, args->all_user);
	return NULL;
}

void record_args_release(void *args)
{
	struct record_args *a = args;

	event_list_deinit(&a->events);
	delay_deinit(&a->delay);
	control_args_deinit(&a->control);
}
