/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_quiet.c - from an object to its page, from that to the heap, in which the number of collections stands among others that show that it is
 * the heap.
 *
 *	page (256 KiB)  … | its own data, or where that is ─► heap
 *	heap            … | state, …, collections by marking, all collections, ineffective ones, region of 4 GiB, index of 128 words | …
 */
#include "record/runtime/v8_quiet.h"

#include "formats/base/clock.h"

#include <stddef.h>
#include <time.h>

#define PAGE_LEN    (256ULL << 10)
#define BEFORE_NS   50000000ULL	  /* the first look; the sample that it is for was taken before */
#define RARE_NS	    1000000000ULL /* between two collections, on average, for that */
#define ADD_NS	    1000000ULL /* at least, between two heaps that are met: all others are looked at then */
#define INEFFECTIVE 64
#define REMEMBERED  128

enum state { STATE_NONE, STATE_SCAVENGE, STATE_TEAR_DOWN = 4 }; /* others: by marking */

/* What stands around the count of collections; all versions have it in this order. */
struct counts {
	uint32_t state, stress;
	uint64_t observer, limit;
	uint32_t marked, all, ineffective, gap;
	uint64_t region;
	uint32_t index, behind;
};

static bool read_past(struct managed_view *view, uint64_t addr, void *to, size_t len)
{
	struct task_memory_piece piece = { .addr = addr, .to = to, .len = len };

	view->read(view->context, &piece, 1);
	return piece.got == len;
}

/* 0 if there is none. */
static uint64_t heap_of(const struct v8_quiet *q, struct managed_view *view, uint64_t page)
{
	const struct v8_version *version = q->layout->version;
	uint64_t data = page, heap;

	if (!version->heap_marked || (version->page_data && !read_past(view, page + version->page_data, &data, sizeof(data))) ||
	    !read_past(view, data + version->page_heap, &heap, sizeof(heap)) || heap % 8)
		return 0;
	return heap;
}

static bool read_counts(const struct v8_quiet *q, struct managed_view *view, uint64_t heap, struct counts *ret)
{
	return read_past(view, heap + q->layout->version->heap_marked - offsetof(struct counts, marked), ret, sizeof(*ret)) &&
	       ret->marked <= ret->all && ret->ineffective < INEFFECTIVE && !(uint32_t)ret->region && ret->index < REMEMBERED;
}

static struct v8_quiet_heap *find(struct v8_quiet *q, uint64_t addr)
{
	for (size_t i = 0; i < q->nheaps; i++) {
		if (q->heaps[i].addr == addr)
			return &q->heaps[i];
	}
	return NULL;
}

/* When the heap is seen for the first time: nothing was ever freed but with another heap, or hardly just then. */
static uint64_t first_since(const struct v8_quiet *q, const struct counts *now, uint64_t before_ns)
{
	uint64_t soon_ns = MAX(before_ns - BEFORE_NS, q->ended_ns);

	if (!now->marked && !q->nheaps)
		return 1;
	return now->marked * RARE_NS <= q->age_ns ? soon_ns : before_ns;
}

/* The heap of address @at, which is seen for the first time; NULL if there is no room. */
static struct v8_quiet_heap *add(struct v8_quiet *q, uint64_t at, const struct counts *now, uint64_t before_ns)
{
	struct v8_quiet_heap *heap = q->heaps;

	while (heap < q->heaps + q->nheaps && (q->nheaps < V8_HEAPS_MAX || !heap->ended))
		heap++;
	if (heap == q->heaps + V8_HEAPS_MAX)
		return NULL;
	uint64_t since_ns = first_since(q, now, before_ns);

	q->nheaps = MAX(q->nheaps, (size_t)(heap - q->heaps) + 1);
	*heap = (struct v8_quiet_heap){ .addr = at, .marked = now->marked, .region = now->region, .known = true, .since_ns = since_ns };
	return heap;
}

/* A heap that has ended is torn down, or its memory is used otherwise, maybe for another heap. */
static void look_at(struct v8_quiet *q, struct managed_view *view, struct v8_quiet_heap *heap)
{
	uint64_t before_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct counts now = { 0 };
	bool whole = read_counts(q, view, heap->addr, &now), known = whole && now.state <= STATE_SCAVENGE;
	bool ended = !whole || now.state >= STATE_TEAR_DOWN, other = whole && now.region != heap->region;
	uint64_t after_ns = clock_now_ns(CLOCK_MONOTONIC);

	if ((ended || other) && !heap->ended)
		q->ended_ns = after_ns;
	if (other)
		*heap = (struct v8_quiet_heap){ .addr = heap->addr, .region = now.region };
	if (!known || !heap->known || ended || now.marked != heap->marked)
		heap->since_ns = after_ns;
	if (known && !now.marked)
		heap->full_ns = before_ns;
	heap->known = known;
	heap->ended = ended;
	heap->marked = now.marked;
}

/* At the heap of address @at, which is not known. A process may show another one with each look. */
static struct v8_quiet_heap *look_at_new(struct v8_quiet *q, struct managed_view *view, uint64_t at)
{
	uint64_t before_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct counts now = { 0 };

	if (before_ns - q->added_ns < ADD_NS || !read_counts(q, view, at, &now) || now.state >= STATE_TEAR_DOWN)
		return NULL;
	q->added_ns = before_ns;
	v8_quiet_look_at_all(q, view);
	struct v8_quiet_heap *heap = add(q, at, &now, before_ns);

	if (heap)
		look_at(q, view, heap);
	return heap;
}

const struct v8_quiet_heap *v8_quiet_look(struct v8_quiet *q, struct managed_view *view, uint64_t addr)
{
	uint64_t at = heap_of(q, view, addr & ~(PAGE_LEN - 1));

	struct v8_quiet_heap *heap = at ? find(q, at) : NULL;

	if (!heap)
		return at ? look_at_new(q, view, at) : NULL;
	look_at(q, view, heap);
	return heap;
}

uint64_t v8_quiet_since(struct v8_quiet *q, struct managed_view *view, uint64_t addr, uint64_t *ret_region)
{
	const struct v8_quiet_heap *heap = v8_quiet_look(q, view, addr);

	if (ret_region)
		*ret_region = heap ? heap->region : 0;
	return heap ? heap->since_ns : clock_now_ns(CLOCK_MONOTONIC);
}

uint64_t v8_quiet_full_ns(const struct v8_quiet *q, uint64_t region)
{
	for (size_t i = 0; i < q->nheaps; i++) {
		if (region && q->heaps[i].region == region)
			return q->heaps[i].full_ns;
	}
	return 0;
}

void v8_quiet_look_at_all(struct v8_quiet *q, struct managed_view *view)
{
	for (size_t i = 0; i < q->nheaps; i++)
		look_at(q, view, &q->heaps[i]);
}
