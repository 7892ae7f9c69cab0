/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_view.c - a view ends, also where all that is asked for is there already.
 */
#include "record/managed/managed_view.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static void read_zeroes(void *context, struct task_memory_piece *pieces, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		memset(pieces[i].to, 0, pieces[i].len);
		pieces[i].got = pieces[i].len;
	}
}

TEST(managed_view_ends_though_every_page_is_known)
{
	struct managed_view *view = memory_zeroed(1, sizeof(*view));
	uint8_t byte;

	managed_view_begin(view, read_zeroes, NULL, 1000000);
	CHECK(managed_view_copy(view, 0x10000, &byte, 1));
	view->deadline_ns = 0; /* as later */
	for (unsigned i = 0; i < 1000; i++)
		managed_view_copy(view, 0x10000, &byte, 1);
	CHECK(view->failed);
	free(view);
}

struct counted {
	size_t calls, pieces;
};

static void read_counted(void *context, struct task_memory_piece *pieces, size_t count)
{
	struct counted *counted = context;

	counted->calls++;
	counted->pieces += count;
	read_zeroes(NULL, pieces, count);
}

TEST(managed_view_reads_what_it_needed_last_time_with_one_call)
{
	struct managed_view *view = memory_zeroed(1, sizeof(*view));
	struct managed_recent recent = { 0 };
	struct counted counted = { 0 };

	for (int round = 0; round < 3; round++) {
		counted = (struct counted){ 0 };
		managed_view_begin(view, read_counted, &counted, 1000000000);
		managed_view_want_recent(view, &recent);
		managed_view_fetch(view);
		for (uint64_t i = 1; i <= 5; i++) {
			if (round < 2 || i != 3) /* the last needs less */
				managed_view_u64(view, i << 20);
		}
		managed_view_remember(view, &recent);
		CHECK(!view->failed);
		CHECK_UINT(counted.calls, round ? 1 : 5);
		CHECK_UINT(counted.pieces, 5);
	}
	CHECK_UINT(recent.len, 5);
	CHECK_UINT(recent.parts[0].number, (1u << 20) / MANAGED_PAGE_LEN);
	CHECK_UINT(recent.parts[2].unused, 1);
	free(view);
}

/* Reads of the same place, and how many bytes each copies. */
static void read_measured(void *context, struct task_memory_piece *pieces, size_t count)
{
	size_t *bytes = context;

	for (size_t i = 0; i < count; i++)
		*bytes += pieces[i].len;
	read_zeroes(NULL, pieces, count);
}

TEST(managed_view_reads_ahead_only_what_was_needed_of_a_page)
{
	static const size_t offsets[] = { 64, 64, 128, 64 }, want[] = { 4096, 8, 8 + 4096, 72 };
	struct managed_view *view = memory_zeroed(1, sizeof(*view));
	struct managed_recent recent = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		size_t bytes = 0;

		managed_view_begin(view, read_measured, &bytes, 1000000000);
		managed_view_want_recent(view, &recent);
		managed_view_fetch(view);
		managed_view_u64(view, 0x10000 + offsets[i]);
		managed_view_remember(view, &recent);
		CHECK_UINT(bytes, want[i]);
	}
	/* What nobody needs any more is not read for ever. */
	for (unsigned i = 0; i < MANAGED_UNUSED_MAX; i++) {
		CHECK_UINT(recent.len, 1);
		managed_view_begin(view, read_zeroes, NULL, 1000000000);
		managed_view_want_recent(view, &recent);
		managed_view_fetch(view);
		managed_view_remember(view, &recent);
	}
	CHECK_UINT(recent.len, 0);
	free(view);
}

TEST(managed_view_knows_its_pages_from_those_of_the_last_one)
{
	struct managed_view *view = memory_zeroed(1, sizeof(*view));
	struct counted counted = { 0 };

	for (int round = 0; round < 2; round++) {
		managed_view_begin(view, read_counted, &counted, 1000000000);
		managed_view_u64(view, 0x10000);
		managed_view_u64(view, 0x10008);
	}
	CHECK_UINT(counted.calls, 2);
	view->number = UINT32_MAX; /* numbers begin anew */
	view->pages[3].view = 1;
	managed_view_begin(view, read_counted, &counted, 1000000000);
	CHECK_UINT(view->number, 1);
	CHECK_UINT(view->pages[3].view, 0);
	free(view);
}
