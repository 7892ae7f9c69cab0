/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_probe.c - asks the kernel, one refusal at a time, for the best it will give.
 *
 * First each feature alone on a dummy, then each event with all features that exist. What an event is
 * refused for is given up in this order, from least to most missed: precision, leaving guests out, a rate above a
 * limit that has sunk meanwhile, kernel code, and at last the event itself, if cpu-clock can stand in for it.
 */
#include "record/event/event_plan.h"

#include "record/event/event_attr.h"
#include "record/event/event_group.h"
#include "record/event/event_open.h"
#include "record/event/event_spec.h"
#include "record/event/extras_probe.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PRECISE_MOST 3

/* While the plan is made. */
struct maker {
	struct event_plan *plan;
	const struct event_request *request;
	struct event_target probe; /* that of the request, or another CPU */
	const struct event_kernel *kernel;
	struct event_rights rights;
	struct event_machine machine;
	VEC(const char *) notes;
};

/* ---- notes ---- */

static void note(struct maker *m, const char *text)
{
	for (size_t i = 0; i < m->notes.len; i++)
		if (strcmp(m->notes.items[i], text) == 0)
			return;
	vec_push(&m->notes, text);
}

/* ---- features ---- */

static void probe_features(struct maker *m)
{
	struct perf_event_attr attr;

	for (unsigned i = 0; i < EVENT_FEATURES; i++) {
		/* Even the trial would have the kernel tell all others. */
		if (i == EVENT_FEATURE_BUILD_ID && !m->request->build_ids)
			continue;
		event_attr_dummy(&attr);
		event_attr_try_feature(&attr, (enum event_feature)i);
		if (event_open_check(m->kernel, &attr, &m->request->probe) == 0)
			m->machine.features |= 1u << i;
	}
	m->plan->features = m->machine.features;
}

/* The largest multiple of 8 that the kernel takes, by halving what lies between. */
static void probe_stack(struct maker *m)
{
	uint32_t low = 0, high = EVENT_ATTR_STACK_MAX / sizeof(uint64_t), middle = high;
	struct perf_event_attr attr;

	if (!(m->machine.features >> EVENT_FEATURE_STACK_USER & 1))
		return;
	event_attr_dummy(&attr);
	event_attr_try_feature(&attr, EVENT_FEATURE_STACK_USER);
	for (; low < high; middle = low + (high - low + 1) / 2) {
		attr.sample_stack_user = middle * (uint32_t)sizeof(uint64_t);
		if (event_open_check(m->kernel, &attr, &m->request->probe) == 0)
			low = middle;
		else
			high = middle - 1;
	}
	m->machine.stack_max = low * (uint32_t)sizeof(uint64_t);
}

/* What a reader of the recording will miss; the others are quietly done without. */
static void note_features(struct maker *m)
{
	static const char *const missed[EVENT_FEATURES] = {
		[EVENT_FEATURE_MMAP2] = "inodes of mappings",
		[EVENT_FEATURE_BUILD_ID] = "build IDs of mappings",
		[EVENT_FEATURE_CLOCKID] = "time stamps of the monotonic clock",
		[EVENT_FEATURE_KSYMBOL] = "symbols of generated kernel code",
		[EVENT_FEATURE_FORMAT_LOST] = "exact losses of each event",
		[EVENT_FEATURE_STACK_USER] = "stack snapshots",
	};
	struct arena *arena = &m->plan->arena;
	const char *list = "";

	for (size_t i = 0; i < EVENT_FEATURES; i++)
		if (missed[i] && !(m->machine.features >> i & 1) &&
		    (i != EVENT_FEATURE_BUILD_ID || m->request->build_ids))
			list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", missed[i]);
	if (*list)
		note(m, arena_printf(arena, "this kernel does not provide: %s", list));
}

/* ---- giving up ---- */

static bool is_refusal(int errnum)
{
	return errnum == EINVAL || errnum == EOPNOTSUPP || errnum == ENOENT || errnum == ENODEV ||
	       errnum == ENXIO;
}

/* Include guests, then be less precise, with and without guests again. */
static bool relax(struct event_planned *event)
{
	const struct event_desc *desc = event->desc;
	struct perf_event_attr *attr = &event->attr;

	if (attr->exclude_guest && !desc->host_guest_given) {
		attr->exclude_guest = 0;
		return true;
	}
	if (!desc->precise_max || !attr->precise_ip)
		return false;
	attr->precise_ip--;
	attr->exclude_guest = !desc->host_guest_given;
	return true;
}

