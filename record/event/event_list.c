/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_list.c - questions about a list of events, and changes that concern all of it.
 */
#include "record/event/event_list.h"

#include <linux/perf_event.h>
#include <string.h>

bool event_desc_is_off_cpu(const struct event_desc *desc)
{
	return desc->type == PERF_TYPE_SOFTWARE && desc->config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
	       strcmp(desc->unit, "ns") == 0;
}

bool event_desc_is_idle(const struct event_desc *desc)
{
	return desc->type == PERF_TYPE_SOFTWARE && desc->config == PERF_COUNT_SW_DUMMY &&
	       strcmp(desc->unit, "ns") == 0;
}

#define SWITCH "sched:sched_switch"

bool event_list_wants_switches(const struct event_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		if (event_desc_is_off_cpu(&list->items[i]))
			return true;
	return false;
}

bool event_desc_is_waking(const struct event_desc *desc)
{
	return desc->type == PERF_TYPE_TRACEPOINT && strncmp(desc->name, EVENT_LIST_WAKING, strlen(EVENT_LIST_WAKING)) == 0;
}

bool event_desc_is_switch(const struct event_desc *desc)
{
	return desc->type == PERF_TYPE_TRACEPOINT && strncmp(desc->name, SWITCH, strlen(SWITCH)) == 0;
}

bool event_desc_is_contention(const struct event_desc *desc)
{
	return desc->type == PERF_TYPE_TRACEPOINT &&
	       strncmp(desc->name, EVENT_LIST_CONTENTION, strlen(EVENT_LIST_CONTENTION)) == 0;
}

bool event_desc_is_syscalls(const struct event_desc *desc)
{
	return desc->type == PERF_TYPE_TRACEPOINT &&
	       (strcmp(desc->name, EVENT_LIST_ENTER) == 0 || strcmp(desc->name, EVENT_LIST_EXIT) == 0);
}

void event_list_limit(struct event_list *list, bool user)
{
	for (size_t i = 0; i < list->len; i++) {
		struct event_desc *desc = &list->items[i];

		if (desc->levels_given)
			continue;
		desc->levels_given = true;
		desc->exclude_user = !user;
		desc->exclude_kernel = desc->exclude_hv = user;
	}
}

bool event_desc_runs_on(const struct event_desc *desc, uint32_t cpu)
{
	return !desc->pmu || !desc->pmu->cpus.len || cpu_list_has(&desc->pmu->cpus, cpu);
}

void event_list_deinit(struct event_list *list)
{
	vec_deinit(list);
	pmu_set_deinit(&list->pmus);
	arena_deinit(&list->arena);
	*list = (struct event_list){ 0 };
}

bool event_list_is_alone(const struct event_list *list, size_t index)
{
	return list->items[index].leader == index &&
	       (index + 1 == list->len || list->items[index + 1].leader != index);
}

size_t event_list_group_len(const struct event_list *list, uint32_t leader)
{
	size_t count = 0;

	for (size_t i = leader; i < list->len; i++)
		count += list->items[i].leader == leader;
	return count;
}

void event_list_dissolve(struct event_list *list, uint32_t leader)
{
	for (uint32_t i = leader; i < list->len; i++) {
		struct event_desc *desc = &list->items[i];

		if (desc->leader != leader)
			continue;
		desc->leader = i;
		desc->samples = true;
		desc->read_group = false;
		desc->weak = false;
	}
}
