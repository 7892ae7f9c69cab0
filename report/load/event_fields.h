/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_fields.h - the fields of tracepoints and probes that levels ask for ("--by next_comm"), as labels of samples.
 *
 *	event_fields_listen(&fields, s, &levels);	// between session_open() and session_load()
 */
#ifndef REPORT_EVENT_FIELDS_H
#define REPORT_EVENT_FIELDS_H

#include "formats/tracepoint_format.h"
#include "report/load/session.h"
#include "report/view/view_levels.h"

struct event_fields {
	struct session *s;
	const char *names[VIEW_LEVELS_MAX];
	unsigned len;
	const struct tracepoint_field **fields; /* by event and name; NULL: it has none */
	struct loader_listener listener;	/* private */
};

/*
 * Have the samples of @s labelled with what the field levels of @levels ask for. @fields and @levels must outlive
 * session_load(). An imported profile has its own labels, which are looked at afterwards: event_fields_check().
 * ERR_USAGE: no event has such a field; the remedy lists those there are.
 */
MUST_USE struct err *event_fields_listen(struct event_fields *fields, struct session *s,
					 const struct view_levels *levels);

/* ERR_USAGE: no sample of the imported profile has a label that @levels ask for. */
MUST_USE struct err *event_fields_check(const struct profile *p, const struct view_levels *levels);

#endif
