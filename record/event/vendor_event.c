/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_event.c - the only file that knows libpfm4. It is loaded when the first of its events is asked for: its tables for all
 * processors are 44,000 relocations, a millisecond of each start.
 */
#include "record/event/vendor_event.h"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

#define NAME_MAX_LEN 256
#define LIBRARY	     "libpfm.so.4"

#define FUNCTIONS(use)                                                                                                                     \
	use(pfm_initialize) use(pfm_get_os_event_encoding) use(pfm_get_pmu_info) use(pfm_get_event_info) use(pfm_get_event_next)           \
		use(pfm_get_event_attr_info)

struct library {
#define MEMBER(name) __typeof__(&name) name;
	FUNCTIONS(MEMBER)
};

/* It stays loaded. False if it is not installed, or lacks something. */
static bool library_load(struct library *ret)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool all = handle;

#define FIND(name) all = all && (*(void **)&ret->name = dlsym(handle, #name));
	FUNCTIONS(FIND)
	return all && ret->pfm_initialize() == PFM_SUCCESS;
}

bool vendor_event_find(const char *name, struct vendor_event *ret)
{
	struct perf_event_attr attr = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	char text[NAME_MAX_LEN];
	struct library pfm;

	if (strlen(name) >= sizeof(text) || !library_load(&pfm))
		return false;
	for (size_t i = 0; i <= strlen(name); i++)
		text[i] = name[i] == '.' ? ':' : name[i];
	if (pfm.pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) !=
	    PFM_SUCCESS)
		return false;
	/* Where debugfs is mounted, libpfm4 knows tracepoints, too, by names that are modifiers to us: "sched:sched_switch". */
	if (attr.type == PERF_TYPE_TRACEPOINT)
		return false;
	*ret = (struct vendor_event){ attr.type, attr.config, attr.config1, attr.config2 };
	return true;
}

static bool is_ours(const struct library *pfm, pfm_pmu_t pmu)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };

	return pfm->pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && info.is_present &&
	       pmu != PFM_PMU_PERF_EVENT && pmu != PFM_PMU_PERF_EVENT_RAW;
}

/* An event with unit masks is one entry for each of them. */
static void visit_event(const struct library *pfm, struct arena *arena, const pfm_event_info_t *event,
			void (*visit)(const char *, const char *, void *), void *context)
{
	bool has_umask = false;
	int attr;

	pfm_for_each_event_attr(attr, event) {
		pfm_event_attr_info_t info = { .size = sizeof(info) };

		if (pfm->pfm_get_event_attr_info(event->idx, attr, PFM_OS_NONE, &info) != PFM_SUCCESS ||
		    info.type != PFM_ATTR_UMASK)
			continue;
		has_umask = true;
		visit(arena_printf(arena, "%s.%s", event->name, info.name),
		      arena_strdup(arena, info.desc ? info.desc : ""), context);
	}
	if (!has_umask)
		visit(arena_strdup(arena, event->name),
		      arena_strdup(arena, event->desc ? event->desc : ""), context);
}

void vendor_event_each(struct arena *arena,
		       void (*visit)(const char *name, const char *description, void *context),
		       void *context)
{
	struct library pfm;
	pfm_pmu_t pmu;

	if (!library_load(&pfm))
		return;
	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (!is_ours(&pfm, pmu) || pfm.pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS)
			continue;
		for (int i = info.first_event; i != -1; i = pfm.pfm_get_event_next(i)) {
			pfm_event_info_t event = { .size = sizeof(event) };

			if (pfm.pfm_get_event_info(i, PFM_OS_NONE, &event) == PFM_SUCCESS)
				visit_event(&pfm, arena, &event, visit, context);
		}
	}
}
