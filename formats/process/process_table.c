/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_table.c - each event changes one process; forks share.
 */
#include "formats/process/process_table.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- what maps hold --------------------------------------------------------------------------------- */

static bool same_file(const void *a, const void *b)
{
	const struct process_map *x = a, *y = b;

	return x->file == y->file && x->flags == y->flags;
}

/* A JIT maps page after page, and where in its memory they lie is of no meaning. */
static bool is_anonymous(const void *item)
{
	const struct process_map *map = item;

	return map->file->kind == MAPPED_ANONYMOUS;
}

static void keep_file(const void *item)
{
	const struct process_map *map = item;

	mapped_file_ref(map->file);
}

static void drop_file(const void *item)
{
	const struct process_map *map = item;

	mapped_file_unref(map->file);
}

static const struct addr_map_type process_maps = {
	.item_len = sizeof(struct process_map),
	.same = same_file,
	.merges = is_anonymous,
	.keep = keep_file,
	.drop = drop_file,
};

void process_table_init(struct process_table *table)
{
	*table = (struct process_table){
		.pool = { .type = &process_maps,
			  .max_each = PROCESS_MAPS_MAX,
			  .max_all = PROCESS_MAPS_ALL_MAX },
	};
	table->none = addr_map_new(&table->pool);
	table->nobody.maps = table->none;
}

/* ---- names ------------------------------------------------------------------------------------------ */

struct process_comm {
	uint32_t nusers;
	char text[];
};

static struct process_comm *comm_new(const char *text)
{
	size_t len = strlen(text) + 1;
	struct process_comm *comm = memory_alloc(sizeof(*comm) + len);

	comm->nusers = 1;
	memcpy(comm->text, text, len);
	return comm;
}

static struct process_comm *comm_share(struct process_comm *comm)
{
	if (comm)
		comm->nusers++;
	return comm;
}

static void comm_drop(struct process_comm *comm)
{
	if (comm && !--comm->nusers)
		free(comm);
}

const char *process_thread_name(const struct process_thread *thread)
{
	return thread->comm ? thread->comm->text : NULL;
}

static struct process_thread *find_thread(const struct process *proc, uint32_t tid)
{
	for (size_t i = 0; i < proc->threads.len; i++) {
		if (proc->threads.items[i].tid == tid)
			return &proc->threads.items[i];
	}
	return NULL;
}

/* Takes over @comm. */
static void name_thread(struct process *proc, uint32_t tid, struct process_comm *comm)
{
	struct process_thread *thread = find_thread(proc, tid);

	if (!thread) {
		vec_push(&proc->threads, ((struct process_thread){ .tid = tid }));
		thread = &proc->threads.items[proc->threads.len - 1];
	}
	comm_drop(thread->comm);
	thread->comm = comm;
}

static void end_thread(struct process *proc, uint32_t tid)
{
	struct process_thread *thread = find_thread(proc, tid);

	if (!thread)
		return;
	comm_drop(thread->comm);
	*thread = proc->threads.items[--proc->threads.len];
}

static void end_threads(struct process *proc)
{
	for (size_t i = 0; i < proc->threads.len; i++)
		comm_drop(proc->threads.items[i].comm);
	proc->threads.len = 0;
}

/* ---- processes -------------------------------------------------------------------------------------- */

struct process *process_table_find(const struct process_table *table, uint32_t pid)
{
	const uint64_t *slot = map_get(&table->by_pid, pid);

	return slot ? (struct process *)(uintptr_t)*slot : NULL;
}

const struct process *process_table_look(const struct process_table *table, uint32_t pid)
{
	const struct process *proc = process_table_find(table, pid);

	return proc ? proc : &table->nobody;
}

static void changed(struct process_table *table, struct process *proc)
{
	proc->serial = ++table->last_serial;
}

struct process *process_table_get(struct process_table *table, uint32_t pid)
{
	bool is_new;
	uint64_t *slot = map_put(&table->by_pid, pid, &is_new);

	if (is_new) {
		struct process *proc = memory_zeroed(1, sizeof(*proc));

		proc->pid = proc->lineage[0] = pid;
		proc->nthreads = 1;
		proc->maps = addr_map_ref(table->none);
		changed(table, proc);
		*slot = (uintptr_t)proc;
	}
	return (struct process *)(uintptr_t)*slot;
}

void process_table_add_existing(struct process_table *table, uint32_t pid, uint32_t nthreads)
{
	process_table_get(table, pid)->nthreads = MAX(nthreads, 1U);
}

