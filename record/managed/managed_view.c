/* SPDX-License-Identifier: Apache-2.0 */
#include "record/managed/managed_view.h"

#include "formats/base/compiler.h"

#include <string.h>
#include <time.h>

#define COPIES_UNTIMED 256 /* so many copies take some microseconds */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void managed_view_begin(struct managed_view *view, managed_read_fn *read, void *context,
			uint64_t time_ns)
{
	view->read = read;
	view->context = context;
	view->deadline_ns = now_ns() + time_ns;
	view->reads = view->copies = 0;
	view->failed = false;
	for (size_t i = 0; i < MANAGED_PAGES; i++)
		view->pages[i].number = 0;
}

/* The page with @number, read if it is not there; NULL when time or reads are spent. */
static struct managed_page *get_page(struct managed_view *view, uint64_t number)
{
	struct managed_page *page = &view->pages[number % MANAGED_PAGES];

	if (page->number == number)
		return page;
	if (view->reads++ >= MANAGED_READS_MAX || now_ns() > view->deadline_ns) {
		view->failed = true;
		return NULL;
	}
	page->number = number;
	page->end = view->read(view->context, number * MANAGED_PAGE_LEN, page->data,
			       MANAGED_PAGE_LEN);
	return page;
}

bool managed_view_try(struct managed_view *view, uint64_t addr, void *ret, size_t len)
{
	uint8_t *to = ret;
	uint64_t end;

	memset(ret, 0, len);
	/* Frames that lead back to each other lie in pages that are here already. */
	if (++view->copies % COPIES_UNTIMED == 0 && now_ns() > view->deadline_ns)
		view->failed = true;
	if (view->failed || addr < MANAGED_PAGE_LEN || __builtin_add_overflow(addr, len, &end))
		return false;
	while (len) {
		const struct managed_page *page = get_page(view, addr / MANAGED_PAGE_LEN);
		size_t offset = addr % MANAGED_PAGE_LEN;
		size_t part = MIN(len, MANAGED_PAGE_LEN - offset);

		if (!page || offset + part > page->end)
			return false;
		memcpy(to, page->data + offset, part);
		to += part;
		addr += part;
		len -= part;
	}
	return true;
}

bool managed_view_copy(struct managed_view *view, uint64_t addr, void *ret, size_t len)
{
	if (!managed_view_try(view, addr, ret, len))
		view->failed = true;
	return !view->failed;
}

uint64_t managed_view_u64(struct managed_view *view, uint64_t addr)
{
	uint64_t value;

	return managed_view_copy(view, addr, &value, sizeof(value)) ? value : 0;
}

uint32_t managed_view_u32(struct managed_view *view, uint64_t addr)
{
	uint32_t value;

	return managed_view_copy(view, addr, &value, sizeof(value)) ? value : 0;
}

uint8_t managed_view_u8(struct managed_view *view, uint64_t addr)
{
	uint8_t value;

	return managed_view_copy(view, addr, &value, sizeof(value)) ? value : 0;
}
