/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - commands from a FIFO or a descriptor while a recording runs, one a line, and their answers.
 *
 *	enable [EVENT]  disable [EVENT]  snapshot  stop  ping  evlist
 *
 * The commands are those of perf record --control, and so is the answer to one that succeeded: "ack", a line feed
 * and a zero byte. One that failed is answered by "error: " and the reason, with the same end.
 * Not thread-safe.
 */
#ifndef RECORD_CONTROL_H
#define RECORD_CONTROL_H

#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_LINE_MAX 512

/* As given: "fifo:CTL[,ACK]" or "fd:CTL[,ACK]". */
struct control_args {
	bool given, by_path;
	const char *commands; /* path, or a number if not @by_path; in memory of its own */
	const char *answers;  /* the same, NULL: none are wanted */
};

/* The shape is that of opt.parse. ERR_USAGE: it is neither. */
MUST_USE struct err *control_parse(void *field, const char *value);
void control_args_deinit(struct control_args *args);

enum control_verb {
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_STOP,
	CONTROL_PING,
	CONTROL_EVLIST,
};

struct control_command {
	enum control_verb verb;
	const char *event; /* NULL: all; valid until the next control_next() */
};

struct control {
	int command_fd, answer_fd; /* -1: none */
	bool owned;                /* both are ours to close */
	bool overlong;             /* the line that is being read is; its rest is skipped */
	size_t len;                /* of what was read and not yet handed out */
	size_t done;               /* of the line that was handed out last */
	char text[CONTROL_LINE_MAX];
};

/* ERR_SYSTEM: it cannot be opened.  ERR_USAGE: a path is no FIFO. Without @args->given, nothing is opened. */
MUST_USE struct err *control_open(const struct control_args *args, struct control *ret);
void control_close(struct control *c);

/* Read once what is there, when the descriptor is known to be readable. False at the end of it. */
bool control_read(struct control *c);

/*
 * The next command that was read; false if there is no whole line. ERR_USAGE in *@ret_err, with @ret untouched, for a
 * line that is no command.
 */
bool control_next(struct control *c, struct control_command *ret, struct err **ret_err);

/* Answer the last command: done, or @err. An answer that does not fit the FIFO is dropped; @err stays the caller's. */
void control_answer(const struct control *c, const struct err *err);

#endif