static void free_process(struct process_table *table, struct process *proc)
{
	if (table->forget)
		table->forget(table->context, proc->pid);
	addr_map_unref(proc->maps);
	for (size_t i = 0; i < proc->past.len; i++)
		addr_map_unref(proc->past.items[i].maps);
	for (size_t i = 0; i < proc->replaced.len; i++)
		mapped_file_unref(proc->replaced.items[i].map.file);
	end_threads(proc);
	vec_deinit(&proc->past);
	vec_deinit(&proc->replaced);
	vec_deinit(&proc->threads);
	free(proc);
}

void process_table_deinit(struct process_table *table)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&table->by_pid, &pos));)
		free_process(table, (struct process *)(uintptr_t)slot->value);
	map_deinit(&table->by_pid);
	vec_deinit(&table->fading);
	addr_map_unref(table->none);
}

/* ---- the past --------------------------------------------------------------------------------------- */

static void fade(struct process_table *table, struct process *proc)
{
	if (!proc->fading)
		vec_push(&table->fading, proc);
	proc->fading = true;
}

/* What is mapped until now becomes past, and @maps, whose reference is taken over, takes its place. */
static void begin_program(struct process_table *table, struct process *proc, struct addr_map *maps)
{
	proc->interpreter_len = 0;
	proc->runs_v8 = false;
	if (proc->maps->len) {
		vec_push(&proc->past,
			 ((struct process_past){ proc->maps, table->round + PROCESS_ROUNDS_KEPT }));
		fade(table, proc);
	} else {
		addr_map_unref(proc->maps);
	}
	proc->maps = maps;
	changed(table, proc);
}

/* Remember the mappings of files in [start, end), which others are about to replace. */
static void remember(struct process_table *table, struct process *proc, uint64_t start, uint64_t end)
{
	const struct addr_map *maps = proc->maps;

	for (size_t i = addr_map_search(maps, start); i < maps->len; i++) {
		const struct process_map *map = addr_map_item(maps, i);

		if (map->start >= end || proc->replaced.len == PROCESS_REPLACED_MAX)
			break;
		if (map->file->kind == MAPPED_ANONYMOUS)
			continue;
		mapped_file_ref(map->file);
		vec_push(&proc->replaced,
			 ((struct process_replaced){ *map, table->round + PROCESS_ROUNDS_KEPT }));
		fade(table, proc);
	}
}

static void forget_past(struct process *proc, uint64_t round)
{
	size_t kept = 0;

	for (size_t i = 0; i < proc->past.len; i++) {
		if (proc->past.items[i].until > round)
			proc->past.items[kept++] = proc->past.items[i];
		else
			addr_map_unref(proc->past.items[i].maps);
	}
	proc->past.len = kept;
	kept = 0;
	for (size_t i = 0; i < proc->replaced.len; i++) {
		if (proc->replaced.items[i].until > round)
			proc->replaced.items[kept++] = proc->replaced.items[i];
		else
			mapped_file_unref(proc->replaced.items[i].map.file);
	}
	proc->replaced.len = kept;
}

void process_table_round(struct process_table *table)
{
	size_t kept = 0;

	table->round++;
	for (size_t i = 0; i < table->fading.len; i++) {
		struct process *proc = table->fading.items[i];

		forget_past(proc, table->round);
		if (!proc->nthreads && proc->ended_round + PROCESS_ROUNDS_KEPT <= table->round) {
			map_remove(&table->by_pid, proc->pid);
			free_process(table, proc);
			continue;
		}
		proc->fading = !proc->nthreads || proc->past.len || proc->replaced.len;
		if (proc->fading)
			table->fading.items[kept++] = proc;
	}
	table->fading.len = kept;
}

/* ---- events ----------------------------------------------------------------------------------------- */

void process_table_changed(struct process_table *table, uint32_t pid)
{
	struct process *proc = process_table_find(table, pid);

	if (proc)
		changed(table, proc);
}

bool process_table_map(struct process_table *table, uint32_t pid, const struct event_mmap *map,
		       struct mapped_file *file)
{
	struct process *proc = process_table_get(table, pid);
	const struct process_map item = { map->start, map->end, map->file_offset, file,
					  map->flags };
	const struct process_map *old = addr_map_find(proc->maps, map->start);

	if (map->end <= map->start)
		return false;
	if (!old || !same_file(old, &item) || old->end < map->end)
		remember(table, proc, map->start, map->end);
	switch (addr_map_insert(&proc->maps, &item)) {
	case ADDR_MAP_FULL:
		table->left_out++;
		return false;
	case ADDR_MAP_SAME:
		return false;
	default:
		changed(table, proc);
		return true;
	}
}

