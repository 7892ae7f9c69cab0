/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - what Linux 6.12 refuses: kernel/events/core.c (perf_copy_attr, sys_perf_event_open),
 * arch/x86/events/core.c (x86_pmu_hw_config, validate_group), arch/x86/events/intel/core.c
 * (intel_pmu_hw_config), drivers/perf/arm_pmu.c.
 */
#include "tests/fakepmu/fakepmu.h"

#include <errno.h>
#include <string.h>

#define PMU_TYPE_SHIFT   32
#define EVENT_AND_UMASK  0xffffULL
#define SLOTS            0x0400ULL
#define METRIC_FIRST     0x8000ULL
#define METRIC_LAST      0x8700ULL
#define MEM_LOADS        0x01cdULL
#define MEM_LOADS_AUX    0x8203ULL
#define SAMPLE_TYPE_LAST PERF_SAMPLE_WEIGHT_STRUCT
#define BRANCH_LEVELS \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

static const struct fake_machine machines[] = {
	{ "intel", FAKE_INTEL, { { 4, 8, 0, 0, 3, true, true, true } } },
	{ "hybrid",
	  FAKE_HYBRID,
	  { { 4, 8, 0, 1, 3, true, true, true },
	    { 10, 6, 1, 1, 3, true, false, true } } },
	{ "amd", FAKE_AMD, { { 4, 6, 0, 0, 2, true, false, true } } },
	{ "arm", FAKE_ARM, { { 8, 7, 0, 0, 3, false, false, false } } },
	{ "biglittle",
	  FAKE_ARM,
	  { { 8, 7, 0, 1, 3, false, false, false }, { 9, 7, 1, 1, 3, false, false, false } } },
};

const struct fake_machine *fake_machine_find(const char *name)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (name && strcmp(machines[i].name, name) == 0)
			return &machines[i];
	return NULL;
}

static const struct fake_pmu *pmu_of_type(const struct fake_machine *machine, uint32_t type)
{
	for (int i = 0; type && i < FAKE_PMUS_MAX; i++)
		if (machine->pmus[i].type == type)
			return &machine->pmus[i];
	return NULL;
}

bool fake_is_ours(const struct fake_table *t, const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config != PERF_COUNT_SW_DUMMY;
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW || pmu_of_type(t->machine, attr->type);
}

/* Arm's PMUs register no type of their own for generic events: the first that takes the CPU has it. */
static const struct fake_pmu *pmu_of_cpu(const struct fake_machine *machine, int cpu)
{
	for (int i = 0; i < FAKE_PMUS_MAX && machine->pmus[i].type; i++) {
		const struct fake_pmu *pmu = &machine->pmus[i];

		if (cpu < 0 || !pmu->ncpus ||
		    (cpu >= pmu->first_cpu && cpu < pmu->first_cpu + pmu->ncpus))
			return pmu;
	}
	return NULL;
}

/* The PMU that @attr means on @cpu; *@ret_config is what is left of config. */
static const struct fake_pmu *pmu_of(const struct fake_machine *machine,
				     const struct perf_event_attr *attr, int cpu,
				     uint64_t *ret_config)
{
	bool generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
	uint32_t upper = (uint32_t)(attr->config >> PMU_TYPE_SHIFT);

	*ret_config = generic ? attr->config & UINT32_MAX : attr->config;
	if (attr->type == PERF_TYPE_RAW)
		return &machine->pmus[0];
	if (!generic)
		return pmu_of_type(machine, attr->type);
	if (upper)
		return pmu_of_type(machine, upper);
	return machine->vendor == FAKE_ARM ? pmu_of_cpu(machine, cpu) : &machine->pmus[0];
}

/* Generic events that the vendors' tables leave out. */
static bool exists(const struct fake_machine *machine, const struct perf_event_attr *attr,
		   uint64_t config)
{
	bool stalls = config == PERF_COUNT_HW_STALLED_CYCLES_FRONTEND ||
		      config == PERF_COUNT_HW_STALLED_CYCLES_BACKEND;

	if (attr->type != PERF_TYPE_HARDWARE)
		return true;
	return config < PERF_COUNT_HW_MAX && (!stalls || machine->vendor == FAKE_AMD);
}

static int judge_attr(const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type, branch = attr->branch_sample_type;

	if (type >= (uint64_t)SAMPLE_TYPE_LAST << 1)
		return EINVAL;
	if (type & PERF_SAMPLE_WEIGHT && type & PERF_SAMPLE_WEIGHT_STRUCT)
		return EINVAL;
	if (type & PERF_SAMPLE_BRANCH_STACK &&
	    (branch >= PERF_SAMPLE_BRANCH_MAX || !(branch & ~(uint64_t)BRANCH_LEVELS)))
		return EINVAL;
	if (attr->inherit && type & PERF_SAMPLE_READ && !(type & PERF_SAMPLE_TID))
		return EINVAL;
	return 0;
}

static int judge_x86(const struct fake_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct fake_pmu *pmu = event->pmu;

	if (attr->precise_ip > pmu->precise_max)
		return EOPNOTSUPP;
	if (attr->precise_ip && !attr->sample_period)
		return EINVAL;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK && !pmu->branches)
		return EOPNOTSUPP;
	return 0;
}

