/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_fds.h - all descriptors of a recording, and the rings they write to.
 *
 *	       samples of every event and task          mappings, names, forks of every task
 *	CPU 0  ===================================      ---------------
 *	CPU 1  ===================================      ---------------
 *	                sample rings                      side-band rings: samples never crowd them out
 *
 * If events follow CPUs, one with large snapshots is opened twice, the second time with short ones ("lean"). Only one of the
 * two is enabled: the lean one while the reader is behind, so that the ring lasts four times as long. Without a
 * wake_filter each also gets, when first needed, a twin whose every sample wakes the waiter of its ring.
 *
 * The object owns descriptors and rings. Not thread-safe.
 */
#ifndef RECORD_PERF_FDS_H
#define RECORD_PERF_FDS_H

#include "formats/base/diag.h"
#include "formats/base/map.h"
#include "record/event/event_plan.h"
#include "record/event/ring.h"
#include "record/sample/wake_filter.h"
#include "record/task/target.h"

#include <stdbool.h>
#include <stdint.h>

#define PERF_FD_SIDE_BAND UINT32_MAX

/* Bytes of a lean snapshot. */
#define PERF_FDS_LEAN_STACK_LEN (16 * 1024)

/* When a perf_fd is enabled, while sampling is. */
enum perf_fd_mode {
	PERF_FD_ALWAYS,
	PERF_FD_FULL, /* has a lean twin, the next one in the list */
	PERF_FD_LEAN,
};

/* The values of a counter. */
struct perf_fd_reading {
	uint64_t value, enabled_ns, running_ns;
	uint64_t lost; /* samples that found no room; 0 if this kernel does not count them */
};

/* One descriptor. */
struct perf_fd {
	int fd; /* -1: closed for a while */
	uint32_t event; /* number in the plan, PERF_FD_SIDE_BAND for the dummy */
	uint32_t cpu;
	uint64_t id; /* as in its records */
	uint64_t period; /* perf_fds_set_period(); 0: the plan's */
	enum perf_fd_mode mode;
	bool switches; /* the separate descriptor for records of switches, if CPUs are followed */
	bool task; /* of one of those that perf_fds_add_task() added */
	bool paired, wakes; /* has a twin that differs in @wakes: each sample wakes the waiter of its ring */
	struct perf_fd_reading closed; /* of the descriptors that were closed here so far */
};

/* An event that could not be opened on one CPU. */
struct perf_fd_refusal {
	uint32_t event, cpu;
	struct err *err;
};

struct ring_list {
	struct ring *items;
	size_t len, cap;
};

struct perf_fds {
	const struct event_plan *plan;
	VEC(struct perf_fd) items;
	struct map by_id;            /* position in @items + 1, by id */
	struct ring_list samples;    /* one for each CPU of target.cpus that works */
	struct ring_list side;       /* one for each CPU whose tasks are followed */
	uint64_t ring_len, side_len; /* bytes of data in each that was to be had */
	uint64_t asked_len;          /* what was wanted for each sample ring */
	int cgroup_fd;               /* the target's: of whom switches are recorded; -1: of all */
	bool refused;                /* the kernel refused memory for a ring */
	bool enabled;                /* by perf_fds_enable() */
	bool waking;                 /* perf_fds_set_waking() */
	bool without_waits;          /* perf_fds_set_waits(), false */
	bool narrow;                 /* perf_fds_narrow() */
	bool told_no_switches;       /* warned that switches of some CPU could not be resumed */
	bool was_waking, can_wake;   /* twins for waking were opened; there is at least one */
	const struct wake_filter *filter; /* by perf_fds_filter(); NULL: none */
	VEC(struct perf_fd_refusal) refusals; /* while opening */
	VEC(uint32_t) off; /* events that were switched off one by one */
};

/*
 * Open every event of @plan on every task and CPU of @target, disabled, and map the rings; the side-band
 * is enabled at once. Rings shrink from @ring_len until the kernel grants them. Partial failures (a CPU that went
 * offline, an event that one CPU has no counter for, a task that ended) are warnings in @diag. Sets the wake-up thresholds in @plan for
 * the rings.
 *
 * ERR_SYSTEM: nothing could be opened, or not even the smallest rings were granted.
 */
MUST_USE struct err *perf_fds_open(struct event_plan *plan, const struct target *target,
				  uint64_t ring_len, struct diag *diag, struct perf_fds *ret);
void perf_fds_close(struct perf_fds *s);

/*
 * Reopen the events of @cpu, which came online, with their old ring, periods and twins. ERR_SYSTEM: they cannot be opened.
 */
MUST_USE struct err *perf_fds_reopen(struct perf_fds *s, const struct target *target, uint32_t cpu,
				    bool enabled);

/* Start and stop counting. */
void perf_fds_enable(struct perf_fds *s);
void perf_fds_disable(struct perf_fds *s);

/* The same for one event; the next perf_fds_enable() is for all again. */
void perf_fds_switch(struct perf_fds *s, size_t event, bool on);

/* From now on take short snapshots on the CPU of @ring, one of s->samples, or the usual ones again. */
void perf_fds_set_lean(struct perf_fds *s, struct ring *ring, bool lean);

/* If CPUs are followed: start recording switches, their stacks (off-cpu) and wakers, or stop. Failures go to @diag. */
void perf_fds_set_waits(struct perf_fds *s, bool on, struct diag *diag);

/*
 * Also record switches and stacks of waits of task @tid, and with @inherit of tasks that it starts later. Events must follow
 * CPUs. ERR_SYSTEM: not possible; err_errno() is ESRCH if the task is gone.
 */
MUST_USE struct err *perf_fds_add_task(struct perf_fds *s, pid_t tid, bool inherit);

/*
 * @narrow: record switches and stacks of waits only of the added tasks. Otherwise of CPUs again; the tasks are removed.
 * Failures are warnings in @diag.
 */
void perf_fds_narrow(struct perf_fds *s, bool narrow, struct diag *diag);

/* From now on sample every @period-th @event of @cpu. */
void perf_fds_set_period(struct perf_fds *s, uint32_t event, uint32_t cpu, uint64_t period);

/*
 * From now on each sample wakes the waiter of its ring, or only the thresholds of set_wakeups() do. False if not possible:
 * events follow tasks, or are all in groups.
 */
bool perf_fds_set_waking(struct perf_fds *s, const struct target *target, bool waking);

/*
 * Attach @filter, which has a bell for each sample ring and must outlive @s, to all sampling events, also to those opened
 * later. False, and @filter is of no use: some event cannot have one, or samples waits, of which waiting readers would add
 * their own.
 */
bool perf_fds_filter(struct perf_fds *s, const struct wake_filter *filter);

/* The number of the event with @id; RECORDING_NO_EVENT if it is not known or the side-band. */
uint32_t perf_fds_event(const struct perf_fds *s, uint64_t id);

/* Are its snapshots the short ones? */
bool perf_fds_is_lean(const struct perf_fds *s, uint64_t id);

/*
 * Read a counter, what it had counted when it was closed included; false if it cannot be. Of an added task the time enabled
 * is the time running: the kernel counts it on every CPU where the task runs.
 */
bool perf_fds_read(const struct perf_fds *s, const struct perf_fd *perf_fd, struct perf_fd_reading *ret);

#endif
