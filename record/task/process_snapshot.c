/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_snapshot.c - events change it when their pass is over; telling it makes events again.
 */
#include "record/task/process_snapshot.h"

#include "formats/base/arena.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "record/task/exec_maps.h"

#include <stdlib.h>
#include <string.h>

struct thread {
	uint32_t tid;
	struct exec_maps_name *comm; /* NULL: not known */
};

struct inhabitant {
	uint32_t pid, parent_pid;
	VEC(struct thread) threads;
	struct tracts tracts;
};

struct code {
	struct event_ksymbol symbol;
	struct exec_maps_name *name;
};

struct group {
	uint64_t id;
	struct exec_maps_name *path;
};

struct process_snapshot {
	struct map by_pid; /* to struct inhabitant * */
	struct tracts kernel;
	VEC(struct code) codes;
	VEC(struct event_bpf) programs;
	VEC(struct group) groups;
	VEC(struct event) recent; /* the last pass */
	struct arena texts;       /* of @recent */
};

/* ---- inhabitants ------------------------------------------------------------------------------------ */

static struct inhabitant *find(const struct process_snapshot *l, uint32_t pid)
{
	uint64_t *slot = map_get(&l->by_pid, pid);

	return slot ? (struct inhabitant *)(uintptr_t)*slot : NULL;
}

static struct inhabitant *get(struct process_snapshot *l, uint32_t pid)
{
	uint64_t *slot = map_put(&l->by_pid, pid, NULL);

	if (!*slot) {
		struct inhabitant *who = memory_zeroed(1, sizeof(*who));

		who->pid = pid;
		*slot = (uintptr_t)who;
	}
	return (struct inhabitant *)(uintptr_t)*slot;
}

static void inhabitant_free(struct inhabitant *who)
{
	tracts_deinit(&who->tracts);
	for (size_t i = 0; i < who->threads.len; i++)
		exec_maps_name_drop(who->threads.items[i].comm);
	vec_deinit(&who->threads);
	free(who);
}

static void leave(struct process_snapshot *l, struct inhabitant *who)
{
	map_remove(&l->by_pid, who->pid);
	inhabitant_free(who);
}

static struct thread *get_thread(struct inhabitant *who, uint32_t tid)
{
	for (size_t i = 0; i < who->threads.len; i++) {
		if (who->threads.items[i].tid == tid)
			return &who->threads.items[i];
	}
	vec_push(&who->threads, ((struct thread){ .tid = tid }));
	return &who->threads.items[who->threads.len - 1];
}

static struct exec_maps_name *name_of(const struct process_snapshot *l, uint32_t pid, uint32_t tid)
{
	const struct inhabitant *who = find(l, pid);

	for (size_t i = 0; who && i < who->threads.len; i++) {
		if (who->threads.items[i].tid == tid)
			return who->threads.items[i].comm;
	}
	return NULL;
}

static void on_fork(struct process_snapshot *l, const struct event *ev)
{
	struct exec_maps_name *comm =
		exec_maps_name_share(name_of(l, ev->fork.parent_pid, ev->fork.parent_tid));

	if (ev->pid != ev->fork.parent_pid) {
		struct inhabitant *old = find(l, ev->pid);
		const struct inhabitant *parent = find(l, ev->fork.parent_pid);

		if (old)
			leave(l, old); /* its number lives again */
		struct inhabitant *who = get(l, ev->pid);

		who->parent_pid = ev->fork.parent_pid;
		/* What is read from /proc at the beginning comes at time 0 with mappings of its own. */
		if (parent && ev->time_ns)
			tracts_copy(&who->tracts, &parent->tracts);
	}
	struct thread *thread = get_thread(get(l, ev->pid), ev->tid);

	exec_maps_name_drop(thread->comm);
	thread->comm = comm;
}

static void on_comm(struct process_snapshot *l, const struct event *ev)
{
	struct inhabitant *who = get(l, ev->pid);
	struct thread *thread = get_thread(who, ev->tid);

	exec_maps_name_drop(thread->comm);
	thread->comm = exec_maps_name_new(ev->comm.comm);
	if (ev->comm.exec)
		tracts_clear(&who->tracts);
}

static void on_end(struct process_snapshot *l, const struct event *ev)
{
	struct inhabitant *who = find(l, ev->pid);

	for (size_t i = 0; who && i < who->threads.len; i++) {
		if (who->threads.items[i].tid != ev->tid)
			continue;
		exec_maps_name_drop(who->threads.items[i].comm);
		who->threads.items[i] = who->threads.items[--who->threads.len];
	}
	if (who && !who->threads.len)
		leave(l, who);
}

/* ---- the kernel ------------------------------------------------------------------------------------- */

