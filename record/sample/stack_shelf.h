/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_shelf.h - stacks that were read from memory at the moment of a sample (other_stack.h), until the drain comes to that sample; and which
 * processes have such samples.
 *
 *	ring's reader of moments ─ put ─► [ shelf of the ring ] ─ take ─► ring_reader, which writes the sample
 *
 * Of a process nothing is read before one of its samples was seen to need it, or several were seen not to reach their stack's end. Looking
 * for switches in all samples would cost more than what it finds is worth, so one in STACK_SHELF_LOOKS is looked at. What looks like a
 * goroutine is looked up in the process's memory by a separate thread that no other waits for, before anything else is done for it.
 */
#ifndef RECORD_STACK_SHELF_H
#define RECORD_STACK_SHELF_H

#include "record/sample/other_stack.h"

#include <stdbool.h>
#include <stdint.h>

#define STACK_SHELF_LOOKS 8
#define STACK_SHELF_PIDS  256 /* processes that are looked at */
#define STACK_SHELF_LEN	  (4u << 20) /* bytes of stacks that wait, for each ring */

struct stack_shelves;

/* What came of samples of threads that have left another stack. */
struct stack_shelf_totals {
	uint64_t read, failed; /* the thread had gone on, or the memory was not there */
	uint64_t dropped;      /* no room, or the sample was not found again */
	uint64_t bytes;
	uint64_t deep, fresh;  /* of those that were read: rests of deep stacks; bytes of them that were not the same as before */
};

struct stack_shelves *stack_shelves_new(size_t nrings);
/* A thread that still hangs keeps what it may use. */
void stack_shelves_free(struct stack_shelves *s);

/*
 * A sample of process @pid has left another stack for sure, or if the word @goroutine, which is not 0, is the address of one; any thread may
 * tell. @now_ns: of CLOCK_MONOTONIC.
 */
void stack_shelves_suspect(struct stack_shelves *s, uint32_t pid, uint64_t goroutine, uint64_t now_ns);

/* Process @pid is an Erlang machine, whose code runs on other stacks than the C that it calls. */
void stack_shelves_erlang(struct stack_shelves *s, uint32_t pid, uint64_t now_ns);
bool stack_shelves_is_erlang(const struct stack_shelves *s, uint32_t pid);

/* A sample of process @pid does not reach its stack's end. */
void stack_shelves_short(struct stack_shelves *s, uint32_t pid, uint64_t now_ns);

/*
 * Where the mapping ends that thread @tid has its stack in, if @sp lies there; 0: not known. stack_shelves_learn_end() has it looked up, of
 * threads that are sampled often enough.
 */
uint64_t stack_shelves_end(const struct stack_shelves *s, uint32_t tid, uint64_t sp);
void stack_shelves_learn_end(struct stack_shelves *s, uint32_t pid, uint32_t tid, uint64_t sp);

/* Would knowing a goroutine of @pid help? */
bool stack_shelves_asks(const struct stack_shelves *s, uint32_t pid);

/* When one was last reported; 0: never. */
uint64_t stack_shelves_last_ns(const struct stack_shelves *s);

/* Is it to be looked for in samples of @pid? */
bool stack_shelves_wants(const struct stack_shelves *s, uint32_t pid);

/* The same by place, of which there are STACK_SHELF_PIDS: of which process it is to be looked for; 0: of none. */
uint32_t stack_shelves_wanted_at(const struct stack_shelves *s, size_t place);

/* And not only the rest of stacks that go on? */
bool stack_shelves_switches(const struct stack_shelves *s, uint32_t pid);

/* What came of one look: NULL if nothing could be read. By the one reader of ring @ring. False: there is no room. */
bool stack_shelves_put(struct stack_shelves *s, size_t ring, uint32_t pid, uint32_t tid, uint64_t time_ns,
		       const struct other_stack *stack);

/* Is more than half of the room of @ring in use? Then the drain should come. By its reader. */
bool stack_shelves_crowded(struct stack_shelves *s, size_t ring);

/*
 * How often a deep stack of @ring did not get to where its words are known (deep_stack.h): the next ones must not refer to it.
 * stack_shelves_lose(): it was taken, but cannot be used.
 */
uint64_t stack_shelves_lost(const struct stack_shelves *s, size_t ring);
void stack_shelves_lose(struct stack_shelves *s, size_t ring);

/* The stack that belongs to the sample of @tid at @time_ns; those of earlier samples of the ring are dropped. By the one who empties @ring. */
bool stack_shelves_take(struct stack_shelves *s, size_t ring, uint32_t tid, uint64_t time_ns, struct other_stack *ret);

struct stack_shelf_totals stack_shelves_totals(struct stack_shelves *s);

#endif
