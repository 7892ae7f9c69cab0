/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - prints events one by one: a head line and, for samples, a line a frame; or one JSON object a line.
 */
#ifndef REPORT_SCRIPT_H
#define REPORT_SCRIPT_H

#include "report/load/session.h"

#include <stdio.h>

struct script_options {
	bool json;
	bool relative; /* time since the start of the recording */
	bool no_chain; /* only the leaf */
};

struct script;

/* @s and @options must outlive the result. */
struct script *script_new(struct session *s, const struct script_options *options, FILE *out);
void script_free(struct script *script);

void script_print(struct script *script, const struct walked_event *event);

#endif
