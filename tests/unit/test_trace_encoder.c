/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_encoder.c - what is left of one block for the next; what blocks hold is tested by way of files (test_trace_writer.c).
 */
#include "formats/trace/trace_encoder.h"

#include "tests/unit/test.h"

#include <malloc.h>

#define THREADS	  400
#define WORDS	  4096
#define BLOCKS	  8
#define KEPT_MOST (4u << 20)

/* Of each block another tenth of the threads has a deep stack. */
static void fill_block(struct trace_encoder *enc, unsigned number, const uint32_t *slots, const uint64_t *words)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		bool deep = i % BLOCKS == number;
		struct event_regs regs = { 0 };
		struct event ev = { .kind = EVENT_SAMPLE, .time_ns = i, .pid = 1000 + i, .tid = 1000 + i };

		ev.sample.regs = &regs;
		ev.sample.stack = (struct event_stack){ .base = 4096, .end = 4096 + WORDS * 8, .nwords = deep ? WORDS : 8, .slots = slots,
							.words = words };
		trace_encoder_add(enc, &ev);
	}
}

TEST(trace_encoder_keeps_little_of_the_threads_of_a_block)
{
	struct trace_encoder *enc = trace_encoder_new(&arch_x86_64);
	size_t lens[TRACE_COLUMNS], first = 0;
	static uint32_t slots[WORDS];
	static uint64_t words[WORDS];
	struct writer out = { 0 };

	for (uint32_t i = 0; i < WORDS; i++) {
		slots[i] = i;
		words[i] = 8 * i;
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		fill_block(enc, i, slots, words);
		writer_reset(&out);
		trace_encoder_finish(enc, &out, lens);
		first = i ? first : mallinfo2().uordblks;
	}
	/* 0 where another allocator is in the C library's place. */
	CHECK(mallinfo2().uordblks <= first + KEPT_MOST);
	trace_encoder_free(enc);
	writer_deinit(&out);
}
