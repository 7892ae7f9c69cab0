/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_attr.c - see perf_event_open(2) for what each bit means.
 *
 * Every sample carries IDENTIFIER first, so that records of several events can share a ring, and the
 * user's frame-pointer chain beside a stack snapshot: it sees past the snapshot's end at nearly no cost.
 *
 * The idle task is left out where a clock would sample it: what is asked for is where time is spent,
 * not where none is. Hardware cycles do not tick in idle, so that the shares of both compare.
 */
#include "record/event/event_attr.h"

#include "formats/arch.h"

#include <string.h>
#include <time.h>

#define PRECISE_MOST 3
#define SAMPLE_ALWAYS                                                                   \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)
#define READ_ALWAYS \
	(PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static bool has(const struct event_machine *machine, enum event_feature feature)
{
	return machine->features >> feature & 1;
}

bool event_attr_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Does it count what the CPU does, so that a guest's share of it can be separated? */
static bool is_hardware(const struct event_desc *desc)
{
	return desc->type != PERF_TYPE_SOFTWARE && desc->type != PERF_TYPE_TRACEPOINT &&
	       desc->type != PERF_TYPE_BREAKPOINT && !desc->probe;
}

static enum recording_chain event_attr_chain(const struct event_desc *desc,
				      const struct event_request *request,
				      const struct event_machine *machine)
{
	static const enum recording_chain own[] = {
		[EVENT_CHAIN_NONE] = RECORDING_CHAIN_NONE,
		[EVENT_CHAIN_FP] = RECORDING_CHAIN_FP,
		[EVENT_CHAIN_DWARF] = RECORDING_CHAIN_DWARF,
	};
	enum recording_chain chain =
		desc->chain == EVENT_CHAIN_DEFAULT ? request->chain : own[desc->chain];

	if (chain == RECORDING_CHAIN_DWARF && !machine->stack_max)
		return RECORDING_CHAIN_FP;
	return chain;
}

/*
 * A tracepoint or breakpoint is taken at every hit unless a period was asked for; -F is meant for what
 * happens too often to be taken each time. Waits begin with all stacks too, and are thinned by stack_thinning.h: a
 * frequency would let the kernel choose, which takes two switches in a row for a high rate and then misses the next ten.
 */
static struct event_rate rate_of(const struct event_desc *desc, const struct event_request *request,
				 const struct event_machine *machine)
{
	bool each = desc->type == PERF_TYPE_TRACEPOINT || desc->type == PERF_TYPE_BREAKPOINT || desc->probe;

	if (desc->rate.kind != EVENT_RATE_UNSET)
		return desc->rate;
	if (event_desc_is_off_cpu(desc))
		return (struct event_rate){ EVENT_RATE_PERIOD, 1 };
	if (each && request->rate.kind != EVENT_RATE_PERIOD)
		return (struct event_rate){ EVENT_RATE_PERIOD, 1 };
	if (request->rate.kind != EVENT_RATE_UNSET)
		return request->rate;
	return (struct event_rate){ EVENT_RATE_FREQ, MIN(EVENT_RATE_DEFAULT, machine->rate_limit) };
}

static void set_what(struct perf_event_attr *attr, const struct event_desc *desc)
{
	attr->type = desc->type;
	attr->config = desc->config;
	attr->config1 = desc->config1; /* the address of a breakpoint */
	attr->config2 = desc->config2; /* its length */
	attr->bp_type = desc->breakpoint;
}

static void set_levels(struct perf_event_attr *attr, const struct event_desc *desc)
{
	attr->exclude_user = desc->exclude_user;
	attr->exclude_kernel = desc->exclude_kernel;
	attr->exclude_hv = desc->exclude_hv;
	attr->exclude_idle = desc->exclude_idle || event_attr_is_clock(attr);
	attr->exclude_host = desc->exclude_host;
	attr->exclude_guest = desc->host_guest_given ? desc->exclude_guest : is_hardware(desc);
	attr->precise_ip = desc->precise_max ? PRECISE_MOST : desc->precise;
	if (event_attr_is_clock(attr))
		attr->precise_ip = 0; /* accepted by the kernel, but it means nothing */
}

static void set_rate(struct perf_event_attr *attr, struct event_rate rate)
{
	attr->freq = rate.kind == EVENT_RATE_FREQ;
	attr->sample_freq = rate.value; /* or sample_period, in the same place */
	/*
	 * Asked for the period of each sample, the kernel samples every single page fault, tracepoint or other
	 * software event, whatever the period (kernel/events/core.c, perf_swevent_event).
	 */
	if (attr->freq)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (event_attr_is_clock(attr) && !attr->freq)
		attr->sample_period = MAX(rate.value, EVENT_RATE_CLOCK_PERIOD_MIN_NS);
}

/* Without a stack, registers say at least which line of a script runs. They do not go to the trace. */
static void set_loop_regs(struct perf_event_attr *attr, const struct event_machine *machine)
{
	if (!has(machine, EVENT_FEATURE_STACK_USER))
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = arch_native()->loop_regs_mask;
}

static void set_chain(struct perf_event_attr *attr, const struct event_desc *desc,
		      const struct event_request *request, const struct event_machine *machine)
{
	enum recording_chain chain = event_attr_chain(desc, request, machine);
	uint32_t len = desc->stack_len ? desc->stack_len : request->stack_len;

	if (chain == RECORDING_CHAIN_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (chain != RECORDING_CHAIN_DWARF) {
		set_loop_regs(attr, machine);
		return;
	}
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = arch_native()->regs_mask;
	attr->sample_stack_user = len ? MIN(len, machine->stack_max) : machine->stack_max;
}

static void set_clock(struct perf_event_attr *attr, const struct event_machine *machine)
{
	if (!has(machine, EVENT_FEATURE_CLOCKID))
		return;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static void set_wakeup(struct perf_event_attr *attr, const struct event_request *request)
{
	attr->watermark = request->wakeup_len != 0;
	attr->wakeup_watermark = request->wakeup_len;
}

/* Of an event that is only read, nothing but its count matters. */
static void set_samples(struct perf_event_attr *attr, const struct event_desc *desc,
			const struct event_request *request, const struct event_machine *machine)
{
	if (!desc->samples)
		return;
	set_rate(attr, rate_of(desc, request, machine));
	set_chain(attr, desc, request, machine);
	if (desc->type == PERF_TYPE_TRACEPOINT || desc->probe)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (desc->probe && desc->probe->args.len) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = arch_native()->regs_mask;
	}
	if (desc->type == PERF_TYPE_BREAKPOINT)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	if (request->sample_cgroup && has(machine, EVENT_FEATURE_CGROUP))
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	if (desc->read_group)
		attr->sample_type |= PERF_SAMPLE_READ;
	if (request->extras)
		sample_extras_set(request->extras, is_hardware(desc),
				  has(machine, EVENT_FEATURE_WEIGHT_STRUCT), attr);
}

void event_attr_build(const struct event_desc *desc, bool is_leader,
		      const struct event_request *request, const struct event_machine *machine,
		      struct perf_event_attr *ret)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	bool is_task = request->probe.pid >= 0 && request->probe.cgroup_fd < 0;

	set_what(&attr, desc);
	set_levels(&attr, desc);
	attr.sample_type = SAMPLE_ALWAYS;
	attr.read_format = READ_ALWAYS;
	if (has(machine, EVENT_FEATURE_FORMAT_LOST))
		attr.read_format |= PERF_FORMAT_LOST;
	if (desc->read_group)
		attr.read_format |= PERF_FORMAT_GROUP;
	attr.sample_id_all = 1;
	attr.inherit = request->inherit && is_task;
	if (desc->read_group && !has(machine, EVENT_FEATURE_READ_INHERIT))
		attr.inherit = 0;
	attr.disabled = is_leader;
	attr.enable_on_exec = is_leader && request->enable_on_exec;
	attr.pinned = is_leader && desc->pinned;
	attr.exclusive = is_leader && desc->exclusive;
	set_clock(&attr, machine);
	set_wakeup(&attr, request);
	set_samples(&attr, desc, request, machine);
	*ret = attr;
}

void event_attr_count(const struct event_desc *desc, bool is_leader, bool inherit, bool on_exec,
		      struct perf_event_attr *ret)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };

	set_what(&attr, desc);
	set_levels(&attr, desc);
	attr.exclude_idle = desc->exclude_idle;
	attr.precise_ip = 0; /* of a sample's address only */
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.inherit = inherit;
	attr.disabled = is_leader;
	attr.enable_on_exec = is_leader && on_exec;
	attr.pinned = is_leader && desc->pinned;
	attr.exclusive = is_leader && desc->exclusive;
	*ret = attr;
}

