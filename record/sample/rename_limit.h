/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rename_limit.h - names that threads give themselves, as many as are of use: a thread that changes its name without end
 * would fill the trace.
 *
 * A thread has eight at once and one a second after that. Of those beyond, the last one follows when there is room again.
 * Zeroed is ready. Not thread-safe.
 */
#ifndef RECORD_RENAME_LIMIT_H
#define RECORD_RENAME_LIMIT_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stdint.h>

#define RENAME_LIMIT_AT_ONCE 8
#define RENAME_LIMIT_THREADS 65536 /* that are remembered; then all begin anew */
#define RENAME_LIMIT_WAITING 256   /* threads whose last name is to follow */
#define RENAME_LIMIT_NAME    16	   /* bytes, with a NUL: TASK_COMM_LEN of the kernel */

struct rename_waiting {
	uint32_t pid, tid;
	char name[RENAME_LIMIT_NAME];
};

struct rename_limit {
	struct map threads; /* tid to the time when it had none left, and how many it has */
	VEC(struct rename_waiting) waiting;
	uint64_t left_out; /* names */
	char next[RENAME_LIMIT_NAME];
};

void rename_limit_deinit(struct rename_limit *l);

/* Is @ev, a new name without an exec, to be kept? If not, the name waits. */
bool rename_limit_keeps(struct rename_limit *l, const struct event *ev);

/* Thread @tid has ended: no name of it follows. */
void rename_limit_exit(struct rename_limit *l, uint32_t tid);

/* The next name that waits and may follow at @now_ns, valid until the next call; false if there is none. */
bool rename_limit_next(struct rename_limit *l, uint64_t now_ns, struct event *ret);

#endif
