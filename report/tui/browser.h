/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - what the terminal interface shows: a table whose rows unfold into their callers, of a part of the
 * samples that gets narrower step by step.
 *
 * Knows no terminal: rows in, rows out.
 */
#ifndef REPORT_BROWSER_H
#define REPORT_BROWSER_H

#include "formats/profile/profile.h"

enum browser_table {
	BROWSER_LEAVES,    /* functions that ran; unfold into their callers */
	BROWSER_TOTALS,    /* functions on the stacks; the same */
	BROWSER_THREADS,   /* to choose one of: */
	BROWSER_MODULES,
	BROWSER_PROCESSES,
};

struct browser_row {
	const char *name;   /* of the function, thread, module or process */
	const char *detail; /* module, or pid and tid, or path */
	unsigned depth;     /* 0: in the table; more: a caller of the row above with one less */
	struct profile_sum sum;
	struct profile_sum self; /* totals only */
	bool unnamed;
	bool unfolds, unfolded;
	/* Private. */
	struct browser_tree *tree;
	uint32_t node, group;
};

struct browser;

/* Every frame of @p is named; it must outlive the browser. The process of @recorder_pid is marked, 0: none. */
struct browser *browser_new(const struct profile *p, uint32_t event, uint32_t recorder_pid);
void browser_free(struct browser *b);

/* The rows in order, valid until the next call that changes something. */
const struct browser_row *browser_rows(struct browser *b, size_t *ret_count);

/* What shares are of. */
struct profile_sum browser_whole(const struct browser *b);

enum browser_table browser_table(const struct browser *b);
void browser_show(struct browser *b, enum browser_table table);

/* The event that the samples are of, and on to the next that has samples. */
uint32_t browser_event(const struct browser *b);
void browser_next_event(struct browser *b);

/* Unfold a row into its callers, or fold it. */
void browser_toggle(struct browser *b, size_t row);

/* Only samples of the thread, module or process of @row from now on, and back to the table before. */
void browser_narrow(struct browser *b, size_t row);

/* Undo the last browser_narrow(); false if there was none. */
bool browser_widen(struct browser *b);

/* "thread worker, module libc.so.6": how the samples are narrowed, "" if they are not. Valid until the next change. */
const char *browser_narrowed(const struct browser *b);

/* Only rows of the table whose name holds @text, whatever the case; "" for all. */
void browser_search(struct browser *b, const char *text);

#endif
