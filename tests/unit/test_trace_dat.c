/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_dat.c - files of trace-cmd that tests/fuzz/seed-trace-dat made.
 */
#include "formats/perf/trace_dat.h"

#include "symbolize/name/own_kernel.h"
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint8_t *file_of(const char *version, size_t *ret_len)
{
	char name[64];

	snprintf(name, sizeof(name), "../fuzz/trace_dat/version-%s", version);
	return import_case_bytes(name, ret_len);
}

static void print_stack(FILE *out, const struct event_sample *s)
{
	for (size_t i = 0; i < s->nkernel_ips; i++)
		fprintf(out, " %x", (unsigned)s->kernel_ips[i]);
	for (size_t i = 0; i < s->nuser_ips; i++)
		fprintf(out, " user %x", (unsigned)s->user_ips[i]);
}

static void print_event(FILE *out, const struct recording *rec, const struct event *ev)
{
	fprintf(out, "%u %d/%d %d ", (unsigned)ev->time_ns, (int)ev->pid, (int)ev->tid, (int)ev->cpu);
	switch (ev->kind) {
	case EVENT_SAMPLE:
		fprintf(out, "%s", rec->events[ev->sample.event].name);
		print_stack(out, &ev->sample);
		break;
	case EVENT_COMM:
		fprintf(out, "is %s", ev->comm.comm);
		break;
	case EVENT_MMAP:
		fprintf(out, "maps %s", ev->mmap.path);
		break;
	case EVENT_SWITCH:
		fprintf(out, "%s%s", ev->cpu_switch.in ? "in" : "out", ev->cpu_switch.preempted ? ", preempted" : "");
		break;
	case EVENT_EXIT:
		fprintf(out, "exits");
		break;
	default:
		fprintf(out, "%u lost", (unsigned)ev->lost.count);
	}
	fprintf(out, "\n");
}

/* Times, process/thread, CPU. */
static const char events[] = "1000000 -1/-1 -1 maps [ext4]\n"
			     "1000000 10/10 -1 is make\n"
			     "1000000 7/12 -1 is idle-one\n"
			     "1000000 10/10 0 sched:sched_waking 81002010 81001020 c0000004\n"
			     "1000500 7/12 1 ftrace:function 81001000 81002004 user 401000 user 402000\n"
			     "1001005 10/10 0 is make\n"
			     "1001005 11/11 0 is cc\n"
			     "1001005 10/10 0 sched:sched_switch 81001030\n"
			     "1001005 10/10 0 out\n"
			     "1001005 11/11 0 in\n"
			     "2000001 -1/-1 1 3 lost\n"
			     "2000001 7/12 1 is idle-one\n"
			     "2000001 7/12 1 sched:sched_switch\n"
			     "2000001 7/12 1 out\n"
			     "2000001 7/12 1 exits\n"
			     "2000001 0/0 1 in\n"
			     "269436466 11/11 0 sched:sched_switch\n"
			     "269436466 11/11 0 out, preempted\n"
			     "269436466 10/10 0 in\n";

static void check_file(const char *version)
{
	char *text = NULL;
	size_t text_len = 0;
	FILE *out = open_memstream(&text, &text_len);
	struct event_source *source;
	struct event ev;
	size_t len;
	uint8_t *data = file_of(version, &len);

	CHECK_OK(trace_dat_open_memory(guarded(data, len), len, &source));

	const struct recording *rec = event_source_recording(source);

	CHECK_STR(rec->hostname, "buildhost");
	CHECK_STR(rec->os_release, "6.1.0");
	CHECK_UINT(rec->clock, CLOCK_MONOTONIC);
	CHECK_UINT(rec->nevents, 3);
	CHECK_UINT(rec->start_ns, 1000000);
	CHECK_UINT(rec->end_ns, 269436466);
	CHECK(strstr(rec->events[1].format, "next_comm"));
	while (event_source_next(source, &ev))
		print_event(out, rec, &ev);
	fclose(out);
	CHECK_STR(text, events);
	free(text);
	CHECK_OK(event_source_finish(source));
	event_source_close(source);
	free(data);
}

TEST(trace_dat_of_version_6_has_its_events_stacks_and_switches)
{
	check_file("6");
}

TEST(trace_dat_of_version_7_is_unpacked)
{
	check_file("7");
}

TEST(trace_dat_brings_the_names_of_its_kernel)
{
	struct event_source *source;
	size_t len, kallsyms_len;
	uint8_t *data = file_of("7", &len);

	CHECK_OK(trace_dat_open_memory(data, len, &source));

	const char *kallsyms = trace_dat_kallsyms(source, &kallsyms_len);
	struct recording *rec = trace_dat_recording(source);

	own_kernel_name_by(kallsyms, kallsyms_len, rec);
	CHECK_UINT(rec->kernel_text, 0xffffffff81000000);
	CHECK_UINT(rec->kernel_text_end, 0xffffffff81100000);
	CHECK_UINT(rec->nksyms, 5);
	CHECK_STR(rec->ksyms[1].name, "schedule");
	CHECK_STR(rec->ksyms[4].module, "ext4");
	event_source_close(source);
	free(data);
}

/* An error, of opening or in the end, that tells where; or all events. */
static bool is_refused(const uint8_t *data, size_t len)
{
	struct event_source *source;
	struct event ev;
	struct err *err = trace_dat_open_memory(data, len, &source);
	bool refused;

	if (!err) {
		while (event_source_next(source, &ev))
			;
		err = event_source_finish(source);
		event_source_close(source);
	}
	refused = err != NULL;
	if (err)
		CHECK(!strchr(err_message(err), '\n'));
	err_free(err);
	return refused;
}

TEST(trace_dat_that_is_cut_anywhere_is_refused)
{
	size_t len;
	uint8_t *data = file_of("7", &len);

	for (size_t cut = 0; cut < len; cut += 3)
		CHECK(is_refused(guarded(data, cut), cut));
	free(data);
}

TEST(trace_dat_survives_flipped_bytes)
{
	size_t len;
	uint8_t *data = file_of("6", &len);

	for (size_t i = 0; i < len; i += i < 3600 || (i & 4095) < 300 ? 5 : 512) {
		data[i] ^= 0x5a;
		is_refused(data, len);
		data[i] ^= 0x5a;
	}
	free(data);
}

TEST(trace_dat_with_a_clock_that_counts_no_time_is_refused)
{
	struct event_source *source;
	size_t len;
	uint8_t *data = file_of("6", &len);
	char *clock = memmem(data, len, "[mono]", 6);

	memcpy(clock - 6, "[x86-tsc]\0 x", 12);
	CHECK_ERR(trace_dat_open_memory(data, len, &source), ERR_UNSUPPORTED, "'x86-tsc', does not count nanoseconds");
	free(data);
}

TEST(trace_dat_of_another_version_is_refused)
{
	static const char start[] = "\027\010\104tracing9\0\0\010\0\020\0\0"; /* and its zero */
	struct event_source *source;

	CHECK_ERR(trace_dat_open_memory(start, sizeof(start), &source), ERR_UNSUPPORTED, "version '9'");
}
