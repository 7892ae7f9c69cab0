/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - what went wrong without stopping the work, counted, to be summarised once at the end.
 *
 * A zeroed diag is ready. Modules add, the command layer prints. Not thread-safe.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stdint.h>
#include <stdio.h>

struct diag_entry {
	struct diag_entry *next;
	const char *message; /* one line */
	const char *hint;    /* or NULL */
	uint64_t count;
	const void *facts;   /* what the message is made of, owned by the caller that added it; NULL: nothing more */
};

struct diag {
	struct arena arena;
	struct diag_entry *entries; /* in order of first appearance */
	struct diag_entry **tail;
};

/* Count one more of this message; equal messages are one entry, and past a hundred all are one. */
void diag_warn(struct diag *diag, const char *fmt, ...) PRINTF(2, 3);

/* The same with an error, which is freed. */
void diag_err(struct diag *diag, struct err *err);

/* The same with what the message is made of, which must live as long as @diag. */
void diag_err_of(struct diag *diag, struct err *err, const void *facts);

/* Print each entry as "@program: warning: message" with its count if over 1, then its hint. */
void diag_print(const struct diag *diag, const char *program, FILE *out);

void diag_deinit(struct diag *diag);

#endif
