/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_perf_record.c - records of the kernel, field by field, whole and cut short.
 */
#include "formats/perf/perf_record.h"

#include "formats/perf/perf_record_place.h"

#include "formats/base/memory.h"
#include "formats/base/writer.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define IDENTITY    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define FORMAT_LOST 16

static const struct perf_layout side_band = {
	.sample_type = IDENTITY,
	.arch = &arch_x86_64,
	.sample_id_all = true,
	.build_ids = true,
};

/* A record under construction, and what it was parsed to. */
struct bench {
	struct writer w;
	struct perf_record *rec;
};

static void bench_cleanup(struct bench *b)
{
	writer_deinit(&b->w);
	free(b->rec);
}

#define BENCH                  \
	CLEANUP(bench_cleanup) \
	struct bench b = { .rec = memory_zeroed(1, sizeof(struct perf_record)) }

static void begin(struct bench *b, uint32_t type, uint16_t misc)
{
	writer_reset(&b->w);
	writer_u32(&b->w, type);
	writer_u16(&b->w, misc);
	writer_u16(&b->w, 0);
}

static void put_padded(struct bench *b, const char *text)
{
	writer_string(&b->w, text);
	while (b->w.len % 8)
		writer_u8(&b->w, 0);
}

/* pid 10, tid 11, time 12, CPU 3, id 99 */
static void put_trailer(struct bench *b)
{
	writer_u32(&b->w, 10);
	writer_u32(&b->w, 11);
	writer_u64(&b->w, 12);
	writer_u32(&b->w, 3);
	writer_u32(&b->w, 0);
	writer_u64(&b->w, 99);
}

static void set_size(struct bench *b)
{
	b->w.data[6] = (uint8_t)b->w.len;
	b->w.data[7] = (uint8_t)(b->w.len >> 8);
}

/* Every shorter record must fail or, where a string could end earlier, at least not read too far. */
static void check_truncations(struct bench *b, const struct perf_layout *layout)
{
	for (size_t len = 0; len < b->w.len; len++)
		err_free(perf_record_parse(layout, guarded(b->w.data, len), len, false, b->rec));
}

static const struct event *parse(struct bench *b, const struct perf_layout *layout)
{
	set_size(b);
	check_truncations(b, layout);
	CHECK_OK(perf_record_parse(layout, guarded(b->w.data, b->w.len), b->w.len, false, b->rec));
	CHECK(b->rec->known);
	CHECK_UINT(b->rec->id, 99);
	CHECK_UINT(perf_record_id(b->w.data, b->w.len, false), 99);
	CHECK_UINT(b->rec->event.cpu, 3);
	CHECK_UINT(b->rec->event.time_ns, 12);
	return &b->rec->event;
}

static void put_mmap2_with_inode(struct bench *b, uint16_t misc)
{
	begin(b, PERF_RECORD_MMAP2, misc);
	writer_u32(&b->w, 20);
	writer_u32(&b->w, 21);
	writer_u64(&b->w, 0x1000);
	writer_u64(&b->w, 0x2000);
	writer_u64(&b->w, 0x3000);
	writer_u32(&b->w, 8);
	writer_u32(&b->w, 1);
	writer_u64(&b->w, 77);
	writer_u64(&b->w, 5);
	writer_u32(&b->w, PROT_READ | PROT_EXEC);
	writer_u32(&b->w, MAP_PRIVATE);
	put_padded(b, "/bin/true");
	put_trailer(b);
}

TEST(perf_record_mmap2_with_inode)
{
	BENCH;

	put_mmap2_with_inode(&b, PERF_RECORD_MISC_USER);
	const struct event *ev = parse(&b, &side_band);

	CHECK_UINT(ev->kind, EVENT_MMAP);
	CHECK_UINT(ev->pid, 20); /* the record's, not the trailer's */
	CHECK_UINT(ev->tid, 21);
	CHECK_UINT(ev->mmap.start, 0x1000);
	CHECK_UINT(ev->mmap.end, 0x3000);
	CHECK_UINT(ev->mmap.file_offset, 0x3000);
	CHECK_UINT(ev->mmap.device, 0x801);
	CHECK_UINT(ev->mmap.inode, 77);
	CHECK_UINT(ev->mmap.generation, 5);
	CHECK_UINT(ev->mmap.flags, EVENT_MMAP_EXEC);
	CHECK_UINT(ev->mmap.build_id_len, 0);
	CHECK_STR(ev->mmap.path, "/bin/true");
}

