/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_snapshot.c - applies events when their pass is over, and writes its state as events.
 */
#include "record/task/process_snapshot.h"

#include "formats/base/arena.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/process/process_table.h"

#include <stdlib.h>
#include <string.h>

struct code {
	struct event_ksymbol symbol; /* its name is ours */
};

struct group {
	uint64_t id;
	char *path;
};

/* The contents of an EVENT_PROCESS. */
struct detail {
	uint32_t uid;
	char *cgroup;
	char *cmdline;
};

struct process_snapshot {
	struct process_table processes;
	struct mapped_files files;
	struct map details; /* pid -> struct detail * */
	struct addr_map *kernel;
	VEC(struct code) codes;
	VEC(struct event_bpf) programs;
	VEC(struct group) groups;
	VEC(struct event) recent; /* the last pass */
	struct arena texts;       /* of @recent */
};

static struct detail *find_detail(const struct process_snapshot *l, uint32_t pid)
{
	const uint64_t *slot = map_get(&l->details, pid);

	return slot ? (struct detail *)(uintptr_t)*slot : NULL;
}

static void forget_detail(void *context, uint32_t pid)
{
	struct process_snapshot *l = context;
	struct detail *detail = find_detail(l, pid);

	if (!detail)
		return;
	map_remove(&l->details, pid);
	free(detail->cgroup);
	free(detail->cmdline);
	free(detail);
}

static void on_process(struct process_snapshot *l, const struct event *ev)
{
	struct detail *detail = memory_zeroed(1, sizeof(*detail));

	forget_detail(l, ev->pid);
	detail->uid = ev->process.uid;
	detail->cgroup = memory_strdup(ev->process.cgroup);
	detail->cmdline = memory_strdup(ev->process.cmdline);
	*map_put(&l->details, ev->pid, NULL) = (uintptr_t)detail;
}

static void on_mmap(struct process_snapshot *l, const struct event *ev)
{
	struct mapped_file *file = mapped_files_get(&l->files, &ev->mmap, NULL);

	if (ev->mmap.flags & EVENT_MMAP_KERNEL) {
		const struct process_map item = { ev->mmap.start, ev->mmap.end,
						  ev->mmap.file_offset, file, ev->mmap.flags };

		addr_map_insert(&l->kernel, &item);
	} else {
		process_table_map(&l->processes, ev->pid, &ev->mmap, file);
	}
}

/* ---- the kernel ------------------------------------------------------------------------------------- */

static void on_ksymbol(struct process_snapshot *l, const struct event_ksymbol *symbol)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->codes.len; i++) {
		if (l->codes.items[i].symbol.addr == symbol->addr)
			free((char *)l->codes.items[i].symbol.name);
		else
			l->codes.items[kept++] = l->codes.items[i];
	}
	l->codes.len = kept;
	if (symbol->removed)
		return;
	struct code code = { *symbol };

	code.symbol.name = memory_strdup(symbol->name);
	vec_push(&l->codes, code);
}

static void on_bpf(struct process_snapshot *l, const struct event_bpf *bpf)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->programs.len; i++) {
		if (l->programs.items[i].id != bpf->id)
			l->programs.items[kept++] = l->programs.items[i];
	}
	l->programs.len = kept;
	if (bpf->type == 1) /* PERF_BPF_EVENT_PROG_LOAD */
		vec_push(&l->programs, *bpf);
}

static void on_cgroup(struct process_snapshot *l, const struct event_cgroup *cgroup)
{
	struct group group = { cgroup->id, memory_strdup(cgroup->path) };

	for (size_t i = 0; i < l->groups.len; i++) {
		if (l->groups.items[i].id != cgroup->id)
			continue;
		free(l->groups.items[i].path);
		l->groups.items[i] = group;
		return;
	}
	vec_push(&l->groups, group);
}

/* ---- following --------------------------------------------------------------------------------------- */

