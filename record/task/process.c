/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - sorted ranges that are merged where they touch, so that a JIT that maps and unmaps for
 * hours holds a handful of them: unmapping leaves no record, and forgetting nothing does no harm here.
 */
#include "record/task/process.h"

#include <string.h>

#define ROUNDS_TO_KEEP 2 /* see the header; one would do if heads were read after the side-band */

/* The first range that ends at or after @addr. */
static size_t first_ending_after(const struct process_ranges *ranges, uint64_t addr)
{
	size_t low = 0, high = ranges->len;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges->items[middle].end < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool process_ranges_have(const struct process_ranges *ranges, uint64_t addr)
{
	size_t i = first_ending_after(ranges, addr + 1);

	return i < ranges->len && ranges->items[i].start <= addr;
}

uint64_t process_next_code(const struct process *proc, uint64_t addr)
{
	size_t i = first_ending_after(&proc->code, addr);

	while (i < proc->code.len && proc->code.items[i].start <= addr)
		i++;
	return i < proc->code.len ? proc->code.items[i].start : UINT64_MAX;
}

/* Add [start, end), merged with all that it overlaps or touches. */
static void ranges_add(struct process_ranges *ranges, uint64_t start, uint64_t end)
{
	size_t first = first_ending_after(ranges, start);
	size_t last = first;

	while (last < ranges->len && ranges->items[last].start <= end)
		last++;
	if (last > first) {
		start = MIN(start, ranges->items[first].start);
		end = MAX(end, ranges->items[last - 1].end);
	} else {
		vec_reserve(ranges, 1);
	}
	memmove(ranges->items + first + 1, ranges->items + last,
		(ranges->len - last) * sizeof(*ranges->items));
	ranges->len -= last - first;
	ranges->len++;
	ranges->items[first] = (struct process_range){ start, end };
}

static void mark(struct process *proc, uint64_t start, uint64_t end)
{
	uint64_t first = start >> PROCESS_REGION_SHIFT;
	uint64_t last = (end - 1) >> PROCESS_REGION_SHIFT;

	proc->low = MIN(proc->low, start);
	proc->high = MAX(proc->high, end);
	if (last - first >= PROCESS_FILTER_BITS) {
		memset(proc->filter, 0xff, sizeof(proc->filter));
		return;
	}
	for (uint64_t region = first; region <= last; region++) {
		uint64_t bit = region & (PROCESS_FILTER_BITS - 1);

		proc->filter[bit / 64] |= 1ULL << (bit % 64);
	}
}

static void mark_all(struct process *proc, const struct process_ranges *ranges)
{
	for (size_t i = 0; i < ranges->len; i++)
		mark(proc, ranges->items[i].start, ranges->items[i].end);
}

static void rebuild_filter(struct process *proc)
{
	memset(proc->filter, 0, sizeof(proc->filter));
	proc->low = UINT64_MAX;
	proc->high = 0;
	mark_all(proc, &proc->code);
	mark_all(proc, &proc->past);
}

struct process *process_get(struct process_table *table, uint32_t pid)
{
	bool is_new;
	uint64_t *slot = map_put(&table->by_pid, pid, &is_new);

	if (is_new) {
		struct process *proc = memory_zeroed(1, sizeof(*proc));

		proc->pid = pid;
		proc->low = UINT64_MAX;
		proc->nthreads = 1;
		*slot = (uintptr_t)proc;
	}
	return (struct process *)(uintptr_t)*slot;
}

const struct process *process_find(const struct process_table *table, uint32_t pid)
{
	static const struct process none;
	const uint64_t *slot = map_get(&table->by_pid, pid);

	return slot ? (const struct process *)(uintptr_t)*slot : &none;
}

struct process *process_add_existing(struct process_table *table, uint32_t pid, uint32_t nthreads)
{
	struct process *proc = process_get(table, pid);

	proc->nthreads = MAX(nthreads, 1U);
	return proc;
}

static void free_process(struct process *proc)
{
	vec_deinit(&proc->code);
	vec_deinit(&proc->past);
	free(proc);
}

static void add_code(struct process *proc, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;
	ranges_add(&proc->code, start, end);
	mark(proc, start, end);
}

/* What was code until now is past. */
static void retire_code(struct process_table *table, struct process *proc)
{
	if (!proc->past_until)
		vec_push(&table->fading, proc);
	proc->past_until = table->round + ROUNDS_TO_KEEP;
	for (size_t i = 0; i < proc->code.len; i++)
		ranges_add(&proc->past, proc->code.items[i].start, proc->code.items[i].end);
	proc->code.len = 0;
}

static void follow_fork(struct process_table *table, const struct event *ev)
{
	struct process *child = process_get(table, ev->pid);

	if (ev->pid == ev->fork.parent_pid) {
		child->nthreads++;
		return;
	}
	struct process *parent = process_get(table, ev->fork.parent_pid);

	if (child->code.len)
		retire_code(table, child);
	child->nthreads = 1;
	child->counted = true;
	child->code.len = 0;
	vec_append(&child->code, parent->code.items, parent->code.len);
	mark_all(child, &child->code);
}

static bool follow_exit(struct process_table *table, const struct event *ev)
{
	uint64_t *slot = map_get(&table->by_pid, ev->pid);
	struct process *proc = slot ? (struct process *)(uintptr_t)*slot : NULL;

	if (!proc || !proc->nthreads)
		return false;
	proc->nthreads--;
	/* Threads that began unseen would be missed by the count: such a process is never given up. */
	if (!proc->counted)
		proc->nthreads = MAX(proc->nthreads, 1U);
	if (proc->nthreads)
		return false;
	retire_code(table, proc);
	return true;
}

bool process_table_event(struct process_table *table, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_MMAP:
		if (!(ev->mmap.flags & EVENT_MMAP_KERNEL) && ev->mmap.flags & EVENT_MMAP_EXEC)
			add_code(process_get(table, ev->pid), ev->mmap.start, ev->mmap.end);
		break;
	case EVENT_COMM:
		if (ev->comm.exec)
			retire_code(table, process_get(table, ev->pid));
		break;
	case EVENT_FORK:
		follow_fork(table, ev);
		break;
	case EVENT_EXIT:
		return follow_exit(table, ev);
	default:
		break;
	}
	return false;
}

void process_table_round(struct process_table *table)
{
	size_t kept = 0;

	table->round++;
	for (size_t i = 0; i < table->fading.len; i++) {
		struct process *proc = table->fading.items[i];

		if (proc->past_until > table->round) {
			table->fading.items[kept++] = proc;
			continue;
		}
		proc->past.len = 0;
		proc->past_until = 0;
		if (!proc->nthreads) {
			map_remove(&table->by_pid, proc->pid);
			free_process(proc);
			continue;
		}
		rebuild_filter(proc);
	}
	table->fading.len = kept;
}

void process_table_deinit(struct process_table *table)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&table->by_pid, &pos));)
		free_process((struct process *)(uintptr_t)slot->value);
	map_deinit(&table->by_pid);
	vec_deinit(&table->fading);
}
