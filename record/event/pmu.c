/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu.c - /sys/bus/event_source/devices, as described in the kernel's
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}.
 */
#include "record/event/pmu.h"

#include "formats/base/text.h"
#include "formats/base/vec.h"
#include "record/system/text_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

/* One directory's entries, sorted, so that nothing depends on the order of the file system. */
struct names {
	struct dirent **entries;
	int len;
};

static void names_deinit(struct names *names)
{
	for (int i = 0; i < names->len; i++)
		free(names->entries[i]);
	free(names->entries);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool names_read(const char *path, struct names *ret)
{
	ret->len = scandir(path, &ret->entries, is_visible, alphasort);
	if (ret->len < 0)
		*ret = (struct names){ 0 };
	return ret->entries;
}

/* The bits FIRST to LAST. */
static uint64_t bits(uint64_t first, uint64_t last)
{
	return UINT64_MAX >> (63 - (last - first)) << first;
}

/* Take "N" or "N-M" off *@pos and add those bits. */
static bool take_bits(const char **pos, uint64_t *mask)
{
	char *end;
	uint64_t first, last;

	if (!isdigit((unsigned char)**pos))
		return false;
	first = last = strtoul(*pos, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		last = strtoul(end + 1, &end, 10);
	if (first > last || last > 63)
		return false;
	*mask |= bits(first, last);
	*pos = end;
	return true;
}

bool pmu_field_parse(const char *text, struct pmu_field *field)
{
	static const char *const words[PMU_CONFIGS + 1] = { "config", "config1", "config2",
							    "config3" };
	const char *colon = strchr(text, ':');
	uint8_t config = 0;
	uint64_t mask = 0;

	if (!colon)
		return false;
	while (config < PMU_CONFIGS && (strlen(words[config]) != (size_t)(colon - text) ||
					strncmp(text, words[config], (size_t)(colon - text)) != 0))
		config++;
	for (const char *pos = colon + 1;; pos++) {
		if (!take_bits(&pos, &mask))
			return false;
		if (*pos != ',')
			break;
	}
	field->config = config;
	field->mask = mask;
	return true;
}

unsigned pmu_field_width(const struct pmu_field *field)
{
	return (unsigned)__builtin_popcountll(field->mask);
}

struct err *pmu_field_set(const struct pmu_field *field, uint64_t value,
			  uint64_t configs[PMU_CONFIGS])
{
	unsigned width = pmu_field_width(field);

	if (field->config >= PMU_CONFIGS)
		return err_new(ERR_UNSUPPORTED, "this program cannot set the field '%s'",
			       field->name);
	if (width < 64 && value >> width)
		return err_new(ERR_USAGE, "'%s' has %u bits, 0x%" PRIx64 " has more", field->name,
			       width, value);

	uint64_t *config = &configs[field->config];

	*config &= ~field->mask;
	for (uint64_t left = field->mask; left; left &= left - 1, value >>= 1)
		if (value & 1)
			*config |= left & -left;
	return NULL;
}

struct err *pmu_term_set(const struct pmu *pmu, const char *name, uint64_t value,
			 uint64_t configs[PMU_CONFIGS])
{
	static const char *const wholes[PMU_CONFIGS] = { "config", "config1", "config2" };
	const struct pmu_field *field = pmu_field_find(pmu, name);

	if (field)
		return pmu_field_set(field, value, configs);
	for (size_t i = 0; i < PMU_CONFIGS; i++) {
		if (strcmp(wholes[i], name) != 0)
			continue;
		configs[i] = value;
		return NULL;
	}
	return err_new(ERR_USAGE, "the PMU '%s' has no term '%s'", pmu->name, name);
}

struct err *pmu_event_encode(const struct pmu *pmu, const struct pmu_event *event,
			     uint64_t configs[PMU_CONFIGS])
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char *next = arena_strdup(&arena, event->terms);

	while (next) {
		char *value = strsep(&next, ",");
		char *name = strsep(&value, "=");
		char *end = value;
		uint64_t number = value ? strtoull(value, &end, 0) : 1;

		if (value && (end == value || *end))
			return err_new(ERR_USAGE, "'%s' of the PMU '%s' needs a value for '%s'",
				       event->name, pmu->name, name);
		struct err *err = pmu_term_set(pmu, name, number, configs);

		if (err)
			return err_wrap(err, "'%s'", event->name);
	}
	return NULL;
}

static void load_fields(struct pmu *pmu, const char *dir, struct arena *arena)
{
	CLEANUP(names_deinit) struct names names = { 0 };

	if (!names_read(dir, &names))
		return;
	pmu->fields = ARENA_ARRAY(arena, struct pmu_field, (size_t)names.len);
	for (int i = 0; i < names.len; i++) {
		const char *name = names.entries[i]->d_name;
		const char *text = NULL;
		struct pmu_field *field = &pmu->fields[pmu->nfields];
		CLEANUP(err_freep)
		struct err *err =
			text_file_read(arena_printf(arena, "%s/%s", dir, name), arena, &text);

		if (err || !pmu_field_parse(text, field))
			continue;
		field->name = arena_strdup(arena, name);
		pmu->nfields++;
	}
}

/* Besides EVENT there may be EVENT.scale, EVENT.unit, EVENT.snapshot and EVENT.per-pkg. */
static void load_event_details(struct pmu_event *event, const char *path, struct arena *arena)
{
	const char *text = NULL;
	struct err *err = text_file_read(arena_printf(arena, "%s.unit", path), arena, &text);

	event->unit = err ? "" : text;
	err_free(err);
	err = text_file_read(arena_printf(arena, "%s.scale", path), arena, &text);
	event->scale = err ? 1 : strtod(text, NULL);
	err_free(err);
}

static void load_events(struct pmu *pmu, const char *dir, struct arena *arena)
{
	CLEANUP(names_deinit) struct names names = { 0 };

	if (!names_read(dir, &names))
		return;
	pmu->events = ARENA_ARRAY(arena, struct pmu_event, (size_t)names.len);
	for (int i = 0; i < names.len; i++) {
		const char *name = names.entries[i]->d_name;
		const char *path = arena_printf(arena, "%s/%s", dir, name);
		struct pmu_event *event = &pmu->events[pmu->nevents];
		const char *text = NULL;

		if (strchr(name, '.'))
			continue;
		CLEANUP(err_freep) struct err *err = text_file_read(path, arena, &text);

		if (err)
			continue;
		event->name = arena_strdup(arena, name);
		event->terms = text;
		load_event_details(event, path, arena);
		pmu->nevents++;
	}
}

/*
 * A "cpus" file says which CPUs have this kind of core; a "cpumask" file names those on which to open what
 * counts for a whole package. Where neither is, the PMU of x86 is "cpu"; Arm's is "armv8_..." with "cpus".
 */
static void load_cpus(struct pmu *pmu, const char *dir, struct arena *arena)
{
	CLEANUP(err_freep)
	struct err *no_cpus = cpu_list_read(arena_printf(arena, "%s/cpus", dir), arena, &pmu->cpus);
	if (!no_cpus) {
		pmu->is_core = true;
		return;
	}
	CLEANUP(err_freep)
	struct err *no_mask =
		cpu_list_read(arena_printf(arena, "%s/cpumask", dir), arena, &pmu->cpus);
	pmu->is_uncore = !no_mask && pmu->cpus.len;
	pmu->is_core = strcmp(pmu->name, "cpu") == 0;
}

static bool load_one(struct pmu *pmu, const char *dir, const char *name, struct arena *arena)
{
	uint64_t type;

	if (!text_file_u64(arena_printf(arena, "%s/type", dir), &type) || type > UINT32_MAX)
		return false;
	*pmu = (struct pmu){ .name = arena_strdup(arena, name), .type = (uint32_t)type };
	load_fields(pmu, arena_printf(arena, "%s/format", dir), arena);
	load_events(pmu, arena_printf(arena, "%s/events", dir), arena);
	load_cpus(pmu, dir, arena);
	return true;
}

struct err *pmu_set_load(struct pmu_set *set, const char *root)
{
	CLEANUP(names_deinit) struct names names = { 0 };

	if (!names_read(root, &names))
		return err_system(errno, "cannot read the PMUs in '%s'", root);
	set->items = ARENA_ARRAY(&set->arena, struct pmu, (size_t)names.len);
	for (int i = 0; i < names.len; i++) {
		const char *name = names.entries[i]->d_name;
		const char *dir = arena_printf(&set->arena, "%s/%s", root, name);
		struct pmu *pmu = &set->items[set->len];

		if (!load_one(pmu, dir, name, &set->arena))
			continue;
		set->ncore += pmu->is_core;
		set->len++;
	}
	return NULL;
}

void pmu_set_deinit(struct pmu_set *set)
{
	arena_deinit(&set->arena);
	*set = (struct pmu_set){ 0 };
}

const struct pmu *pmu_find(const struct pmu_set *set, const char *name)
{
	for (size_t i = 0; i < set->len; i++)
		if (strcmp(set->items[i].name, name) == 0)
			return &set->items[i];
	return NULL;
}

bool pmu_matches(const struct pmu *pmu, const char *pattern)
{
	size_t len = strlen(pattern);

	if (fnmatch(pattern, pmu->name, 0) == 0)
		return true;
	if (strncmp(pmu->name, pattern, len) != 0 || pmu->name[len] != '_')
		return false;

	const char *number = pmu->name + len + 1;

	return *number && number[strspn(number, "0123456789")] == 0;
}

const struct pmu_field *pmu_field_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nfields; i++)
		if (strcmp(pmu->fields[i].name, name) == 0)
			return &pmu->fields[i];
	return NULL;
}

const struct pmu_event *pmu_event_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nevents; i++)
		if (strcmp(pmu->events[i].name, name) == 0)
			return &pmu->events[i];
	return NULL;
}
