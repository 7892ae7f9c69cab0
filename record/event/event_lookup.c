/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_lookup.c - where names are looked for: the kernel's own events first, then what PMUs name in
 * sysfs, then raw codes; tracepoints in tracefs.
 *
 * On a hybrid machine a generic event counts on one kind of core only. The kernel takes the PMU meant in
 * the upper half of config (PERF_PMU_TYPE_SHIFT), so there such an event becomes one for each kind.
 */
#include "record/event/event_lookup.h"

#include "formats/base/text.h"
#include "record/event/event_names.h"
#include "record/event/tracepoint.h"
#include "record/event/vendor_event.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>

/* INTEL_TD_SLOTS and INTEL_TD_METRIC_* of arch/x86/include/asm/perf_event.h, since Linux 5.10. */
#define SLOTS_CONFIG        0x0400
#define METRIC_CONFIG_FIRST 0x8000
#define METRIC_CONFIG_LAST  0x8700
#define PMU_TYPE_SHIFT 32 /* PERF_PMU_TYPE_SHIFT, which older headers lack */
#define LIST_HINT \
	"often used: cycles, cpu-clock, page-faults, context-switches, sched:sched_switch; 'precord list' " \
	"shows all of this machine"
#define RAW_DIGITS_MAX 16
#define BREAKPOINT_LEN 4 /* in bytes, of data */

void event_lookup_deinit(struct event_lookup *lookup)
{
	vec_deinit(&lookup->found);
}

static struct event_desc *add(struct event_lookup *lookup, const char *name)
{
	struct event_desc desc = {
		.name = arena_strdup(&lookup->list->arena, name),
		.unit = "events",
		.format = "",
		.samples = true,
	};

	vec_push(&lookup->found, desc);
	return &lookup->found.items[lookup->found.len - 1];
}

/* An event that all core PMUs have: on a hybrid machine, that of one kind of core. */
static struct event_desc *add_generic(struct event_lookup *lookup, const char *name, uint32_t type,
				      uint64_t config)
{
	const struct pmu *core = lookup->core;
	const char *full =
		core ? arena_printf(&lookup->list->arena, "%s/%s/", core->name, name) : name;
	struct event_desc *desc = add(lookup, full);

	desc->type = type;
	desc->config = config;
	if (!core)
		return desc;
	lookup->used_core = true;
	desc->pmu = core;
	if (type == PERF_TYPE_RAW)
		desc->type = core->type;
	else
		desc->config |= (uint64_t)core->type << PMU_TYPE_SHIFT;
	return desc;
}

static bool parse_raw(const char *name, uint64_t *ret_config)
{
	size_t digits = strspn(name + (*name == 'r'), "0123456789abcdefABCDEF");

	if (*name != 'r' || !digits || digits > RAW_DIGITS_MAX || name[1 + digits])
		return false;
	*ret_config = strtoull(name + 1, NULL, 16);
	return true;
}

/* The first PMU that names an event in sysfs so; on a hybrid machine the kind of core in question. */
static const struct pmu *pmu_with_event(struct event_lookup *lookup, const char *name)
{
	const struct pmu_set *pmus = &lookup->list->pmus;

	if (lookup->core && pmu_event_find(lookup->core, name)) {
		lookup->used_core = true;
		return lookup->core;
	}
	for (size_t i = 0; i < pmus->len; i++)
		if (pmu_event_find(&pmus->items[i], name))
			return &pmus->items[i];
	return NULL;
}

/* What @name in sysfs stands for; @pmu has it. */
static struct err *add_sysfs(struct event_lookup *lookup, const struct pmu *pmu, const char *name)
{
	uint64_t configs[PMU_CONFIGS] = { 0 };
	struct err *err = pmu_event_encode(pmu, pmu_event_find(pmu, name), configs);

	if (err)
		return err;

	struct event_desc *desc =
		add(lookup, lookup->core == pmu
				    ? arena_printf(&lookup->list->arena, "%s/%s/", pmu->name, name)
				    : name);

	desc->type = pmu->type;
	desc->config = configs[0];
	desc->config1 = configs[1];
	desc->config2 = configs[2];
	desc->pmu = pmu;
	desc->scale = pmu_event_find(pmu, name)->scale;
	desc->scale_unit = pmu_event_find(pmu, name)->unit;
	return NULL;
}

