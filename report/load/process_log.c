/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_log.c - what runs already is listed at time 0: it has no beginning here, and a second fork of it is no new life.
 */
#include "report/load/process_log.h"

#include "formats/process/mapping.h"

#include <inttypes.h>
#include <stdio.h>

void process_log_deinit(struct process_log *log)
{
	map_deinit(&log->lives);
	map_deinit(&log->cgroups);
	vec_deinit(&log->nthreads);
	vec_deinit(&log->wants_program);
}

static uint32_t begin_life(struct process_log *log, uint32_t pid)
{
	const struct profile_process process = { .pid = pid };
	uint32_t life = profile_add_process(log->profile, &process);

	while (log->nthreads.len <= life) {
		vec_push(&log->nthreads, 0);
		vec_push(&log->wants_program, true);
	}
	log->nthreads.items[life] = 1;
	*map_put(&log->lives, pid, NULL) = life;
	return life;
}

uint32_t process_log_life(struct process_log *log, uint32_t pid)
{
	const uint64_t *life = map_get(&log->lives, pid);

	if (pid == 0 || pid == UINT32_MAX)
		return 0;
	return life ? (uint32_t)*life : begin_life(log, pid);
}

static struct profile_process *process_at(const struct process_log *log, uint32_t life)
{
	return &log->profile->processes.items[life];
}

/* A child runs its parent's program, in its cgroup, under its name, until it says otherwise. */
static void inherit(struct process_log *log, uint32_t life, uint32_t parent, uint64_t time_ns)
{
	const struct profile_process *from = process_at(log, parent);
	struct profile_process *to = process_at(log, life);

	to->cmdline = from->cmdline;
	to->cgroup = from->cgroup;
	to->program = from->program;
	to->user = from->user;
	log->wants_program.items[life] = log->wants_program.items[parent];
	if (from->last_name)
		profile_add_process_name(log->profile, life, time_ns,
					 log->profile->process_names.items[from->last_name].name);
}

static void follow_fork(struct process_log *log, const struct event *ev)
{
	uint32_t parent = process_log_life(log, ev->fork.parent_pid);
	const uint64_t *known = map_get(&log->lives, ev->pid);
	uint32_t life;

	if (ev->pid == ev->fork.parent_pid) {
		if (parent)
			log->nthreads.items[parent]++;
		return;
	}
	if (ev->pid == 0 || ev->pid == UINT32_MAX)
		return;
	/* It was a parent, or had a sample, before it was listed. */
	if (known && !ev->time_ns && !process_at(log, (uint32_t)*known)->has_exit)
		life = (uint32_t)*known;
	else
		life = begin_life(log, ev->pid);
	process_at(log, life)->parent = parent;
	if (!ev->time_ns)
		return;
	process_at(log, life)->has_start = true;
	process_at(log, life)->start_ns = ev->time_ns;
	if (parent)
		inherit(log, life, parent, ev->time_ns);
}

static void follow_comm(struct process_log *log, const struct event *ev)
{
	uint32_t life = process_log_life(log, ev->pid);

	if (!life || (ev->pid != ev->tid && !ev->comm.exec))
		return;
	profile_add_process_name(log->profile, life, ev->time_ns,
				 profile_string(log->profile, ev->comm.comm));
	if (!ev->comm.exec)
		return;
	process_at(log, life)->has_exec = true;
	process_at(log, life)->cmdline = 0; /* of the program before */
	process_at(log, life)->program = 0;
	log->wants_program.items[life] = true;
	log->nthreads.items[life] = 1; /* exec ends the others */
}

/* The kernel maps the program before its loader, and it lies below the libraries. */
static void follow_mmap(struct process_log *log, const struct event *ev)
{
	uint32_t life;

	if (ev->mmap.flags & EVENT_MMAP_KERNEL || !(ev->mmap.flags & EVENT_MMAP_EXEC) ||
	    !mapping_is_file(&ev->mmap))
		return;
	life = process_log_life(log, ev->pid);
	if (!life || !log->wants_program.items[life])
		return;
	log->wants_program.items[life] = false;
	process_at(log, life)->program = profile_string(log->profile, ev->mmap.path);
}

static void follow_exit(struct process_log *log, const struct event *ev)
{
	uint32_t life = process_log_life(log, ev->pid);

	if (!life || !log->nthreads.items[life] || --log->nthreads.items[life])
		return;
	process_at(log, life)->has_exit = true;
	process_at(log, life)->exit_ns = ev->time_ns;
}

static void follow_process(struct process_log *log, const struct event *ev)
{
	uint32_t life = process_log_life(log, ev->pid);
	char user[32] = "root";

	log->has_details = true;
	if (!life)
		return;
	if (ev->process.uid)
		snprintf(user, sizeof(user), "uid %" PRIu32, ev->process.uid);
	process_at(log, life)->cmdline = profile_string(log->profile, ev->process.cmdline);
	process_at(log, life)->cgroup = profile_string(log->profile, ev->process.cgroup);
	process_at(log, life)->user =
		ev->process.uid == UINT32_MAX ? 0 : profile_string(log->profile, user);
}

/* ---- cgroups of samples (perf record --all-cgroups) ---- */

static void follow_cgroup(struct process_log *log, const struct event *ev)
{
	*map_put(&log->cgroups, ev->cgroup.id, NULL) = profile_string(log->profile, ev->cgroup.path);
}

/* A process is in the cgroup of its last sample, unless an event says otherwise. */
static void follow_sample(struct process_log *log, const struct event *ev)
{
	const uint64_t *cgroup = log->has_details ? NULL : map_get(&log->cgroups, ev->sample.cgroup);
	uint32_t life = cgroup ? process_log_life(log, ev->pid) : 0;

	if (life)
		process_at(log, life)->cgroup = (uint32_t)*cgroup;
}

void process_log_event(struct process_log *log, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_FORK:
		follow_fork(log, ev);
		break;
	case EVENT_COMM:
		follow_comm(log, ev);
		break;
	case EVENT_MMAP:
		follow_mmap(log, ev);
		break;
	case EVENT_EXIT:
		follow_exit(log, ev);
		break;
	case EVENT_PROCESS:
		follow_process(log, ev);
		break;
	case EVENT_CGROUP:
		follow_cgroup(log, ev);
		break;
	case EVENT_SAMPLE:
		if (ev->sample.cgroup)
			follow_sample(log, ev);
		break;
	default:
		break;
	}
}
