/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - why something failed, from the origin outwards.
 *
 * A function that can fail returns `struct err *`; NULL is success. The origin creates the error, each
 * layer above wraps it with what it was trying to do, and only the command layer prints it. Running out
 * of memory while making an error still yields a valid (static) error.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "formats/base/compiler.h"

enum err_kind {
	ERR_SYSTEM,	 /* the system said no; err_errno() tells how */
	ERR_CORRUPT,	 /* input is not well-formed */
	ERR_UNSUPPORTED, /* input or request is fine, but not for this build, kernel or version */
	ERR_USAGE,	 /* the caller, in the end the user, asked for something that makes no sense */
};

struct err;

/* A new error of @kind. */
MUST_USE struct err *err_new(enum err_kind kind, const char *fmt, ...) PRINTF(2, 3);

/* A new ERR_SYSTEM: the message, ": ", and the text of @errnum. */
MUST_USE struct err *err_system(int errnum, const char *fmt, ...) PRINTF(2, 3);

/* Put "message: " in front of @err. Takes @err over and returns it, or another in its place. */
MUST_USE struct err *err_wrap(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* Add a second line that tells the user what to do about @err; the first remedy given stays. */
MUST_USE struct err *err_remedy(struct err *err, const char *fmt, ...) PRINTF(2, 3);

enum err_kind err_kind(const struct err *err);

/* The errno behind an ERR_SYSTEM, 0 for the other kinds. */
int err_errno(const struct err *err);

/* One line without a line feed; valid until @err is wrapped or freed. */
const char *err_message(const struct err *err);

/* The remedy, or NULL. */
const char *err_hint(const struct err *err);

/* NULL is fine. */
void err_free(struct err *err);

/* For CLEANUP(). */
void err_freep(struct err **err);

/* Exit status for a failed command: 2 for ERR_USAGE, otherwise 1. */
int err_exit_status(const struct err *err);

#endif
