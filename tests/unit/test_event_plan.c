/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that refuse what real ones refuse, on machines that nobody here has. What is tried on the real
 * kernel is in tests/cli/events.
 */
#include "tests/unit/test.h"
#include "tests/unit/fake_sysfs.h"

#include "record/event/event_attr.h"
#include "record/event/event_open.h"
#include "record/event/event_plan.h"
#include "record/event/event_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

/* What a kernel has and allows. */
struct kernel {
	bool hardware;   /* a PMU */
	uint8_t precise; /* the most that it grants */
	bool guests;     /* exclude_guest is refused beside precise_ip, as AMD's IBS does */
	bool no_kernel;  /* perf_event_paranoid is 2 */
	bool old;        /* refuses every optional bit */
	uint32_t stack_max;
	unsigned group_max; /* members beside the leader */
	unsigned members;   /* opened in the group that was last begun */
	unsigned opens;
	unsigned full[2][4]; /* on these CPUs hardware events of these numbers have no room; 1 + number, 0: none */
};

static int refuse_dummy(const struct kernel *k, const struct perf_event_attr *attr)
{
	bool optional = attr->mmap2 || attr->build_id || attr->comm_exec || attr->use_clockid ||
			attr->ksymbol || attr->bpf_event || attr->cgroup || attr->text_poke ||
			attr->context_switch || attr->read_format & PERF_FORMAT_LOST ||
			(attr->inherit && attr->sample_type & PERF_SAMPLE_READ) ||
			attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT;

	return k->old && optional ? -EINVAL : 0;
}

static int refuse(struct kernel *k, const struct perf_event_attr *attr, int group_fd)
{
	bool is_hardware = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
			   attr->type == PERF_TYPE_RAW;

	if (attr->sample_stack_user > k->stack_max || attr->sample_stack_user % 8)
		return -EINVAL;
	if (k->no_kernel && !attr->exclude_kernel)
		return -EACCES;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return refuse_dummy(k, attr);
	if (is_hardware && !k->hardware)
		return -ENOENT;
	if (attr->precise_ip > k->precise)
		return -EOPNOTSUPP;
	if (attr->precise_ip && attr->exclude_guest && k->guests)
		return -EINVAL;
	if (is_hardware && group_fd >= 0 && ++k->members > k->group_max)
		return -EINVAL;
	return 0;
}

static int answer(void *context, const struct perf_event_attr *attr,
		  const struct event_target *target, int group_fd)
{
	struct kernel *k = context;
	int refused = refuse(k, attr, group_fd);

	for (size_t i = 0; i < 4 && target->cpu >= 0 && target->cpu < 2; i++)
		if (attr->type == PERF_TYPE_HARDWARE && attr->config + 1 == k->full[target->cpu][i])
			refused = -EBUSY;
	k->opens++;
	if (group_fd < 0)
		k->members = 0;
	CHECK_UINT(attr->size, sizeof(*attr));
	return refused ? refused : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static const struct kernel modern = {
	.hardware = true, .precise = 3, .stack_max = 65528, .group_max = 3
};

static const struct event_request system_wide = {
	.chain = RECORDING_CHAIN_DWARF, .probe = { .pid = -1, .cpu = 0, .cgroup_fd = -1 }
};

static const struct event_request task = { .chain = RECORDING_CHAIN_FP,
					   .probe = { .pid = 0, .cpu = -1, .cgroup_fd = -1 },
					   .inherit = true,
					   .enable_on_exec = true };

/* A plan on a kernel of its own. */
struct planned {
	struct kernel kernel;
	struct event_list list;
	struct event_plan plan;
};

static struct err *make(struct planned *p, const char *events, const struct event_request *request)
{
	struct event_kernel kernel = { answer, &p->kernel };

	p->list = (struct event_list){ .sysfs = fake_sysfs_plain(), .tracefs = fake_tracefs() };
	if (*events)
		CHECK_OK(event_list_add(&p->list, events));
	return event_plan_make_on(&kernel, &p->list, request, &p->plan);
}

static void planned_deinit(struct planned *p)
{
	event_plan_deinit(&p->plan);
	event_list_deinit(&p->list);
}

static bool has_note(const struct planned *p, const char *part)
{
	for (size_t i = 0; i < p->plan.nnotes; i++)
		if (strstr(p->plan.notes[i], part))
			return true;
	return false;
}

TEST(event_plan_samples_cycles_with_all_that_a_kernel_has)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

	CHECK_OK(make(&p, "", &system_wide));
	const struct perf_event_attr *attr = &p.plan.events[0].attr;

	CHECK_STR(p.plan.events[0].name, "cycles");
	CHECK_UINT(p.plan.nnotes, 0);
	/* The kernel would tell all recorders of the build IDs that one asked for. */
	CHECK_UINT(p.plan.features, ((1u << EVENT_FEATURES) - 1) & ~(1u << EVENT_FEATURE_BUILD_ID));
	CHECK(!p.plan.side_band.build_id);
	CHECK_UINT(p.plan.stack_len, 65528);
	CHECK_UINT(attr->sample_type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					      PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
					      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
					      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	CHECK(attr->read_format & PERF_FORMAT_LOST);
	CHECK_UINT(attr->sample_stack_user, 65528);
	CHECK(attr->sample_regs_user);
	CHECK_UINT(attr->precise_ip, 3);
	CHECK(attr->exclude_guest && !attr->exclude_idle && !attr->exclude_callchain_user);
	CHECK(attr->freq && attr->sample_freq == 99);
	CHECK(attr->disabled && !attr->inherit && !attr->enable_on_exec);
	CHECK(attr->use_clockid && attr->clockid == CLOCK_MONOTONIC && attr->sample_id_all);
}

TEST(event_plan_gathers_side_band_from_when_it_is_opened)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

	CHECK_OK(make(&p, "", &task));
	const struct perf_event_attr *attr = &p.plan.side_band;

	CHECK(!attr->disabled && attr->inherit && attr->exclude_kernel);
	CHECK(attr->mmap && attr->mmap2 && !attr->build_id && attr->comm && attr->comm_exec &&
	      attr->task && attr->ksymbol && attr->bpf_event && attr->cgroup && attr->text_poke);
	CHECK(!attr->context_switch && !attr->mmap_data);
	CHECK(p.plan.events[0].attr.inherit && p.plan.events[0].attr.enable_on_exec);
}

