/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotplug.h - CPUs that go off line while they are recorded, and come back.
 *
 * The kernel takes the events of a CPU away with it and does not bring them back, so they are opened anew, into
 * the ring that the CPU had before.
 */
#ifndef RECORD_HOTPLUG_H
#define RECORD_HOTPLUG_H

#include "formats/base/diag.h"
#include "record/doorbell.h"
#include "record/sensors.h"
#include "record/target.h"
#include "record/watch.h"

#include <stdbool.h>

#define HOTPLUG_TEXT_MAX 512

struct hotplug {
	struct sensors *sensors;
	const struct target *target;
	struct watch *watch;
	struct doorbell *bell;
	struct diag *diag; /* is told of each CPU that went or came */
	struct arena arena;
	struct cpu_list online;      /* when it was last looked at */
	char text[HOTPLUG_TEXT_MAX]; /* the same as the kernel writes it */
};

void hotplug_init(struct hotplug *h, struct sensors *sensors, const struct target *target,
		  struct watch *watch, struct doorbell *bell, struct diag *diag);
void hotplug_deinit(struct hotplug *h);

/* Look whether CPUs went or came. Events of those that came count if @enabled. Cheap when nothing changed. */
void hotplug_check(struct hotplug *h, bool enabled);

#endif
