/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow_mode.c - a per-task clock starts anew in each task, so short tasks are sampled only by following CPUs.
 */
#include "record/follow_mode.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define SAMPLE_LEN        65536         /* of the largest sample in a ring */
#define FLAT_SAMPLE_LEN   512           /* of one without a snapshot, a call chain included */
#define RING_LEN_LEAST    (512ULL << 10)
#define RING_LEN_MOST     (32ULL << 20)
#define RING_MEMORY_SHARE 32 /* all rings together take at most this part of the memory */

/* Is @index an event of waits, system calls or kernel locks? Their stacks are thinned per CPU. */
static bool goes_with_waits(const struct event_plan *plan, size_t index)
{
	if (!event_desc_is_syscalls(plan->events[index].desc) && !event_desc_is_contention(plan->events[index].desc))
		return false;
	for (size_t i = 0; i < plan->nevents; i++)
		if (event_desc_is_off_cpu(plan->events[i].desc))
			return true;
	return false;
}

/* So rare that discarding other tasks' samples costs little. */
static bool is_sparse(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->nevents; i++) {
		const struct perf_event_attr *attr = &plan->events[i].attr;
		bool is_clock =
			attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_CLOCK;

		if (plan->events[i].desc->samples && !is_clock &&
		    !goes_with_waits(plan, i) && !event_desc_is_waking(plan->events[i].desc) &&
		    !event_desc_is_idle(plan->events[i].desc) &&
		    !event_desc_is_off_cpu(plan->events[i].desc) && /* their stacks are thinned, CPU by CPU */
		    (!attr->freq || attr->type == PERF_TYPE_SOFTWARE))
			return false;
	}
	return true;
}

static bool has_switch(const struct event_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		if (event_desc_is_switch(&list->items[i]))
			return true;
	return false;
}

static struct err *make_plan(struct record_args *args, const struct target *target, bool exec,
			     struct event_plan *ret)
{
	struct event_request request = {
		.rate = args->rate,
		.chain = args->chain.kind,
		.stack_len = args->chain.stack_len,
		.probe = {
			.pid = target->by_cpu ? -1 : 0,
			.cpu = (int)target->cpus.cpus[0],
			.cgroup_fd = target->cgroup_fd,
		},
		.cpus = target->by_cpu ? &target->cpus : NULL,
		.inherit = target->inherit && !target->by_cpu,
		.enable_on_exec = exec && !target->by_cpu && !args->delay.given,
		.context_switch = args->switch_events || event_list_wants_switches(&args->events) ||
				  (!target->by_cpu && has_switch(&args->events)),
		.build_ids = !strcmp(args->build_ids, "kernel"),
		.sample_cgroup = false,
		.extras = &args->extras,
	};

	return event_plan_make(&args->events, &request, ret);
}

struct err *follow_mode_choose(struct record_args *args, struct target *target, bool exec,
			    struct event_plan *ret, bool *ret_shy)
{
	bool by_cpu = target->by_cpu;

	*ret_shy = false;
	event_list_default(&args->events);
	target->by_cpu = true;
	struct err *err = make_plan(args, target, exec, ret);

	if (by_cpu || (!err && is_sparse(ret)))
		return err;
	if (!err)
		event_plan_deinit(ret);
	else
		*ret_shy = err_errno(err) == EACCES || err_errno(err) == EPERM;
	err_free(err);
	target->by_cpu = false;
	return make_plan(args, target, exec, ret);
}

/* Of the largest sample in a ring, going by what was granted. */
static uint64_t sample_len(const struct event_plan *plan)
{
	return plan->stack_len ? MIN(plan->stack_len + FLAT_SAMPLE_LEN, SAMPLE_LEN) : FLAT_SAMPLE_LEN;
}

/* What -m says, unless that is less than two samples: the kernel would drop every one. */
static uint64_t granted_len(const struct event_plan *plan, uint64_t asked, struct diag *diag)
{
	uint64_t len = asked;

	while (len < 2 * sample_len(plan))
		len *= 2;
	if (len > asked)
		diag_warn(diag,
			  "ring buffers of %" PRIu64 " KiB cannot hold two samples with their stacks: "
			  "they have %" PRIu64 " KiB instead",
			  asked / 1024, len / 1024);
	return len;
}

/* A power of two near one second of samples: a recorder that gets no CPU for so long loses none. */
uint64_t follow_mode_ring_len(const struct record_args *args, const struct target *target,
			   const struct event_plan *plan, struct diag *diag)
{
	uint64_t rate = args->rate.kind == EVENT_RATE_FREQ ? args->rate.value : EVENT_RATE_DEFAULT;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t most = MIN(RING_LEN_MOST, memory / RING_MEMORY_SHARE / MAX(target->cpus.len, 1U));
	uint64_t len = RING_LEN_LEAST;

	if (args->ring_len)
		return granted_len(plan, args->ring_len, diag);
	if (args->rate.kind == EVENT_RATE_PERIOD)
		rate = 1000; /* unknown: assume this; the limits below bound it */
	while (len < rate * sample_len(plan) * 3 / 4 && len * 2 <= most)
		len *= 2;
	return len;
}
