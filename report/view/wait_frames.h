/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_frames.h - what the stack of a wait says: what kind of wait it is, in which system call, and which frame is the
 * program's own.
 *
 * Goes by the names of kernel functions, which change little: a wait whose functions are not in the table is "other".
 */
#ifndef REPORT_WAIT_FRAMES_H
#define REPORT_WAIT_FRAMES_H

#include "formats/profile/profile.h"

enum wait_kind {
	WAIT_OTHER,	  /* the table does not know its functions */
	WAIT_ON_CPU,	  /* none */
	WAIT_CPU,	  /* preempted, or new and not run yet */
	WAIT_LOCK,	  /* futex: mutexes, condition variables, semaphores, joins of user code */
	WAIT_SLEEP,
	WAIT_POLL,	  /* poll, select, epoll, io_uring */
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_TERMINAL,
	WAIT_DISK,	  /* block devices, file systems, their journals */
	WAIT_PAGE_FAULT,
	WAIT_CHILD,
	WAIT_SIGNAL,	  /* pause, sigwait, stopped, traced */
	WAIT_KERNEL_LOCK, /* a mutex, semaphore or RCU of the kernel */
	WAIT_KERNEL_WORK, /* a kernel thread that has nothing to do */
	WAIT_EARLIER,	  /* it left its CPU before it was recorded */
	WAIT_NOT_SAMPLED, /* no stack */
	WAIT_LOST,	  /* records of switches are missing */
	WAIT_LEFT_OUT,	  /* the recorder left them out */
	WAIT_KINDS,
	WAIT_SEVERAL = WAIT_KINDS /* of spans: several short ones that became one */
};

/* "lock", "run queue", ...; "several" */
const char *wait_kind_name(enum wait_kind kind);

/* Does a thread end such waits as a rule? Others are over by an interrupt, or nothing is known of them. */
bool wait_kind_is_ended_by_thread(enum wait_kind kind);

/* The kind of wait of @row, whose stack must be named as a whole; ordinary samples are on a CPU. */
enum wait_kind wait_frames_kind(const struct profile *p, const struct profile_sample *row);

enum wait_kind wait_frames_span_kind(const struct profile *p, const struct profile_span *span);

/* The name of the system call that @row waits in, "page fault" or "interrupt" if the kernel was entered so, "" if not known. */
const char *wait_frames_syscall(const struct profile *p, const struct profile_sample *row);

/* Is that one whose first argument is a descriptor? */
bool wait_frames_takes_descriptor(const struct profile *p, const struct profile_sample *row);

/* What is waited for by way of a futex. */
struct wait_lock {
	const char *what; /* "mutex", "Python GIL", ...; "futex" if the functions are not known */
	bool of_thread;	  /* as a rule each thread has a futex of its own, which says nothing */
	bool only_one;	  /* a process has one such lock */
};

/* Of @row, a WAIT_LOCK, by the functions of the C library and of runtimes. */
struct wait_lock wait_frames_lock(const struct profile *p, const struct profile_sample *row);

/*
 * The innermost stack of @row that belongs to the program: neither the kernel nor a wrapper of the C library or of a runtime (Go, Java, C++). For kernel threads
 * the innermost that is not the scheduler's, or the block layer's for requests to devices. Of waits for locks of the kernel the
 * innermost that is not the lock's. 0 if there is none.
 */
uint32_t wait_frames_leaf(const struct profile *p, const struct profile_sample *row);

/*
 * The function that ended a wait, of @stack, where a thread is woken: the innermost of the program, or of the kernel that does not
 * only wake; in an interrupt that one ("interrupt timer"). A string of @arena, or of @p; "" if it is not known.
 */
const char *wait_frames_waker(const struct profile *p, uint32_t stack, struct arena *arena);

/* How many of @location's lines, the innermost first, are such wrappers that were inlined; never all of them. */
uint32_t wait_frames_inlined_wrappers(const struct profile *p, uint32_t location);

const char *profile_state_name(uint8_t state);

#endif
