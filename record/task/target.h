/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - what is recorded: the whole system, processes, threads, a user, a cgroup, or a command.
 */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include "formats/base/opt.h"
#include "formats/base/vec.h"
#include "record/system/cpu_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As asked for on the command line; texts point into argv. */
struct target_args {
	bool all;
	bool no_inherit; /* what the tasks start is left out */
	bool by_thread;  /* with @all: every thread that there is, as a task */
	const char *pids, *tids, *cpus, *cgroup, *user;
};

/* The options, for OPT_GROUP. */
extern const struct opt target_opts[];

struct target_task {
	pid_t pid, tid;
};

struct target {
	struct arena arena;
	bool system_wide; /* everything is recorded, or what a cgroup holds */
	bool by_cpu;      /* events follow CPUs, not tasks; then a task filter says which samples count */
	bool inherit;     /* events follow into children */
	VEC(struct target_task) tasks; /* with all their threads; empty if @system_wide */
	int cgroup_fd;                 /* -1: none */
	struct cpu_list online;
	struct cpu_list cpus; /* where to sample: all on line, or those of -C that are */
};

/*
 * Find what @args mean; @command_pid is the command's process, 0 if there is none.
 *
 * ERR_USAGE: nothing to record, contradictory options, or values that make no sense.
 * ERR_SYSTEM: no such process, user or cgroup.
 */
MUST_USE struct err *target_find(const struct target_args *args, pid_t command_pid,
				 struct target *ret);

void target_deinit(struct target *t);

#endif
