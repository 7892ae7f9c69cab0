/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_perf_data.c - files as perf record writes them, and as it never would.
 */
#include "formats/perf/perf_data.h"

#include "tests/unit/perf_data_maker.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <string.h>

#define FORMAT_LOST 16
#define REGS_SP_IP  ((1ULL << 7) | (1ULL << 8)) /* PERF_REG_X86_SP, _IP */

static const struct perf_data_attr_made cycles = { .period = 1000 };

#define MAKER CLEANUP(perf_data_maker_deinit) struct perf_data_maker m = { 0 }

static void close_sourcep(struct event_source **source)
{
	event_source_close(*source);
}

/* All that @source has, a line each; what went wrong at the end. */
static const char *list_source(struct event_source *source, struct arena *arena)
{
	const char *text = "";
	struct event ev;

	while (event_source_next(source, &ev)) {
		if (ev.kind == EVENT_SAMPLE)
			text = arena_printf(arena, "%ssample %" PRIu32 " at %" PRIu64 " %#" PRIx64 " *%" PRIu64 "\n",
					    text, ev.sample.event, ev.time_ns, ev.sample.ip,
					    ev.sample.period);
		else if (ev.kind == EVENT_COMM)
			text = arena_printf(arena, "%scomm %s at %" PRIu64 "\n", text, ev.comm.comm,
					    ev.time_ns);
		else if (ev.kind == EVENT_MMAP)
			text = arena_printf(arena, "%smmap %s %d\n", text, ev.mmap.path,
					    ev.mmap.build_id_len);
		else if (ev.kind == EVENT_LOST || ev.kind == EVENT_LOST_SAMPLES)
			text = arena_printf(arena, "%slost %" PRIu64 "\n", text, ev.lost.count);
		else
			text = arena_printf(arena, "%skind %d\n", text, (int)ev.kind);
	}

	CLEANUP(err_freep) struct err *err = event_source_finish(source);

	return err ? arena_printf(arena, "%s%s\n", text, err_message(err)) : text;
}

/* The same of @len bytes at @data. */
static const char *list(const void *data, size_t len, struct arena *arena)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	CLEANUP(err_freep) struct err *err = perf_data_open_memory(data, len, &source);

	return err ? arena_strdup(arena, err_message(err)) : list_source(source, arena);
}

static const char *listed(struct perf_data_maker *m, struct arena *arena)
{
	return list(guarded(m->w.data, m->w.len), m->w.len, arena);
}

#define ARENA CLEANUP(arena_deinit) struct arena arena = { 0 }

TEST(perf_data_gives_events_and_their_names)
{
	static const struct perf_data_attr_made attrs[] = {
		{ .period = 1000 },
		{ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .period = 99, .flags = 1 << 10 },
		{ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY },
	};
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	MAKER;

	perf_data_begin(&m, attrs, 3);
	perf_data_sample(&m, 100, 5, 0x10);
	perf_data_feature(&m, 3);
	perf_data_text(&m.features, "host");
	perf_data_feature(&m, 5);
	perf_data_text(&m.features, "6.1");
	perf_data_feature(&m, 6);
	perf_data_text(&m.features, "aarch64");
	perf_data_end(&m);
	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));

	const struct recording *rec = event_source_recording(source);

	CHECK_UINT(rec->nevents, 3);
	CHECK_STR(rec->events[0].name, "cycles");
	CHECK_UINT(rec->events[0].rate, 1000);
	CHECK(!rec->events[0].is_freq && rec->events[0].samples);
	CHECK_STR(rec->events[1].name, "cpu-clock");
	CHECK_STR(rec->events[1].unit, "ns");
	CHECK(rec->events[1].is_freq);
	CHECK(!rec->events[2].samples);
	CHECK_STR(rec->hostname, "host");
	CHECK_STR(rec->tool, "perf 6.1");
	CHECK(rec->arch == &arch_aarch64);
	CHECK(rec->complete && !rec->damaged_at);
}

TEST(perf_data_tells_whose_a_sample_is_by_id)
{
	static const struct perf_data_attr_made attrs[] = { { .period = 1 }, { .period = 1, .config = 1 } };
	MAKER;
	ARENA;

	perf_data_begin(&m, attrs, 2);
	perf_data_sample(&m, 201, 5, 0x10);
	perf_data_sample(&m, 100, 6, 0x20);
	perf_data_sample(&m, 333, 7, 0x30); /* nobody's */
	perf_data_end(&m);
	CHECK_STR(listed(&m, &arena), "sample 1 at 5 0x10 *7\nsample 0 at 6 0x20 *7\n");
}