TEST(event_plan_has_the_kernel_read_build_ids_on_request)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };
	struct event_request request = system_wide;

	request.build_ids = true;
	CHECK_OK(make(&p, "", &request));
	CHECK_UINT(p.plan.features, (1u << EVENT_FEATURES) - 1);
	CHECK(p.plan.side_band.build_id);
}

TEST(event_plan_drops_what_an_old_kernel_refuses)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };
	struct event_request request = system_wide;

	p.kernel.old = true;
	p.kernel.stack_max = 0;
	request.build_ids = true;
	CHECK_OK(make(&p, "cycles,cs", &request));
	CHECK_UINT(p.plan.features, 0);
	CHECK(!p.plan.side_band.mmap2 && !p.plan.side_band.build_id && p.plan.side_band.mmap);
	CHECK(!(p.plan.events[1].attr.sample_type & PERF_SAMPLE_STACK_USER));
	CHECK(p.plan.events[1].attr.sample_type & PERF_SAMPLE_CALLCHAIN); /* still something */
	CHECK_UINT(p.plan.stack_len, 0);
	CHECK(has_note(&p, "this kernel does not provide: inodes of mappings, build IDs of mappings"));
	CHECK(has_note(&p, "stack snapshots"));
}

TEST(event_plan_finds_the_largest_snapshot)
{
	static const uint32_t limits[] = { 65528, 65520, 32768, 8192, 8 };

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

		p.kernel.stack_max = limits[i];
		CHECK_OK(make(&p, "", &system_wide));
		CHECK_UINT(p.plan.stack_len, limits[i]);
	}
}

TEST(event_plan_steps_down_in_precision_unless_it_was_asked_for)
{
	for (uint8_t granted = 0; granted <= 3; granted++) {
		CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

		p.kernel.precise = granted;
		CHECK_OK(make(&p, "cycles:P", &system_wide));
		CHECK_UINT(p.plan.events[0].attr.precise_ip, granted);
		CHECK(p.plan.events[0].attr.exclude_guest);
	}
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

	p.kernel.precise = 1;
	CHECK_ERR(make(&p, "instructions:pp", &system_wide), ERR_UNSUPPORTED,
		  "event 'instructions:pp': that precision is not supported here");
}

TEST(event_plan_prefers_precision_to_leaving_guests_out)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

	p.kernel.precise = 2;
	p.kernel.guests = true;
	CHECK_OK(make(&p, "cycles:P", &system_wide));
	CHECK_UINT(p.plan.events[0].attr.precise_ip, 2);
	CHECK(!p.plan.events[0].attr.exclude_guest);
}

