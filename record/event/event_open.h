/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_open.h - the system call, and what its refusals mean. Part of event_plan.
 */
#ifndef RECORD_EVENT_OPEN_H
#define RECORD_EVENT_OPEN_H

#include "formats/base/err.h"
#include "record/event/event_request.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Whoever answers; tests put a kernel of their own here. */
struct event_kernel {
	/* A descriptor, or the negative errno. */
	int (*open)(void *context, const struct perf_event_attr *attr,
		    const struct event_target *target, int group_fd);
	void *context;
};

extern const struct event_kernel event_kernel_real;

/* As kernel->open(), and once more with more descriptors allowed when they run out. */
int event_open_try(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		   const struct event_target *target, int group_fd);

/* Does it open? 0, or the errno. */
int event_open_check(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		     const struct event_target *target);

/* Why @attr, called @name, was refused with @errnum: event_refusal_explain() on this machine. */
MUST_USE struct err *event_open_explain(const struct event_kernel *kernel, const char *name,
					const struct perf_event_attr *attr,
					const struct event_target *target, int errnum);

/* Set the filter of @desc, if it has one. ERR_USAGE: it is not well-formed; the hint lists the fields. */
MUST_USE struct err *event_open_filter(const struct event_desc *desc, int fd);

/* Lower a frequency to the kernel's limit, which sinks while sampling costs too much; false if it was not above. */
bool event_open_lower_rate(struct perf_event_attr *attr);

/*
 * What decides about rights: read from /proc when something is refused.
 */
struct event_rights {
	bool has_perf_events; /* the kernel was built with them */
	int64_t paranoid;     /* kernel.perf_event_paranoid */
	bool privileged;      /* root or CAP_PERFMON, in the first user namespace */
	bool in_user_namespace;
	bool seccomp; /* a filter looks at our system calls, and may be what refuses */
};

void event_rights_read(struct event_rights *ret);

/* The call that was refused. */
struct event_refusal {
	const char *name; /* of the event */
	const struct perf_event_attr *attr;
	const struct event_target *target;
	int errnum;
	bool counts; /* the same event opens when it does not sample */
	unsigned less_precise; /* of an event that is to be precise, 1 + the level at which it does open; 0: at none */
};

/*
 * The refusal as an error with its cause, and its remedy where we know one. ERR_SYSTEM where callers may
 * want to go on (no such task or CPU) or the system's state is to blame, ERR_UNSUPPORTED where this
 * machine cannot do it.
 */
MUST_USE struct err *event_refusal_explain(const struct event_refusal *refusal,
					   const struct event_rights *rights);

#endif