TEST(perf_data_orders_events_within_rounds)
{
	MAKER;
	ARENA;

	perf_data_begin(&m, &cycles, 1);
	perf_data_sample(&m, 100, 30, 0x30);
	perf_data_sample(&m, 100, 10, 0x10);
	perf_data_round(&m);
	perf_data_sample(&m, 100, 20, 0x20); /* another CPU's, not older than the round before allows */
	perf_data_round(&m);
	perf_data_comm(&m, 15, "late");
	perf_data_end(&m);
	CHECK_STR(listed(&m, &arena), "sample 0 at 10 0x10 *7\nsample 0 at 20 0x20 *7\n"
				      "sample 0 at 30 0x30 *7\ncomm late at 15\n");
}

TEST(perf_data_knows_the_kernel_before_the_first_event)
{
	static const uint8_t id[24] = { 1, 2, 3, [19] = 9, 20 };
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	MAKER;
	ARENA;

	perf_data_begin(&m, &cycles, 1);
	perf_data_mmap(&m, -1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		       "[kernel.kallsyms]_text");
	perf_data_mmap(&m, 10, 0x1000, 0x1000, 0, "/bin/a");
	perf_data_sample(&m, 100, 30, 0x30);
	perf_data_feature(&m, 2);
	for (int i = 0; i < 2; i++) {
		writer_u32(&m.features, 0);
		writer_u16(&m.features, 1 << 15);
		writer_u16(&m.features, 8 + 4 + 24 + 24);
		writer_u32(&m.features, UINT32_MAX);
		writer_bytes(&m.features, id, 24);
		writer_bytes(&m.features, i ? "/bin/a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" : "[kernel.kallsyms]\0\0\0\0\0\0", 24);
	}
	perf_data_end(&m);
	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));

	const struct recording *rec = event_source_recording(source);

	CHECK_UINT(rec->kernel_text, 0xffffffff81000000);
	CHECK_UINT(rec->kernel_text_end, 0xffffffff82000000);
	CHECK_UINT(rec->kernel_build_id_len, 20);
	CHECK_MEM(rec->kernel_build_id, id, 20);
	CHECK_STR(listed(&m, &arena), "mmap [kernel.kallsyms]_text 0\nmmap /bin/a 20\n"
				      "sample 0 at 30 0x30 *7\n");
}

TEST(perf_data_keeps_the_words_of_a_stack)
{
	static const struct perf_data_attr_made dwarf = {
		.period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.regs_user = REGS_SP_IP,
		.stack_len = 64,
	};
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	struct event ev;
	MAKER;

	perf_data_begin(&m, &dwarf, 1);
	perf_data_open_record(&m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	writer_u32(&m.w, 10);
	writer_u32(&m.w, 11);
	writer_u64(&m.w, 5);
	writer_u64(&m.w, PERF_SAMPLE_REGS_ABI_64);
	writer_u64(&m.w, 0x7f04); /* sp: the first word is cut */
	writer_u64(&m.w, 0x4000);
	writer_u64(&m.w, 64);
	writer_u32(&m.w, 0xdead);
	for (unsigned i = 0; i < 7; i++)
		writer_u64(&m.w, i % 3 ? 0 : 0x100 + i);
	writer_u32(&m.w, 0xbeef); /* behind the last whole word that was copied */
	writer_u64(&m.w, 52);
	perf_data_close_record(&m);
	perf_data_feature(&m, 6);
	perf_data_text(&m.features, "x86_64");
	perf_data_end(&m);
	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));
	CHECK(event_source_recording(source)->chain == RECORDING_CHAIN_DWARF);
	CHECK_UINT(event_source_recording(source)->stack_len, 64);
	CHECK(event_source_next(source, &ev));

	const struct event_stack *stack = &ev.sample.stack;

	CHECK_UINT(stack->base, 0x7f08);
	CHECK_UINT(stack->end, 0x7f08 + 48);
	CHECK_UINT(stack->nwords, 2);
	CHECK_UINT(stack->slots[1], 3);
	CHECK_UINT(stack->words[1], 0x103);
	CHECK(!stack->cut);
	CHECK_UINT(ev.sample.regs->values[7], 0x7f04);
	CHECK_UINT(ev.sample.regs->values[16], 0x4000);
}