TEST(event_plan_falls_back_from_cycles_to_a_clock_and_says_so)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = { .stack_max = 65528 } };

	CHECK_OK(make(&p, "", &system_wide));
	CHECK_STR(p.plan.events[0].name, "cpu-clock");
	CHECK_STR(p.plan.events[0].unit, "ns");
	CHECK_UINT(p.plan.events[0].attr.type, PERF_TYPE_SOFTWARE);
	CHECK_UINT(p.plan.events[0].attr.config, PERF_COUNT_SW_CPU_CLOCK);
	CHECK(p.plan.events[0].attr.exclude_idle && !p.plan.events[0].attr.exclude_guest);
	CHECK_UINT(p.plan.events[0].attr.precise_ip, 0);
	CHECK(has_note(&p, "sampling by cpu-clock, a timer, instead"));

	CLEANUP(planned_deinit) struct planned t = { .kernel = { .stack_max = 65528 } };

	CHECK_OK(make(&t, "cycles:u", &task));
	CHECK_STR(t.plan.events[0].name, "task-clock:u");
	CHECK_UINT(t.plan.events[0].attr.config, PERF_COUNT_SW_TASK_CLOCK);
	CHECK(t.plan.events[0].attr.exclude_kernel);
}

TEST(event_plan_does_not_replace_other_events)
{
	static const char *const events[] = { "instructions", "LLC-loads", "r3c", "cycles:pp" };

	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		CLEANUP(planned_deinit) struct planned p = { .kernel = { .stack_max = 65528 } };

		CHECK_ERR(make(&p, events[i], &system_wide), ERR_UNSUPPORTED,
			  "this machine has no hardware counter for it");
	}
}

TEST(event_plan_samples_user_code_where_kernel_code_is_forbidden)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

	p.kernel.no_kernel = true;
	CHECK_OK(make(&p, "cycles,cycles:P,cpu/event=1/,cs:u", &task));
	CHECK_STR(p.plan.events[0].name, "cycles:u");
	CHECK_STR(p.plan.events[1].name, "cycles:Pu");
	CHECK_STR(p.plan.events[2].name, "cpu/event=1/u");
	CHECK_STR(p.plan.events[3].name, "cs:u");
	CHECK(p.plan.events[0].attr.exclude_kernel && p.plan.user_only);
	CHECK(has_note(&p, "kernel code is not sampled"));
	CHECK_UINT(p.plan.nnotes, 2); /* and the precision of cycles:P */

	CLEANUP(planned_deinit) struct planned k = { .kernel = modern };

	k.kernel.no_kernel = true;
	CHECK_ERR(make(&k, "cycles:k", &task), ERR_SYSTEM, "event 'cycles:k'");

	CLEANUP(planned_deinit) struct planned both = { .kernel = modern };

	both.kernel.no_kernel = true; /* who names the kernel does not want less */
	CHECK_ERR(make(&both, "cycles:uk", &task), ERR_SYSTEM, "event 'cycles:uk'");
}

TEST(event_plan_takes_weak_groups_apart_and_refuses_others)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

	p.kernel.group_max = 1;
	CHECK_OK(
		make(&p, "cs,{cycles,instructions,branches}:SW,{cycles,branches}:S", &system_wide));
	CHECK_UINT(p.plan.events[3].leader, 3);
	CHECK(p.plan.events[3].attr.sample_period && p.plan.events[3].attr.disabled);
	CHECK(!(p.plan.events[3].attr.read_format & PERF_FORMAT_GROUP));
	CHECK_UINT(p.plan.events[5].leader, 4);
	CHECK(has_note(&p, "the group of 'cycles' does not fit"));

	CLEANUP(planned_deinit) struct planned q = { .kernel = modern };

	q.kernel.group_max = 1;
	CHECK_ERR(make(&q, "{cycles,instructions,branches}", &system_wide), ERR_UNSUPPORTED,
		  "the group of 'cycles' is too large: 3 events");
}

