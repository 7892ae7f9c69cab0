/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor_looks.h - finds out what a descriptor that a thread waits for refers to: /proc/PID/fd, and for sockets the
 * kernel's tables.
 *
 * A descriptor may be closed and its number reused between a wait and the look, so those in use are looked at repeatedly and
 * each look is recorded: if two looks agree, the answer holds in between. Reading the links never waits for another process's
 * memory or file server. Looks take at most 1 % of the time. Not thread-safe.
 */
#ifndef RECORD_DESCRIPTOR_LOOKS_H
#define RECORD_DESCRIPTOR_LOOKS_H

#include "formats/base/vec.h"
#include "formats/event.h"
#include "record/system/stop_time.h"

#include <stdint.h>

#define DESCRIPTOR_LOOKS_MAX (1u << 20) /* higher numbers are no descriptors (fs.nr_open) */

/* A number that may be a descriptor of a process. */
struct descriptor_use {
	uint32_t pid, number;
};

struct descriptor_uses {
	struct descriptor_use *items;
	size_t len, cap;
};

struct descriptor_looks;

/* After @stop, which may be NULL, those in use are left out. */
struct descriptor_looks *descriptor_looks_new(struct stop_time *stop);
void descriptor_looks_free(struct descriptor_looks *l);

/* A thread waited for @use: schedule a look. */
void descriptor_looks_use(struct descriptor_looks *l, struct descriptor_use use);

typedef struct err *descriptor_tell(void *context, const struct event *ev);

/* Look at those in use that are due at @now_ns (CLOCK_MONOTONIC) and report them to @tell. @all: all of them, a last time. */
MUST_USE struct err *descriptor_looks_run(struct descriptor_looks *l, uint64_t now_ns, bool all, descriptor_tell *tell,
					  void *context);

/* ---- for tests ---- */

struct socket_names;

struct socket_names *socket_names_new(void);
void socket_names_free(struct socket_names *n);

/* Take in /proc/net/tcp and its like, whose addresses have @family (AF_INET, AF_INET6), or with AF_UNIX /proc/net/unix. */
void socket_names_read(struct socket_names *n, int family, const char *protocol, const char *text);

/* "tcp to 10.0.0.1:5432", "tcp :80 from 10.0.0.9", "unix /run/x"; NULL if it is not known. Until the next read. */
const char *socket_names_get(struct socket_names *n, uint64_t inode);

#endif
