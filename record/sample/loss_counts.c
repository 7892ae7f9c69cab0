/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss_counts.c - the kernel's count of losses if it keeps one (PERF_FORMAT_LOST), split in proportion to the losses it
 * reported during the recording.
 */
#include "record/sample/loss_counts.h"

#include "formats/base/memory.h"
#include "record/event/event_attr.h"

#include <stdlib.h>

#define TIMES_AGREE 20 /* within a twentieth: tasks' times are not read at the same moment */

struct loss_counts_row {
	struct recording_count count;
	uint64_t periods; /* of the samples kept */
	uint64_t passed_over, passed_periods; /* samples of others, and their periods */
};

struct loss_counts_ring {
	uint64_t kept, passed_over; /* samples since the last loss */
	uint64_t all_kept, all_passed_over;
	uint64_t lost; /* as the kernel reported */
	double ours;   /* of them, as estimated */
};

void loss_counts_init(struct loss_counts *l, const struct perf_fds *perf_fds)
{
	l->nevents = perf_fds->plan->nevents;
	l->nrings = perf_fds->samples.len;
	l->rows = memory_zeroed(l->nevents * l->nrings + 1, sizeof(*l->rows));
	l->rings = memory_zeroed(l->nrings + 1, sizeof(*l->rings));
	for (size_t i = 0; i < l->nevents * l->nrings; i++) {
		l->rows[i].count.event = (uint32_t)(i / l->nrings);
		l->rows[i].count.cpu = perf_fds->samples.items[i % l->nrings].cpu;
	}
}

void loss_counts_deinit(struct loss_counts *l)
{
	free(l->rows);
	free(l->rings);
}

static struct loss_counts_row *row_of(const struct loss_counts *l, uint32_t event, size_t ring)
{
	return &l->rows[event * l->nrings + ring];
}

void loss_counts_keep(struct loss_counts *l, uint32_t event, size_t ring, const struct event_sample *sample)
{
	struct loss_counts_row *row = row_of(l, event, ring);

	row->count.samples++;
	row->count.stacks_cut += sample->stack.cut && !sample->stack.shortened;
	row->count.stacks_shortened += sample->stack.shortened;
	row->periods += sample->period;
	l->rings[ring].kept++;
	l->rings[ring].all_kept++;
}

void loss_counts_pass_over(struct loss_counts *l, uint32_t event, size_t ring, uint64_t period)
{
	struct loss_counts_row *row = row_of(l, event, ring);

	row->passed_over++;
	row->passed_periods += period;
	l->rings[ring].passed_over++;
	l->rings[ring].all_passed_over++;
}

void loss_counts_drop(struct loss_counts *l, uint32_t event, size_t ring, uint64_t count)
{
	row_of(l, event, ring)->count.lost_recorder += count;
}

void loss_counts_throttle(struct loss_counts *l, uint32_t event, size_t ring)
{
	row_of(l, event, ring)->count.throttled++;
}

static double part(uint64_t some, uint64_t others)
{
	return some + others ? (double)some / (double)(some + others) : 0;
}

/* The total of losses that are ours, so that fractions add up; it never shrinks. */
uint64_t loss_counts_lose(struct loss_counts *l, size_t number, uint64_t count)
{
	struct loss_counts_ring *ring = &l->rings[number];
	uint64_t before = (uint64_t)ring->ours;
	double share = ring->kept + ring->passed_over
			       ? part(ring->kept, ring->passed_over)
			       : part(ring->all_kept, ring->all_passed_over);

	if (!ring->all_passed_over)
		share = 1; /* only ours are known */
	ring->lost += count;
	ring->ours += (double)count * share;
	ring->kept = ring->passed_over = 0;
	return (uint64_t)ring->ours - before;
}

/* Add the counter of @perf_fd to the row of its event and CPU. */
static void add_reading(const struct loss_counts *l, const struct perf_fds *perf_fds,
			const struct perf_fd *perf_fd, struct recording_count *rows)
{
	struct perf_fd_reading reading;

	if (perf_fd->event == PERF_FD_SIDE_BAND || !perf_fds_read(perf_fds, perf_fd, &reading))
		return;
	for (size_t ring = 0; ring < l->nrings; ring++) {
		struct recording_count *row = &rows[perf_fd->event * l->nrings + ring];

		if (row->cpu != perf_fd->cpu)
			continue;
		row->value += reading.value;
		row->enabled_ns += reading.enabled_ns;
		row->running_ns += reading.running_ns;
		row->lost_kernel += reading.lost;
	}
}

