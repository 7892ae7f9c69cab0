/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_catalog.c - an event can be used if it opens, disabled, on ourselves; if that fails, step by step
 * with less asked of it. Opening a tracepoint patches kernel code and there are thousands, so of those
 * only one is tried.
 */
#include "record/event/event_catalog.h"

#include "formats/base/vec.h"
#include "record/event/event_names.h"
#include "record/event/tracepoint.h"
#include "record/event/vendor_event.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define RARE_PERIOD (1ull << 40) /* the event stays disabled, but some PMUs check what is asked */

struct maker {
	const struct event_kernel *kernel;
	struct event_catalog *catalog;
	struct pmu_set pmus;
	const char *core; /* name of the only core PMU, "" if there is none or there are several */
	VEC(struct event_catalog_entry) entries;
};

const char *event_catalog_kind_name(enum event_catalog_kind kind)
{
	static const char *const names[] = {
		[EVENT_CATALOG_HARDWARE] = "hardware",     [EVENT_CATALOG_CACHE] = "cache",
		[EVENT_CATALOG_SOFTWARE] = "software",     [EVENT_CATALOG_PMU] = "pmu",
		[EVENT_CATALOG_VENDOR] = "vendor",       [EVENT_CATALOG_TRACEPOINT] = "tracepoint",
	};

	return names[kind];
}

const char *event_catalog_use_name(enum event_catalog_use use)
{
	static const char *const names[] = {
		[EVENT_CATALOG_SAMPLES] = "yes",   [EVENT_CATALOG_USER_ONLY] = "user",
		[EVENT_CATALOG_COUNTS] = "count",  [EVENT_CATALOG_ABSENT] = "no",
		[EVENT_CATALOG_DENIED] = "denied", [EVENT_CATALOG_BUSY] = "busy",
	};

	return names[use];
}

static bool is_denied(int errnum)
{
	return errnum == EACCES || errnum == EPERM || errnum == ENOSYS;
}

/* Try @attr, with less and less asked of it. */
static enum event_catalog_use try(struct maker *m, struct perf_event_attr *attr,
				  const struct event_target *target)
{
	enum event_catalog_use use = EVENT_CATALOG_SAMPLES;
	int errnum = event_open_check(m->kernel, attr, target);

	if (is_denied(errnum)) {
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
		use = EVENT_CATALOG_USER_ONLY;
		errnum = event_open_check(m->kernel, attr, target);
	}
	if (errnum == EINVAL || errnum == EOPNOTSUPP) {
		attr->sample_period = 0;
		attr->exclude_kernel = 0; /* what counts for a package takes no levels */
		attr->exclude_hv = 0;
		use = EVENT_CATALOG_COUNTS;
		errnum = event_open_check(m->kernel, attr, target);
	}
	if (!errnum)
		return use;
	if (is_denied(errnum))
		return EVENT_CATALOG_DENIED;
	return errnum == EBUSY ? EVENT_CATALOG_BUSY : EVENT_CATALOG_ABSENT;
}

static enum event_catalog_use try_config(struct maker *m, uint32_t type,
					 const uint64_t configs[PMU_CONFIGS], const struct pmu *pmu)
{
	struct event_target target = { .pid = 0, .cpu = -1, .cgroup_fd = -1 };
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = configs[0],
		.config1 = configs[1],
		.config2 = configs[2],
		.sample_period = RARE_PERIOD,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
	};

	if (pmu && pmu->is_uncore)
		target = (struct event_target){ .pid = -1, .cpu = (int)pmu->cpus.cpus[0], .cgroup_fd = -1 };
	if (type == PERF_TYPE_TRACEPOINT)
		attr.sample_type |= PERF_SAMPLE_RAW;
	return try(m, &attr, &target);
}

static void add(struct maker *m, struct event_catalog_entry entry)
{
	vec_push(&m->entries, entry);
}

static void add_known(struct maker *m, enum event_catalog_kind kind, uint32_t type)
{
	for (size_t i = 0; i < event_names_len; i++) {
		const struct event_name *event = &event_names[i];
		const uint64_t configs[PMU_CONFIGS] = { event->config };

		if (event->type != type)
			continue;
		add(m, (struct event_catalog_entry){
			       .kind = kind,
			       .use = try_config(m, type, configs, NULL),
			       .name = event->name,
			       .alias = event->alias ? event->alias : "",
			       .description = event->description,
			       .pmu = type == PERF_TYPE_SOFTWARE ? "software" : m->core,
		       });
	}
}

static void add_cache(const char *name, uint64_t config, const char *description, void *context)
{
	struct maker *m = context;
	const uint64_t configs[PMU_CONFIGS] = { config };

	add(m, (struct event_catalog_entry){
		       .kind = EVENT_CATALOG_CACHE,
		       .use = try_config(m, PERF_TYPE_HW_CACHE, configs, NULL),
		       .name = arena_strdup(&m->catalog->arena, name),
		       .alias = "",
		       .description = arena_strdup(&m->catalog->arena, description),
		       .pmu = m->core,
	       });
}

