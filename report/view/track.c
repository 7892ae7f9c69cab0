/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.c - the profile's times are sorted apart by event and thread; their order in time stays.
 */
#include "report/view/track.h"

#include "formats/base/map.h"

/* One sample with what it is sorted by. */
struct placed {
	uint32_t event, thread;
	size_t place; /* in the profile's times */
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = COMPARE(x->event, y->event);

	if (!order)
		order = COMPARE(x->thread, y->thread);
	return order ? order : COMPARE(x->place, y->place);
}

static int compare_tracks(const void *a, const void *b)
{
	const struct track *x = a, *y = b;
	int order = COMPARE(x->event, y->event);

	if (!order)
		order = COMPARE(y->weight, x->weight);
	return order ? order : COMPARE(x->thread, y->thread);
}

/* The default event is 0 while tracks are sorted, and those before it are one more. */
static uint32_t shown_first(uint32_t event, uint32_t first)
{
	if (event == first)
		return 0;
	return event < first ? event + 1 : event;
}

static uint32_t event_of(uint32_t rank, uint32_t first)
{
	if (rank == 0)
		return first;
	return rank <= first ? rank - 1 : rank;
}

static struct placed *sorted(const struct profile *p, const struct profile_time *times, size_t len,
			     uint32_t first)
{
	struct placed *placed = memory_zeroed(len + 1, sizeof(*placed));

	for (size_t i = 0; i < len; i++) {
		const struct profile_sample *row =
			&p->samples.items[times[i].row];

		placed[i] = (struct placed){ shown_first(row->type, first), row->thread, i };
	}
	if (len)
		qsort(placed, len, sizeof(*placed), compare_placed);
	return placed;
}

static void add(struct tracks *tracks, const struct placed *placed,
		const struct profile_time *time)
{
	struct track *last = tracks->list.len ? &tracks->list.items[tracks->list.len - 1] : NULL;

	if (!last || last->event != placed->event || last->thread != placed->thread) {
		struct track track = { .event = placed->event, .thread = placed->thread };

		track.times = &tracks->times.items[tracks->times.len];
		vec_push(&tracks->list, track);
		last = &tracks->list.items[tracks->list.len - 1];
	}
	vec_push(&tracks->times, *time);
	last->len++;
	last->weight += time->weight;
}

static void number_twins(struct tracks *tracks, const struct profile *p)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < tracks->list.len; i++) {
		const struct profile_thread *thread =
			&p->threads.items[tracks->list.items[i].thread];
		uint64_t *count = map_put(&seen, (uint64_t)thread->pid << 32 | thread->tid, NULL);

		tracks->list.items[i].twin = (uint32_t)(*count)++;
	}
	map_deinit(&seen);
}

struct profile_time *track_samples(const struct profile *p, size_t *ret_len)
{
	struct profile_time *times;

	*ret_len = p->times.len;
	if (p->times.len || !p->samples.len)
		return time_series_unpack(&p->times);
	*ret_len = p->samples.len;
	times = memory_zeroed(p->samples.len, sizeof(*times));
	for (uint32_t row = 0; row < p->samples.len; row++)
		times[row] = (struct profile_time){ .row = row,
						    .weight = p->samples.items[row].weight };
	return times;
}

void tracks_init(struct tracks *tracks, const struct profile *p, uint32_t first)
{
	size_t len;
	CLEANUP(memory_freep) struct profile_time *times = track_samples(p, &len);
	CLEANUP(memory_freep) struct placed *placed = sorted(p, times, len, first);

	*tracks = (struct tracks){ 0 };
	vec_reserve(&tracks->times, len); /* tracks point into it */
	for (size_t i = 0; i < len; i++)
		add(tracks, &placed[i], &times[placed[i].place]);
	vec_sort(&tracks->list, compare_tracks);
	for (size_t i = 0; i < tracks->list.len; i++)
		tracks->list.items[i].event = event_of(tracks->list.items[i].event, first);
	number_twins(tracks, p);
}

void tracks_deinit(struct tracks *tracks)
{
	vec_deinit(&tracks->list);
	vec_deinit(&tracks->times);
}
