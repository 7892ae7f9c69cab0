/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_view.c - a view ends, also where all that is asked for is there already.
 */
#include "record/managed/managed_view.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static size_t read_zeroes(void *context, uint64_t addr, void *ret, size_t len)
{
	(void)context;
	(void)addr;
	memset(ret, 0, len);
	return len;
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
