/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_repair.c - an unknown process is reported as a fork and an exec, so that it has the mappings of /proc and none of its parent's.
 */
#include "record/sample/side_repair.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "record/task/proc_scan.h"

#include <string.h>

#define REST_LEAST_NS 1000000000ULL
#define REST_SHARE    20 /* to wait, in multiples of the time it took */

static bool is_mapped(const struct process *proc, const struct event_mmap *map)
{
	const struct process_map *known = addr_map_find(proc->maps, map->start);

	return known && known->end >= map->end && known->offset + (map->start - known->start) == map->file_offset &&
	       strcmp(known->file->path, map->path) == 0;
}

static bool is_news(struct side_repair *r, struct event *ev)
{
	const struct process *proc = process_table_find(r->processes, ev->pid);

	switch (ev->kind) {
	case EVENT_FORK:
		if (ev->tid == ev->pid)
			r->is_new = !proc || !proc->nthreads;
		return r->is_new && task_filter_event(r->tasks, ev);
	case EVENT_COMM:
		ev->comm.exec = r->is_new && ev->tid == ev->pid;
		break;
	case EVENT_MMAP:
		if (proc && is_mapped(proc, &ev->mmap))
			return false;
		break;
	default:
		break;
	}
	return task_filter_has(r->tasks, ev->pid, ev->tid);
}

struct err *side_repair_take(void *repair, const struct event *ev)
{
	struct side_repair *r = repair;
	struct event again = *ev;

	again.time_ns = r->time_ns;
	return is_news(r, &again) ? r->event(r->context, &again) : NULL;
}

static void take_process(void *context, uint32_t pid, uint32_t nthreads)
{
	(void)context, (void)pid, (void)nthreads; /* its threads follow */
}

struct err *side_repair_run(struct side_repair *r, uint64_t time_ns)
{
	const struct proc_visitor visitor = { .event = side_repair_take, .process = take_process, .context = r, .info = r->info, .stop = r->stop };
	uint64_t begin = clock_now_ns(CLOCK_MONOTONIC);
	size_t stuck = 0;

	if (begin < r->rests_until_ns || r->processes->by_pid.len > SIDE_REPAIR_PROCESSES_MAX)
		return NULL;
	r->time_ns = time_ns;
	struct err *err = proc_scan_all(&visitor, &stuck);
	uint64_t end = clock_now_ns(CLOCK_MONOTONIC);

	r->rests_until_ns = end + MAX(REST_SHARE * (end - begin), REST_LEAST_NS);
	return err;
}
