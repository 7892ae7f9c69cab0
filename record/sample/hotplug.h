/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotplug.h - CPUs that go offline and come back during a recording.
 *
 * The kernel removes the events of a CPU that goes offline and does not restore them, so they are opened again, into
 * the CPU's old ring.
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
	struct diag *diag; /* gets a warning for each CPU that went or came */
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
 * Check for CPUs that went or came, at most ten times a second. Events of those that came count if @enabled.
 * Cheap when nothing changed; called at each wake-up.
 */
void hotplug_check(struct hotplug *h, uint64_t now_ns, bool enabled);

#endif