TEST(perf_data_of_a_killed_perf_is_read_as_far_as_it_goes)
{
	static const char both[] = "sample 0 at 5 0x10 *7\nsample 0 at 6 0x20 *7\n";
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	MAKER;
	ARENA;

	perf_data_begin(&m, &cycles, 1);
	perf_data_sample(&m, 100, 5, 0x10);
	perf_data_sample(&m, 100, 6, 0x20);
	CHECK_STR(listed(&m, &arena), both);
	perf_data_sample(&m, 100, 7, 0x30);
	m.w.len -= 8;
	CHECK_STR(listed(&m, &arena), both);
	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));
	CHECK(!event_source_recording(source)->complete);
}

TEST(perf_data_says_where_a_record_is_damaged)
{
	MAKER;
	ARENA;

	perf_data_begin(&m, &cycles, 1);
	perf_data_sample(&m, 100, 5, 0x10);
	perf_data_open_record(&m, PERF_RECORD_COMM, 0);
	perf_data_close_record(&m);
	perf_data_sample(&m, 100, 6, 0x20);
	perf_data_end(&m);
	CHECK_STR(listed(&m, &arena),
		  arena_printf(&arena,
			       "sample 0 at 5 0x10 *7\nsample 0 at 6 0x20 *7\n"
			       "in the record of type 3 at offset %zu: sample id does not fit at offset 8\n",
			       m.data + 56));

	CLEANUP(close_sourcep) struct event_source *source = NULL;
	struct event ev;

	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));
	while (event_source_next(source, &ev))
		;
	err_free(event_source_finish(source));
	CHECK_UINT(event_source_recording(source)->bad_records, 1);
	CHECK_UINT(event_source_recording(source)->damaged_at, m.data + 56);
	CHECK(event_source_recording(source)->complete);
}

TEST(perf_data_says_where_no_record_begins)
{
	MAKER;
	ARENA;

	perf_data_begin(&m, &cycles, 1);
	perf_data_sample(&m, 100, 5, 0x10);
	writer_u64(&m.w, 9);
	perf_data_end(&m);
	CHECK_STR(listed(&m, &arena),
		  arena_printf(&arena,
			       "sample 0 at 5 0x10 *7\n"
			       "a record of type 9 and 0 bytes at offset %zu\n", m.data + 56));
}

TEST(perf_data_counts_what_was_lost_once)
{
	static const struct perf_data_attr_made tells = { .period = 1, .read_format = FORMAT_LOST };
	MAKER;
	ARENA;

	perf_data_begin(&m, &tells, 1);
	perf_data_sample(&m, 100, 5, 0x10);
	perf_data_open_record(&m, PERF_RECORD_LOST, 0);
	writer_u64(&m.w, 100);
	writer_u64(&m.w, 8);
	perf_data_trailer(&m, 100, 6);
	perf_data_close_record(&m);
	for (uint64_t id = 100; id < 102; id++) { /* 5 + 5, of which 8 are told */
		perf_data_open_record(&m, PERF_RECORD_LOST_SAMPLES, 0);
		writer_u64(&m.w, 5);
		perf_data_trailer(&m, id, 0);
		perf_data_close_record(&m);
	}
	perf_data_open_record(&m, PERF_RECORD_LOST_SAMPLES, 0); /* the PMU's own, on the way */
	writer_u64(&m.w, 3);
	perf_data_trailer(&m, 100, 9);
	perf_data_close_record(&m);
	perf_data_end(&m);
	CHECK_STR(listed(&m, &arena), "sample 0 at 5 0x10 *7\nlost 8\nlost 2\nlost 3\n");
}

TEST(perf_data_of_other_machines_is_refused)
{
	static const struct perf_data_attr_made mute[] = {
		{ .period = 1, .sample_type = PERF_SAMPLE_IP }, { .period = 1, .sample_type = PERF_SAMPLE_IP }
	};
	struct event_source *source;
	MAKER;

	CHECK_ERR(perf_data_open_memory("2ELIFREP\0\0\0\0\0\0\0\150", 16, &source), ERR_UNSUPPORTED,
		  "big-endian");
	CHECK_ERR(perf_data_open_memory("PERFILE2", 8, &source), ERR_CORRUPT, "header");
	perf_data_begin(&m, mute, 2);
	perf_data_end(&m);
	CHECK_ERR(perf_data_open_memory(m.w.data, m.w.len, &source), ERR_UNSUPPORTED, "which event");
}

