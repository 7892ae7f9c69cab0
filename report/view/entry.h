/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.h - which way a sample came to where it was: "user code", "system call read", "page fault", "interrupt timer",
 * "softirq net_rx", "kernel thread", "idle".
 *
 * The names of the kernel's functions tell; interrupts count before what they interrupted.
 */
#ifndef REPORT_ENTRY_H
#define REPORT_ENTRY_H

#include "formats/profile/profile.h"

#include <stdbool.h>

#define ENTRY_USER    "user code"
#define ENTRY_UNKNOWN "kernel, way not known"

/* Is the innermost frame of @stack, which may be 0, in the kernel? Others have no way in. */
bool entry_is_kernel(const struct profile *p, uint32_t stack);

/* Of a sample whose kernel part is named. A string of @arena, or a constant. */
const char *entry_name(const struct profile *p, const struct profile_sample *row, struct arena *arena);

#endif