static bool to_user_only(struct maker *m, struct event_planned *event, int errnum)
{
	struct arena *arena = &m->plan->arena;

	if ((errnum != EACCES && errnum != EPERM) || event->desc->levels_given ||
	    event->attr.exclude_kernel)
		return false;
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
	if (event->attr.exclude_user)
		return false;
	if (event_desc_is_off_cpu(event->desc)) {
		note(m, arena_printf(arena,
				     "off-cpu: waits are timed without stacks: kernel.perf_event_paranoid is %" PRId64
				     "; to record them, run as root or: sysctl kernel.perf_event_paranoid=1",
				     m->rights.paranoid));
		return true;
	}
	m->plan->user_only = true;
	note(m,
	     arena_printf(arena,
			  "kernel code is not sampled: kernel.perf_event_paranoid is %" PRId64
			  "; to include it, run as root or: sysctl kernel.perf_event_paranoid=1",
			  m->rights.paranoid));
	return true;
}

static bool is_cycles(const struct event_desc *desc)
{
	return desc->type == PERF_TYPE_HARDWARE && desc->config == PERF_COUNT_HW_CPU_CYCLES;
}

static bool to_clock(struct maker *m, struct event_planned *event)
{
	const struct event_desc *desc = event->desc;

	if (event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
		return false; /* no clock knows branches */
	if (!is_cycles(desc) || desc->precise || event_attr_is_clock(&event->attr))
		return false;
	event_attr_to_clock(&event->attr, &m->request->probe);
	event->unit = "ns";
	event->name = event->attr.config == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock" : "task-clock";
	note(m, arena_printf(&m->plan->arena,
			     "no hardware counter for cycles here: sampling by %s, a timer, instead",
			     event->name));
	return true;
}

/* Change @event's attributes so that what was refused with @errnum may be granted. */
static bool give_up(struct maker *m, struct event_planned *event, int errnum)
{
	if (to_user_only(m, event, errnum))
		return true;
	if (errnum == EINVAL && event_open_lower_rate(&event->attr)) {
		note(m, arena_printf(&m->plan->arena,
				     "the kernel has lowered its limit: %" PRIu64 " samples a second",
				     (uint64_t)event->attr.sample_freq));
		return true;
	}
	return is_refusal(errnum) && (relax(event) || to_clock(m, event));
}

/* ---- events ---- */

static struct event_target target_for(const struct event_desc *desc,
				      const struct event_target *target)
{
	struct event_target own = *target;

	if (own.cpu >= 0 && !event_desc_runs_on(desc, (uint32_t)own.cpu))
		own.cpu = (int)desc->pmu->cpus.cpus[0];
	return own;
}

/* Find attributes that open beside @group_fd; the descriptor is the caller's. */
static struct err *settle(struct maker *m, struct event_planned *event, int group_fd, int *ret_fd)
{
	struct event_target target = target_for(event->desc, &m->probe);
	int fd;

	while ((fd = event_open_try(m->kernel, &event->attr, &target, group_fd)) < 0)
		if (!give_up(m, event, -fd))
			return event_open_explain(m->kernel, event->name, &event->attr, &target,
						  -fd);

	struct err *err = event_open_filter(event->desc, fd);

	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

/* Descriptors of what was settled, because a group is judged with all its members open. */
struct open_events {
	VEC(int) fds; /* by event; -1 for those closed again */
};

static void open_events_close(struct open_events *open, size_t first)
{
	for (size_t i = first; i < open->fds.len; i++)
		if (open->fds.items[i] >= 0)
			close(open->fds.items[i]);
	open->fds.len = MIN(open->fds.len, first);
}

static void open_events_deinit(struct open_events *open)
{
	open_events_close(open, 0);
	vec_deinit(&open->fds);
}

static void plan_event(struct maker *m, struct event_list *list, size_t index)
{
	const struct event_desc *desc = &list->items[index];
	struct event_planned *event = &m->plan->events[index];

	*event = (struct event_planned){
		.desc = desc,
		.name = desc->name,
		.unit = desc->unit,
		.leader = desc->leader,
	};
	event_attr_build(desc, desc->leader == index, m->request, &m->machine, &event->attr);
}

/* Does member @index open for itself, so that it is the group that is refused? */
static bool opens_alone(const struct maker *m, size_t index)
{
	const struct event_planned *event = &m->plan->events[index];
	struct event_target target = target_for(event->desc, &m->probe);

	return event_open_check(m->kernel, &event->attr, &target) == 0;
}

/* Does any event from @first to @last need one of a PMU's counters? Of software events and tracepoints any number fits. */
static bool needs_counters(const struct maker *m, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++) {
		uint32_t type = m->plan->events[i].attr.type;

		if (m->plan->events[i].desc->probe)
			continue;
		if (type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT)
			return true;
	}
	return false;
}

/* Open event @index and keep its descriptor if others may join it. The last of a group shows whether it runs. */
static struct err *plan_next(struct maker *m, struct event_list *list, size_t index,
			     struct open_events *open)
{
	uint32_t leader = list->items[index].leader;
	bool is_last = index + 1 == list->len || list->items[index + 1].leader != leader;
	int fd = -1;

	plan_event(m, list, index);
	struct err *err = settle(m, &m->plan->events[index],
				 leader == index ? -1 : open->fds.items[leader], &fd);

	if (err && leader != index && err_kind(err) == ERR_UNSUPPORTED && opens_alone(m, index)) {
		err_free(err);
		return event_group_too_large(list->items[leader].name, event_list_group_len(list, leader),
					     true);
	}
	if (err)
		return err;
	if (event_list_is_alone(list, index)) {
		close(fd);
		fd = -1;
	}
	vec_push(&open->fds, fd);
	if (leader != index && is_last && needs_counters(m, leader, index) &&
	    !event_group_runs(open->fds.items[leader]))
		return event_group_too_large(list->items[leader].name, event_list_group_len(list, leader),
					     false);
	return NULL;
}

/* Event @first and the members of its group; *@ret_next is the one that failed, or the first of the next group. */
static struct err *plan_members(struct maker *m, struct event_list *list, size_t first,
				struct open_events *open, size_t *ret_next)
{
	struct err *err = NULL;
	size_t i = first;

	while (i < list->len && list->items[i].leader == first) {
		err = plan_next(m, list, i, open);
		if (err)
			break;
		i++;
	}
	*ret_next = i;
	return err;
}

/* Counters or breakpoints that somebody else holds on one CPU may be free on another. */
static bool is_full(const struct err *err)
{
	return err && (err_errno(err) == EBUSY || err_errno(err) == ENOSPC);
}

/* The same on the first CPU that has room for them all: what opens somewhere can be planned. */
static struct err *plan_group(struct maker *m, struct event_list *list, size_t first,
			      struct open_events *open, size_t *ret_next)
{
	const struct cpu_list *cpus = m->request->cpus;
	struct err *err = plan_members(m, list, first, open, ret_next);

	for (size_t i = 0; cpus && i < cpus->len && is_full(err); i++) {
		size_t next;

		m->probe.cpu = (int)cpus->cpus[i];
		open_events_close(open, first);
		struct err *there = plan_members(m, list, first, open, &next);

		if (is_full(there)) {
			err_free(there);
			continue;
		}
		err_free(err);
		err = there;
		*ret_next = next;
	}
	m->probe = m->request->probe;
	return err;
}

static struct err *plan_events(struct maker *m, struct event_list *list)
{
	CLEANUP(open_events_deinit) struct open_events open = { 0 };

	for (size_t first = 0, next; first < list->len; first = next) {
		struct err *err = plan_group(m, list, first, &open, &next);

		if (!err)
			continue;
		if (!list->items[next].weak || next == first)
			return err;
		err_free(err);
		note(m, arena_printf(&m->plan->arena,
				     "the group of '%s' does not fit and was split",
				     list->items[first].name));
		event_list_dissolve(list, (uint32_t)first);
		open_events_close(&open, first);
		next = first;
	}
	return NULL;
}

/* ---- names and notes at the end ---- */

/*
 * What is really opened: a clock in the place of cycles is called so, and where kernel code had to be left
 * out the name says so as if the user had written it.
 */
static const char *final_name(struct arena *arena, const struct event_planned *event)
{
	const struct event_desc *desc = event->desc;
	const struct perf_event_attr *attr = &event->attr;
	bool replaced = event_attr_is_clock(attr) && attr->type != desc->type;
	bool narrowed = attr->exclude_kernel && !desc->exclude_kernel;
	size_t len = strlen(event->name);

	if (desc->named)
		return desc->name;
	if (replaced && desc->levels_given)
		return arena_printf(arena, "%s:%s%s%s", event->name, attr->exclude_user ? "" : "u",
				    attr->exclude_kernel ? "" : "k", attr->exclude_hv ? "" : "h");
	if (!narrowed)
		return event->name;
	if (strchr(event->name, ':') && desc->type != PERF_TYPE_TRACEPOINT)
		return arena_printf(arena, "%su", event->name);
	return arena_printf(arena, "%s%su", event->name,
			    len && event->name[len - 1] == '/' ? "" : ":");
}

static void note_event(struct maker *m, const struct event_planned *event)
{
	const struct event_desc *desc = event->desc;
	const struct event_request *request = m->request;
	uint64_t period =
		desc->rate.kind == EVENT_RATE_UNSET ? request->rate.value : desc->rate.value;
	struct arena *arena = &m->plan->arena;

	if (event_attr_is_clock(&event->attr) && !event->attr.freq &&
	    event->attr.sample_period > period)
		note(m, arena_printf(arena,
				     "%s: every %d ns, the shortest period of the kernel's clocks",
				     event->name, EVENT_RATE_CLOCK_PERIOD_MIN_NS));
	if (desc->read_group && request->inherit && request->probe.pid >= 0 && !event->attr.inherit)
		note(m, arena_printf(arena,
				     "the group of '%s' does not follow children on this kernel",
				     desc->name));
	if (desc->probe && desc->probe->left_out)
		note(m, arena_printf(arena, "%s: of %zu places of the marker the first %d are probed", desc->name,
				     PROBE_PLACES_MAX + desc->probe->left_out, PROBE_PLACES_MAX));
}

/* The precision that was granted where as much as possible was requested: reported, not guessed. */
static void note_precision(struct maker *m, const struct event_planned *event)
{
	if (event->desc->precise_max && !event->desc->is_default)
		note(m, arena_printf(&m->plan->arena, "%s: precision %u of %d", event->desc->name,
				     (unsigned)event->attr.precise_ip, PRECISE_MOST));
}

static void finish(struct maker *m)
{
	struct event_plan *plan = m->plan;

	for (size_t i = 0; i < plan->nevents; i++) {
		struct event_planned *event = &plan->events[i];

		event->name = final_name(&plan->arena, event);
		note_event(m, event);
		note_precision(m, event);
		plan->stack_len = MAX(plan->stack_len, event->attr.sample_stack_user);
	}
	event_attr_side_band(m->request, &m->machine, &plan->side_band);
	plan->notes = ARENA_ARRAY(&plan->arena, const char *, m->notes.len);
	plan->nnotes = m->notes.len;
	if (plan->nnotes)
		memcpy(plan->notes, m->notes.items, plan->nnotes * sizeof(*plan->notes));
}

static struct err *check_extras(struct maker *m)
{
	struct extras_gaps gaps = { 0 };
	struct err *err = m->request->extras ? extras_probe(m->kernel, m->plan, m->request->extras,
							    &gaps)
					     : NULL;

	if (gaps.data)
		note(m, gaps.data);
	if (gaps.weight)
		note(m, gaps.weight);
	return err;
}

static struct err *make(struct maker *m, struct event_list *list)
{
	/* A dummy needs the least: if even that is refused, nothing opens. */
	struct event_planned dummy = { .name = list->items[0].name };

	event_attr_dummy(&dummy.attr);
	int errnum = event_open_check(m->kernel, &dummy.attr, &m->request->probe);

	if (errnum)
		return event_open_explain(m->kernel, dummy.name, &dummy.attr, &m->request->probe,
					  errnum);
	event_rights_read(&m->rights);
	m->machine.rate_limit = event_rate_limit();
	probe_features(m);
	probe_stack(m);
	note_features(m);
	m->plan->events = ARENA_ARRAY(&m->plan->arena, struct event_planned, list->len);
	m->plan->nevents = list->len;
	struct err *err = plan_events(m, list);

	if (!err)
		err = check_extras(m);
	if (!err)
		finish(m);
	return err;
}

struct err *event_plan_make_on(const struct event_kernel *kernel, struct event_list *list,
			       const struct event_request *request, struct event_plan *ret)
{
	struct event_plan plan = { 0 };
	struct maker m = {
		.plan = &plan,
		.request = request,
		.probe = request->probe,
		.kernel = kernel,
	};

	event_list_default(list);
	struct err *err = make(&m, list);

	vec_deinit(&m.notes);
	if (err)
		event_plan_deinit(&plan);
	else
		*ret = plan;
	return err;
}

struct err *event_plan_make(struct event_list *list, const struct event_request *request,
			    struct event_plan *ret)
{
	return event_plan_make_on(&event_kernel_real, list, request, ret);
}
