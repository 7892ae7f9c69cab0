/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_pprof_legacy.c - values as `go tool pprof -raw` prints them for these very bytes.
 */
#include "formats/base/writer.h"
#include "tests/unit/import_case.h"

#include <string.h>

/* Go's heap with debug=1: the period is half of what stands there; 112 bytes of 32 KiB are sampled once in 293 times. */
TEST(legacy_heap_is_scaled_as_pprof_does_and_named_by_its_comments)
{
	struct import_case c;

	import_case_text(&c, "heap profile: 1: 112 [33: 4696] @ heap/65536\n"
			     "1: 112 [32: 3584] @ 0x41e645 0x495968\n"
			     "#\t0x41e644\tmain.inner+0x3b\t/src/a.go:390\n"
			     "#\t0x41e644\tmain.outer+0x3b\t/src/a.go:12\n"
			     "#\t0x495967\tmain.main+0x67\t\t/src/a.go:145\n\n"
			     "0: 0 [1: 1112] @ 0x41e645\n\n"
			     "# runtime.MemStats\n# Alloc = 1\n");
	CHECK_STR(c.importer->name, "pprof-legacy");
	CHECK_STR(profile_text(c.p, c.p->types.items[0].name), "inuse_space");
	CHECK_INT(import_case_sum(&c, "inuse_objects").weight, 293);
	CHECK_INT(import_case_sum(&c, "inuse_space").weight, 32824);
	CHECK_INT(import_case_sum(&c, "alloc_objects").weight, 9378 + 29);
	CHECK_INT(import_case_sum(&c, "alloc_space").weight, 1050369 + 33327);
	CHECK_STR(import_case_stack(&c, 0), "main.inner:390+main.outer:12<main.main:145");
	CHECK_UINT(c.p->label_sets.items[c.p->samples.items[0].labels].count, 1); /* bytes of a block */
	import_case_close(&c);
}

TEST(legacy_heap_of_jemalloc_counts_each_stack_once)
{
	struct import_case c;

	import_case_text(&c, "heap_v2/1048576\n  t*: 9: 900 [0: 0]\n  t0: 9: 900 [0: 0]\n"
			     "@ 0x5001 0x5002\n  t*: 1328: 87058379 [0: 0]\n  t1: 20: 1311120 [0: 0]\n"
			     "\nMAPPED_LIBRARIES:\n5000-6000 r-xp 00000000 fe:01 1234   /usr/bin/prog\n");
	CHECK_INT(import_case_sum(&c, "objects").weight, 21912);
	CHECK_UINT(c.p->samples.len, 2);
	CHECK_STR(import_case_stack(&c, 0), "[prog+0x5000]<[prog+0x5001]");
	import_case_close(&c);
}

TEST(legacy_stacks_of_nothing_but_zeros_are_none)
{
	struct import_case c;

	import_case_text(&c, "threadcreate profile: total 6\n5 @ 0x0 0x0 0x0\n#\t0x0\n\n1 @ 0x44cc75 0x0\n");
	CHECK_INT(import_case_sum(&c, "threadcreate").weight, 6);
	CHECK_STR(import_case_stack(&c, 0), "");
	CHECK_STR(import_case_stack(&c, 1), "[unknown+0x44cc74]");
	import_case_close(&c);
}

TEST(legacy_contention_becomes_nanoseconds)
{
	struct import_case c;

	import_case_text(&c, "--- contentionz 1 ---\ncycles/second = 3201000000\nsampling period = 100\n"
			     "ms since reset = 1650\n 19490304 27 @ 0xbccc97 0xc61202\n 768 1 @ 0xbccc97\n"
			     "MAPPED_LIBRARIES:\n00400000-00fcb000: prog\n");
	CHECK_STR(profile_text(c.p, c.p->types.items[0].name), "delay");
	CHECK_INT(import_case_sum(&c, "contentions").weight, 2800);
	CHECK_UINT(import_case_sum(&c, "contentions").count, 28);
	CHECK_INT(import_case_sum(&c, "delay").weight, 608881724 + 23992);
	CHECK_UINT(c.facts.duration_ns, 1650000000);
	import_case_close(&c);
}

