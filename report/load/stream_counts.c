/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_counts.c - each event is counted once, when it is read.
 */
#include "report/load/stream_counts.h"

#include "report/load/derive/derive_kind.h"

#define LOST_MAX (UINT64_MAX / 8) /* sums of a few of these do not wrap */

/* Sums of what a file says stay where they are rather than wrap. */
static void add_lost(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
	*sum = MIN(*sum, LOST_MAX);
}

/* Rings of the side-band hold no samples, and none of the events that have counts. */
static void count_loss(struct stream_counts *stream, const struct event *ev)
{
	const struct event_lost *lost = &ev->lost;

	if (lost->event == RECORDING_NO_EVENT && ev->kind == EVENT_LOST)
		add_lost(&stream->lost_side_band, lost->count);
	else if (ev->kind == EVENT_LOST)
		add_lost(&stream->lost_records, lost->count);
	else if (lost->by_recorder)
		add_lost(&stream->dropped_samples, lost->count);
	else
		add_lost(&stream->lost_samples, lost->count);
}

/* The address of a wait's stack is not data: it says what was waited for. */
static bool has_data_address(const struct event_sample *sample, const struct recording *rec)
{
	return sample->addr && !(sample->event < rec->nevents && derive_is_off_cpu(rec, sample->event));
}

void stream_counts_add(struct stream_counts *stream, const struct recording *rec, const struct event *ev)
{
	if (ev->kind == EVENT_MANAGED)
		stream->managed[ev->managed.state]++;
	if (stream->events++ == 0)
		stream->first_ns = ev->time_ns;
	stream->last_ns = MAX(stream->last_ns, ev->time_ns);
	switch (ev->kind) {
	case EVENT_SAMPLE:
		stream->samples++;
		stream->branches += ev->sample.nbranches;
		stream->with_branches += ev->sample.nbranches != 0;
		stream->with_address += has_data_address(&ev->sample, rec);
		stream->with_weight += ev->sample.weight != 0;
		stream->cut += ev->sample.stack.cut && !ev->sample.stack.shortened;
		stream->shortened += ev->sample.stack.shortened;
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		count_loss(stream, ev);
		break;
	case EVENT_THROTTLE:
		stream->throttles += ev->throttle.stopped && !ev->throttle.by_recorder;
		break;
	default:
		break;
	}
}
