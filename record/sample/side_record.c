/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_record.c - sorts pointers to records with heap sort: qsort(3) of many C libraries would allocate memory in every pass.
 */
#include "record/sample/side_record.h"

#include "formats/base/vec.h"
#include "formats/perf/perf_record_place.h"

#define FUTURE_NS 1000000000ULL /* a record that is this much in the future has a broken time */

void side_records_gather(struct side_records *records, struct ring *ring, size_t number, uint64_t until_ns)
{
	struct side_record side = { .ring = number };
	uint64_t head = ring_head(ring), before = ring->tail;

	while (ring_next(ring, head, records->scratch, &side.data, &side.len)) {
		side.time_ns = perf_record_place_time(records->layout, side.data, side.len);
		/* It must not hold up all that come after it. */
		if (side.time_ns >= until_ns && side.time_ns - until_ns >= FUTURE_NS)
			side.time_ns = until_ns - 1;
		if (side.time_ns >= until_ns) {
			ring->tail = before;
			return;
		}
		if (side.data == records->scratch)
			side.data = (const uint8_t *)arena_memdup(&records->copies, side.data, side.len);
		side.order = records->len;
		vec_push(records, side);
		before = ring->tail;
	}
}

void side_records_reset(struct side_records *records)
{
	records->len = 0;
	arena_reset(&records->copies);
}

void side_records_deinit(struct side_records *records)
{
	vec_deinit(records);
	arena_deinit(&records->copies);
}

static bool is_later(const struct side_record *a, const struct side_record *b)
{
	return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->order > b->order;
}

/* Sift the item at @at down the heap of @len items; only that item may be out of place. */
static void sift(struct side_record *items, size_t at, size_t len)
{
	struct side_record sinking = items[at];

	for (size_t child; (child = 2 * at + 1) < len; at = child) {
		child += child + 1 < len && is_later(&items[child + 1], &items[child]);
		if (!is_later(&items[child], &sinking))
			break;
		items[at] = items[child];
	}
	items[at] = sinking;
}

static bool is_sorted(const struct side_records *records)
{
	for (size_t i = 1; i < records->len; i++) {
		if (is_later(&records->items[i - 1], &records->items[i]))
			return false;
	}
	return true;
}

void side_records_sort(struct side_records *records)
{
	struct side_record *items = records->items;

	/* Of one busy ring they are. */
	if (is_sorted(records))
		return;
	for (size_t i = records->len / 2; i-- > 0;)
		sift(items, i, records->len);
	for (size_t i = records->len - 1; i > 0; i--) {
		struct side_record latest = items[0];

		items[0] = items[i];
		items[i] = latest;
		sift(items, 0, i);
	}
}
