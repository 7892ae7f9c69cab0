/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_perf_data_writer.c - events that are written as perf.data come back from it.
 */
#include "formats/perf/perf_data.h"
#include "formats/perf/perf_data_writer.h"
#include "tests/unit/event_maker.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t kernel_ips[] = { 0xffffffff81000010, 0xffffffff81000020 };
static const uint64_t user_ips[] = { 0x401000, 0x402000, 0x403000 };
static const uint32_t slots[] = { 0, 2, 511 };
static const uint64_t words[] = { 0x401111, 0x402222, 0x403333 };
static const struct event_branch branches[] = { { 0x401004, 0x402000, 1 } };

static struct recording_event events[] = {
	{ .name = "cpu-clock", .unit = "ns", .type = PERF_TYPE_SOFTWARE, .is_freq = true, .rate = 499, .samples = true, .format = "" },
	{ .name = "faults", .unit = "events", .type = PERF_TYPE_SOFTWARE, .config = 2, .leader = 1, .format = "" }, /* only read */
	{ .name = "sched:x", .unit = "events", .type = PERF_TYPE_TRACEPOINT, .config = 7, .rate = 1, .samples = true, .leader = 2,
	  .format = "name: x\nID: 7\nformat:\n\tfield:int n;\toffset:0;\tsize:4;\tsigned:1;\n" },
};

struct written {
	char *data;
	size_t len;
	FILE *out;
	struct recording rec;
	struct perf_data_fields fields[3];
	struct perf_data_writer *writer;
	struct event_source *source;
};

static void begin(struct written *w, bool snapshots)
{
	struct perf_data_plan plan = { .rec = &w->rec, .fields = w->fields, .snapshots = snapshots };

	maker_recording(&w->rec);
	w->rec.events = events;
	w->rec.nevents = ARRAY_LEN(events);
	w->out = tmpfile();
	CHECK(w->out);
	CHECK_OK(perf_data_writer_open(&plan, w->out, &w->writer));
}

static const struct recording *end(struct written *w)
{
	CHECK_OK(perf_data_writer_finish(w->writer));
	w->len = (size_t)ftello(w->out);
	w->data = malloc(w->len);
	rewind(w->out);
	CHECK_UINT(fread(w->data, 1, w->len, w->out), w->len);
	fclose(w->out);
	CHECK_OK(perf_data_open_memory(w->data, w->len, &w->source));
	return event_source_recording(w->source);
}

static void drop(struct written *w)
{
	CHECK_OK(event_source_finish(w->source));
	event_source_close(w->source);
	perf_data_writer_free(w->writer);
	arena_deinit(&w->rec.arena);
	free(w->data);
}

static const struct event *next(struct written *w, struct event *ev)
{
	CHECK(event_source_next(w->source, ev));
	return ev;
}

static struct event sample_of(const struct event_regs *regs)
{
	return (struct event){
		.kind = EVENT_SAMPLE, .time_ns = 500, .cpu = 1, .pid = 10, .tid = 11,
		.sample = { .mode = EVENT_MODE_KERNEL, .ip = kernel_ips[0], .period = 2000, .kernel_ips = kernel_ips, .nkernel_ips = 2,
			    .user_ips = user_ips, .nuser_ips = 3, .regs = regs, .branches = branches, .nbranches = 1, .weight = 9,
			    .stack = { .base = 0x7ffc00000ff8, .end = 0x7ffc00001ff8, .nwords = 3, .slots = slots, .words = words, .cut = true } },
	};
}

static void check_sample(const struct event *ev)
{
	CHECK_INT(ev->kind, EVENT_SAMPLE);
	CHECK_UINT(ev->time_ns, 500);
	CHECK(ev->cpu == 1 && ev->pid == 10 && ev->tid == 11);
	CHECK_UINT(ev->sample.ip, kernel_ips[0]);
	CHECK_UINT(ev->sample.period, 2000);
	CHECK_UINT(ev->sample.nkernel_ips, 2);
	CHECK_UINT(ev->sample.kernel_ips[1], kernel_ips[1]);
}