TEST(legacy_counts_and_threads)
{
	struct import_case c;

	import_case_text(&c, "goroutine profile: total 8\n7 @ 0x442b31 0x47ef5d\n1 @ 0x442b31\n");
	CHECK_INT(import_case_sum(&c, "goroutine").weight, 8);
	CHECK_UINT(import_case_sum(&c, "goroutine").count, 8);
	import_case_close(&c);
	import_case_text(&c, "--- threadz 1 ---\n\n"
			     "--- Thread 7ff7 (name: main/14748) stack: ---\n  PC: 0x00bc8f1c: helper(arg *)\n  0x0040be31: main\n"
			     "--- Thread 7f79 (name: one/14751) stack: ---\n    [same as previous thread]\n"
			     "--- Memory map: ---\n  00400000-00fcb000: prog\n");
	CHECK_INT(import_case_sum(&c, "thread").weight, 2);
	CHECK_INT(import_case_part(&c, "thread", NULL, "one").weight, 1);
	CHECK_UINT(c.p->threads.items[c.p->samples.items[1].thread].tid, 14751);
	CHECK_STR(import_case_stack(&c, 1), "[prog+0xbc8f1c]<[prog+0x40be30]");
	import_case_close(&c);
}

static void word(struct writer *w, unsigned size, bool big, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		writer_u8(w, (uint8_t)(value >> 8 * (big ? size - 1 - i : i)));
}

/* 40 samples whose second frame is the signal handler's, in each of four shapes of words. */
static void make_cpu(struct writer *w, unsigned size, bool big)
{
	static const uint64_t head[] = { 0, 3, 0, 10000, 0 }, end[] = { 0, 1, 0 };

	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		word(w, size, big, head[i]);
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t sample[] = { i + 1, 4, 0x400100 + i % 4, 0x7ff00010, 0x400200, 0x400300 };

		for (size_t k = 0; k < ARRAY_LEN(sample); k++)
			word(w, size, big, sample[k]);
	}
	for (size_t i = 0; i < ARRAY_LEN(end); i++)
		word(w, size, big, end[i]);
	writer_bytes(w, "00400000-00500000 r-xp 00000000 08:01 42 /bin/prog\n", 51);
}

TEST(legacy_cpu_samples_of_all_word_sizes_and_orders)
{
	for (unsigned form = 0; form < 4; form++) {
		struct writer w = { 0 };
		struct import_case c;

		make_cpu(&w, form & 1 ? 8 : 4, form & 2);
		CHECK_OK(import_case_read(&c, w.data, w.len, "prof"));
		CHECK_UINT(import_case_sum(&c, "cpu").count, 820);
		CHECK_INT(import_case_sum(&c, "cpu").weight, 8200000000);
		/* Of the two frames that all have in common, the handler's and the caller's, pprof takes both out. */
		CHECK_STR(import_case_stack(&c, 0), "[prog+0x400100]<[prog+0x4002ff]");
		import_case_close(&c);
		writer_deinit(&w);
	}
}

/* A program that cannot be moved keeps its addresses, what was mapped elsewhere has the file's. */
TEST(legacy_addresses_are_those_of_the_files)
{
	struct import_case c;

	import_case_text(&c, "goroutine profile: total 1\n1 @ 0x401234 0x7f12340054f1 0x55a000002345 0x10\n\nMAPPED_LIBRARIES:\n"
			     "00401000-00402000 r-xp 00001000 fe:01 12   /usr/bin/fixed\n"
			     "7f1234005000-7f1234006000 r-xp 00003000 fe:01 12   /usr/lib/libc.so.6\n"
			     "55a000002000-55a000003000: /usr/bin/prog (@2000) ab12\n");
	CHECK_STR(import_case_stack(&c, 0), "[fixed+0x401233]<[libc.so.6+0x34f0]<[prog+0x2344]<[unknown+0xf]");
	import_case_close(&c);
}

TEST(legacy_files_survive_damage)
{
	static const char text[] = "heap profile: 1: 112 [33: 4696] @ heap/65536\n1: 112 [32: 3584] @ 0x41e645 0x495968\n"
				   "#\t0x41e644\tmain.inner+0x3b\t/src/a.go:390\nMAPPED_LIBRARIES:\nb=/x\n0x0-0x1000: $b/y (@0) ab\n";
	struct writer w = { 0 };

	make_cpu(&w, 8, false);
	import_case_damage(w.data, w.len, "cpu");
	import_case_damage(text, sizeof(text) - 1, "heap");
	writer_deinit(&w);
}
