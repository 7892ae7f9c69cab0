/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extras_probe.c - branches are refused by the kernel itself, unless no event is of hardware; data addresses and
 * weights are tried (sample_trial.h).
 */
#include "record/event/extras_probe.h"

#include "formats/arch.h"
#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/perf/perf_record.h"
#include "record/event/event_open.h"
#include "record/event/pmu.h"
#include "record/event/ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- a few samples of ourselves ---- */

/*
 * The kernel lets any event ask for data addresses and weights and leaves them zero where the PMU has none, so the only way
 * to know is to look: one ring, one event of this task alone, a loop of loads and stores, two milliseconds at most.
 */

enum sample_trial_answer {
	SAMPLE_TRIAL_UNKNOWN, /* too few samples to tell, or it cannot be tried on ourselves */
	SAMPLE_TRIAL_NONE,    /* not in one of SAMPLE_TRIAL_LEAST samples, or of its nature never */
	SAMPLE_TRIAL_SOME,
};

#define SAMPLE_TRIAL_LEAST 16

struct sample_trial {
	enum sample_trial_answer data, weight;
};

#define TRY_NS       2000000
#define PERIOD       20011 /* far below the kernel's limit on interrupts, at one event a cycle */
#define PERIOD_RARE  101   /* of events that count single accesses */
#define CLOCK_NS     100000
#define RING_PAGES   4
#define ARRAY_WORDS  (1 << 16)
#define LINE_WORDS   8
/* "Not available": the operation, or what was looked up where (union perf_mem_data_src). */
#define OP_MASK  0x1fu
#define OP_NA    0x1u

struct trial {
	struct ring ring;
	struct perf_layout layout;
	struct perf_record record;
	uint8_t scratch[RING_RECORD_MAX];
	unsigned samples, with_data, with_weight;
	uint64_t words[ARRAY_WORDS];
};

static void look(struct trial *t, const uint8_t *data, size_t len)
{
	CLEANUP(err_freep)
	struct err *err = perf_record_parse(&t->layout, data, len, false, &t->record);
	const struct event_sample *sample = &t->record.event.sample;
	uint64_t op = sample->data_src & OP_MASK;

	if (err || !t->record.known || t->record.event.kind != EVENT_SAMPLE)
		return;
	t->samples++;
	t->with_data += sample->addr || (op && op != OP_NA);
	t->with_weight += sample->weight != 0;
}

static void drain(struct trial *t)
{
	uint64_t head = ring_head(&t->ring);
	const uint8_t *data;
	size_t len;

	while (ring_next(&t->ring, head, t->scratch, &data, &len))
		look(t, data, len);
	ring_release(&t->ring);
}

/* Loads and stores, some of which miss the first caches. */
static void work(struct trial *t)
{
	static const size_t stride = 37 * LINE_WORDS;

	for (size_t i = 0, at = 0; i < 512; i++, at = (at + stride) % ARRAY_WORDS)
		*(volatile uint64_t *)&t->words[at] += i;
}