TEST(perf_data_writer_keeps_samples_with_registers_and_stack)
{
	struct written w = { .fields = { { .branches = true, .weight = true } } };
	struct event_regs regs = { .mask = 1 << 7 | 1 << 16, .values = { [7] = 0x7ffc00000ff8, [16] = 0x401000 } };
	struct event sample = sample_of(&regs), ev;

	begin(&w, /* snapshots= */ true);
	perf_data_writer_add(w.writer, &sample, NULL);

	const struct recording *rec = end(&w);

	CHECK_INT(rec->chain, RECORDING_CHAIN_DWARF);
	CHECK_UINT(rec->nevents, 2);
	CHECK_STR(rec->events[0].name, "cpu-clock");
	CHECK(rec->events[0].is_freq && rec->events[0].rate == 499);
	CHECK_STR(rec->hostname, "host");
	CHECK_STR(rec->cmdline, "precord -a");
	CHECK_UINT(rec->wall_ns, 1700000000000000000);
	check_sample(next(&w, &ev));
	CHECK_UINT(ev.sample.nuser_ips, 0); /* the snapshot has them */
	CHECK_UINT(ev.sample.regs->values[7], 0x7ffc00000ff8);
	CHECK_UINT(ev.sample.stack.base, 0x7ffc00000ff8);
	CHECK_UINT(ev.sample.stack.end, 0x7ffc00001ff8);
	CHECK_UINT(ev.sample.stack.nwords, 3);
	CHECK_UINT(ev.sample.stack.slots[2], 511);
	CHECK_UINT(ev.sample.stack.words[2], 0x403333);
	CHECK_UINT(ev.sample.weight, 9);
	CHECK_UINT(ev.sample.nbranches, 1);
	CHECK_UINT(ev.sample.branches[0].to, 0x402000);
	CHECK(!event_source_next(w.source, &ev));
	drop(&w);
}

/* A record has 64 KiB less a little: what a full snapshot loses is counted, and the rest is in its place. */
TEST(perf_data_writer_counts_words_that_do_not_fit)
{
	static const uint32_t last[] = { 0, 65528 / 8 - 1 };
	struct written w = { 0 };
	struct event_regs regs = { .mask = 1 << 7, .values = { [7] = 0x7ffc00000004 } };
	struct event sample = sample_of(&regs), ev;

	sample.sample.stack = (struct event_stack){ .base = 0x7ffc00000008, .end = 0x7ffc00000008 + 65528, .nwords = 2, .slots = last, .words = words };
	begin(&w, true);
	perf_data_writer_add(w.writer, &sample, NULL);
	CHECK_UINT(perf_data_writer_cut(w.writer), 1);
	end(&w);
	check_sample(next(&w, &ev));
	CHECK_UINT(ev.sample.stack.nwords, 1);
	CHECK_UINT(ev.sample.stack.base + 8 * ev.sample.stack.slots[0], 0x7ffc00000008);
	CHECK_UINT(ev.sample.stack.words[0], words[0]);
	drop(&w);
}

TEST(perf_data_writer_keeps_chains_and_payloads)
{
	static const int32_t payload = 42;
	static const uint64_t own[] = { 0x501000, 0x502000 };
	const struct perf_data_chain chain = { NULL, own, 0, 2 };
	struct written w = { 0 };
	struct event sample = sample_of(NULL), ev;

	begin(&w, /* snapshots= */ false);
	perf_data_writer_add(w.writer, &sample, NULL);
	sample.sample.event = 1; /* never samples */
	perf_data_writer_add(w.writer, &sample, NULL);
	sample.sample.event = 2;
	sample.sample.raw = (const uint8_t *)&payload;
	sample.sample.raw_len = sizeof(payload);
	perf_data_writer_add(w.writer, &sample, &chain);

	const struct recording *rec = end(&w);

	CHECK_INT(rec->chain, RECORDING_CHAIN_FP);
	check_sample(next(&w, &ev));
	CHECK_UINT(ev.sample.nuser_ips, 3);
	CHECK_UINT(ev.sample.user_ips[2], user_ips[2]);
	next(&w, &ev);
	CHECK_UINT(ev.sample.event, 1);
	CHECK_STR(rec->events[1].name, "sched:x");
	CHECK_UINT(ev.sample.nkernel_ips, 0);
	CHECK_UINT(ev.sample.nuser_ips, 2);
	CHECK_UINT(ev.sample.user_ips[1], own[1]);
	CHECK_UINT(ev.sample.raw_len, 4);
	CHECK(memcmp(ev.sample.raw, &payload, 4) == 0);
	CHECK(!event_source_next(w.source, &ev));
	drop(&w);
}

