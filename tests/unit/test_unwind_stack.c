/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/unwind_stack.h"
#include "tests/unit/test.h"

static const uint32_t slots[] = { 0, 3 };
static const uint64_t words[] = { 0x11, 0x33 };

static struct event_stack snapshot(bool cut, bool shortened)
{
	return (struct event_stack){ .base = 0x7000,
				     .end = 0x7000 + 4 * 8,
				     .slots = slots,
				     .words = words,
				     .nwords = 2,
				     .cut = cut,
				     .shortened = shortened };
}

static enum unwind_read read_of(const struct event_stack *from, uint64_t address)
{
	struct unwind_stack stack;
	uint64_t word = 0;

	unwind_stack_init(&stack, from);
	enum unwind_read read = unwind_stack_word(&stack, address, &word);

	CHECK(stack.failed == (read != UNWIND_READ_OK));
	CHECK(!stack.failed || stack.missing == address);
	return read;
}

TEST(unwind_stack_reads_words_and_what_pruning_left_out_as_zero)
{
	struct event_stack from = snapshot(false, false);
	struct unwind_stack stack;
	uint64_t word;

	unwind_stack_init(&stack, &from);
	CHECK(unwind_stack_word(&stack, 0x7000, &word) == UNWIND_READ_OK);
	CHECK_UINT(word, 0x11);
	CHECK(unwind_stack_word(&stack, 0x7008, &word) == UNWIND_READ_OK);
	CHECK_UINT(word, 0);
	CHECK(unwind_stack_word(&stack, 0x7018, &word) == UNWIND_READ_OK);
	CHECK_UINT(word, 0x33);
}

/* Data that looks like an address not far above the stack is 0 once it is pruned: it must not look like the stack's end. */
TEST(unwind_stack_goes_on_beyond_its_end_only_as_far_as_pruning_keeps_words)
{
	struct event_stack whole = snapshot(false, false), cut = snapshot(true, false);
	struct event_stack lean = snapshot(false, true);
	uint64_t end = whole.end;

	CHECK(read_of(&whole, end) == UNWIND_READ_ELSEWHERE);
	CHECK(read_of(&cut, end) == UNWIND_READ_BEYOND);
	CHECK(read_of(&cut, end + EVENT_STACK_BEYOND - 8) == UNWIND_READ_BEYOND);
	CHECK(read_of(&cut, end + EVENT_STACK_BEYOND) == UNWIND_READ_ELSEWHERE);
	CHECK(read_of(&lean, end) == UNWIND_READ_BEYOND);
	CHECK(read_of(&lean, end + EVENT_STACK_MAX) == UNWIND_READ_ELSEWHERE);
	CHECK(read_of(&cut, cut.base - 8) == UNWIND_READ_ELSEWHERE);
}