/* slots and what PERF_METRICS holds. */
static int judge_topdown(const struct fake_table *t, const struct fake_event *event, int leader)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct fake_event *first = leader < 0 ? event : &t->events[leader];

	if (!event->pmu->metrics)
		return EINVAL;
	if (attr->config & ~EVENT_AND_UMASK || attr->config1 || attr->config2)
		return EINVAL;
	if (!event->is_metric)
		return 0;
	if (attr->sample_period || !first->is_slots || first->attr.sample_period)
		return EINVAL;
	return 0;
}

/* Counters that the group of @leader needs, @extra events more included. */
static int counters_of(const struct fake_table *t, int leader, const struct fake_pmu *pmu)
{
	int count = 0;

	for (int i = 0; i < t->len; i++) {
		const struct fake_event *e = &t->events[i];

		count += e->fd >= 0 && e->leader == leader && e->pmu == pmu && !e->is_slots &&
			 !e->is_metric;
	}
	return count;
}

static int judge_group(const struct fake_table *t, const struct fake_event *event, int leader)
{
	const struct fake_event *first = &t->events[leader];

	if (first->cpu != event->cpu || first->pid != event->pid)
		return EINVAL;
	if (event->attr.pinned || event->attr.exclusive || first->leader != leader)
		return EINVAL;
	if (event->pmu && first->pmu && event->pmu != first->pmu)
		return EINVAL;
	if (!event->pmu || !event->pmu->judges_groups)
		return 0;
	/* The fixed counters take no part here, so that the sums are easy. */
	return counters_of(t, leader, event->pmu) + !event->is_metric > event->pmu->counters ? EINVAL
											    : 0;
}

static void classify(struct fake_event *event, uint64_t config)
{
	uint64_t code = config & EVENT_AND_UMASK;
	bool raw = event->attr.type != PERF_TYPE_HARDWARE && event->attr.type != PERF_TYPE_HW_CACHE;

	event->is_slots = raw && code == SLOTS && event->pmu->metrics;
	event->is_metric = raw && code >= METRIC_FIRST && code <= METRIC_LAST && !(code & 0xff);
	event->is_aux = raw && code == MEM_LOADS_AUX;
}

int fake_judge(const struct fake_table *t, struct fake_event *event, int leader)
{
	const struct fake_machine *machine = t->machine;
	const struct fake_pmu *pmu;
	uint64_t config;
	int errnum = judge_attr(&event->attr);

	if (errnum)
		return errnum;
	if (event->attr.type == PERF_TYPE_SOFTWARE)
		return leader < 0 ? 0 : judge_group(t, event, leader);
	pmu = event->pmu = pmu_of(machine, &event->attr, event->cpu, &config);
	if (!pmu || !exists(machine, &event->attr, config))
		return ENOENT;
	if (pmu->ncpus && event->cpu >= 0 &&
	    (event->cpu < pmu->first_cpu || event->cpu >= pmu->first_cpu + pmu->ncpus))
		return ENOENT;
	classify(event, config);
	if (machine->vendor == FAKE_ARM)
		errnum = event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK ? EOPNOTSUPP : 0;
	else
		errnum = judge_x86(event);
	if (!errnum && machine->vendor != FAKE_AMD && machine->vendor != FAKE_ARM) {
		if (event->is_slots || event->is_metric)
			errnum = judge_topdown(t, event, leader);
		else if (pmu == &machine->pmus[0] && (config & EVENT_AND_UMASK) == MEM_LOADS &&
			 event->attr.type == pmu->type && (leader < 0 || !t->events[leader].is_aux))
			errnum = ENODATA; /* needs mem-loads-aux before it */
	}
	if (!errnum && leader >= 0)
		errnum = judge_group(t, event, leader);
	return errnum;
}

bool fake_is_twin(const struct fake_event *a, const struct fake_event *b)
{
	struct perf_event_attr attr = b->attr;

	attr.watermark = a->attr.watermark;
	attr.wakeup_events = a->attr.wakeup_events;
	attr.sample_stack_user = a->attr.sample_stack_user;
	return a->fd >= 0 && b->fd >= 0 && a->cpu == b->cpu && a->pid == b->pid && memcmp(&attr, &a->attr, sizeof(attr)) == 0 &&
	       memcmp(&a->attr, &b->attr, sizeof(attr)) != 0;
}

static bool has_older_twin(const struct fake_table *t, int index)
{
	for (int i = 0; i < index; i++) {
		if (fake_is_twin(&t->events[i], &t->events[index]))
			return true;
	}
	return false;
}

uint64_t fake_running(const struct fake_table *t, const struct fake_event *event)
{
	int need = 0, have, own;

	if (!event->pmu)
		return 1000;
	have = event->pmu->counters - t->taken;
	own = counters_of(t, event->leader, event->pmu);
	if (own > have)
		return 0;
	for (int i = 0; i < t->len; i++) {
		const struct fake_event *e = &t->events[i];

		need += e->fd >= 0 && e->pmu == event->pmu && e->cpu == event->cpu &&
			e->pid == event->pid && !e->is_slots && !e->is_metric &&
			!has_older_twin(t, i) && counters_of(t, e->leader, e->pmu) <= have;
	}
	return need <= have ? 1000 : (uint64_t)(1000 * have / need);
}
