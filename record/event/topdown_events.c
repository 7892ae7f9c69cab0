/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_events.c - the processor is known from /proc/cpuinfo, which shows what CPUID and MIDR say. The events are
 * then written as a user could, "{cpu/config=0x76,name=zen4.cycles/,...}:S", and parsed like any others.
 */
#include "record/event/topdown_events.h"

#include "formats/topdown.h"
#include "record/event/event_group.h"
#include "record/event/event_open.h"
#include "record/system/text_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU_FILE   "/proc/cpuinfo"
#define SMT_FILE   "/sys/devices/system/cpu/smt/active"
#define ARM_LTD    0x41
#define ZEN3_TOP   0x19 /* AMD families up to this one; of this one only what has no table */
#define ALONE      2    /* events of a group that is too small to tell much */
#define SLOT_SLICE 100000000 /* slots from sample to sample where each event samples: 30 to 200 a second */

struct builder {
	struct event_list *list;
	const struct topdown_args *args;
	struct diag *diag;
	struct arena arena;
	struct pmu_set pmus;
	const struct pmu *core;
	struct topdown_cpu cpu;
	const char *text; /* of the events so far */
};

struct err *topdown_args_parse(void *field, const char *value)
{
	struct topdown_args *args = field;
	size_t digits = value ? strspn(value, "12") : 0;

	*args = (struct topdown_args){ .level = 1 };
	if (!value)
		return NULL;
	args->apart = strcmp(value + digits, ",apart") == 0;
	if (digits != 1 || (value[1] && !args->apart))
		return err_new(ERR_USAGE, "'%s' is not a level: 1, 2, or one of them with ',apart'", value);
	args->level = (uint8_t)(*value - '0');
	return NULL;
}

/* ---- the processor --------------------------------------------------------------------------------- */

static uint32_t field(struct builder *b, const char *key)
{
	const char *text = text_file_field(CPU_FILE, key, &b->arena);

	return text ? (uint32_t)strtoul(text, NULL, 0) : 0;
}

static void find_cpu(struct builder *b)
{
	const char *vendor = text_file_field(CPU_FILE, "vendor_id\t", &b->arena);
	uint64_t smt = 0;

	b->cpu = (struct topdown_cpu){
		.intel = vendor && strstr(vendor, "GenuineIntel"),
		.amd = vendor && (strstr(vendor, "AuthenticAMD") || strstr(vendor, "HygonGenuine")),
		.arm = field(b, "CPU implementer\t") == ARM_LTD,
		.family = field(b, "cpu family\t"),
		.model = field(b, "model\t\t"),
		.part = field(b, "CPU part\t"),
		.variant = field(b, "CPU variant\t"),
		.revision = field(b, "CPU revision\t"),
		.has_slots = b->core && pmu_event_find(b->core, "slots"),
		.smt = text_file_u64(SMT_FILE, &smt) && smt,
	};
}

/* On a hybrid machine the kind of core that counts slots. */
static void find_core(struct builder *b)
{
	for (size_t i = 0; i < b->pmus.len; i++) {
		const struct pmu *pmu = &b->pmus.items[i];

		if (pmu->is_core && (!b->core || (!pmu_event_find(b->core, "slots") &&
						  pmu_event_find(pmu, "slots"))))
			b->core = pmu;
	}
}

/* ---- what fits ------------------------------------------------------------------------------------- */

#define MEMBERS_MAX TOPDOWN_EVENTS_MAX

struct members {
	struct perf_event_attr attrs[MEMBERS_MAX];
	const char *texts[MEMBERS_MAX];
	bool spare[MEMBERS_MAX];
	size_t len;
};