void event_attr_to_clock(struct perf_event_attr *attr, const struct event_target *target)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = target->cpu >= 0 ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;
	attr->config1 = attr->config2 = 0;
	attr->precise_ip = 0;
	attr->exclude_guest = 0;
	attr->exclude_idle = 1;
	if (!attr->freq)
		attr->sample_period = MAX(attr->sample_period, EVENT_RATE_CLOCK_PERIOD_MIN_NS);
}

bool event_attr_needs_counter(uint32_t type)
{
	return type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT &&
	       type != PERF_TYPE_BREAKPOINT;
}

void event_attr_dummy(struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.size = sizeof(*ret),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = SAMPLE_ALWAYS,
		.read_format = READ_ALWAYS,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1, /* it never samples, and so needs no privilege for that */
		.exclude_hv = 1,
		.sample_id_all = 1,
	};
}

void event_attr_side_band(const struct event_request *request, const struct event_machine *machine,
			  struct perf_event_attr *ret)
{
	struct perf_event_attr attr;

	event_attr_dummy(&attr);
	attr.disabled = 0;
	attr.inherit = request->inherit && request->probe.pid >= 0 && request->probe.cgroup_fd < 0;
	attr.mmap = 1;
	attr.mmap_data = request->extras && request->extras->data;
	attr.comm = 1;
	attr.task = 1;
	attr.mmap2 = has(machine, EVENT_FEATURE_MMAP2);
	attr.build_id = attr.mmap2 && has(machine, EVENT_FEATURE_BUILD_ID);
	attr.comm_exec = has(machine, EVENT_FEATURE_COMM_EXEC);
	attr.ksymbol = has(machine, EVENT_FEATURE_KSYMBOL);
	attr.bpf_event = has(machine, EVENT_FEATURE_BPF_EVENT);
	attr.cgroup = has(machine, EVENT_FEATURE_CGROUP);
	attr.text_poke = has(machine, EVENT_FEATURE_TEXT_POKE);
	attr.context_switch = request->context_switch && has(machine, EVENT_FEATURE_CONTEXT_SWITCH);
	if (has(machine, EVENT_FEATURE_FORMAT_LOST))
		attr.read_format |= PERF_FORMAT_LOST;
	set_clock(&attr, machine);
	set_wakeup(&attr, request);
	*ret = attr;
}

