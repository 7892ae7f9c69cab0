/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_guard.h - runs items of work that may get stuck in a system call, and abandons those that do.
 *
 * A thread does one item after the other while the caller waits. It marks calls that may not return:
 *
 *	stuck_guard_enter(guard);
 *	got = read(fd, own, sizeof(own));     writes nothing that other threads see
 *	stuck_guard_leave(guard);             does not return if the item was given up meanwhile
 *
 * If such a call takes too long, its thread is abandoned and another one continues with the next item. After four of them the timeout
 * is a twentieth, and after 64 the remaining items are skipped, so that it ends within seconds whatever happens. Only for calls that
 * SIGKILL interrupts, such as waits for an mmap lock: exit would wait for any others (foreign_reader.h).
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
	void (*begin)(void *context); /* in each thread, before its first item; may be NULL */
	void *context;
	size_t count;
	uint64_t patience_ns; /* STUCK_PATIENCE_NS, except in tests */
};

/* @guard may be NULL: then nothing waits. */
void stuck_guard_enter(struct stuck_guard *guard);
void stuck_guard_leave(struct stuck_guard *guard);

/* The number of items that were given up or skipped. */
size_t stuck_guard_run(const struct stuck_work *work);

#endif