/* The header may be what the kernel made for another listener, who had asked for build IDs. */
TEST(perf_record_mmap2_has_no_build_id_that_was_not_asked_for)
{
	BENCH;
	struct perf_layout layout = side_band;

	layout.build_ids = false;
	put_mmap2_with_inode(&b, PERF_RECORD_MISC_USER | 1U << 14);
	const struct event *ev = parse(&b, &layout);

	CHECK_UINT(ev->mmap.build_id_len, 0);
	CHECK_UINT(ev->mmap.inode, 77);
	CHECK_UINT(ev->mmap.device, 0x801);
}

TEST(perf_record_mmap2_with_build_id)
{
	static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

	for (uint8_t len = 0; len <= 21; len++) {
		BENCH;

		begin(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | 1U << 14);
		writer_u64(&b.w, 20);
		writer_u64(&b.w, 0x1000);
		writer_u64(&b.w, 0x2000);
		writer_u64(&b.w, 0);
		writer_u8(&b.w, len);
		writer_u8(&b.w, 0);
		writer_u16(&b.w, 0);
		writer_bytes(&b.w, id, sizeof(id));
		writer_u64(&b.w, PROT_READ);
		put_padded(&b, "x");
		put_trailer(&b);
		const struct event *ev = parse(&b, &side_band);

		CHECK_UINT(ev->mmap.flags, 0);
		CHECK_UINT(ev->mmap.build_id_len, len > 20 ? 0 : len);
		CHECK_MEM(ev->mmap.build_id, id, ev->mmap.build_id_len);
	}
}