static int open_member(const struct builder *b, const struct members *m, size_t i, int leader)
{
	struct event_target here = { .pid = 0, .cpu = -1, .cgroup_fd = -1 };
	struct perf_event_attr attr = m->attrs[i];

	if (b->core && b->core->cpus.len) /* not of all CPUs: see whether it opens on one of them */
		here = (struct event_target){ .pid = -1, .cpu = (int)b->core->cpus.cpus[0], .cgroup_fd = -1 };
	attr.size = sizeof(attr);
	attr.disabled = leader < 0;
	attr.exclude_kernel = attr.exclude_hv = here.pid == 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			   PERF_FORMAT_GROUP;
	return event_open_try(&event_kernel_real, &attr, &here, leader);
}

/* Can all be counted at once? */
static bool fits(const struct builder *b, const struct members *m)
{
	int fds[MEMBERS_MAX] = { -1 };
	size_t n = 0;
	bool ok = true;

	while (n < m->len && ok) {
		fds[n] = open_member(b, m, n, n ? fds[0] : -1);
		ok = fds[n] >= 0;
		n += ok;
	}
	ok = ok && n && event_group_runs(fds[0]);
	while (n)
		close(fds[--n]);
	return ok;
}

static void add_member(struct builder *b, struct members *m, uint32_t type, uint64_t config,
		       const char *text)
{
	(void)b;
	m->attrs[m->len] = (struct perf_event_attr){ .type = type, .config = config };
	m->spare[m->len] = false;
	m->texts[m->len++] = text;
}

/* Leave out what can be spared; false if there is nothing more. */
static bool spare_one(struct members *m)
{
	for (size_t i = m->len; i-- > 1;) {
		if (!m->spare[i])
			continue;
		memmove(&m->attrs[i], &m->attrs[i + 1], (m->len - i - 1) * sizeof(*m->attrs));
		memmove(&m->texts[i], &m->texts[i + 1], (m->len - i - 1) * sizeof(*m->texts));
		memmove(&m->spare[i], &m->spare[i + 1], (m->len - i - 1) * sizeof(*m->spare));
		m->len--;
		return true;
	}
	return false;
}

/* "{a,b}:S", or "a,b" where each samples. */
static void put_group(struct builder *b, const struct members *m)
{
	const char *list = "";

	for (size_t i = 0; i < m->len; i++)
		list = arena_printf(&b->arena, "%s%s%s", list, i ? "," : "", m->texts[i]);
	b->text = arena_printf(&b->arena, b->args->apart ? "%s%s%s" : "%s%s{%s}:S", b->text,
			       *b->text ? "," : "", list);
}

/* ---- with a table ---------------------------------------------------------------------------------- */

static void gather(struct builder *b, const struct topdown_model *model, unsigned group,
		   struct members *m)
{
	for (const struct topdown_event *e = model->events; e->label; e++) {
		const char *period = "";
		bool is_cycles = strncmp(e->label, "cycles", 6) == 0;

		if (e->group != group || e->level > b->args->level)
			continue;
		if (b->args->apart)
			period = arena_printf(&b->arena, ",period=%d",
					      is_cycles ? SLOT_SLICE / (int)MAX(model->width, 1U)
							: SLOT_SLICE);
		add_member(b, m, b->core->type, e->config,
			   arena_printf(&b->arena, "%s/config=0x%" PRIx64 ",name=%s.%s%s/",
					b->core->name, e->config, model->name, e->label, period));
		m->spare[m->len - 1] = e->spare;
	}
}

static struct err *add_group(struct builder *b, const struct topdown_model *model, unsigned group)
{
	struct members m = { 0 };

	gather(b, model, group, &m);
	if (!m.len)
		return NULL;
	while (!b->args->apart && !fits(b, &m)) {
		if (spare_one(&m))
			continue;
		if (group == 0)
			return event_group_too_large(model->name, m.len, false);
		diag_warn(b->diag,
			  "%zu counters are not available at once: part of level 2 is left out (%s)",
			  m.len, event_group_cause(&b->arena));
		return NULL;
	}
	put_group(b, &m);
	return NULL;
}

static struct err *add_model(struct builder *b, const struct topdown_model *model)
{
	struct err *err = NULL;