static void apply(struct process_snapshot *l, const struct event *ev)
{
	if (ev->kind == EVENT_FORK && ev->pid != ev->fork.parent_pid && ev->time_ns)
		forget_detail(l, ev->pid); /* its number is reused */
	switch (ev->kind) {
	case EVENT_FORK:
	case EVENT_EXIT:
	case EVENT_COMM:
		process_table_event(&l->processes, ev);
		break;
	case EVENT_MMAP:
		on_mmap(l, ev);
		break;
	case EVENT_PROCESS:
		on_process(l, ev);
		break;
	case EVENT_KSYMBOL:
		on_ksymbol(l, &ev->ksymbol);
		break;
	case EVENT_BPF:
		on_bpf(l, &ev->bpf);
		break;
	case EVENT_CGROUP:
		on_cgroup(l, &ev->cgroup);
		break;
	default:
		break;
	}
}

void process_snapshot_event(struct process_snapshot *l, const struct event *ev)
{
	struct event copy = *ev;

	switch (ev->kind) {
	case EVENT_FORK:
	case EVENT_EXIT:
	case EVENT_BPF:
		break;
	case EVENT_COMM:
		copy.comm.comm = arena_strdup(&l->texts, ev->comm.comm);
		break;
	case EVENT_PROCESS:
		copy.process.cmdline = arena_strdup(&l->texts, ev->process.cmdline);
		copy.process.cgroup = arena_strdup(&l->texts, ev->process.cgroup);
		break;
	case EVENT_MMAP:
		copy.mmap.path = arena_strdup(&l->texts, ev->mmap.path);
		break;
	case EVENT_KSYMBOL:
		copy.ksymbol.name = arena_strdup(&l->texts, ev->ksymbol.name);
		break;
	case EVENT_CGROUP:
		copy.cgroup.path = arena_strdup(&l->texts, ev->cgroup.path);
		break;
	default:
		return;
	}
	vec_push(&l->recent, copy);
}

void process_snapshot_round(struct process_snapshot *l)
{
	for (size_t i = 0; i < l->recent.len; i++)
		apply(l, &l->recent.items[i]);
	l->recent.len = 0;
	arena_reset(&l->texts);
	process_table_round(&l->processes);
}

/* ---- telling ----------------------------------------------------------------------------------------- */

struct teller {
	struct err *(*tell)(void *context, const struct event *ev);
	void *context;
};

static struct err *tell_map(const struct process_map *map, uint32_t pid, const struct teller *to)
{
	const struct mapped_file *file = map->file;
	struct arena arena = { 0 };
	struct event ev = {
		.kind = EVENT_MMAP,
		.cpu = EVENT_NO_CPU,
		.pid = pid,
		.tid = pid == UINT32_MAX ? 0 : pid,
		.mmap = {
			.start = map->start,
			.end = map->end,
			.file_offset = map->offset,
			.device = file->device,
			.inode = file->inode,
			.generation = file->generation,
			.flags = map->flags,
			.build_id_len = file->build_id_len,
			.path = file->path,
		},
	};

	memcpy(ev.mmap.build_id, file->build_id, file->build_id_len);
	if (file->deleted)
		ev.mmap.path = arena_printf(&arena, "%s (deleted)", file->path);
	struct err *err = to->tell(to->context, &ev);

	arena_deinit(&arena);
	return err;
}

static struct err *tell_maps(const struct addr_map *maps, uint32_t pid, const struct teller *to)
{
	struct err *err = NULL;

	for (size_t i = 0; i < maps->len && !err; i++)
		err = tell_map(addr_map_item(maps, i), pid, to);
	return err;
}

static struct err *tell_thread(const struct process *who, const struct process_thread *thread,
			       bool first, const struct teller *to)
{
	uint32_t from = first ? who->parent_pid : who->pid;
	const char *name = process_thread_name(thread);
	struct event ev = {
		.kind = EVENT_FORK,
		.cpu = EVENT_NO_CPU,
		.pid = who->pid,
		.tid = thread->tid,
		.fork = { from, from },
	};
	struct err *err = to->tell(to->context, &ev);

	if (err || !name)
		return err;
	ev.kind = EVENT_COMM;
	ev.comm = (struct event_comm){ .comm = name };
	return to->tell(to->context, &ev);
}