static void add_pmu(struct maker *m, const struct pmu *pmu)
{
	struct arena *arena = &m->catalog->arena;

	for (size_t i = 0; i < pmu->nevents; i++) {
		const struct pmu_event *event = &pmu->events[i];
		uint64_t configs[PMU_CONFIGS] = { 0 };
		CLEANUP(err_freep) struct err *err = pmu_event_encode(pmu, event, configs);
		const char *unit = *event->unit ? arena_printf(arena, " (in %s)", event->unit) : "";

		add(m, (struct event_catalog_entry){
			       .kind = EVENT_CATALOG_PMU,
			       .use = err ? EVENT_CATALOG_ABSENT
					  : try_config(m, pmu->type, configs, pmu),
			       .name = arena_printf(arena, "%s/%s/", pmu->name, event->name),
			       .alias = "",
			       .description = arena_printf(arena, "%s%s", event->terms, unit),
			       .pmu = arena_strdup(arena, pmu->name),
		       });
	}
}

static const char *pmu_of_type(struct maker *m, uint32_t type)
{
	for (size_t i = 0; i < m->pmus.len && type != PERF_TYPE_RAW; i++)
		if (m->pmus.items[i].type == type)
			return arena_strdup(&m->catalog->arena, m->pmus.items[i].name);
	return m->core;
}

static void add_vendor(const char *name, const char *description, void *context)
{
	struct maker *m = context;
	struct vendor_event event;

	if (!vendor_event_find(name, &event))
		return;
	const uint64_t configs[PMU_CONFIGS] = { event.config, event.config1, event.config2 };

	add(m, (struct event_catalog_entry){
		       .kind = EVENT_CATALOG_VENDOR,
		       .use = try_config(m, event.type, configs, NULL),
		       .name = name,
		       .alias = "",
		       .description = description,
		       .pmu = pmu_of_type(m, event.type),
	       });
}

/* Whether tracepoints can be used, by the example of the first. */
static enum event_catalog_use try_tracepoint(struct maker *m, const char *root,
					     struct tracepoint first)
{
	CLEANUP(err_freep)
	struct err *err = tracepoint_load(root, &m->catalog->arena, &first);
	const uint64_t configs[PMU_CONFIGS] = { first.id };

	return err ? EVENT_CATALOG_DENIED : try_config(m, PERF_TYPE_TRACEPOINT, configs, NULL);
}

static struct err *add_tracepoints(struct maker *m)
{
	struct arena *arena = &m->catalog->arena;
	struct tracepoint_list all = { 0 };
	const char *root = NULL;
	struct err *err = tracepoint_find_root(arena, &root);

	if (!err)
		err = tracepoint_match(root, "*", "*", arena, &all);
	if (err || !all.len)
		return err;

	enum event_catalog_use use = try_tracepoint(m, root, all.items[0]);

	for (size_t i = 0; i < all.len; i++) {
		const struct tracepoint *tp = &all.items[i];

		add(m, (struct event_catalog_entry){
			       .kind = EVENT_CATALOG_TRACEPOINT,
			       .use = use,
			       .name = arena_printf(arena, "%s:%s", tp->system, tp->name),
			       .alias = "",
			       .description = "",
			       .pmu = "tracepoint",
		       });
	}
	return NULL;
}

static const char *about(const struct pmu *pmu, struct arena *arena)
{
	const char *text = arena_printf(arena, "type %" PRIu32, pmu->type);

	for (size_t i = 0; i < pmu->nfields; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "; fields ", pmu->fields[i].name);
	for (size_t i = 0; i < pmu->cpus.len; i++)
		text = arena_printf(arena, "%s%s%" PRIu32, text, i ? "," : "; only CPUs ", pmu->cpus.cpus[i]);
	return text;
}

/* Which PMUs there are, and the name of the only one of the cores. */
static void load_pmus(struct maker *m)
{
	struct event_catalog *c = m->catalog;

	m->core = "";
	err_free(pmu_set_load(&m->pmus, PMU_SYSFS));
	c->pmus = ARENA_ARRAY(&c->arena, struct event_catalog_pmu, m->pmus.len);
	for (size_t i = 0; i < m->pmus.len; i++) {
		const struct pmu *pmu = &m->pmus.items[i];
		const char *name = arena_strdup(&c->arena, pmu->name);

		c->pmus[c->npmus++] = (struct event_catalog_pmu){ name, about(pmu, &c->arena) };
		if (pmu->is_core && m->pmus.ncore == 1)
			m->core = name;
	}
}

void event_catalog_make(const struct event_kernel *kernel, struct event_catalog *ret)
{
	struct event_catalog catalog = { 0 };
	struct maker m = { .kernel = kernel, .catalog = &catalog };

	load_pmus(&m);
	add_known(&m, EVENT_CATALOG_HARDWARE, PERF_TYPE_HARDWARE);
	event_cache_each(add_cache, &m);
	add_known(&m, EVENT_CATALOG_SOFTWARE, PERF_TYPE_SOFTWARE);
	for (size_t i = 0; i < m.pmus.len; i++)
		add_pmu(&m, &m.pmus.items[i]);
	vendor_event_each(&catalog.arena, add_vendor, &m);
	pmu_set_deinit(&m.pmus);
	catalog.tracefs = add_tracepoints(&m);
	catalog.len = m.entries.len;
	catalog.entries = ARENA_ARRAY(&catalog.arena, struct event_catalog_entry, catalog.len);
	if (catalog.len)
		memcpy(catalog.entries, m.entries.items, catalog.len * sizeof(*catalog.entries));
	vec_deinit(&m.entries);
	*ret = catalog;
}

void event_catalog_deinit(struct event_catalog *catalog)
{
	err_free(catalog->tracefs);
	arena_deinit(&catalog->arena);
	*catalog = (struct event_catalog){ 0 };
}
