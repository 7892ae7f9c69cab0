/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - finds a control group by the path that its members see in /proc/PID/cgroup.
 */
#ifndef RECORD_CGROUP_H
#define RECORD_CGROUP_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stdint.h>

/*
 * Open the folder of group @name, "/system.slice/ssh.service" or the same with the mount point in front, for
 * PERF_FLAG_PID_CGROUP. *@ret_fd is the caller's to close.
 *
 * ERR_SYSTEM: there is no such group.  ERR_UNSUPPORTED: cgroups are not mounted.
 */
MUST_USE struct err *cgroup_open(const char *name, int *ret_fd);

/*
 * The mount point of the hierarchy that perf events use, from a file like /proc/self/mounts: that of the perf_event
 * controller of version 1 if there is one, otherwise version 2. NULL if there is neither.
 */
const char *cgroup_find_mount(const char *mounts_path, struct arena *arena);

/*
 * Call @visit for each process of the group with folder @fd, and of those below it. The work is
 * bounded: at most 4,096 groups and 131,072 processes are read, and nothing deeper than 32 levels.
 */
void cgroup_each_process(int fd, void (*visit)(void *context, uint32_t pid), void *context);

#endif
