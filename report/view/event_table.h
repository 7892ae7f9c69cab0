/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_table.h - --by event: how often each event was sampled, and what its samples stand for.
 */
#ifndef REPORT_EVENT_TABLE_H
#define REPORT_EVENT_TABLE_H

#include "report/load/session.h"
#include "report/print/table.h"

/* Print the events of the loaded session with the most samples first, at most @limit; shares are of samples. */
MUST_USE struct err *event_table_print(struct session *s, enum table_format format, uint64_t limit,
				       const struct terminal_args *terminal);

#endif