static void run(struct trial *t, int fd)
{
	uint64_t start = clock_now_ns(CLOCK_MONOTONIC);

	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		return;
	while (t->samples < SAMPLE_TRIAL_LEAST && clock_now_ns(CLOCK_MONOTONIC) - start < TRY_NS) {
		work(t);
		drain(t);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	drain(t);
}

static bool is_fault(uint64_t config)
{
	return config == PERF_COUNT_SW_PAGE_FAULTS || config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	       config == PERF_COUNT_SW_PAGE_FAULTS_MAJ || config == PERF_COUNT_SW_ALIGNMENT_FAULTS;
}

/* What is known of events that the kernel makes itself. */
static bool by_nature(const struct perf_event_attr *attr, struct sample_trial *ret)
{
	bool data = attr->type == PERF_TYPE_BREAKPOINT ||
		    (attr->type == PERF_TYPE_SOFTWARE && is_fault(attr->config));

	*ret = (struct sample_trial){ data ? SAMPLE_TRIAL_SOME : SAMPLE_TRIAL_NONE,
				      SAMPLE_TRIAL_NONE };
	return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
	       attr->type == PERF_TYPE_BREAKPOINT;
}

/* The same event, as small as can be. */
static struct perf_event_attr trial_attr(const struct perf_event_attr *attr)
{
	struct perf_event_attr ret = *attr;
	uint64_t wanted = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT |
			  PERF_SAMPLE_WEIGHT_STRUCT;
	bool frequent = attr->type == PERF_TYPE_HARDWARE &&
			(attr->config == PERF_COUNT_HW_CPU_CYCLES ||
			 attr->config == PERF_COUNT_HW_INSTRUCTIONS);

	ret.sample_type = (attr->sample_type & wanted) | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	ret.read_format = 0;
	ret.branch_sample_type = 0;
	ret.sample_regs_user = 0;
	ret.sample_stack_user = 0;
	ret.freq = 0;
	ret.sample_period = frequent ? PERIOD : PERIOD_RARE;
	ret.inherit = 0;
	ret.enable_on_exec = 0;
	ret.disabled = 1;
	return ret;
}

static enum sample_trial_answer answer(const struct trial *t, unsigned with)
{
	if (with)
		return SAMPLE_TRIAL_SOME;
	return t->samples < SAMPLE_TRIAL_LEAST ? SAMPLE_TRIAL_UNKNOWN : SAMPLE_TRIAL_NONE;
}

/* Try what @attr, which opens, will record. */
static struct sample_trial sample_trial_run(const struct event_kernel *kernel, const struct perf_event_attr *attr)
{
	static const struct event_target self = { .pid = 0, .cpu = -1, .cgroup_fd = -1 };
	struct perf_event_attr small = trial_attr(attr);
	struct sample_trial ret;
	struct trial *t;
	int fd;

	if (by_nature(attr, &ret))
		return ret;
	ret = (struct sample_trial){ SAMPLE_TRIAL_UNKNOWN, SAMPLE_TRIAL_UNKNOWN };
	fd = event_open_try(kernel, &small, &self, -1);
	if (fd < 0)
		return ret;
	t = memory_zeroed(1, sizeof(*t));
	t->layout = (struct perf_layout){ .sample_type = small.sample_type,
					  .period = small.sample_period,
					  .arch = arch_native() };
	CLEANUP(err_freep)
	struct err *err = ring_open(&t->ring, fd, 0, RING_PAGES * (uint64_t)sysconf(_SC_PAGESIZE));

	if (!err) {
		run(t, fd);
		ret = (struct sample_trial){ answer(t, t->with_data), answer(t, t->with_weight) };
	}
	ring_close(&t->ring);
	close(fd);
	free(t);
	return ret;
}

#define DATA_TYPES   (PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC)
#define WEIGHT_TYPES (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/* Events that lack one thing. */
struct lack {
	const char *what; /* "data addresses" */
	const char *names;
	bool has_faults; /* page faults have it everywhere */
	unsigned asked, lacking;
};

static void note_answer(struct lack *lack, const struct event_planned *event,
			enum sample_trial_answer answer, struct arena *arena)
{
	lack->asked++;
	if (answer != SAMPLE_TRIAL_NONE)
		return;
	lack->lacking++;
	lack->names = arena_printf(arena, "%s%s%s", lack->names, *lack->names ? ", " : "",
				   event->name);
}

static void try_event(const struct event_kernel *kernel, struct event_plan *plan,
		      const struct event_planned *event, struct lack *data, struct lack *weight)
{
	uint64_t type = event->attr.sample_type;
	struct sample_trial trial;

	if (!event->desc->samples || !(type & (DATA_TYPES | WEIGHT_TYPES)))
		return;
	trial = sample_trial_run(kernel, &event->attr);
	if (type & DATA_TYPES)
		note_answer(data, event, trial.data, &plan->arena);
	if (type & WEIGHT_TYPES)
		note_answer(weight, event, trial.weight, &plan->arena);
}

/* The events of this machine that have both, if it has any. */
static const char *remedy(const struct lack *lack, struct arena *arena)
{
	CLEANUP(pmu_set_deinit) struct pmu_set set = { 0 };
	CLEANUP(err_freep) struct err *err = pmu_set_load(&set, PMU_SYSFS);

	for (size_t i = 0; !err && i < set.len; i++) {
		const struct pmu *pmu = &set.items[i];

		if (strcmp(pmu->name, "ibs_op") == 0)
			return "sample instructions that know their data: -e ibs_op//";
		if (pmu_event_find(pmu, "mem-loads"))
			return arena_printf(arena,
					    "sample exactly: -e cycles:P, or loads by their "
					    "latency: -e %s/mem-loads,ldlat=30/P",
					    pmu->name);
	}
	return arena_printf(arena,
			    "no PMU of this machine knows them (Intel: PEBS, AMD: IBS; virtual "
			    "machines seldom have either)%s",
			    lack->has_faults ? "; page faults know their address: -e page-faults"
					     : "");
}

static struct err *refuse(const struct lack *lack, struct arena *arena)
{
	if (!lack->asked || lack->lacking < lack->asked)
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED,
				  "no event that is sampled has %s: %s had none when tried",
				  lack->what, lack->names),
			  "%s", remedy(lack, arena));
}

static const char *gap(const struct lack *lack, struct arena *arena)
{
	return lack->lacking ? arena_printf(arena, "samples of %s have no %s", lack->names,
					    lack->what)
			     : NULL;
}

/* Branch stacks come from hardware; asked for where no event has them, the recording would be in vain. */
static struct err *check_branches(const struct event_plan *plan, const struct sample_extras *extras)
{
	if (!sample_extras_branches(extras))
		return NULL;
	for (size_t i = 0; i < plan->nevents; i++)
		if (plan->events[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return NULL;
	return err_remedy(err_new(ERR_USAGE, "no event that is sampled can have branch stacks"),
			  "sample a hardware event: -e cycles");
}

struct err *extras_probe(const struct event_kernel *kernel, struct event_plan *plan,
			 const struct sample_extras *extras, struct extras_gaps *ret)
{
	struct lack data = { .what = "data addresses", .names = "", .has_faults = true };
	struct lack weight = { .what = "weights", .names = "" };
	struct err *err = check_branches(plan, extras);

	if (err)
		return err;
	for (size_t i = 0; (extras->data || extras->weight) && i < plan->nevents; i++)
		try_event(kernel, plan, &plan->events[i], &data, &weight);
	err = refuse(&data, &plan->arena);
	if (!err)
		err = refuse(&weight, &plan->arena);
	if (!err)
		*ret = (struct extras_gaps){ gap(&data, &plan->arena),
					     gap(&weight, &plan->arena) };
	return err;
}