static void follow_fork(struct process_table *table, const struct event *ev)
{
	struct process *child = process_table_get(table, ev->pid);
	const struct process *parent = process_table_find(table, ev->fork.parent_pid);
	const struct process_thread *from = NULL;

	if (ev->pid == ev->fork.parent_pid) {
		child->nthreads++;
	} else {
		/* What ran before has mappings of its own, which follow. */
		begin_program(table, child,
			      addr_map_ref(parent && ev->time_ns ? parent->maps : table->none));
		end_threads(child);
		child->nthreads = 1;
		child->counted = true;
		child->inherits = ev->time_ns != 0;
		child->parent_pid = ev->fork.parent_pid;
		memset(child->lineage + 1, 0, sizeof(child->lineage) - sizeof(*child->lineage));
		child->lineage[1] = ev->fork.parent_pid;
		if (parent)
			memcpy(child->lineage + 1, parent->lineage,
			       sizeof(child->lineage) - sizeof(*child->lineage));
	}
	if (!table->follows_threads)
		return;
	from = parent ? find_thread(parent, ev->fork.parent_tid) : NULL;
	name_thread(child, ev->tid, from ? comm_share(from->comm) : NULL);
}

static void follow_comm(struct process_table *table, const struct event *ev)
{
	struct process *proc = process_table_get(table, ev->pid);

	if (ev->comm.exec) {
		begin_program(table, proc, addr_map_ref(table->none));
		proc->inherits = false;
	}
	if (table->follows_threads)
		name_thread(proc, ev->tid, comm_new(ev->comm.comm));
}

static bool follow_exit(struct process_table *table, const struct event *ev)
{
	struct process *proc = process_table_find(table, ev->pid);

	if (!proc || !proc->nthreads)
		return false;
	proc->nthreads--;
	if (table->follows_threads) {
		end_thread(proc, ev->tid);
		proc->nthreads = (uint32_t)proc->threads.len;
	} else if (!proc->counted) {
		/* Threads that began unseen would be missed by the count: such a process is never given up. */
		proc->nthreads = MAX(proc->nthreads, 1U);
	}
	if (proc->nthreads)
		return false;
	proc->ended_round = table->round;
	fade(table, proc);
	return true;
}

bool process_table_event(struct process_table *table, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_COMM:
		follow_comm(table, ev);
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

/* ---- asking ----------------------------------------------------------------------------------------- */

bool process_table_is_copy(const struct process_table *table, uint32_t pid, uint32_t of)
{
	const struct process *proc = process_table_look(table, pid);

	return pid == of || (proc->inherits && proc->lineage[1] == of);
}

bool process_had_code(const struct process *proc, uint64_t addr)
{
	for (size_t i = 0; i < proc->past.len; i++) {
		if (addr_map_find(proc->past.items[i].maps, addr))
			return true;
	}
	return false;
}

uint64_t process_next_code(const struct process *proc, uint64_t addr)
{
	const struct addr_map *maps = proc->maps;

	for (size_t i = addr_map_search(maps, addr); i < maps->len; i++) {
		const struct process_map *map = addr_map_item(maps, i);

		if (map->start > addr)
			return map->start;
	}
	return UINT64_MAX;
}

void process_code_span(const struct process *proc, uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = proc->maps->low;
	*ret_high = proc->maps->high;
	for (size_t i = 0; i < proc->past.len; i++) {
		*ret_low = MIN(*ret_low, proc->past.items[i].maps->low);
		*ret_high = MAX(*ret_high, proc->past.items[i].maps->high);
	}
}

static size_t own_meanings(const struct process *proc, uint64_t addr, const struct process_map **ret,
			   size_t max)
{
	size_t count = 0;
	const struct process_map *now = addr_map_find(proc->maps, addr);

	if (now && max)
		ret[count++] = now;
	for (size_t i = 0; i < proc->replaced.len && count < max; i++) {
		const struct process_map *map = &proc->replaced.items[i].map;

		if (addr >= map->start && addr < map->end)
			ret[count++] = map;
	}
	for (size_t i = 0; i < proc->past.len && count < max; i++) {
		const struct process_map *map = addr_map_find(proc->past.items[i].maps, addr);

		if (map)
			ret[count++] = map;
	}
	return count;
}

size_t process_table_meanings(const struct process_table *table, const struct process *proc,
			      uint64_t addr, const struct process_map **ret, size_t max)
{
	size_t count = own_meanings(proc, addr, ret, max);
	const struct process *parent = NULL;

	if (!count && proc->inherits)
		parent = process_table_find(table, proc->lineage[1]);
	return parent ? own_meanings(parent, addr, ret, max) : count;
}