void event_attr_switches(const struct perf_event_attr *side_band, struct perf_event_attr *ret)
{
	event_attr_dummy(ret);
	ret->disabled = 0;
	ret->context_switch = 1;
	ret->sample_type = side_band->sample_type;
	ret->use_clockid = side_band->use_clockid;
	ret->clockid = side_band->clockid;
	ret->watermark = side_band->watermark;
	ret->wakeup_watermark = side_band->wakeup_watermark;
}

void event_attr_doorbell(const struct perf_event_attr *side_band, struct perf_event_attr *ret)
{
	event_attr_dummy(ret);
	ret->disabled = 0;
	ret->inherit = side_band->inherit;
	ret->mmap = 1;
	ret->watermark = 1;
	ret->wakeup_watermark = 1; /* each record; wakeup_events would count samples only */
}

void event_attr_try_feature(struct perf_event_attr *attr, enum event_feature feature)
{
	switch (feature) {
	case EVENT_FEATURE_MMAP2:
		attr->mmap = attr->mmap2 = 1;
		break;
	case EVENT_FEATURE_BUILD_ID:
		attr->mmap = attr->mmap2 = attr->build_id = 1;
		break;
	case EVENT_FEATURE_COMM_EXEC:
		attr->comm = attr->comm_exec = 1;
		break;
	case EVENT_FEATURE_CLOCKID:
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
		break;
	case EVENT_FEATURE_KSYMBOL:
		attr->ksymbol = 1;
		break;
	case EVENT_FEATURE_BPF_EVENT:
		attr->bpf_event = 1;
		break;
	case EVENT_FEATURE_CGROUP:
		attr->cgroup = 1;
		attr->sample_type |= PERF_SAMPLE_CGROUP;
		break;
	case EVENT_FEATURE_TEXT_POKE:
		attr->text_poke = 1;
		break;
	case EVENT_FEATURE_CONTEXT_SWITCH:
		attr->context_switch = 1;
		break;
	case EVENT_FEATURE_FORMAT_LOST:
		attr->read_format |= PERF_FORMAT_LOST;
		break;
	case EVENT_FEATURE_STACK_USER:
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = arch_native()->regs_mask;
		attr->sample_stack_user = sizeof(uint64_t);
		break;
	case EVENT_FEATURE_READ_INHERIT:
		attr->inherit = 1;
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format |= PERF_FORMAT_GROUP;
		break;
	case EVENT_FEATURE_WEIGHT_STRUCT:
		attr->sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
		break;
	case EVENT_FEATURES:
		break;
	}
}