static void add_vendor(struct event_lookup *lookup, const char *name,
		       const struct vendor_event *event)
{
	struct event_desc *desc = add(lookup, name);

	desc->type = event->type;
	desc->config = event->config;
	desc->config1 = event->config1;
	desc->config2 = event->config2;
}

struct err *event_lookup_name(struct event_lookup *lookup, const char *name)
{
	const struct event_name *known = event_name_find(name);
	const struct pmu *pmu;
	struct vendor_event vendor;
	uint64_t config;

	if (known && known->type == PERF_TYPE_SOFTWARE) {
		struct event_desc *desc = add(lookup, name);

		desc->type = known->type;
		desc->config = known->config;
		desc->unit = known->unit;
	} else if (known) {
		add_generic(lookup, name, known->type, known->config);
	} else if (event_cache_parse(name, &config)) {
		add_generic(lookup, name, PERF_TYPE_HW_CACHE, config);
	} else if ((pmu = pmu_with_event(lookup, name)) != NULL) {
		return add_sysfs(lookup, pmu, name);
	} else if (parse_raw(name, &config)) {
		add_generic(lookup, name, PERF_TYPE_RAW, config);
	} else if (vendor_event_find(name, &vendor)) {
		add_vendor(lookup, name, &vendor);
	} else {
		return event_lookup_unknown(lookup, name);
	}
	return NULL;
}

bool event_lookup_has_name(struct event_lookup *lookup, const char *name)
{
	struct vendor_event vendor;
	uint64_t config;

	return event_name_find(name) || event_cache_parse(name, &config) ||
	       pmu_with_event(lookup, name) || parse_raw(name, &config) ||
	       (*name && vendor_event_find(name, &vendor));
}

bool event_lookup_has_pmu(struct event_lookup *lookup, const char *name)
{
	const struct pmu_set *pmus = &lookup->list->pmus;

	for (size_t i = 0; i < pmus->len; i++)
		if (pmu_matches(&pmus->items[i], name))
			return true;
	return false;
}

void event_lookup_pmu(struct event_lookup *lookup, const char *name)
{
	const struct pmu_set *pmus = &lookup->list->pmus;

	for (size_t i = 0; i < pmus->len; i++) {
		const struct pmu *pmu = &pmus->items[i];

		if (!pmu_matches(pmu, name))
			continue;
		struct event_desc *desc = add(lookup, pmu->name);

		desc->type = pmu->type;
		desc->pmu = pmu;
	}
}

bool event_lookup_is_slots(const struct event_desc *desc)
{
	return desc->pmu && desc->pmu->is_core && desc->type == desc->pmu->type &&
	       desc->config == SLOTS_CONFIG && pmu_event_find(desc->pmu, "slots");
}

bool event_lookup_is_metric(const struct event_desc *desc)
{
	return desc->pmu && desc->pmu->is_core && desc->type == desc->pmu->type &&
	       desc->config >= METRIC_CONFIG_FIRST && desc->config <= METRIC_CONFIG_LAST &&
	       !(desc->config & 0xff) && pmu_event_find(desc->pmu, "slots");
}

/* ---- tracepoints ---- */

static struct err *tracefs_root(struct event_list *list)
{
	return list->tracefs ? NULL : tracepoint_find_root(&list->arena, &list->tracefs);
}

static void offer_tracepoints(struct event_list *list, const char *system, struct text_near *near)
{
	struct tracepoint_list all;
	CLEANUP(err_freep) struct err *err = tracefs_root(list);

	if (!err)
		err = tracepoint_match(list->tracefs, system, "*", &list->arena, &all);
	for (size_t i = 0; !err && i < all.len; i++)
		text_near_offer(near, arena_printf(&list->arena, "%s:%s", all.items[i].system,
						   all.items[i].name));
}

static struct err *with_hint(struct event_lookup *lookup, const struct text_near *near,
			     struct err *err)
{
	const char *hint = text_near_hint(near, &lookup->list->arena);

	return err_remedy(err, "%s", hint ? hint : LIST_HINT);
}

/* "probe", "probe_libc" and "sdt_libc" are what perf probe makes in tracefs. What makes the same probe here; NULL: it is none of them. */
static const char *probe_instead(const char *system, const char *name, struct arena *arena)
{
	if (strpbrk(name, "*?["))
		return NULL;
	if (!strcmp(system, "probe"))
		return arena_printf(arena, "type -e kprobe:%s; precord makes the probe, and removes it at the end", name);
	if (!strncmp(system, "probe_", 6) && system[6])
		return arena_printf(arena, "type -e uprobe:%s:%s, or uprobe:/PATH/OF/%s:%s; precord makes the probe, and removes it at the end",
				    system + 6, name, system + 6, name);
	if (!strncmp(system, "sdt_", 4) && system[4])
		return arena_printf(arena, "type -e usdt:%s:%s; 'precord list usdt' shows the markers of a file", system + 4, name);
	return NULL;
}

