/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedies.h - what would help, for this recording: never what was done already, and for a JIT what its runtime calls it.
 */
#ifndef REPORT_REMEDIES_H
#define REPORT_REMEDIES_H

#include "formats/stack_stop.h"
#include "report/load/session.h"

/* Against stacks that end with @stop, as @s was recorded; NULL: nothing is known. Lives as long as @s. */
const char *remedy_for_stop(const struct session *s, enum stack_stop stop);

/* The same for stacks that end in @mod, which may be NULL. */
const char *remedy_for_stop_in(const struct session *s, enum stack_stop stop, const struct module *mod);

/* How the runtime of process @pid can be made to name its code, which is @module, if it does not. The samples of @s tell which it is. */
const char *remedy_for_jit(const struct session *s, uint32_t module, uint32_t pid);

#endif