TEST(event_plan_tries_each_event_on_a_cpu_that_has_room)
{
	static uint32_t numbers[] = { 0, 1, 2 };
	static const struct cpu_list cpus = { numbers, ARRAY_LEN(numbers) };
	struct event_request request = system_wide;
	struct kernel crowded = modern;

	crowded.full[0][0] = 1 + PERF_COUNT_HW_CPU_CYCLES;
	crowded.full[1][0] = 1 + PERF_COUNT_HW_INSTRUCTIONS;
	CLEANUP(planned_deinit) struct planned p = { .kernel = crowded };
	CLEANUP(planned_deinit) struct planned group = { .kernel = crowded };
	CLEANUP(planned_deinit) struct planned alone = { .kernel = crowded };

	request.cpus = &cpus;
	CHECK_OK(make(&p, "cycles,instructions,branches", &request));
	CHECK_UINT(p.plan.nevents, 3);
	CHECK_STR(p.plan.events[1].name, "instructions");
	/* No CPU but the last has room for both at once. */
	CHECK_OK(make(&group, "{cycles,instructions}", &request));
	CHECK_UINT(group.plan.events[1].leader, 0);
	request.cpus = NULL;
	CLEANUP(err_freep) struct err *err = make(&alone, "instructions,cycles", &request);

	CHECK(err && strstr(err_message(err), "'cycles'"));
	CHECK_INT(err_errno(err), EBUSY);
}

TEST(event_plan_reads_groups_with_the_leaders_samples)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };

	CHECK_OK(make(&p, "{cycles,instructions}:SD", &system_wide));
	const struct perf_event_attr *leader = &p.plan.events[0].attr;
	const struct perf_event_attr *member = &p.plan.events[1].attr;

	CHECK(leader->sample_type & PERF_SAMPLE_READ);
	CHECK(leader->read_format & PERF_FORMAT_GROUP && member->read_format & PERF_FORMAT_GROUP);
	CHECK_UINT(member->sample_period, 0);
	CHECK(leader->disabled && !member->disabled); /* it starts with its leader */
	CHECK(leader->pinned && !member->pinned);     /* the kernel refuses it on members */
}

TEST(event_attr_chooses_the_rate)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };
	struct event_request request = system_wide;

	request.rate = (struct event_rate){ EVENT_RATE_FREQ, 50 };
	CHECK_OK(make(&p,
		      "cycles,sched:sched_switch,cs/period=7/,mem:0x10,sched:sched_switch/freq=9/",
		      &request));
	struct recording_event *events = event_plan_describe(&p.plan, &arena);

	CHECK(events[0].is_freq && events[0].rate == 50);
	CHECK(!events[1].is_freq && events[1].rate == 1); /* each hit */
	CHECK(!events[2].is_freq && events[2].rate == 7);
	CHECK(!events[3].is_freq && events[3].rate == 1);
	CHECK(events[4].is_freq && events[4].rate == 9);
	CHECK(p.plan.events[1].attr.sample_type & PERF_SAMPLE_RAW);
	CHECK(p.plan.events[3].attr.sample_type & PERF_SAMPLE_ADDR);
	CHECK(strncmp(events[1].format, "name: sched_switch", 18) == 0);

	CLEANUP(planned_deinit) struct planned q = { .kernel = modern };

	request.rate = (struct event_rate){ EVENT_RATE_PERIOD, 100 };
	CHECK_OK(make(&q, "sched:sched_switch,cpu-clock", &request));
	CHECK_UINT(q.plan.events[0].attr.sample_period, 100);
	CHECK_UINT(q.plan.events[1].attr.sample_period, EVENT_RATE_CLOCK_PERIOD_MIN_NS);
	CHECK(has_note(&q, "cpu-clock: every 10000 ns"));
}

TEST(event_attr_gives_each_event_its_own_chain)
{
	CLEANUP(planned_deinit) struct planned p = { .kernel = modern };
	const uint64_t stack = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;

	CHECK_OK(make(&p,
		      "cs/call-graph=no/,cs/call-graph=fp/,cs/call-graph=dwarf,stack-size=8192/",
		      &system_wide));
	CHECK(!(p.plan.events[0].attr.sample_type & (stack | PERF_SAMPLE_CALLCHAIN)));
	/* Some registers, by which a script's line is found. */
	CHECK_UINT(p.plan.events[1].attr.sample_type & (stack | PERF_SAMPLE_CALLCHAIN),
		   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER);
	CHECK_UINT(p.plan.events[1].attr.sample_regs_user, arch_native()->loop_regs_mask);
	CHECK_UINT(p.plan.events[2].attr.sample_stack_user, 8192);
	CHECK_UINT(p.plan.stack_len, 8192);
}

/* ---- refusals in words ---- */

struct refused {
	int errnum;
	bool every_task, counts;
	uint32_t type;
	struct event_rights rights;
	const char *message, *hint;
};

