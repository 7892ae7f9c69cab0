/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_kind.h - a transformer as derive.c's table has it.
 */
#ifndef REPORT_DERIVE_KIND_H
#define REPORT_DERIVE_KIND_H

#include "report/load/derive/derive.h"

struct derive_kind {
	const char *name;

	/* NULL: there is nothing for it to do. @request and @out outlast it. */
	void *(*begin)(const struct derive_request *request, const struct derive_out *out);
	/* NULL: what passes the filter is enough. */
	bool (*wants)(const void *state, const struct event *ev);
	/* NULL: none. */
	bool (*wants_anyones)(const void *state, const struct event *ev);
	void (*event)(void *state, const struct derive_event *event);
	/* NULL: nothing is left at the end. */
	void (*finish)(void *state);
	/* NULL: it does not know. */
	void (*lives)(const void *state, struct derive_lives *ret);
	void (*free)(void *state);
};

extern const struct derive_kind derive_period;
extern const struct derive_kind derive_switches;

#endif