#define SWITCH_ID 315

/* What perf keeps of tracefs: one system with two tracepoints, the second of which is sampled. */
static void write_tracing(struct writer *w)
{
	static const char *const formats[] = { "name: sched_waking\nID: 314\nformat:\n", "name: sched_switch\nID: 315\nformat:\n" };
	static const char head[] = "\027\010\104tracing0.6\0\0\010\0\020\0\0header_page"; /* and its zero */

	writer_bytes(w, head, sizeof(head));
	writer_u64(w, 5);
	writer_bytes(w, "page\n", 5);
	writer_bytes(w, "header_event", sizeof("header_event"));
	writer_u64(w, 0);
	writer_u32(w, 1); /* of ftrace itself */
	writer_u64(w, 4);
	writer_bytes(w, "\nID:", 4);
	writer_u32(w, 1);
	writer_bytes(w, "sched", sizeof("sched"));
	writer_u32(w, 2);
	for (int i = 0; i < 2; i++) {
		writer_u64(w, strlen(formats[i]));
		writer_bytes(w, formats[i], strlen(formats[i]));
	}
}

static const struct perf_data_attr_made traced = {
	.type = PERF_TYPE_TRACEPOINT, .config = SWITCH_ID, .period = 1, .sample_type = PERF_DATA_SAMPLE_TYPE
};

/* Does @m name the tracepoint, have its format, and keep the sample behind it? */
static void check_traced(struct perf_data_maker *m)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	struct event ev;

	CHECK_OK(perf_data_open_memory(guarded(m->w.data, m->w.len), m->w.len, &source));
	CHECK_STR(event_source_recording(source)->events[0].name, "sched:sched_switch");
	CHECK_STR(event_source_recording(source)->events[0].format, "name: sched_switch\nID: 315\nformat:\n");
	CHECK(event_source_next(source, &ev) && ev.kind == EVENT_SAMPLE);
}

TEST(perf_data_has_the_formats_of_tracepoints)
{
	MAKER;

	perf_data_begin(&m, &traced, 1);
	perf_data_sample(&m, 100, 20, 0x401000);
	perf_data_feature(&m, 1);
	write_tracing(&m.features);
	perf_data_end(&m);
	check_traced(&m);
}

/* Behind the record of its size, as perf writes it, or within the record, as simpleperf does. */
static void make_traced_pipe(struct perf_data_maker *m, bool within)
{
	CLEANUP(writer_deinit) struct writer tracing = { 0 };

	write_tracing(&tracing);
	while (tracing.len % 8)
		writer_u8(&tracing, 0);
	perf_data_begin_pipe(m, &traced, 1);
	perf_data_open_record(m, 66, 0);
	writer_u32(&m->w, (uint32_t)tracing.len);
	if (within)
		writer_bytes(&m->w, tracing.data, tracing.len);
	perf_data_close_record(m);
	if (!within)
		writer_bytes(&m->w, tracing.data, tracing.len);
	perf_data_sample(m, 100, 20, 0x401000);
}

TEST(perf_data_of_a_pipe_has_the_formats_of_tracepoints)
{
	MAKER;

	make_traced_pipe(&m, /* within= */ false);
	check_traced(&m);
}

TEST(perf_data_may_have_formats_within_the_record_of_their_size)
{
	MAKER;

	make_traced_pipe(&m, /* within= */ true);
	check_traced(&m);
}

