/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_plan.c - a plan in use; event_probe.c makes it.
 */
#include "record/event/event_plan.h"

#include "record/event/event_attr.h"
#include "record/event/event_open.h"
#include "record/event/own_samples.h"

#include <errno.h>
#include <unistd.h>

void event_plan_deinit(struct event_plan *plan)
{
	arena_deinit(&plan->arena);
	*plan = (struct event_plan){ 0 };
}

struct err *event_plan_open(const struct event_plan *plan, size_t index,
			    const struct event_target *target, int group_fd, int *ret_fd)
{
	struct event_planned event = plan->events[index];

	event.attr.inherit |= target->inherit;
	int fd = event_open_try(&event_kernel_real, &event.attr, target, group_fd);

	if (fd == -EINVAL && event_open_lower_rate(&event.attr))
		fd = event_open_try(&event_kernel_real, &event.attr, target, group_fd);
	if (fd < 0)
		return event_open_explain(&event_kernel_real, event.name, &event.attr, target, -fd);

	struct err *err = event_open_filter(event.desc, fd);

	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

static bool in_group(const struct event_plan *plan, size_t index)
{
	for (size_t i = 0; i < plan->nevents; i++) {
		if (i != index && plan->events[i].leader == plan->events[index].leader)
			return true;
	}
	return false;
}

static int open_twin(const struct event_plan *plan, size_t index, const struct event_target *target,
		     struct perf_event_attr *attr)
{
	int fd = event_open_try(&event_kernel_real, attr, target, -1);
	struct err *err = fd < 0 ? NULL : event_open_filter(plan->events[index].desc, fd);

	if (err) {
		err_free(err);
		close(fd);
		return -1;
	}
	return fd < 0 ? -1 : fd;
}

int event_plan_open_lean(const struct event_plan *plan, size_t index, const struct event_target *target,
			 uint32_t stack_len)
{
	struct perf_event_attr attr = plan->events[index].attr;

	if (attr.sample_stack_user <= stack_len || in_group(plan, index))
		return -1;
	attr.sample_stack_user = stack_len;
	return open_twin(plan, index, target, &attr);
}

int event_plan_open_waking(const struct event_plan *plan, size_t index, const struct event_target *target,
			   uint32_t stack_len)
{
	struct perf_event_attr attr = plan->events[index].attr;

	if (in_group(plan, index) || !plan->events[index].desc->samples)
		return -1;
	attr.sample_stack_user = MIN(attr.sample_stack_user, stack_len);
	attr.watermark = 0;
	attr.wakeup_events = 1;
	int fd = open_twin(plan, index, target, &attr);

	/* Who waits for the ring is switched off the CPU when it waits again. */
	if (fd >= 0 && event_desc_is_off_cpu(plan->events[index].desc))
		own_samples_leave_out(fd);
	return fd;
}

static struct err *open_dummy(const struct perf_event_attr *attr, const struct event_target *target,
			      int *ret_fd)
{
	int fd = event_open_try(&event_kernel_real, attr, target, -1);

	if (fd < 0)
		return event_open_explain(&event_kernel_real, "dummy", attr, target, -fd);
	*ret_fd = fd;
	return NULL;
}

struct err *event_plan_open_side_band(const struct event_plan *plan, enum event_side part,
				      const struct event_target *target, int *ret_fd)
{
	struct perf_event_attr attr = plan->side_band;

	if (part == EVENT_SIDE_TASKS)
		attr.context_switch = 0;
	else if (part == EVENT_SIDE_SWITCHES)
		event_attr_switches(&plan->side_band, &attr);
	attr.inherit |= target->inherit;
	return open_dummy(&attr, target, ret_fd);
}

struct err *event_plan_open_doorbell(const struct event_plan *plan,
				     const struct event_target *target, int *ret_fd)
{
	struct perf_event_attr attr;

	event_attr_doorbell(&plan->side_band, &attr);
	return open_dummy(&attr, target, ret_fd);
}

bool event_plan_has(const struct event_plan *plan, enum event_feature feature)
{
	return plan->features >> feature & 1;
}

struct recording_event *event_plan_describe(const struct event_plan *plan, struct arena *arena)
{
	struct recording_event *events = ARENA_ARRAY(arena, struct recording_event, plan->nevents);

	for (size_t i = 0; i < plan->nevents; i++) {
		const struct event_planned *event = &plan->events[i];
		const struct perf_event_attr *attr = &event->attr;

		events[i] = (struct recording_event){
			.name = event->name,
			.unit = event->unit,
			.type = attr->type,
			.config = attr->config,
			.config1 = event->desc->probe ? 0 : attr->config1, /* of a probe, where a text is */
			.config2 = attr->config2,
			.is_freq = attr->freq,
			.rate = attr->sample_freq,
			.precise = attr->precise_ip,
			.exclude_user = attr->exclude_user,
			.exclude_kernel = attr->exclude_kernel,
			.exclude_hv = attr->exclude_hv,
			.samples = event->desc->samples,
			.leader = event->leader,
			.format = event->desc->format,
		};
	}
	return events;
}
