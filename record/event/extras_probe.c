/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extras_probe.c - branches are refused by the kernel itself, unless no event is of hardware; data addresses and
 * weights are tried (sample_trial.h).
 */
#include "record/event/extras_probe.h"

#include "record/event/pmu.h"
#include "record/event/sample_trial.h"

#include <string.h>

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
