/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_guard.h - does items of work that may get stuck in a system call, and leaves behind those that do.
 *
 * A thread does one item after the other, while the caller waits. It says when it is in a call that may not return:
 *
 *	stuck_guard_enter(guard);
 *	got = read(fd, own, sizeof(own));     nothing that others see is written here
 *	stuck_guard_leave(guard);             does not return if the item was given up meanwhile
 *
 * Where such a call takes too long, its thread is left where it is, and another one goes on with the next item. After four of them
 * patience is a twentieth, and after 64 the rest is left out, so that it ends within seconds whatever happens. Only for calls that SIGKILL interrupts, as locks of a process's mappings are: an exit would wait for others (foreign_reader.h).
 */
#ifndef RECORD_STUCK_GUARD_H
#define RECORD_STUCK_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUCK_ITEMS_MAX	  64
#define STUCK_PATIENCE_NS 1000000000ULL

struct stuck_guard;

struct stuck_work {
	/* Item number @index; false: that was the last. The same thread does not do all of them. */
	bool (*item)(void *context, size_t index, struct stuck_guard *guard);
	void (*begin)(void *context); /* in each thread, before its first item; NULL: there is nothing to do */
	void *context;
	size_t count;
	uint64_t patience_ns; /* STUCK_PATIENCE_NS, but for tests */
};

/* @guard may be NULL: then nothing waits. */
void stuck_guard_enter(struct stuck_guard *guard);
void stuck_guard_leave(struct stuck_guard *guard);

/* How many items were given up, or left out. */
size_t stuck_guard_run(const struct stuck_work *work);

#endif
