/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_event.c - the only file that knows libpfm4.
 */
#include "record/event/vendor_event.h"

#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

#define NAME_MAX_LEN 256

bool vendor_event_find(const char *name, struct vendor_event *ret)
{
	struct perf_event_attr attr = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	char text[NAME_MAX_LEN];

	if (strlen(name) >= sizeof(text) || pfm_initialize() != PFM_SUCCESS)
		return false;
	for (size_t i = 0; i <= strlen(name); i++)
		text[i] = name[i] == '.' ? ':' : name[i];
	if (pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) !=
	    PFM_SUCCESS)
		return false;
	*ret = (struct vendor_event){ attr.type, attr.config, attr.config1, attr.config2 };
	return true;
}

static bool is_ours(pfm_pmu_t pmu)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };

	return pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && info.is_present &&
	       pmu != PFM_PMU_PERF_EVENT && pmu != PFM_PMU_PERF_EVENT_RAW;
}

/* An event with unit masks is one entry for each of them. */
static void visit_event(struct arena *arena, const pfm_event_info_t *event,
			void (*visit)(const char *, const char *, void *), void *context)
{
	bool has_umask = false;
	int attr;

	pfm_for_each_event_attr(attr, event) {
		pfm_event_attr_info_t info = { .size = sizeof(info) };

		if (pfm_get_event_attr_info(event->idx, attr, PFM_OS_NONE, &info) != PFM_SUCCESS ||
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
	pfm_pmu_t pmu;

	if (pfm_initialize() != PFM_SUCCESS)
		return;
	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (!is_ours(pmu) || pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS)
			continue;
		for (int i = info.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t event = { .size = sizeof(event) };

			if (pfm_get_event_info(i, PFM_OS_NONE, &event) == PFM_SUCCESS)
				visit_event(arena, &event, visit, context);
		}
	}
}