/* A file with everything in it that has a length or a count. */
static void make_rich(struct perf_data_maker *m)
{
	perf_data_begin(m, &cycles, 1);
	perf_data_mmap(m, -1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	perf_data_comm(m, 4, "name");
	perf_data_sample(m, 100, 5, 0x10);
	perf_data_round(m);
	perf_data_sample(m, 100, 6, 0x20);
	perf_data_feature(m, 1);
	write_tracing(&m->features);
	perf_data_feature(m, 3);
	perf_data_text(&m->features, "host");
	perf_data_feature(m, 11);
	writer_u32(&m->features, 1);
	perf_data_text(&m->features, "perf");
	perf_data_feature(m, 17);
	writer_u32(&m->features, 1);
	perf_data_text(&m->features, "group");
	writer_u32(&m->features, 0);
	writer_u32(&m->features, 1);
	perf_data_end(m);
}

TEST(perf_data_survives_every_cut)
{
	MAKER;

	make_rich(&m);
	for (size_t len = 0; len < m.w.len; len++) {
		ARENA;

		list(guarded(m.w.data, len), len, &arena);
	}
}

TEST(perf_data_survives_every_flip)
{
	MAKER;

	make_rich(&m);
	for (size_t i = 0; i < m.w.len; i++) {
		for (unsigned bit = 0; bit < 8; bit += 7) {
			ARENA;

			m.w.data[i] ^= (uint8_t)(1 << bit);
			list(guarded(m.w.data, m.w.len), m.w.len, &arena);
			m.w.data[i] ^= (uint8_t)(1 << bit);
		}
	}
}

TEST(perf_data_of_a_pipe_tells_its_events_as_records)
{
	MAKER;
	ARENA;

	perf_data_begin_pipe(&m, &cycles, 1);
	perf_data_comm(&m, 5, "work");
	perf_data_sample(&m, 100, 20, 0x401000);
	perf_data_round(&m);
	CHECK_STR(listed(&m, &arena), "comm work at 5\nsample 0 at 20 0x401000 *7\n");
}

TEST(perf_data_counts_what_came_after_its_round)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	struct event ev;
	size_t count = 0;
	MAKER;

	perf_data_begin(&m, &cycles, 1);
	perf_data_sample(&m, 100, 20, 0x401000);
	perf_data_round(&m);
	perf_data_round(&m); /* from here on nothing is older than 20 */
	perf_data_sample(&m, 100, 10, 0x401000);
	perf_data_end(&m);
	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));
	while (event_source_next(source, &ev))
		count++;
	CHECK_UINT(count, 2);
	CHECK_UINT(event_source_recording(source)->late_events, 1);
}

/* ---- what is loaded into the kernel, guests, hardware traces ---- */

static void put_ksymbol(struct perf_data_maker *m, uint64_t addr, uint32_t len, const char *name)
{
	perf_data_open_record(m, PERF_RECORD_KSYMBOL, 0);
	writer_u64(&m->w, addr);
	writer_u32(&m->w, len);
	writer_u16(&m->w, PERF_RECORD_KSYMBOL_TYPE_BPF);
	writer_u16(&m->w, 0);
	writer_string(&m->w, name);
	while (m->w.len % 8)
		writer_u8(&m->w, 0);
	perf_data_trailer(m, 100, addr);
	perf_data_close_record(m);
}

/* As perf_data_mmap(), of a virtual machine's kernel. */
static void put_guest_map(struct perf_data_maker *m, uint64_t start, const char *path)
{
	uint16_t misc = PERF_RECORD_MISC_GUEST_KERNEL;
	size_t record = m->w.len;

	perf_data_mmap(m, -1, start, 0x1000, 0, path);
	memcpy(m->w.data + record + 4, &misc, sizeof(misc));
}

TEST(perf_data_names_kernel_code_that_was_loaded)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	struct event ev;
	MAKER;

	perf_data_begin(&m, &cycles, 1);
	put_ksymbol(&m, 0x3000, 0x100, "bpf_prog_c");
	put_ksymbol(&m, 0x1000, 0x100, "bpf_prog_a");
	put_ksymbol(&m, 0x1000, 0x100, "bpf_prog_a"); /* again */
	put_ksymbol(&m, 0x30f0, 0x100, "bpf_prog_d"); /* where a part of another one was */
	perf_data_end(&m);
	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));
	while (event_source_next(source, &ev))
		CHECK_UINT(ev.kind, EVENT_KSYMBOL);
	CHECK_OK(event_source_finish(source));

	const struct recording *rec = event_source_recording(source);

	CHECK_UINT(rec->nloaded, 2);
	CHECK_UINT(rec->loaded[0].addr, 0x1000);
	CHECK_STR(rec->loaded[0].name, "bpf_prog_a");
	CHECK_UINT(rec->loaded[1].addr, 0x3000);
	CHECK_UINT(rec->loaded[1].len, 0x1f0);
	CHECK_STR(rec->loaded[1].name, "bpf_prog_c or bpf_prog_d");
}

