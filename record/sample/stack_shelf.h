/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_shelf.h - keeps stacks that were read from memory at a sample (other_stack.h) until the drain comes to that sample; tracks which
 * processes need such reads.
 *
 *	ring's managed reader ─ put ─► [ shelf of the ring ] ─ take ─► ring_reader, which writes the sample
 *
 * A process is read only after one of its samples needed it, or several were truncated. Searching all samples for switches would cost too
 * much, so one in STACK_SHELF_LOOKS is searched. A candidate goroutine is first verified in the process's memory by a separate thread; no
 * other thread waits for it.
 */
#ifndef RECORD_STACK_SHELF_H
#define RECORD_STACK_SHELF_H

#include "record/sample/other_stack.h"

#include <stdbool.h>
#include <stdint.h>

#define STACK_SHELF_LOOKS 8
#define STACK_SHELF_PIDS  256 /* suspected processes at a time */
#define STACK_SHELF_LEN	  (4u << 20) /* bytes of stacks that wait, for each ring */

struct stack_shelves;

/* Results of reading other stacks. */
struct stack_shelf_totals {
	uint64_t read, failed; /* failed: the thread had run on, or the memory was missing */
	uint64_t dropped;      /* no room, or its sample was not found */
	uint64_t bytes;
	uint64_t deep, fresh;  /* of those read: rests of deep stacks; their changed bytes */
};

struct stack_shelves *stack_shelves_new(size_t nrings);
/* Memory that a hung thread may use is leaked. */
void stack_shelves_free(struct stack_shelves *s);

/*
 * A sample of process @pid has another stack for certain (@goroutine is 0), or if the word @goroutine is the address of a goroutine. Thread-safe.
 * @now_ns: of CLOCK_MONOTONIC.
 */
void stack_shelves_suspect(struct stack_shelves *s, uint32_t pid, uint64_t goroutine, uint64_t now_ns);

/* Process @pid is an Erlang machine: its code and the C that it calls run on different stacks. */
void stack_shelves_erlang(struct stack_shelves *s, uint32_t pid, uint64_t now_ns);
bool stack_shelves_is_erlang(const struct stack_shelves *s, uint32_t pid);

/* A sample of process @pid is truncated. */
void stack_shelves_short(struct stack_shelves *s, uint32_t pid, uint64_t now_ns);

/* Reading process @pid stands still: do not ask for it any more. */
void stack_shelves_give_up(struct stack_shelves *s, uint32_t pid);

/*
 * The end of the mapping of thread @tid's stack, if @sp is in it; 0: unknown. stack_shelves_learn_end() starts the lookup for threads with
 * enough samples.
 */
uint64_t stack_shelves_end(const struct stack_shelves *s, uint32_t tid, uint64_t sp);

/* Was that lookup's answer that thread @tid's stack lies in Go's heap? Then each goroutine says where its own ends. */
bool stack_shelves_in_heap(const struct stack_shelves *s, uint32_t tid);
void stack_shelves_learn_end(struct stack_shelves *s, uint32_t pid, uint32_t tid, uint64_t sp);

/* Should the caller look for a goroutine of @pid? */
bool stack_shelves_asks(const struct stack_shelves *s, uint32_t pid);

/* When one was last reported; 0: never. */
uint64_t stack_shelves_last_ns(const struct stack_shelves *s);

/* Should samples of @pid be searched? */
bool stack_shelves_wants(const struct stack_shelves *s, uint32_t pid);

/* The process to search at place @place of STACK_SHELF_PIDS; 0: none. */
uint32_t stack_shelves_wanted_at(const struct stack_shelves *s, size_t place);

/* For other stacks, not only the rest of truncated ones? */
bool stack_shelves_switches(const struct stack_shelves *s, uint32_t pid);

/* Put the result of one read, NULL if it failed. Called only by the reader of ring @ring. False: no room. */
bool stack_shelves_put(struct stack_shelves *s, size_t ring, uint32_t pid, uint32_t tid, uint64_t time_ns,
		       const struct other_stack *stack);

/* Is more than half of the room of @ring in use? Then wake the drain. Called by its reader. */
bool stack_shelves_crowded(struct stack_shelves *s, size_t ring);

/*
 * The number of deep stacks of @ring that did not reach deep_stack.h: later ones must not refer to their words.
 * stack_shelves_lose(): one was taken but could not be used.
 */
uint64_t stack_shelves_lost(const struct stack_shelves *s, size_t ring);
void stack_shelves_lose(struct stack_shelves *s, size_t ring);

/* The stack of the sample of @tid at @time_ns; those of earlier samples of the ring are dropped. Called by the consumer of @ring. */
bool stack_shelves_take(struct stack_shelves *s, size_t ring, uint32_t tid, uint64_t time_ns, struct other_stack *ret);

struct stack_shelf_totals stack_shelves_totals(struct stack_shelves *s);

#endif
