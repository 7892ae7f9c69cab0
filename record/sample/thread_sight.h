/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_sight.h - reads the stacks of a waiting thread without stopping it.
 *
 * A waiting thread does not change its stack: the kernel functions and the system call are in /proc, the user stack and the
 * interpreter's frames are in its memory. Whether it ran meanwhile is checked before and after. Reading other processes'
 * memory and files may block, so call this from a separate thread.
 */
#ifndef RECORD_THREAD_SIGHT_H
#define RECORD_THREAD_SIGHT_H

#include "record/managed/managed_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_SIGHT_IPS_MAX   64
#define THREAD_SIGHT_STACK_LEN 16384
#define THREAD_SIGHT_RUNS_LEN  64 /* of the text that counts how often a thread was scheduled */

struct thread_sight {
	uint32_t pid, tid;
	uint64_t time_ns; /* it waited then, by CLOCK_MONOTONIC */
	size_t nkernel_ips;
	uint64_t kernel_ips[THREAD_SIGHT_IPS_MAX]; /* innermost first */
	uint64_t ip, sp;  /* in user space; 0: not known, or a kernel thread */
	uint64_t argument; /* of its system call, see syscall_argument.h */
	size_t stack_len; /* bytes from @sp on */
	uint8_t stack[THREAD_SIGHT_STACK_LEN];
	const struct managed_binary *binary; /* of its interpreter, lives as long as the table; NULL: none is known */
	enum event_managed_runtime runtime;
	struct managed_stack managed;
	char runs[THREAD_SIGHT_RUNS_LEN]; /* changes whenever it is scheduled */
};

/* One for each thread that looks. */
struct thread_looker;

/* @table, which outlives it, knows interpreters; NULL: none are read. */
struct thread_looker *thread_looker_new(struct managed_table *table);
void thread_looker_free(struct thread_looker *l);

/* Look at thread @tid of process @pid. False, and @ret means nothing: it ran meanwhile, or has gone. */
bool thread_look(struct thread_looker *l, uint32_t pid, uint32_t tid, struct thread_sight *ret);

/* The interpreter's stack, as an event at @time_ns; refers to @sight. False: there is no interpreter. */
bool thread_sight_managed(const struct thread_sight *sight, uint64_t time_ns, struct event *ret);

/* Read the current thread_sight.runs; false if the thread is gone. */
bool thread_runs(uint32_t pid, uint32_t tid, char ret[THREAD_SIGHT_RUNS_LEN]);

/* ---- for tests ---- */

/* The address of "[<0>] name+0x38/0x70 [module]"; @lookup knows where functions begin, 0 if it does not. */
uint64_t thread_sight_parse_frame(const char *line, uint64_t (*lookup)(void *context, const char *name), void *context);

/* Stack and instruction pointer of /proc/PID/syscall; false while it runs, or if it is a kernel thread. */
bool thread_sight_parse_syscall(const char *text, uint64_t *ret_sp, uint64_t *ret_ip);

#endif