TEST(perf_record_names_forks_and_exits)
{
	BENCH;

	begin(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	writer_u32(&b.w, 30);
	writer_u32(&b.w, 31);
	put_padded(&b, "a\033[1mb");
	put_trailer(&b);
	const struct event *ev = parse(&b, &side_band);

	CHECK_UINT(ev->kind, EVENT_COMM);
	CHECK_UINT(ev->tid, 31);
	CHECK_STR(ev->comm.comm, "a\033[1mb");
	CHECK(ev->comm.exec);

	for (uint32_t type = PERF_RECORD_EXIT; type <= PERF_RECORD_FORK; type++) {
		if (type != PERF_RECORD_EXIT && type != PERF_RECORD_FORK)
			continue;
		begin(&b, type, 0);
		writer_u32(&b.w, 40);
		writer_u32(&b.w, 41);
		writer_u32(&b.w, 42);
		writer_u32(&b.w, 43);
		writer_u64(&b.w, 12);
		put_trailer(&b);
		ev = parse(&b, &side_band);
		CHECK_UINT(ev->kind, type == PERF_RECORD_FORK ? EVENT_FORK : EVENT_EXIT);
		CHECK_UINT(ev->pid, 40);
		CHECK_UINT(ev->tid, 42);
		if (type != PERF_RECORD_FORK)
			continue;
		CHECK_UINT(ev->fork.parent_pid, 41);
		CHECK_UINT(ev->fork.parent_tid, 43);
	}
}

TEST(perf_record_losses_and_throttling)
{
	BENCH;

	begin(&b, PERF_RECORD_LOST, 0);
	writer_u64(&b.w, 55);
	writer_u64(&b.w, 1234);
	put_trailer(&b);
	CHECK_UINT(parse(&b, &side_band)->lost.count, 1234);
	CHECK_UINT(b.rec->event.kind, EVENT_LOST);
	CHECK_UINT(b.rec->about_id, 55);

	begin(&b, PERF_RECORD_LOST_SAMPLES, 0);
	writer_u64(&b.w, 9);
	put_trailer(&b);
	CHECK_UINT(parse(&b, &side_band)->kind, EVENT_LOST_SAMPLES);
	CHECK_UINT(b.rec->event.lost.count, 9);

	begin(&b, PERF_RECORD_THROTTLE, 0);
	writer_u64(&b.w, 12);
	writer_u64(&b.w, 56);
	writer_u64(&b.w, 57);
	put_trailer(&b);
	CHECK(parse(&b, &side_band)->throttle.stopped);
	CHECK_UINT(b.rec->about_id, 56);
}

TEST(perf_record_switches_symbols_cgroups_and_code_changes)
{
	BENCH;

	begin(&b, PERF_RECORD_SWITCH,
	      PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_trailer(&b);
	CHECK(!parse(&b, &side_band)->cpu_switch.in);
	CHECK(b.rec->event.cpu_switch.preempted);

	begin(&b, PERF_RECORD_KSYMBOL, 0);
	writer_u64(&b.w, 0xffffffffc0001000);
	writer_u32(&b.w, 64);
	writer_u16(&b.w, 1);
	writer_u16(&b.w, 1);
	put_padded(&b, "bpf_prog_1");
	put_trailer(&b);
	CHECK_STR(parse(&b, &side_band)->ksymbol.name, "bpf_prog_1");
	CHECK(b.rec->event.ksymbol.removed);
	CHECK_UINT(b.rec->event.ksymbol.len, 64);

	begin(&b, PERF_RECORD_CGROUP, 0);
	writer_u64(&b.w, 4711);
	put_padded(&b, "/a/b");
	put_trailer(&b);
	CHECK_STR(parse(&b, &side_band)->cgroup.path, "/a/b");
	CHECK_UINT(b.rec->event.cgroup.id, 4711);

	begin(&b, PERF_RECORD_TEXT_POKE, 0);
	writer_u64(&b.w, 0xffffffff81000000);
	writer_u16(&b.w, 2);
	writer_u16(&b.w, 3);
	writer_bytes(&b.w, "\x90\x90\xe8\x01\x02", 5);
	while (b.w.len % 8)
		writer_u8(&b.w, 0);
	put_trailer(&b);
	CHECK_UINT(parse(&b, &side_band)->text_poke.new_len, 3);
	CHECK_MEM(b.rec->event.text_poke.new_code, "\xe8\x01\x02", 3);
}

/* What a kernel appends to a record that it told another recorder of before. */
static const struct event *parse_longer(struct bench *b, const struct perf_layout *layout)
{
	size_t len = b->w.len;

	for (uint64_t i = 0; i < 8; i++)
		writer_u64(&b->w, 0x2f7573722f6c6962 + i);
	set_size(b);
	CHECK_UINT(perf_record_own_len(layout, b->w.data, b->w.len, false), len);
	CHECK_UINT(perf_record_place_time(layout, b->w.data, b->w.len), 12);
	check_truncations(b, layout);
	CHECK_OK(perf_record_parse(layout, guarded(b->w.data, b->w.len), b->w.len, false, b->rec));
	CHECK_UINT(b->rec->id, 99);
	CHECK_UINT(b->rec->event.cpu, 3);
	CHECK_UINT(b->rec->event.time_ns, 12);
	return &b->rec->event;
}

TEST(perf_record_of_programs_symbols_and_code_may_be_longer_than_it_is)
{
	BENCH;

	begin(&b, PERF_RECORD_BPF_EVENT, 0);
	writer_u16(&b.w, 2);
	writer_u16(&b.w, 0);
	writer_u32(&b.w, 443);
	writer_bytes(&b.w, "\xe5\x39\x8a\x12\x12\x94\x3d\x9f", 8);
	put_trailer(&b);
	CHECK_UINT(parse_longer(&b, &side_band)->bpf.id, 443);

	begin(&b, PERF_RECORD_KSYMBOL, 0);
	writer_u64(&b.w, 0xffffffffc0001000);
	writer_u32(&b.w, 64);
	writer_u16(&b.w, 1);
	writer_u16(&b.w, 0);
	put_padded(&b, "bpf_prog_e5398a1212943d9f");
	put_trailer(&b);
	CHECK_STR(parse_longer(&b, &side_band)->ksymbol.name, "bpf_prog_e5398a1212943d9f");

	begin(&b, PERF_RECORD_TEXT_POKE, 0);
	writer_u64(&b.w, 0xffffffff81000000);
	writer_u16(&b.w, 2);
	writer_u16(&b.w, 3);
	writer_bytes(&b.w, "\x90\x90\xe8\x01\x02", 5);
	while (b.w.len % 8)
		writer_u8(&b.w, 0);
	put_trailer(&b);
	CHECK_MEM(parse_longer(&b, &side_band)->text_poke.new_code, "\xe8\x01\x02", 3);
}

TEST(perf_record_of_an_unknown_kind_is_no_error)
{
	BENCH;

	begin(&b, 4000, 0);
	writer_u64(&b.w, 1);
	CHECK_OK(perf_record_parse(&side_band, b.w.data, b.w.len, false, b.rec));
	CHECK(!b.rec->known);
}

static const struct perf_layout full = {
	.sample_type = IDENTITY | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |
		       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_ADDR,
	.read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | FORMAT_LOST,
	.regs_user = 1U << 0 | 1U << 7 | 1U << 8 | 1U << 9 | 1U << 10, /* ax sp ip flags cs */
	.arch = &arch_x86_64,
	.sample_id_all = true,
};

/* Up to the chain. */
static void put_sample_head(struct bench *b)
{
	begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	writer_u64(&b->w, 99);
	writer_u64(&b->w, 0x401000);
	writer_u32(&b->w, 10);
	writer_u32(&b->w, 11);
	writer_u64(&b->w, 12);
	writer_u64(&b->w, 0xadd7);
	writer_u32(&b->w, 3);
	writer_u32(&b->w, 0);
	writer_u64(&b->w, 1000);
	writer_u64(&b->w, 2); /* group: enabled, then value, id, lost of each */
	writer_u64(&b->w, 500);
	for (uint64_t i = 0; i < 2; i++) {
		writer_u64(&b->w, 7000 + i);
		writer_u64(&b->w, 99 + i);
		writer_u64(&b->w, 0);
	}
}

static void put_sample_tail(struct bench *b)
{
	static const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000001, 0xffffffff81000002,
		(uint64_t)PERF_CONTEXT_USER,   0x401000,           0x401100
	};

	writer_u64(&b->w, ARRAY_LEN(chain));
	for (size_t i = 0; i < ARRAY_LEN(chain); i++)
		writer_u64(&b->w, chain[i]);
	writer_u32(&b->w, 4);
	writer_bytes(&b->w, "RAW!", 4);
	writer_u64(&b->w, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < 5; i++)
		writer_u64(&b->w, 0x100 + i);
	writer_u64(&b->w, 24); /* room for three words, two of them copied */
	writer_u64(&b->w, 0xaaaa);
	writer_u64(&b->w, 0xbbbb);
	writer_u64(&b->w, 0xdeadbeef);
	writer_u64(&b->w, 16);
}

TEST(perf_record_sample_with_everything)
{
	BENCH;

	put_sample_head(&b);
	put_sample_tail(&b);
	const struct event *ev = parse(&b, &full);
	const struct event_sample *sample = &ev->sample;

	CHECK_UINT(ev->kind, EVENT_SAMPLE);
	CHECK_UINT(ev->pid, 10);
	CHECK_UINT(sample->event, RECORDING_NO_EVENT);
	CHECK_UINT(sample->mode, EVENT_MODE_KERNEL);
	CHECK_UINT(sample->ip, 0x401000);
	CHECK_UINT(sample->addr, 0xadd7);
	CHECK_UINT(sample->period, 1000);
	CHECK_UINT(sample->ncounts, 2);
	CHECK_UINT(sample->counts[1].value, 7001);
	CHECK_UINT(sample->counts[1].enabled_ns, 500);
	CHECK_UINT(b.rec->count_ids[1], 100);
	CHECK_UINT(sample->nkernel_ips, 2);
	CHECK_UINT(sample->kernel_ips[1], 0xffffffff81000002);
	CHECK_UINT(sample->nuser_ips, 2);
	CHECK_UINT(sample->user_ips[1], 0x401100);
	CHECK_UINT(sample->raw_len, 4);
	CHECK_MEM(sample->raw, "RAW!", 4);
	CHECK_UINT(sample->regs->values[0], 0x100);
	CHECK_UINT(sample->regs->values[arch_x86_64.sp], 0x101);
	CHECK_UINT(sample->regs->values[arch_x86_64.ip], 0x102);
	CHECK_UINT(sample->regs->mask, 1ULL | 1ULL << arch_x86_64.sp | 1ULL << arch_x86_64.ip);
	CHECK_UINT(b.rec->stack_len, 16);
	CHECK_UINT(b.rec->stack_room, 24);
	CHECK_MEM(b.rec->stack, "\xaa\xaa\0\0\0\0\0\0\xbb\xbb", 10);
}

/* What reads a thread's memory at the sample wants registers, not the tens of kilobytes of stack behind them. */
TEST(perf_record_has_registers_without_the_stack_behind_them)
{
	BENCH;
	const struct event_regs *regs;
	size_t end;

	put_sample_head(&b);
	put_sample_tail(&b);
	end = b.w.len - 40; /* room, three words, length */
	regs = perf_record_regs(&full, guarded(b.w.data, end), end, false, b.rec);
	CHECK(regs);
	CHECK_UINT(regs->values[arch_x86_64.sp], 0x101);
	for (size_t len = 0; len < end; len++)
		CHECK(!perf_record_regs(&full, guarded(b.w.data, len), len, false, b.rec));
	CHECK(!perf_record_regs(&side_band, guarded(b.w.data, end), end, false, b.rec));
}

TEST(perf_record_finds_what_follows_the_counters_of_branches)
{
	BENCH;
	const struct perf_layout layout = {
		.sample_type = IDENTITY | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | 1U << 19, /* PERF_SAMPLE_BRANCH_COUNTERS */
		.arch = &arch_x86_64,
	};

	begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	writer_u64(&b.w, 99);
	writer_u32(&b.w, 10);
	writer_u32(&b.w, 11);
	writer_u64(&b.w, 12);
	writer_u64(&b.w, 3);
	writer_u64(&b.w, 2); /* branches: from, to, flags of each, then a word for each */
	for (uint64_t i = 0; i < 2 * 3 + 2; i++)
		writer_u64(&b.w, 100 + i);
	writer_u64(&b.w, 77); /* weight */
	const struct event *ev = parse(&b, &layout);

	CHECK_UINT(ev->sample.nbranches, 2);
	CHECK_UINT(ev->sample.branches[1].from, 103);
	CHECK_UINT(ev->sample.weight, 77);
}

TEST(perf_record_sample_rejects_every_truncation)
{
	BENCH;

	put_sample_head(&b);
	put_sample_tail(&b);
	for (size_t len = 0; len < b.w.len; len++)
		CHECK_ERR(perf_record_parse(&full, guarded(b.w.data, len), len, false, b.rec),
			  ERR_CORRUPT, "");
}

TEST(perf_record_sample_rejects_impossible_counts)
{
	static const uint64_t counts[] = { 1000, 1ULL << 32, UINT64_MAX / 8 + 2, UINT64_MAX };
	BENCH;

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		put_sample_head(&b);
		writer_u64(&b.w, counts[i]); /* chain */
		writer_u64(&b.w, 0);
		CHECK_ERR(
			perf_record_parse(&full, guarded(b.w.data, b.w.len), b.w.len, false, b.rec),
			ERR_CORRUPT, "count");
	}
	put_sample_head(&b);
	put_sample_tail(&b);
	b.w.data[b.w.len - 8] = 25; /* more copied than there was room for */
	CHECK_ERR(perf_record_parse(&full, guarded(b.w.data, b.w.len), b.w.len, false, b.rec),
		  ERR_CORRUPT, "stack");
}