#define RIGHTS(...)                                  \
	{                                            \
		.has_perf_events = true, __VA_ARGS__ \
	}

static const struct refused refusals[] = {
	{ EACCES, true, false, PERF_TYPE_SOFTWARE, RIGHTS(.paranoid = 2),
	  "recording every task needs kernel.perf_event_paranoid to be 0 or less, and it is 2",
	  "sysctl kernel.perf_event_paranoid=0" },
	{ EACCES, false, false, PERF_TYPE_SOFTWARE, RIGHTS(.paranoid = 2),
	  "kernel code needs kernel.perf_event_paranoid to be 1 or less", "cap_perfmon" },
	{ EPERM, true, false, PERF_TYPE_SOFTWARE, RIGHTS(.paranoid = 2, .in_user_namespace = true),
	  "recording every task needs", "do not count inside a user namespace" },
	{ EPERM, true, false, PERF_TYPE_SOFTWARE,
	  RIGHTS(.paranoid = 2, .privileged = true, .seccomp = true), "seccomp",
	  "--cap-add PERFMON" },
	{ EPERM, true, false, PERF_TYPE_SOFTWARE, RIGHTS(.paranoid = -1), "the system forbids it",
	  "security module" },
	{ ENOSYS,
	  true,
	  false,
	  PERF_TYPE_SOFTWARE,
	  { 0 },
	  "built without performance events",
	  NULL },
	{ ENOSYS, true, false, PERF_TYPE_SOFTWARE, RIGHTS(.paranoid = 2), "sandbox", "outside" },
	{ ENOENT, true, false, PERF_TYPE_HARDWARE, RIGHTS(0),
	  "this machine has no hardware counter for it", "cpu-clock works everywhere" },
	{ EINVAL, true, true, PERF_TYPE_RAW, RIGHTS(0), "can be counted here, but not sampled",
	  ":S" },
	{ EINVAL, true, false, PERF_TYPE_BREAKPOINT, RIGHTS(0), "such a breakpoint", "x86 supports" },
	{ EINVAL, false, false, 20, RIGHTS(0), "for the whole machine, not for a task", "-a" },
	{ EMFILE, true, false, PERF_TYPE_SOFTWARE, RIGHTS(0), "takes a descriptor on each CPU",
	  "ulimit" },
	{ EBUSY, true, false, PERF_TYPE_HARDWARE, RIGHTS(0), "its counter is taken",
	  "nmi_watchdog" },
	{ ENOSPC, true, false, PERF_TYPE_BREAKPOINT, RIGHTS(0), "breakpoints are in use", "four" },
	{ ENODEV, true, false, PERF_TYPE_SOFTWARE, RIGHTS(0), "CPU 3 is off line", NULL },
	{ E2BIG, true, false, PERF_TYPE_SOFTWARE, RIGHTS(0), "cannot open event 'x'", NULL },
};

TEST(event_refusal_names_cause_and_remedy)
{
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		const struct refused *r = &refusals[i];
		struct perf_event_attr attr = { .type = r->type };
		struct event_target target = { .pid = r->every_task ? -1 : 0, .cpu = 3, .cgroup_fd = -1 };
		struct event_refusal refusal = { .name = "x",
						 .attr = &attr,
						 .target = &target,
						 .errnum = r->errnum,
						 .counts = r->counts };
		CLEANUP(err_freep)
		struct err *err = event_refusal_explain(&refusal, &r->rights);

		CHECK(strstr(err_message(err), r->message));
		CHECK(!r->hint == !err_hint(err));
		CHECK(!r->hint || strstr(err_hint(err), r->hint));
		if (err_kind(err) == ERR_SYSTEM)
			CHECK_INT(err_errno(err), r->errnum);
	}
}

TEST(event_refusal_tells_whose_task_it_is)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .exclude_kernel = 1 };
	struct event_target target = { .pid = 4711, .cpu = -1, .cgroup_fd = -1 };
	struct event_refusal refusal = { "x", &attr, &target, EACCES, false, 0 };
	struct event_rights rights = RIGHTS(.paranoid = 2);

	CHECK_ERR(event_refusal_explain(&refusal, &rights), ERR_SYSTEM,
		  "task 4711 is not ours to look into");
	refusal.errnum = ESRCH;
	CHECK_ERR(event_refusal_explain(&refusal, &rights), ERR_SYSTEM, "task 4711");
}