static struct err *unknown_tracepoint(struct event_lookup *lookup, const char *system,
				      const char *name)
{
	struct event_list *list = lookup->list;
	const char *probe = probe_instead(system, name, &list->arena);

	if (probe)
		return err_remedy(err_new(ERR_USAGE, "there is no probe '%s:%s'", system, name), "%s", probe);
	struct text_near near = { .wanted = arena_printf(&list->arena, "%s:%s", system, name) };

	offer_tracepoints(list, system, &near);
	if (!near.len)
		offer_tracepoints(list, "*", &near);
	return with_hint(lookup, &near, err_new(ERR_USAGE, "no tracepoint '%s'", near.wanted));
}

static struct err *add_tracepoint(struct event_lookup *lookup, struct tracepoint *tp)
{
	struct event_list *list = lookup->list;
	struct err *err = tracepoint_load(list->tracefs, &list->arena, tp);

	if (err)
		return err;

	struct event_desc *desc =
		add(lookup, arena_printf(&list->arena, "%s:%s", tp->system, tp->name));

	desc->type = PERF_TYPE_TRACEPOINT;
	desc->config = tp->id;
	desc->format = tp->format;
	return NULL;
}

struct err *event_lookup_tracepoint(struct event_lookup *lookup, const char *system,
				    const char *name)
{
	struct event_list *list = lookup->list;
	struct tracepoint_list matches = { 0 };
	struct err *err = tracefs_root(list);

	if (!err)
		err = tracepoint_match(list->tracefs, system, name, &list->arena, &matches);
	if (!err && !matches.len)
		err = unknown_tracepoint(lookup, system, name);
	for (size_t i = 0; !err && i < matches.len; i++)
		err = add_tracepoint(lookup, &matches.items[i]);
	return err;
}

/* ---- probes ---- */

#define PROBE_ID_FIRST 0x40000000u /* far from those of the kernel's tracepoints */
#define PROBE_RETURN   1u	    /* bit 0 of config, both PMUs: format/retprobe */
#define PROBE_SEMAPHORE_SHIFT 32    /* of config: format/ref_ctr_offset */

static struct err *no_probe_pmu(const char *name)
{
	return err_remedy(err_new(ERR_UNSUPPORTED, "this kernel has no PMU '%s'", name),
			  *name == 'k' ? "it was built without CONFIG_KPROBE_EVENTS; a tracepoint may do: precord list "
					 "'SYSTEM:*'"
				       : "it was built without CONFIG_UPROBE_EVENTS, or is older than Linux 4.17");
}

static void add_probe(struct event_lookup *lookup, const char *name, const struct probe_place *place,
		      const struct pmu *pmu)
{
	struct event_desc *desc = add(lookup, name);
	uint64_t id = PROBE_ID_FIRST + lookup->list->len + lookup->found.len;

	desc->type = pmu->type;
	desc->config = (place->is_return ? PROBE_RETURN : 0) | place->semaphore << PROBE_SEMAPHORE_SHIFT;
	desc->config1 = (uintptr_t)place->path;
	desc->config2 = place->offset;
	desc->probe = place;
	desc->format = probe_event_format(place, place->pmu, id, &lookup->list->arena);
}

struct err *event_lookup_probe(struct event_lookup *lookup, const char *text)
{
	const struct pmu_set *pmus = &lookup->list->pmus;
	struct probe_places places;
	struct err *err = probe_event_read(text, &lookup->list->arena, &places);
	const struct pmu *pmu = NULL;

	if (err)
		return err;
	for (size_t i = 0; i < pmus->len; i++)
		if (strcmp(pmus->items[i].name, places.items[0].pmu) == 0)
			pmu = &pmus->items[i];
	if (!pmu)
		return no_probe_pmu(places.items[0].pmu);
	for (size_t i = 0; i < places.len; i++)
		add_probe(lookup, places.name, &places.items[i], pmu);
	return NULL;
}

/* ---- breakpoints ---- */

