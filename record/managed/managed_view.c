/* SPDX-License-Identifier: Apache-2.0 */
#include "record/managed/managed_view.h"

#include "formats/base/clock.h"
#include "formats/base/map.h"
#include "formats/base/compiler.h"

#include <string.h>

#define WAYS	       4
#define COPIES_UNTIMED 256 /* copies between checks of the time: some microseconds */

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
	view->failed = view->missed = false;
	/* Pages of earlier views are recognised by their number, which is never 0. */
	if (!++view->number) {
		memset(view->pages, 0, sizeof(view->pages));
		view->number = 1;
	}
}

/* ---- pages ----------------------------------------------------------------------------------------- */

static bool is_here(const struct managed_view *view, const struct managed_page *page, uint64_t number)
{
	return page->view == view->number && page->number == number;
}

/*
 * Where the page with @number is, or may be put: one of WAYS places. Neighbours, and pages of the same place in different
 * mappings, shall not fall on one another.
 */
static struct managed_page *slot_of(struct managed_view *view, uint64_t number)
{
	struct managed_page *set = &view->pages[(number ^ number >> 6 ^ number >> 17) * WAYS % MANAGED_PAGES];
	struct managed_page *slot = set;

	for (size_t i = 0; i < WAYS; i++) {
		if (is_here(view, &set[i], number))
			return &set[i];
		if (set[i].view != view->number)
			slot = &set[i];
	}
	return slot;
}

static void take_slot(struct managed_view *view, struct managed_page *page, uint64_t number)
{
	*page = (struct managed_page){
		.number = number,
		.view = view->number,
		.data = view->data[page - view->pages],
	};
}

/* Whether another page may be read. */
static bool may_read(struct managed_view *view)
{
	if (view->reads++ >= MANAGED_READS_MAX || now_ns(view) > view->deadline_ns)
		view->failed = true;
	return !view->failed;
}

/* NULL: there is no room for it, or it is there. */
static struct managed_page *want_part(struct managed_view *view, uint64_t number, size_t begin, size_t end)
{
	struct managed_page *page = slot_of(view, number);

	/* One that another page of this view has is read when its turn comes. */
	if (!number || page->view == view->number || view->nwanted == MANAGED_RECENT_MAX)
		return NULL;
	take_slot(view, page, number);
	page->begin = begin;
	page->end = end;
	page->part = end - begin < MANAGED_PAGE_LEN;
	view->wanted[view->nwanted++] = page;
	return page;
}

void managed_view_want(struct managed_view *view, uint64_t addr)
{
	struct managed_page *page = want_part(view, addr / MANAGED_PAGE_LEN, 0, MANAGED_PAGE_LEN);

	if (page)
		page->hinted = true;
}

static struct task_memory_piece piece_of(const struct managed_page *page)
{
	return (struct task_memory_piece){
		.addr = page->number * MANAGED_PAGE_LEN + page->begin,
		.to = page->data + page->begin,
		.len = page->end - page->begin,
	};
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
		pieces[i] = piece_of(view->wanted[i]);
	view->read(view->context, pieces, count);
	for (size_t i = 0; i < count; i++)
		view->wanted[i]->end = view->wanted[i]->begin + pieces[i].got;
}

/* All of the page. */
static bool read_page(struct managed_view *view, struct managed_page *page)
{
	if (!may_read(view))
		return false;
	page->begin = 0;
	page->end = MANAGED_PAGE_LEN;
	page->part = false;
	struct task_memory_piece piece = piece_of(page);

	view->read(view->context, &piece, 1);
	page->end = piece.got;
	return true;
}

/* From @begin to @end of the page with @number, read if that is not there; NULL if it cannot be, or time or reads are spent. */
static const uint8_t *get_part(struct managed_view *view, uint64_t number, size_t begin, size_t end)
{
	struct managed_page *page = slot_of(view, number);

	if (!is_here(view, page, number)) {
		take_slot(view, page, number);
		page->part = true;
	}
	if (page->part && (begin < page->begin || end > page->end) && !read_page(view, page))
		return NULL;
	page->used_begin = page->used_end ? MIN(page->used_begin, begin) : begin;
	page->used_end = MAX(page->used_end, end);
	return begin >= page->begin && end <= page->end ? page->data + begin : NULL;
}

