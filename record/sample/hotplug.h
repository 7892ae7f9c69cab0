/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotplug.h - CPUs that go off line while they are recorded, and come back.
 *
 * The kernel takes the events of a CPU away with it and does not bring them back, so they are opened anew, into
 * the ring that the CPU had before.
 *
 * Owns a descriptor. Not thread-safe.
 */
#ifndef RECORD_HOTPLUG_H
#define RECORD_HOTPLUG_H

#include "formats/base/diag.h"
#include "record/sample/mmap_wakeup.h"
#include "record/sample/perf_fds.h"
#include "record/task/target.h"
#include "record/sample/watch.h"

#include <stdbool.h>
#include <stdint.h>

#define HOTPLUG_TEXT_MAX 512

struct hotplug {
	struct perf_fds *perf_fds;
	const struct target *target;
	struct watch *watch;
	struct mmap_wakeup *bell;
	struct diag *diag; /* is informed of each CPU that went or came */
	int fd;             /* of the kernel's messages; -1: there are none, or they are not wanted */
	uint64_t looked_ns; /* when it was last read */
	struct arena arena;
	struct cpu_list online;      /* when it was last looked at */
	char text[HOTPLUG_TEXT_MAX]; /* the same as the kernel writes it */
};

void hotplug_init(struct hotplug *h, struct perf_fds *perf_fds, const struct target *target,
		  struct watch *watch, struct mmap_wakeup *bell, struct diag *diag);
void hotplug_deinit(struct hotplug *h);

/*
 * Look whether CPUs went or came, unless that was done a moment ago. Events of those that came count if @enabled.
 * Cheap when nothing changed; called at each wake-up.
 */
void hotplug_check(struct hotplug *h, uint64_t now_ns, bool enabled);

#endif
