/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_text.h - one walk of a stack in words, frame by frame: where, by which table and rule, with which registers,
 * what was read, and why it ended.
 */
#ifndef REPORT_WALK_TEXT_H
#define REPORT_WALK_TEXT_H

#include "report/load/session.h"
#include "symbolize/unwind/unwind_trace.h"

#include <stdio.h>

struct walk_text {
	struct session *s;
	const struct unwinder *unwinder; /* that filled @trace */
	const struct unwind_trace *trace;
	const struct unwind_chain *chain;
	const struct walked_event *event; /* its stack names the frames */
};

void walk_text_put(FILE *out, const struct walk_text *walk);

#endif
