/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_chain.c - a profile, a recording and the chain between them.
 */
#include "tests/unit/derive_chain.h"

#include <linux/perf_event.h>

void chain_keep(void *context, const struct derived *derived)
{
	struct chain *c = context;

	vec_push(&c->out, *derived);
}

uint32_t chain_same_number(void *context, uint32_t pid, uint32_t tid)
{
	(void)context;
	(void)pid;
	return tid;
}

static const char waking_format[] = "	field:char comm[16];	offset:8;	size:16;	signed:0;\n"
				    "	field:pid_t pid;	offset:24;	size:4;	signed:1;\n";

static const char switch_format[] = "	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;\n"
				    "	field:long prev_state;	offset:32;	size:8;	signed:1;\n"
				    "	field:pid_t next_pid;	offset:56;	size:4;	signed:1;\n";

void chain_begin(struct chain *c, bool wall)
{
	*c = (struct chain){ .events = {
				     { .name = "cpu-clock", .unit = "ns", .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK, .format = "", .samples = true },
				     { .name = "off-cpu", .unit = "ns", .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CONTEXT_SWITCHES, .format = "", .samples = true },
				     { .name = "sched:sched_waking", .unit = "events", .type = PERF_TYPE_TRACEPOINT,
				       .format = waking_format, .samples = true },
				     { .name = "sched:sched_switch:k", .unit = "events", .type = PERF_TYPE_TRACEPOINT,
				       .rate = 1, .format = switch_format, .samples = true } } };
	c->recording = (struct recording){
		.events = c->events, .nevents = 4, .start_ns = START, .end_ns = END, .by_cpu = true
	};
	c->profile = profile_new();
	for (int i = 0; i < 4; i++)
		profile_add_value_type(c->profile, &(struct profile_value_type){ 0 });

	struct derive_request request = { .profile = c->profile, .recording = &c->recording,
					  .to_ns = UINT64_MAX, .added = { DERIVE_OFF_CPU, wall ? DERIVE_WALL : NULL } };

	c->derive = derive_new(&request, &(struct derive_out){ .add = chain_keep, .thread = chain_same_number, .context = c });
}

void chain_end(struct chain *c)
{
	derive_free(c->derive);
	profile_free(c->profile);
	vec_deinit(&c->out);
}

void chain_feed(struct chain *c, struct event ev, uint32_t stack)
{
	ev.pid = 1;
	derive_event(c->derive, &(struct derive_event){
					.ev = &ev,
					.thread = ev.kind == EVENT_FORK ? PROFILE_NONE : ev.tid,
				        .stack = stack, .passes = true });
}

void chain_switch(struct chain *c, uint32_t tid, uint64_t time_ns, bool in, bool preempted)
{
	chain_feed(c, (struct event){ .kind = EVENT_SWITCH, .tid = tid, .time_ns = time_ns,
				.cpu_switch = { in, preempted } }, 0);
}

void chain_sample(struct chain *c, uint32_t tid, uint64_t time_ns, uint32_t event, uint32_t stack)
{
	chain_feed(c, (struct event){ .kind = EVENT_SAMPLE, .tid = tid, .time_ns = time_ns, .cpu = 3,
				.sample = { .event = event, .period = 1000 } }, stack);
}

uint64_t chain_sum(const struct chain *c, uint32_t event, uint32_t thread)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < c->out.len; i++)
		if (c->out.items[i].event == event && c->out.items[i].thread == thread)
			weight += c->out.items[i].weight;
	return weight;
}

uint64_t chain_sum_of_stack(const struct chain *c, uint32_t event, uint32_t stack)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < c->out.len; i++)
		if (c->out.items[i].event == event && c->out.items[i].stack == stack)
			weight += c->out.items[i].weight;
	return weight;
}

uint64_t chain_sum_of_state(const struct chain *c, uint32_t event, uint32_t thread, enum profile_state state)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < c->out.len; i++)
		if (c->out.items[i].event == event && c->out.items[i].thread == thread && c->out.items[i].state == state)
			weight += c->out.items[i].weight;
	return weight;
}

void chain_account(struct chain *c, uint32_t tid, uint64_t time_ns, const struct event_task_times *times)
{
	chain_feed(c, (struct event){ .kind = EVENT_TASK_TIMES, .tid = tid, .time_ns = time_ns, .task_times = *times }, 0);
}