/*
 * A per-task event that is opened on one CPU is enabled whenever the task runs anywhere, but counts only there: that alone is
 * not multiplexing. Summed over all CPUs, enabled and running times differ only if it was multiplexed.
 */
static void settle_times(const struct loss_counts *l, struct recording_count *rows)
{
	uint64_t enabled = 0, running = 0;

	for (size_t ring = 0; ring < l->nrings; ring++) {
		enabled = MAX(enabled, rows[ring].enabled_ns);
		running += rows[ring].running_ns;
	}
	if (!running) /* it never had a counter: keep the difference visible */
		return;

	bool shared = running < enabled - enabled / TIMES_AGREE;

	for (size_t ring = 0; ring < l->nrings; ring++) {
		double part = (double)rows[ring].running_ns / (double)running;

		rows[ring].enabled_ns =
			shared ? (uint64_t)((double)enabled * part) : rows[ring].running_ns;
	}
}

/*
 * The periods of all samples add up to the count unless interrupts were missed. Lost samples are assumed to have the mean
 * period. Our part of what is missing is our part of the samples.
 */
static uint64_t missed(const struct loss_counts_ring *ring, const struct loss_counts_row *known,
		       const struct recording_count *row, const struct perf_event_attr *attr)
{
	uint64_t seen = row->samples + known->passed_over;
	double periods = (double)known->periods + (double)known->passed_periods;
	double period = attr->freq ? periods / (double)MAX(seen, 1U) : (double)attr->sample_period;

	if (!(period > 0) || !event_attr_needs_counter(attr->type))
		return 0;
	/* Without per-event counts of losses: what the ring reported. */
	uint64_t lost = MAX(row->lost_kernel, ring->lost) + row->lost_recorder;
	double missing = (double)row->value / period - (double)seen - (double)lost;

	missing *= part(row->samples, known->passed_over);
	return missing >= 1 ? (uint64_t)missing : 0;
}

/*
 * Per-CPU events count and lose samples of all tasks. Our part of the losses is the part estimated during the recording; our count
 * is the sum of the periods of our samples, kept and lost.
 */
static void settle_share(const struct loss_counts_ring *ring, const struct loss_counts_row *known,
			 struct recording_count *row)
{
	double share = ring->lost ? ring->ours / (double)ring->lost
				  : part(ring->all_kept, ring->all_passed_over);
	double period = row->samples ? (double)known->periods / (double)row->samples : 0;

	row->lost_kernel = (uint64_t)((double)row->lost_kernel * share + 0.5);
	row->value = known->periods + (uint64_t)(period * (double)row->lost_kernel);
}

struct recording_count *loss_counts_close(const struct loss_counts *l, const struct perf_fds *perf_fds,
				     bool by_cpu, bool selected, struct arena *arena,
				     size_t *ret_count)
{
	size_t count = l->nevents * l->nrings;
	struct recording_count *rows = ARENA_ARRAY(arena, struct recording_count, count);

	for (size_t i = 0; i < count; i++)
		rows[i] = l->rows[i].count;
	for (size_t i = 0; i < perf_fds->items.len; i++)
		add_reading(l, perf_fds, &perf_fds->items.items[i], rows);
	for (size_t i = 0; i < count && by_cpu; i++)
		rows[i].missed = missed(&l->rings[i % l->nrings], &l->rows[i], &rows[i],
					&perf_fds->plan->events[rows[i].event].attr);
	for (size_t i = 0; i < count && selected && by_cpu; i++)
		settle_share(&l->rings[i % l->nrings], &l->rows[i], &rows[i]);
	for (size_t i = 0; i < l->nevents && !by_cpu; i++)
		settle_times(l, rows + i * l->nrings);
	*ret_count = count;
	return rows;
}