/* Its own, or those of the one that it was forked from. */
static struct err *tell_detail(const struct process_snapshot *l, const struct process *who,
			       const struct teller *to)
{
	const struct detail *detail = find_detail(l, who->pid);

	for (size_t i = 1; i < PROCESS_LINEAGE && who->lineage[i] && !detail && who->inherits; i++)
		detail = find_detail(l, who->lineage[i]);
	if (!detail)
		return NULL;
	struct event ev = {
		.kind = EVENT_PROCESS,
		.cpu = EVENT_NO_CPU,
		.pid = who->pid,
		.tid = who->pid,
		.process = { .cmdline = detail->cmdline,
			     .cgroup = detail->cgroup,
			     .uid = detail->uid },
	};

	return to->tell(to->context, &ev);
}

/* One that has ended is kept by the table for a while, without threads. */
static struct err *tell_process(const struct process_snapshot *l, const struct process *who,
				const struct teller *to)
{
	struct err *err = NULL;

	for (size_t i = 0; i < who->threads.len && !err; i++)
		err = tell_thread(who, &who->threads.items[i], i == 0, to);
	if (!err && who->nthreads)
		err = tell_detail(l, who, to);
	return err || !who->nthreads ? err : tell_maps(who->maps, who->pid, to);
}

static struct err *tell_kernel(const struct process_snapshot *l, const struct teller *to)
{
	struct event ev = { .cpu = EVENT_NO_CPU, .pid = UINT32_MAX };
	struct err *err = tell_maps(l->kernel, UINT32_MAX, to);

	for (size_t i = 0; i < l->codes.len && !err; i++) {
		ev.kind = EVENT_KSYMBOL;
		ev.ksymbol = l->codes.items[i].symbol;
		err = to->tell(to->context, &ev);
	}
	for (size_t i = 0; i < l->programs.len && !err; i++) {
		ev.kind = EVENT_BPF;
		ev.bpf = l->programs.items[i];
		err = to->tell(to->context, &ev);
	}
	for (size_t i = 0; i < l->groups.len && !err; i++) {
		ev.kind = EVENT_CGROUP;
		ev.cgroup = (struct event_cgroup){ l->groups.items[i].id,
						   l->groups.items[i].path };
		err = to->tell(to->context, &ev);
	}
	return err;
}

struct err *process_snapshot_tell(const struct process_snapshot *l,
			   struct err *(*tell)(void *context, const struct event *ev),
			   void *context)
{
	const struct teller to = { tell, context };
	const struct map_slot *slot;
	struct err *err = tell_kernel(l, &to);

	for (size_t pos = 0; !err && (slot = map_next(&l->processes.by_pid, &pos));)
		err = tell_process(l, (struct process *)(uintptr_t)slot->value, &to);
	for (size_t i = 0; i < l->recent.len && !err; i++)
		err = tell(context, &l->recent.items[i]);
	return err;
}

struct process_snapshot *process_snapshot_new(void)
{
	struct process_snapshot *l = memory_zeroed(1, sizeof(*l));

	process_table_init(&l->processes);
	l->processes.follows_threads = true;
	l->processes.forget = forget_detail;
	l->processes.context = l;
	mapped_files_init(&l->files, sizeof(struct mapped_file), NULL);
	l->kernel = addr_map_ref(l->processes.none);
	return l;
}

void process_snapshot_free(struct process_snapshot *l)
{
	if (!l)
		return;
	addr_map_unref(l->kernel);
	process_table_deinit(&l->processes);
	map_deinit(&l->details);
	mapped_files_deinit(&l->files);
	for (size_t i = 0; i < l->codes.len; i++)
		free((char *)l->codes.items[i].symbol.name);
	vec_deinit(&l->codes);
	vec_deinit(&l->programs);
	for (size_t i = 0; i < l->groups.len; i++)
		free(l->groups.items[i].path);
	vec_deinit(&l->groups);
	vec_deinit(&l->recent);
	arena_deinit(&l->texts);
	free(l);
}