TEST(perf_data_writer_keeps_mappings_names_and_processes)
{
	const struct event made[] = {
		{ .kind = EVENT_MMAP, .pid = UINT32_MAX, .mmap = { .start = 0xffffffff81000000, .end = 0xffffffff82000000,
								   .flags = EVENT_MMAP_EXEC | EVENT_MMAP_KERNEL, .path = "[kernel]" } },
		{ .kind = EVENT_COMM, .time_ns = 1, .pid = 10, .tid = 11, .comm = { "naïve name", true } },
		{ .kind = EVENT_FORK, .time_ns = 2, .pid = 20, .tid = 21, .fork = { 10, 11 } },
		{ .kind = EVENT_MMAP, .time_ns = 3, .pid = 20, .tid = 21, .cpu = 1,
		  .mmap = { .start = 0x400000, .end = 0x402000, .file_offset = 0x1000, .flags = EVENT_MMAP_EXEC, .build_id_len = 20,
			    .build_id = { 1, 2, 3 }, .path = "/bin/a b" } },
		{ .kind = EVENT_MMAP, .time_ns = 3, .pid = 20, .tid = 21, .mmap = { .start = 0x500000, .end = 0x501000, .device = 5, .inode = 6, .path = "/d" } },
		{ .kind = EVENT_SWITCH, .time_ns = 4, .pid = 20, .tid = 21, .cpu = 1, .cpu_switch = { false, true } },
		{ .kind = EVENT_LOST, .time_ns = 5, .lost = { .event = 2, .count = 3 } },
		{ .kind = EVENT_LOST_SAMPLES, .time_ns = 5, .lost = { .event = RECORDING_NO_EVENT, .count = 4 } },
		{ .kind = EVENT_PROCESS, .time_ns = 6, .process = { "a", "b", 1 } }, /* no place for it */
		{ .kind = EVENT_EXIT, .time_ns = 7, .pid = 20, .tid = 21 },
	};
	struct written w = { 0 };
	struct event ev;

	begin(&w, true);
	for (size_t i = 0; i < ARRAY_LEN(made); i++)
		perf_data_writer_add(w.writer, &made[i], NULL);

	const struct recording *rec = end(&w);

	CHECK_UINT(rec->kernel_text, 0xffffffff81000000);
	CHECK_UINT(rec->kernel_build_id_len, 20);
	CHECK_INT(next(&w, &ev)->kind, EVENT_MMAP);
	CHECK(ev.mmap.flags & EVENT_MMAP_KERNEL && ev.mmap.end == made[0].mmap.end);
	CHECK_STR(next(&w, &ev)->comm.comm, "naïve name");
	CHECK(ev.comm.exec && ev.time_ns == 1 && ev.pid == 10 && ev.tid == 11);
	CHECK_INT(next(&w, &ev)->kind, EVENT_FORK);
	CHECK(ev.pid == 20 && ev.tid == 21 && ev.fork.parent_pid == 10 && ev.fork.parent_tid == 11);
	CHECK_STR(next(&w, &ev)->mmap.path, "/bin/a b");
	CHECK(ev.mmap.start == 0x400000 && ev.mmap.end == 0x402000 && ev.mmap.file_offset == 0x1000);
	CHECK(ev.mmap.flags == EVENT_MMAP_EXEC && ev.mmap.build_id_len == 20 && ev.mmap.build_id[2] == 3);
	CHECK_UINT(next(&w, &ev)->mmap.inode, 6);
	CHECK_UINT(ev.mmap.flags, 0);
	CHECK_INT(next(&w, &ev)->kind, EVENT_SWITCH);
	CHECK(!ev.cpu_switch.in && ev.cpu_switch.preempted);
	CHECK_UINT(next(&w, &ev)->lost.count, 3);
	CHECK_UINT(ev.lost.event, 1); /* the second that samples */
	CHECK_UINT(next(&w, &ev)->lost.count, 4);
	CHECK_INT(next(&w, &ev)->kind, EVENT_EXIT);
	CHECK(!event_source_next(w.source, &ev));
	drop(&w);
}

/* Whatever events hold, what is written is perf.data. */
TEST(perf_data_writer_writes_any_events)
{
	struct event_maker m = { .state = 5 };
	struct written w = { .fields = { { .addr = true, .data_src = true, .cgroup = true }, { 0 }, { .branches = true } } };
	struct event ev;
	uint64_t samples = 0;

	begin(&w, true);
	for (int i = 0; i < 10000; i++) {
		maker_any(&m, &ev);
		samples += ev.kind == EVENT_SAMPLE && ev.sample.event != 1;
		perf_data_writer_add(w.writer, &ev, NULL);
	}
	end(&w);
	while (event_source_next(w.source, &ev))
		samples -= ev.kind == EVENT_SAMPLE;
	CHECK_UINT(samples, 0);
	drop(&w);
	maker_deinit(&m);
}