TEST(perf_data_has_no_mappings_of_guests)
{
	MAKER;
	ARENA;

	perf_data_begin(&m, &cycles, 1);
	put_guest_map(&m, 0xffffffff81000000, "[guest.kernel.kallsyms]");
	perf_data_mmap(&m, 10, 0x1000, 0x1000, 0, "/bin/own");
	perf_data_end(&m);
	CHECK_STR(listed(&m, &arena), "mmap /bin/own 0\n");
}

TEST(perf_data_says_that_hardware_traces_are_skipped)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	MAKER;

	perf_data_begin(&m, &cycles, 1);
	perf_data_open_record(&m, 70, 0); /* AUXTRACE_INFO */
	writer_u32(&m.w, 1);
	writer_u32(&m.w, 0);
	perf_data_close_record(&m);
	perf_data_open_record(&m, 71, 0); /* AUXTRACE, behind which its data follows */
	writer_u64(&m.w, 16);
	perf_data_close_record(&m);
	writer_bytes(&m.w, "no record at all", 16);
	perf_data_sample(&m, 100, 5, 0x10);
	perf_data_end(&m);
	CHECK_OK(perf_data_open_memory(m.w.data, m.w.len, &source));

	const struct recording *rec = event_source_recording(source);
	ARENA;

	CHECK_STR(rec->notes[rec->nnotes - 1].text,
		  "Intel PT data is in the file and is not read: perf script --itrace decodes it");
	CHECK_STR(list_source(source, &arena), "sample 0 at 5 0x10 *7\n");
}

/* ---- folders of perf record --threads ---- */

#define FEATURE_DIR_FORMAT 24

/* What @m has from @from on, as a file called @name. */
static const char *save(const struct perf_data_maker *m, size_t from, const char *name)
{
	const char *path = test_path(name);
	FILE *out = fopen(path, "w");
	size_t len = m->w.len - from;

	CHECK(out && (!len || fwrite(m->w.data + from, 1, len, out) == len));
	fclose(out);
	return path;
}

/* A file of records only, as "data.NUMBER"; the times of its samples end with 0. */
static void save_part(const char *name, const uint64_t *times_ns, size_t cut)
{
	MAKER;

	for (; *times_ns; times_ns++)
		perf_data_sample(&m, 100, *times_ns, *times_ns);
	m.w.len -= cut;
	save(&m, 0, name);
}

static const char *save_first(void)
{
	MAKER;

	perf_data_begin(&m, &cycles, 1);
	perf_data_comm(&m, 0, "before");
	perf_data_feature(&m, FEATURE_DIR_FORMAT);
	writer_u64(&m.features, 1);
	perf_data_end(&m);
	return save(&m, 0, "data");
}

static struct err *open_folder(const char *folder, struct event_source **ret)
{
	struct trace_file file;

	CHECK_OK(trace_file_open(save_first(), &file));
	return perf_data_open("folder", folder, file, ret);
}

TEST(perf_data_of_threads_is_read_in_order_of_time)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	ARENA;

	save_part("data.0", (const uint64_t[]){ 10, 30, 20, 50, 0 }, 0); /* the rings of two CPUs */
	save_part("data.1", (const uint64_t[]){ 0 }, 0);
	save_part("data.10", (const uint64_t[]){ 5, 40, 60, 0 }, 8); /* its last record is cut */
	CHECK_OK(open_folder(test_path(""), &source));
	CHECK_STR(list_source(source, &arena), "comm before at 0\nsample 0 at 5 0x5 *7\nsample 0 at 10 0xa *7\n"
					       "sample 0 at 20 0x14 *7\nsample 0 at 30 0x1e *7\nsample 0 at 40 0x28 *7\n"
					       "sample 0 at 50 0x32 *7\nin 'data.10': the record at offset 112 is cut\n");

	const struct recording *rec = event_source_recording(source);

	CHECK(!rec->complete);
	CHECK_STR(rec->notes[rec->nnotes - 1].text, "files of the folder are missing: data.2 to data.9");
}

TEST(perf_data_of_threads_without_its_parts_is_refused)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;

	CHECK_ERR(open_folder(NULL, &source), ERR_CORRUPT, "to files beside it, data.0");
	CHECK_ERR(open_folder(test_path(""), &source), ERR_CORRUPT, "to files beside it, data.0");
}