static bool parse_access(const char *text, uint32_t *ret)
{
	uint32_t access = *text ? 0 : HW_BREAKPOINT_RW;

	for (; *text; text++) {
		uint32_t bit = *text == 'r'   ? HW_BREAKPOINT_R
			       : *text == 'w' ? HW_BREAKPOINT_W
			       : *text == 'x' ? HW_BREAKPOINT_X
					      : 0;

		if (!bit || access & bit)
			return false;
		access |= bit;
	}
	*ret = access;
	return true;
}

struct err *event_lookup_breakpoint(struct event_lookup *lookup, const char *address,
				    const char *access)
{
	uint32_t bits;
	char *end;
	uint64_t addr = strtoull(address, &end, 0);
	bool is_number = isdigit((unsigned char)*address);

	if (!parse_access(access, &bits))
		return err_new(ERR_USAGE, "'%s' is not made of the access letters r, w and x",
			       access);

	uint64_t len = bits & HW_BREAKPOINT_X ? sizeof(long) : BREAKPOINT_LEN;

	if (is_number && *end == '/')
		len = isdigit((unsigned char)end[1]) ? strtoull(end + 1, &end, 0) : 0;
	if (!is_number || *end)
		return err_new(ERR_USAGE, "'%s' is not an address such as 0x601040 or 0x601040/8",
			       address);
	if (len != 1 && len != 2 && len != 4 && len != 8)
		return err_new(ERR_USAGE, "a breakpoint is 1, 2, 4 or 8 bytes long, not %" PRIu64,
			       len);

	struct event_desc *desc = add(lookup, arena_printf(&lookup->list->arena, "mem:%s%s%s",
							   address, *access ? ":" : "", access));

	desc->type = PERF_TYPE_BREAKPOINT;
	desc->breakpoint = bits;
	desc->config1 = addr;
	desc->config2 = len;
	return NULL;
}

/* ---- names that nothing has ---- */

struct offer {
	struct arena *arena;
	struct text_near *near;
};

static void offer_cache(const char *name, uint64_t config, const char *description, void *context)
{
	struct offer *offer = context;

	(void)config;
	(void)description;
	text_near_offer(offer->near, arena_strdup(offer->arena, name));
}

static void offer_vendor(const char *name, const char *description, void *context)
{
	(void)description;
	text_near_offer(context, name);
}

/* PMUs whose events are a trace in a buffer of their own, not samples. A number may follow the name. */
static const char *const trace_pmus[] = { "intel_pt", "intel_bts", "cs_etm", "arm_spe", "hisi_ptt", "coresight" };

struct err *event_lookup_check_pmu(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(trace_pmus); i++) {
		size_t len = strlen(trace_pmus[i]);

		if (strncmp(name, trace_pmus[i], len) != 0 || (name[len] && name[len] != '_'))
			continue;
		return err_remedy(err_new(ERR_USAGE, "'%s' is a hardware trace, which is not recorded here", name),
				  "type 'perf record -e %s//' for it; for the branches before each sample: -b; to keep the last moments: --overwrite",
				  name);
	}
	return NULL;
}

struct err *event_lookup_unknown_pmu(struct event_lookup *lookup, const char *name)
{
	const struct pmu_set *pmus = &lookup->list->pmus;
	struct text_near near = { .wanted = name };

	for (size_t i = 0; i < pmus->len; i++)
		text_near_offer(&near, pmus->items[i].name);
	return with_hint(lookup, &near, err_new(ERR_USAGE, "no PMU and no event '%s'", name));
}

struct err *event_lookup_unknown(struct event_lookup *lookup, const char *name)
{
	struct event_list *list = lookup->list;
	struct text_near near = { .wanted = name };
	struct offer offer = { &list->arena, &near };

	for (size_t i = 0; i < event_names_len; i++) {
		text_near_offer(&near, event_names[i].name);
		if (event_names[i].alias)
			text_near_offer(&near, event_names[i].alias);
	}
	event_cache_each(offer_cache, &offer);
	for (size_t i = 0; i < list->pmus.len; i++)
		for (size_t k = 0; k < list->pmus.items[i].nevents; k++)
			text_near_offer(&near, list->pmus.items[i].events[k].name);
	vendor_event_each(&list->arena, offer_vendor, &near);
	if (!near.len)
		offer_tracepoints(list, "*", &near);
	return with_hint(lookup, &near, err_new(ERR_USAGE, "no event '%s'", name));
}
