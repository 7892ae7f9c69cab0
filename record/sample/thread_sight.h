/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_sight.h - what a thread that waits is doing, looked at from outside.
 *
 * A thread that waits keeps its stack, so that it can be read without stopping it: the kernel's functions and the system
 * call are in /proc, the user stack is in its memory, and so is what an interpreter keeps of it. Whether it ran meanwhile is
 * asked before and behind. Memory and files of others may take as long as they like, so look in a thread of its own.
 */
#ifndef RECORD_THREAD_SIGHT_H
#define RECORD_THREAD_SIGHT_H

#include "record/managed/managed_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_SIGHT_IPS_MAX   64
#define THREAD_SIGHT_STACK_LEN 16384
#define THREAD_SIGHT_RUNS_LEN  64 /* of the text that says how often a thread came to a CPU */

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
	char runs[THREAD_SIGHT_RUNS_LEN]; /* changes with each time that it comes to a CPU */
};

/* One for each thread that looks. */
struct thread_looker;

/* @table, which outlives it, knows interpreters; NULL: none are read. */
struct thread_looker *thread_looker_new(struct managed_table *table);
void thread_looker_free(struct thread_looker *l);

/* Look at thread @tid of process @pid. False, and @ret means nothing: it ran meanwhile, or has gone. */
bool thread_look(struct thread_looker *l, uint32_t pid, uint32_t tid, struct thread_sight *ret);

/* What its interpreter had, for a sample at @time_ns. It refers to @sight. False: there is no interpreter. */
bool thread_sight_managed(const struct thread_sight *sight, uint64_t time_ns, struct event *ret);

/* As thread_sight.runs, of now; false if it has gone. */
bool thread_runs(uint32_t pid, uint32_t tid, char ret[THREAD_SIGHT_RUNS_LEN]);

/* ---- for tests ---- */

/* The address of "[<0>] name+0x38/0x70 [module]"; @lookup knows where functions begin, 0 if it does not. */
uint64_t thread_sight_parse_frame(const char *line, uint64_t (*lookup)(void *context, const char *name), void *context);

/* Stack and instruction pointer of /proc/PID/syscall; false while it runs, or if it is a kernel thread. */
bool thread_sight_parse_syscall(const char *text, uint64_t *ret_sp, uint64_t *ret_ip);

#endif
