/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.h - conditions on the fields of tracepoints and probes: --where 'bytes_req > 4096 && gfp_flags != 0'.
 *
 *	CONDITION = FIELD OP VALUE | CONDITION && CONDITION | CONDITION || CONDITION | ( CONDITION )
 *	OP        = == != < <= > >= ~ !~	(~: text fits a glob)
 *	VALUE     = a number, decimal or 0x...; a word; or text in "..." or '...'
 *
 * && binds closer than ||. A comparison with a field that a sample's event does not have is false.
 */
#ifndef REPORT_WHERE_H
#define REPORT_WHERE_H

#include "formats/base/err.h"
#include "formats/event.h"
#include "formats/recording.h"

#include <stdbool.h>

struct where;

/*
 * Read @text for the events of @rec, which must outlive it.
 * ERR_USAGE: it is not well-formed, no event has such a field (those there are in the remedy), or a number is compared with text.
 */
MUST_USE struct err *where_new(const char *text, const struct recording *rec, struct where **ret);
void where_free(struct where *where);

/* Does @ev, a sample, fulfil it? Thread-safe. */
bool where_passes(const struct where *where, const struct event *ev);

#endif