	if (b->args->apart && model->metrics)
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "%s reads its slots from PERF_METRICS, which cannot sample",
					  model->title),
				  "without ',apart' they are read with samples of cycles");
	if (model->lacking)
		diag_warn(b->diag, "%s: %s", model->title, model->lacking);
	if (b->pmus.ncore > 1)
		diag_warn(b->diag, "of the kinds of cores, only those of '%s' are looked at",
			  b->core->name);
	for (unsigned group = 0; group < TOPDOWN_GROUPS_MAX && !err; group++)
		err = add_group(b, model, group);
	return err;
}

/* ---- without --------------------------------------------------------------------------------------- */

static const char *why_not(struct builder *b)
{
	const char *name = text_file_field(CPU_FILE, "model name\t", &b->arena);

	if (b->cpu.amd && b->cpu.family && b->cpu.family <= ZEN3_TOP)
		return "AMD's processors before Zen 4 have no events for issue slots";
	if (b->cpu.intel || b->cpu.amd)
		return arena_printf(&b->arena,
				    "there is no table for this processor (%s, family %u, model %u)",
				    name ? name : "no name", b->cpu.family, b->cpu.model);
	return arena_printf(&b->arena, "there is no table for this processor (part 0x%x)",
			    b->cpu.part);
}

/* In the order of worth, as many as fit. */
static struct err *add_nearest(struct builder *b)
{
	static const struct {
		const char *name;
		uint64_t config;
	} generic[] = {
		{ "cycles", PERF_COUNT_HW_CPU_CYCLES },
		{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
		{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
		{ "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
		{ "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
		{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
		{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
	};
	struct members m = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(generic); i++) {
		add_member(b, &m, PERF_TYPE_HARDWARE, generic[i].config, generic[i].name);
		if (!fits(b, &m))
			m.len--;
	}
	if (!m.len)
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "top-down needs hardware counters, and none is free"),
				  "%s; 'precord -e cpu-clock' shows where time goes, not why",
				  event_group_cause(&b->arena));

	const char *names = m.texts[0];

	for (size_t i = 1; i < m.len; i++)
		names = arena_printf(&b->arena, "%s, %s", names, m.texts[i]);
	diag_warn(b->diag, "%s: these events are recorded instead: %s", why_not(b), names);
	if (m.len <= ALONE)
		diag_warn(b->diag, "only %zu event%s can be counted at once: %s", m.len,
			  m.len == 1 ? "" : "s", event_group_cause(&b->arena));
	put_group(b, &m);
	return NULL;
}

static bool has_cycles(const struct builder *b)
{
	struct members m = { 0 };

	m.attrs[0] = (struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
					       .config = PERF_COUNT_HW_CPU_CYCLES };
	if (b->core && b->core->cpus.len)
		m.attrs[0] = (struct perf_event_attr){ .type = b->core->type, .config = 0x3c };
	m.len = 1;

	int fd = open_member(b, &m, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EACCES || fd == -EPERM;
}

static struct err *build(struct builder *b)
{
	const struct topdown_model *model;
	struct err *err = pmu_set_load(&b->pmus, b->list->sysfs ? b->list->sysfs : PMU_SYSFS);

	if (err)
		return err;
	find_core(b);
	find_cpu(b);
	if (!has_cycles(b))
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "top-down needs hardware counters, and this machine has none"),
				  "here 'precord -e cpu-clock' shows where time goes, not why; "
				  "a virtual machine may have counters in another size");
	model = b->core ? topdown_for_cpu(&b->cpu) : NULL;
	err = model ? add_model(b, model) : add_nearest(b);
	return err ? err : event_list_add(b->list, b->text);
}

struct err *topdown_events_add(struct event_list *list, const struct topdown_args *args,
			       struct diag *diag)
{
	struct builder b = { .list = list, .args = args, .diag = diag, .text = "" };
	struct err *err = args->level ? build(&b) : NULL;

	pmu_set_deinit(&b.pmus);
	arena_deinit(&b.arena);
	return err;
}
