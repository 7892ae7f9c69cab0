/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_set.c - opens the counters and keeps the kernel's reason for each refusal.
 */
#include "record/stat/counter_set.h"

#include "record/event/event_attr.h"
#include "record/event/event_group.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* While the set is opened. */
struct opener {
	struct counter_set *set;
	const struct counter_request *request;
	size_t first; /* counter of the place that is being opened */
};

/* The descriptor that leads @event at this place; -1 if there is none. */
static int leader_fd(const struct opener *o, uint32_t leader)
{
	for (size_t i = o->first; i < o->set->items.len; i++)
		if (o->set->items.items[i].event == leader)
			return o->set->items.items[i].fd;
	return -1;
}

static bool is_absence(int errnum)
{
	return errnum == ENOENT || errnum == EOPNOTSUPP || errnum == ENODEV || errnum == ENXIO ||
	       errnum == EINVAL || errnum == ENODATA;
}

/* Relax @attr after a refusal with @errnum; false if there is nothing to relax. */
static bool relax(struct opener *o, const struct event_desc *desc, int errnum,
		  struct perf_event_attr *attr)
{
	if (attr->exclude_guest && !desc->host_guest_given && is_absence(errnum)) {
		attr->exclude_guest = 0;
		return true;
	}
	if ((errnum != EACCES && errnum != EPERM) || desc->levels_given || attr->exclude_kernel)
		return false;
	attr->exclude_kernel = attr->exclude_hv = 1;
	o->set->user_only = true;
	return true;
}

/* @event was refused: for good, for this place, or because its group is too large. */
static struct err *refused(struct opener *o, uint32_t event, const struct perf_event_attr *attr,
			   const struct event_target *at, int group_fd, int errnum)
{
	const struct event_list *list = o->set->list;
	const struct event_desc *desc = &list->items[event];

	if (errnum == ESRCH)
		return NULL;
	if (group_fd >= 0 && errnum == EINVAL &&
	    event_open_check(&event_kernel_real, attr, at) == 0)
		return event_group_too_large(list->items[desc->leader].name,
					     event_list_group_len(list, desc->leader), true);

	struct err *err = event_open_explain(&event_kernel_real, desc->name, attr, at, errnum);

	if (!is_absence(errnum))
		return err;
	err_free(o->set->refusals[event]);
	o->set->refusals[event] = err;
	return NULL;
}

static struct err *open_one(struct opener *o, uint32_t event, const struct event_target *at)
{
	const struct event_desc *desc = &o->set->list->items[event];
	bool leads = desc->leader == event;
	int group_fd = leads ? -1 : leader_fd(o, desc->leader), fd;
	struct perf_event_attr attr;

	if (at->cpu >= 0 && !event_desc_runs_on(desc, (uint32_t)at->cpu))
		return NULL;
	event_attr_count(desc, group_fd < 0, o->request->inherit && at->pid >= 0,
			 o->request->on_exec, &attr);
	while ((fd = event_open_try(&event_kernel_real, &attr, at, group_fd)) < 0) {
		if (relax(o, desc, -fd, &attr))
			continue;
		if (group_fd < 0 || !desc->weak)
			return refused(o, event, &attr, at, group_fd, -fd);
		group_fd = -1; /* a weak group: alone, then */
		attr.disabled = 1;
		attr.enable_on_exec = o->request->on_exec;
	}

	struct err *err = event_open_filter(desc, fd);

	if (err) {
		close(fd);
		return err;
	}
	vec_push(&o->set->items,
		 ((struct counter){ .fd = fd, .event = event, .cpu = at->cpu, .tid = at->pid }));
	return NULL;
}

static struct err *open_place(struct opener *o, const struct event_target *at)
{
	struct err *err = NULL;

	o->first = o->set->items.len;
	for (uint32_t i = 0; i < o->set->list->len && !err; i++)
		if (!o->set->refusals[i])
			err = open_one(o, i, at);
	return err;
}

struct err *counter_set_open(const struct event_list *list, const struct target *target,
			     const struct counter_request *request, struct counter_set *ret)
{
	struct counter_set set = { .list = list };
	struct opener o = { .set = &set, .request = request };
	struct err *err = NULL;

	set.refusals = memory_zeroed(list->len + 1, sizeof(*set.refusals));
	for (size_t i = 0; i < target->tasks.len && !err; i++) {
		struct event_target at = { .pid = target->tasks.items[i].tid, .cpu = -1, .cgroup_fd = -1 };

		err = open_place(&o, &at);
	}
	for (size_t i = 0; i < target->cpus.len && !target->tasks.len && !err; i++) {
		struct event_target at = { .pid = -1, .cpu = (int)target->cpus.cpus[i], .cgroup_fd = target->cgroup_fd };

		err = open_place(&o, &at);
	}
	if (err)
		counter_set_close(&set);
	else
		*ret = set;
	return err;
}

void counter_set_close(struct counter_set *set)
{
	for (size_t i = 0; i < set->items.len; i++)
		close(set->items.items[i].fd);
	vec_deinit(&set->items);
	for (size_t i = 0; set->refusals && i < set->list->len; i++)
		err_free(set->refusals[i]);
	free(set->refusals);
	*set = (struct counter_set){ 0 };
}

static void control(const struct counter_set *set, unsigned long request)
{
	for (size_t i = 0; i < set->items.len; i++)
		ioctl(set->items.items[i].fd, request, 0);
}

void counter_set_enable(const struct counter_set *set)
{
	control(set, PERF_EVENT_IOC_ENABLE);
}

void counter_set_disable(const struct counter_set *set)
{
	control(set, PERF_EVENT_IOC_DISABLE);
}

bool counter_set_delta(struct counter_set *set, size_t index, struct counter_value *ret)
{
	struct counter *counter = &set->items.items[index];
	struct counter_value now;

	if (read(counter->fd, &now, sizeof(now)) != (ssize_t)sizeof(now))
		return false;
	*ret = (struct counter_value){
		.value = now.value - counter->last.value,
		.enabled_ns = now.enabled_ns - counter->last.enabled_ns,
		.running_ns = now.running_ns - counter->last.running_ns,
	};
	counter->last = now;
	return true;
}

double counter_value_scaled(const struct counter_value *value)
{
	if (!value->running_ns)
		return 0;
	if (value->running_ns >= value->enabled_ns)
		return (double)value->value;
	return (double)value->value * (double)value->enabled_ns / (double)value->running_ns;
}
