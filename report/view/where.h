/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.h - conditions on fields of tracepoints and probes, and on labels: --where 'bytes_req > 4096 && gfp_flags != 0'.
 *
 *	CONDITION = FIELD OP VALUE | CONDITION && CONDITION | CONDITION || CONDITION | ( CONDITION )
 *	OP        = == != < <= > >= ~ !~	(~: text fits a glob)
 *	VALUE     = a number, decimal or 0x...; a word; or text in "..." or '...'
 *
 * && binds closer than ||. A comparison with a field or label that a sample does not have is false. Of several labels with
 * one key, one that fulfils it is enough.
 */
#ifndef REPORT_WHERE_H
#define REPORT_WHERE_H

#include "formats/base/err.h"
#include "formats/event.h"
#include "formats/profile/profile.h"
#include "formats/recording.h"

#include <stdbool.h>

struct where;

/*
 * Read @text for the fields of the events of @rec, or for the labels of @p; either must outlive it.
 * ERR_USAGE: it is not well-formed, there is no such field or label (those there are in the remedy), or a number is compared with text.
 */
MUST_USE struct err *where_new(const char *text, const struct recording *rec, struct where **ret);
MUST_USE struct err *where_new_labels(const char *text, const struct profile *p, struct where **ret);
/* Is @text well-formed and about nothing but these @count names? */
bool where_is_about(const char *text, const char *const *names, size_t count);
void where_free(struct where *where);

/* Does @ev, a sample, fulfil it; or a set of labels? Of where_new() and where_new_labels(). Thread-safe. */
bool where_passes(const struct where *where, const struct event *ev);
bool where_passes_labels(const struct where *where, const struct profile *p, uint32_t labels);

#endif