void managed_view_want_recent(struct managed_view *view, const struct managed_recent *recent)
{
	for (size_t i = 0; i < recent->len; i++) {
		const struct managed_part *part = &recent->parts[i];
		struct managed_page *page = want_part(view, part->number, part->begin, part->end);

		if (page)
			page->recent = *part;
	}
}

/* In ascending order, so that neighbours are read as one. */
static void remember(struct managed_recent *recent, const struct managed_part *part)
{
	size_t at = recent->len++;

	for (; at && recent->parts[at - 1].number > part->number; at--)
		recent->parts[at] = recent->parts[at - 1];
	recent->parts[at] = *part;
}

/* The parts of @page needed now and recently. */
static struct managed_part part_of(const struct managed_page *page)
{
	struct managed_part part = page->recent;

	if (!page->used_end) {
		part.unused++;
		return part;
	}
	part.begin = (uint16_t)(part.number ? MIN(part.begin, page->used_begin) : page->used_begin);
	part.end = (uint16_t)MAX(part.end, page->used_end);
	part.number = page->number;
	part.unused = 0;
	return part;
}

/* Was it needed without a hint of managed_view_want()? Hinted pages will be hinted again. */
static bool is_worth(const struct managed_page *page, const struct managed_part *part)
{
	return part->number && !page->hinted && page->end > page->begin && part->unused < MANAGED_UNUSED_MAX;
}

/* Pages that were needed first, then others while there is room. */
void managed_view_remember(const struct managed_view *view, struct managed_recent *recent)
{
	recent->len = 0;
	for (int unused = 0; unused < 2; unused++) {
		for (size_t i = 0; i < MANAGED_PAGES && recent->len < MANAGED_RECENT_MAX; i++) {
			const struct managed_page *page = &view->pages[i];
			struct managed_part part = part_of(page);

			if (page->view == view->number && (part.unused > 0) == unused && is_worth(page, &part))
				remember(recent, &part);
		}
	}
}

/* ---- reading --------------------------------------------------------------------------------------- */

bool managed_view_try(struct managed_view *view, uint64_t addr, void *ret, size_t len)
{
	uint8_t *to = ret;
	uint64_t end;

	memset(ret, 0, len);
	/* A cycle of frames lies in pages that are already read: check the time anyway. */
	if (++view->copies % COPIES_UNTIMED == 0 && now_ns(view) > view->deadline_ns)
		view->failed = true;
	if (view->failed || addr < MANAGED_PAGE_LEN || __builtin_add_overflow(addr, len, &end))
		return false;
	while (len) {
		size_t offset = addr % MANAGED_PAGE_LEN;
		size_t part = MIN(len, MANAGED_PAGE_LEN - offset);
		const uint8_t *from = get_part(view, addr / MANAGED_PAGE_LEN, offset, offset + part);

		if (!from) {
			view->missed = true;
			return false;
		}
		memcpy(to, from, part);
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

bool managed_view_digest(struct managed_view *view, uint64_t addr, size_t len, uint64_t *digest)
{
	uint8_t bytes[256];

	*digest = map_hash(*digest ^ len);
	for (size_t at = 0; at < len; at += sizeof(bytes)) {
		size_t part = MIN(len - at, sizeof(bytes));

		memset(bytes, 0, sizeof(bytes));
		if (!managed_view_try(view, addr + at, bytes, part))
			return false;
		for (size_t i = 0; i < part; i += 8)
			*digest = map_hash(*digest ^ managed_word(bytes, i));
	}
	return true;
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

uint16_t managed_view_u16(struct managed_view *view, uint64_t addr)
{
	uint16_t value;

	return managed_view_copy(view, addr, &value, sizeof(value)) ? value : 0;
}

uint8_t managed_view_u8(struct managed_view *view, uint64_t addr)
{
	uint8_t value;

	return managed_view_copy(view, addr, &value, sizeof(value)) ? value : 0;
}
