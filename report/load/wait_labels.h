/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_labels.h - what waits were for, as labels of the profile's rows: "lock" ("mutex jobs_lock (server)") and "file".
 *
 * While events are read, the address of a lock becomes a place, since mappings change; when everything is named, places
 * become texts. Not thread-safe.
 */
#ifndef REPORT_WAIT_LABELS_H
#define REPORT_WAIT_LABELS_H

#include "formats/profile/profile.h"
#include "symbolize/module/space.h"
#include "symbolize/name/symbolizer.h"

struct wait_labels;

struct wait_labels *wait_labels_new(void);
void wait_labels_free(struct wait_labels *w);

/* A number, not 0, for what lies at @addr in @space now. */
uint32_t wait_labels_place(struct wait_labels *w, struct space *space, uint64_t addr);

/*
 * The rows of @p have all names: turn DERIVE_PLACE into DERIVE_LOCK, which each wait for a lock gets, DERIVE_WAKER_STACK into DERIVE_WAKER_FUNCTION, and take
 * DERIVE_FILE away where the system call takes no descriptor.
 */
void wait_labels_settle(const struct wait_labels *w, struct profile *p, struct module_table *modules,
			struct symbolizer *symbolizer);

#endif
