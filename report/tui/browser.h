/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - what the terminal interface shows: a table whose rows unfold into callers or callees, of a part of the
 * samples that gets narrower step by step.
 *
 * Knows no terminal: rows in, rows out. What was chosen and unfolded goes by names, so that it is the same when another
 * profile takes the place of the first (browser_look_at()), as a live view has it every moment.
 */
#ifndef REPORT_BROWSER_H
#define REPORT_BROWSER_H

#include "formats/profile/profile.h"

enum browser_table {
	BROWSER_LEAVES, /* functions that ran; unfold into their callers */
	BROWSER_TOTALS, /* functions on the stacks; unfold into callers or callees */
	BROWSER_CALLS,  /* from the root: what is called, level by level */
	BROWSER_THREADS, /* from here on: to choose one of */
	BROWSER_TIMELINE, /* threads, and when each of them was sampled */
	BROWSER_PROCESSES,
	BROWSER_PROGRAMS,
	BROWSER_MODULES,
	BROWSER_LINES,
	BROWSER_CGROUPS,
	BROWSER_TABLES
};

struct browser_row {
	const char *name;   /* of the function, thread, module or process */
	const char *detail; /* module, or pid and tid, or path, or the timeline */
	unsigned depth;     /* 0: in the table; more: a caller or callee of the row above with one less */
	struct profile_sum sum;
	struct profile_sum self; /* totals and calls only */
	bool unnamed;
	bool unfolds, unfolded;
	/* Private. */
	struct browser_tree *tree;
	uint32_t node, group;
	uint64_t key;
};

struct browser;

/* Every frame of @p is named; it must outlive the browser, or the next one. The process of @recorder_pid is marked, 0: none. */
struct browser *browser_new(const struct profile *p, uint32_t event, uint32_t recorder_pid);
void browser_free(struct browser *b);

/* Go on with @p, which has the same event, in the same table, narrowed and unfolded in the same way. */
void browser_look_at(struct browser *b, const struct profile *p, uint32_t event);

/* The rows in order, valid until the next call that changes something. */
const struct browser_row *browser_rows(struct browser *b, size_t *ret_count);

/* What shares are of. */
struct profile_sum browser_whole(const struct browser *b);

enum browser_table browser_table(const struct browser *b);
void browser_show(struct browser *b, enum browser_table table);

/* "leaves", "threads", ... */
const char *browser_table_name(enum browser_table table);

/* Do rows choose samples, other than unfold? */
bool browser_table_chooses(enum browser_table table);

/* Whether sums unfold into what they call, and no longer into what calls them. */
bool browser_shows_callees(const struct browser *b);
void browser_turn_round(struct browser *b);

/* The event that the samples are of, and on to the next that has samples. */
uint32_t browser_event(const struct browser *b);
void browser_next_event(struct browser *b);

/* Unfold a row, or fold it. */
void browser_toggle(struct browser *b, size_t row);

/* Unfold a row, and what comes below as long as there is one way only. */
void browser_unfold_chain(struct browser *b, size_t row);

/* Unfold everything that has at least @share of the samples (of a row that is unfolded in the table of sums); fold everything. */
void browser_unfold_all(struct browser *b, double share);
void browser_fold_all(struct browser *b);

/* Only samples of the thread, module, line, ... of @row from now on, and back to the table before. */
void browser_narrow(struct browser *b, size_t row);

/* Only samples that have the function of @row on their stacks. False: the row is none. */
bool browser_zoom(struct browser *b, size_t row);

/* Undo the last narrowing; false if there was none. */
bool browser_widen(struct browser *b);

/* "thread worker, module libc.so.6": how the samples are narrowed, "" if they are not. Valid until the next change. */
const char *browser_narrowed(const struct browser *b);

/* Only rows of the table whose name holds @text, whatever the case; "" for all. */
void browser_search(struct browser *b, const char *text);

#endif