static void on_ksymbol(struct process_snapshot *l, const struct event_ksymbol *symbol)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->codes.len; i++) {
		if (l->codes.items[i].symbol.addr == symbol->addr)
			exec_maps_name_drop(l->codes.items[i].name);
		else
			l->codes.items[kept++] = l->codes.items[i];
	}
	l->codes.len = kept;
	if (symbol->removed)
		return;
	struct code code = { *symbol, exec_maps_name_new(symbol->name) };

	code.symbol.name = code.name->text;
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
	struct group group = { cgroup->id, exec_maps_name_new(cgroup->path) };

	for (size_t i = 0; i < l->groups.len; i++) {
		if (l->groups.items[i].id != cgroup->id)
			continue;
		exec_maps_name_drop(l->groups.items[i].path);
		l->groups.items[i] = group;
		return;
	}
	vec_push(&l->groups, group);
}

/* ---- following --------------------------------------------------------------------------------------- */

static void apply(struct process_snapshot *l, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_FORK:
		on_fork(l, ev);
		break;
	case EVENT_EXIT:
		on_end(l, ev);
		break;
	case EVENT_COMM:
		on_comm(l, ev);
		break;
	case EVENT_MMAP:
		tracts_add(ev->mmap.flags & EVENT_MMAP_KERNEL ? &l->kernel
							      : &get(l, ev->pid)->tracts,
			   &ev->mmap);
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
}

/* ---- telling ----------------------------------------------------------------------------------------- */

struct teller {
	struct err *(*tell)(void *context, const struct event *ev);
	void *context;
};

static struct err *tell_tracts(const struct tracts *tracts, uint32_t pid,
			       const struct teller *to)
{
	struct err *err = NULL;

	for (size_t i = 0; i < tracts->len && !err; i++) {
		struct event ev = {
			.kind = EVENT_MMAP,
			.cpu = EVENT_NO_CPU,
			.pid = pid,
			.tid = pid == UINT32_MAX ? 0 : pid,
			.mmap = tracts->items[i].map,
		};

		err = to->tell(to->context, &ev);
	}
	return err;
}

static struct err *tell_thread(const struct inhabitant *who, const struct thread *thread,
			       bool first, const struct teller *to)
{
	uint32_t from = first ? who->parent_pid : who->pid;
	struct event ev = {
		.kind = EVENT_FORK,
		.cpu = EVENT_NO_CPU,
		.pid = who->pid,
		.tid = thread->tid,
		.fork = { from, from },
	};
	struct err *err = to->tell(to->context, &ev);

	if (err || !thread->comm)
		return err;
	ev.kind = EVENT_COMM;
	ev.comm = (struct event_comm){ .comm = thread->comm->text };
	return to->tell(to->context, &ev);
}

static struct err *tell_inhabitant(const struct inhabitant *who, const struct teller *to)
{
	struct err *err = NULL;

	for (size_t i = 0; i < who->threads.len && !err; i++)
		err = tell_thread(who, &who->threads.items[i], i == 0, to);
	return err ? err : tell_tracts(&who->tracts, who->pid, to);
}

static struct err *tell_kernel(const struct process_snapshot *l, const struct teller *to)
{
	struct event ev = { .cpu = EVENT_NO_CPU, .pid = UINT32_MAX };
	struct err *err = tell_tracts(&l->kernel, UINT32_MAX, to);

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
						   l->groups.items[i].path->text };
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

	for (size_t pos = 0; !err && (slot = map_next(&l->by_pid, &pos));)
		err = tell_inhabitant((struct inhabitant *)(uintptr_t)slot->value, &to);
	for (size_t i = 0; i < l->recent.len && !err; i++)
		err = tell(context, &l->recent.items[i]);
	return err;
}

struct process_snapshot *process_snapshot_new(void)
{
	return memory_zeroed(1, sizeof(struct process_snapshot));
}

void process_snapshot_free(struct process_snapshot *l)
{
	const struct map_slot *slot;

	if (!l)
		return;
	for (size_t pos = 0; (slot = map_next(&l->by_pid, &pos));)
		inhabitant_free((struct inhabitant *)(uintptr_t)slot->value);
	map_deinit(&l->by_pid);
	tracts_deinit(&l->kernel);
	for (size_t i = 0; i < l->codes.len; i++)
		exec_maps_name_drop(l->codes.items[i].name);
	vec_deinit(&l->codes);
	vec_deinit(&l->programs);
	for (size_t i = 0; i < l->groups.len; i++)
		exec_maps_name_drop(l->groups.items[i].path);
	vec_deinit(&l->groups);
	vec_deinit(&l->recent);
	arena_deinit(&l->texts);
	free(l);
}
