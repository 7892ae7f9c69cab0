/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_event.h - events as the makers of processors call them, from the tables of libpfm4 for this machine, if it is installed.
 *
 * "EVENT.UMASK" as in Intel's manuals, "EVENT:UMASK" as in libpfm4, "PMU::EVENT"; case does not matter.
 * Not thread-safe, for libpfm4 is not.
 */
#ifndef RECORD_VENDOR_EVENT_H
#define RECORD_VENDOR_EVENT_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct vendor_event {
	uint32_t type;
	uint64_t config, config1, config2;
};

/* False if libpfm4 knows no such event for a PMU of this machine. */
bool vendor_event_find(const char *name, struct vendor_event *ret);

/* Visit every event of this machine's PMUs, by the name that vendor_event_find() takes. */
void vendor_event_each(struct arena *arena,
		       void (*visit)(const char *name, const char *description, void *context),
		       void *context);

#endif
