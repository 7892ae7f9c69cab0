/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binaries.h - the modules of a recording: where their files are looked for, where processes mapped them, what their
 * addresses are called. Of an imported profile those whose code has no names in it.
 */
#ifndef REPORT_BINARIES_H
#define REPORT_BINARIES_H

#include "report/print/progress.h"
#include "symbolize/module/debuginfod.h"
#include "symbolize/module/module.h"
#include "symbolize/module/space.h"
#include "symbolize/name/symbolizer.h"

struct recording;
struct session_args;

struct binaries {
	struct module_search search;
	struct module_table *modules;
	struct space_table *spaces; /* as of the event that is handed out */
	struct symbolizer *symbolizer;
	struct debuginfod debuginfod; /* private: what servers were asked for */
	struct progress asking;	      /* private: the line about that */
	struct arena arena;	      /* private */
};

/* @rec is NULL of a profile. @b must stay where it is; @args, @rec and @diag must outlive it. */
void binaries_open(struct binaries *b, const struct session_args *args, const struct recording *rec, struct diag *diag);
void binaries_close(struct binaries *b);

/* Keep what debug information said for later runs, and add to @diag what was wrong with files and servers. */
void binaries_settle(struct binaries *b, struct diag *diag);

/* Files that were used though nothing tells that they are those that were recorded. */
uint64_t binaries_unverified(const struct binaries *b);

#endif