TEST(perf_record_of_a_kernel_thread_has_no_registers_nor_stack)
{
	BENCH;

	put_sample_head(&b);
	writer_u64(&b.w, 0); /* chain */
	writer_u32(&b.w, 4); /* raw */
	writer_u32(&b.w, 0);
	writer_u64(&b.w, PERF_SAMPLE_REGS_ABI_NONE);
	writer_u64(&b.w, 0); /* stack */
	const struct event *ev = parse(&b, &full);

	CHECK(!ev->sample.regs);
	CHECK(!b.rec->stack);
	CHECK_UINT(ev->sample.nuser_ips, 0);
}

TEST(perf_record_in_the_other_byte_order)
{
	static const uint8_t comm[] = { 0,   0, 0, 3, 0, 0, 0, 32, 0, 0, 0, 7, 0, 0, 0, 8,
					'a', 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 99 };
	static const struct perf_layout layout = {
		.sample_type = PERF_SAMPLE_IDENTIFIER,
		.arch = &arch_x86_64,
		.sample_id_all = true,
	};
	BENCH;

	CHECK_OK(
		perf_record_parse(&layout, guarded(comm, sizeof(comm)), sizeof(comm), true, b.rec));
	CHECK_UINT(b.rec->event.pid, 7);
	CHECK_STR(b.rec->event.comm.comm, "a");
	CHECK_UINT(perf_record_id(comm, sizeof(comm), true), 99);
}
