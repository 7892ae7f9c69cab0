/* SPDX-License-Identifier: Apache-2.0 */
#include "record/managed/managed_view.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"

#include <string.h>

#define COPIES_UNTIMED 256 /* so many copies take some microseconds */

static uint64_t now_ns(const struct managed_view *view)
{
	return clock_now_ns(view->by_cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

void managed_view_begin(struct managed_view *view, managed_read_fn *read, void *context,
			uint64_t time_ns)
{
	view->read = read;
	view->context = context;
	view->deadline_ns = now_ns(view) + time_ns;
	view->reads = view->copies = 0;
	view->nwanted = 0;
	view->failed = false;
	/* Pages of earlier views are recognised by their number, which is never 0. */
	if (!++view->number) {
		memset(view->pages, 0, sizeof(view->pages));
		view->number = 1;
	}
}

/* ---- pages ----------------------------------------------------------------------------------------- */

/* Neighbours, and pages of the same place in different mappings, shall not fall on one another. */
static struct managed_page *slot_of(struct managed_view *view, uint64_t number)
{
	return &view->pages[(number ^ number >> 6 ^ number >> 17) % MANAGED_PAGES];
}

static bool is_here(const struct managed_view *view, const struct managed_page *page, uint64_t number)
{
	return page->view == view->number && page->number == number;
}

static void take_slot(struct managed_view *view, struct managed_page *page, uint64_t number)
{
	page->number = number;
	page->view = view->number;
	page->used = false;
	page->end = 0;
	page->data = view->data[page - view->pages];
}

/* Whether another page may be read. */
static bool may_read(struct managed_view *view)
{
	if (view->reads++ >= MANAGED_READS_MAX || now_ns(view) > view->deadline_ns)
		view->failed = true;
	return !view->failed;
}

void managed_view_want(struct managed_view *view, uint64_t addr)
{
	uint64_t number = addr / MANAGED_PAGE_LEN;
	struct managed_page *page = slot_of(view, number);

	/* One that another page of this view has is read when its turn comes. */
	if (!number || page->view == view->number || view->nwanted == MANAGED_RECENT_MAX)
		return;
	take_slot(view, page, number);
	view->wanted[view->nwanted++] = page;
}

void managed_view_fetch(struct managed_view *view)
{
	struct task_memory_piece pieces[MANAGED_RECENT_MAX];
	size_t count = view->nwanted;

	view->nwanted = 0;
	if (!count || view->failed)
		return;
	view->reads += (unsigned)count;
	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct task_memory_piece){ .addr = view->wanted[i]->number *
								 MANAGED_PAGE_LEN,
							.to = view->wanted[i]->data,
							.len = MANAGED_PAGE_LEN };
	view->read(view->context, pieces, count);
	for (size_t i = 0; i < count; i++)
		view->wanted[i]->end = pieces[i].got;
}

/* The page with @number, read if it is not there; NULL when time or reads are spent. */
static struct managed_page *get_page(struct managed_view *view, uint64_t number)
{
	struct managed_page *page = slot_of(view, number);

	if (!is_here(view, page, number)) {
		if (!may_read(view))
			return NULL;
		take_slot(view, page, number);
		struct task_memory_piece piece = { .addr = number * MANAGED_PAGE_LEN,
						   .to = page->data,
						   .len = MANAGED_PAGE_LEN };

		view->read(view->context, &piece, 1);
		page->end = piece.got;
	}
	page->used = true;
	return page;
}

void managed_view_want_recent(struct managed_view *view, const struct managed_recent *recent)
{
	for (size_t i = 0; i < recent->len; i++)
		managed_view_want(view, recent->numbers[i] * MANAGED_PAGE_LEN);
}

/* In ascending order, so that neighbours are read as one. */
static void remember(struct managed_recent *recent, uint64_t number)
{
	size_t at = recent->len++;

	for (; at && recent->numbers[at - 1] > number; at--)
		recent->numbers[at] = recent->numbers[at - 1];
	recent->numbers[at] = number;
}

void managed_view_remember(const struct managed_view *view, struct managed_recent *ret)
{
	ret->len = 0;
	for (size_t i = 0; i < MANAGED_PAGES && ret->len < MANAGED_RECENT_MAX; i++) {
		const struct managed_page *page = &view->pages[i];

		if (page->view == view->number && page->used && page->end)
			remember(ret, page->number);
	}
}

/* ---- reading --------------------------------------------------------------------------------------- */

bool managed_view_try(struct managed_view *view, uint64_t addr, void *ret, size_t len)
{
	uint8_t *to = ret;
	uint64_t end;

	memset(ret, 0, len);
	/* Frames that lead back to each other lie in pages that are here already. */
	if (++view->copies % COPIES_UNTIMED == 0 && now_ns(view) > view->deadline_ns)
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
