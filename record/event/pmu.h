/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu.h - the performance monitoring units that the kernel shows in sysfs: what their bits are called
 * (format/), which events they name (events/), on which CPUs they count.
 */
#ifndef RECORD_PMU_H
#define RECORD_PMU_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "record/system/cpu_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMU_SYSFS "/sys/bus/event_source/devices"

/* attr.config, config1, config2 */
#define PMU_CONFIGS 3

/* A named run of bits, from a file in format/: "config:0-7,32-35". */
struct pmu_field {
	const char *name;
	uint8_t config; /* 0 .. PMU_CONFIGS-1, PMU_CONFIGS if this build does not know the word */
	uint64_t mask;  /* the value's bits go to these, lowest first */
};

/* A named event, from a file in events/. */
struct pmu_event {
	const char *name;
	const char *terms; /* "event=0x3c,umask=0x1" */
	const char *
		unit; /* what its value is in after scaling ("Joules"), "" if it is a plain count */
	double scale; /* 1 if sysfs says nothing */
};

struct pmu {
	const char *name;
	uint32_t type; /* attr.type */
	struct pmu_field *fields;
	size_t nfields;
	struct pmu_event *events; /* by name */
	size_t nevents;
	bool is_core; /* counts what the CPU's cores do: "cpu", "cpu_core", "armv8_pmuv3_0" */
	bool is_uncore; /* counts for a whole package or machine, on one CPU of it: no task, no samples */
	struct cpu_list cpus; /* only there; empty: everywhere */
};

/* All PMUs, by name. A zeroed set is empty. */
struct pmu_set {
	struct arena arena;
	struct pmu *items;
	size_t len;
	size_t ncore; /* how many of them are core PMUs; over 1 on hybrid machines */
};

/*
 * Read all PMUs below @root (PMU_SYSFS); files that are missing or make no sense are left out.
 * ERR_SYSTEM: @root cannot be read.
 */
MUST_USE struct err *pmu_set_load(struct pmu_set *set, const char *root);
void pmu_set_deinit(struct pmu_set *set);

/* NULL if there is none of that name. */
const struct pmu *pmu_find(const struct pmu_set *set, const char *name);

/* Is @pmu meant by @pattern: its name, its name without "_N" at the end, or a glob? */
bool pmu_matches(const struct pmu *pmu, const char *pattern);

const struct pmu_field *pmu_field_find(const struct pmu *pmu, const char *name);
const struct pmu_event *pmu_event_find(const struct pmu *pmu, const char *name);

/* The bits of @mask, in all. */
unsigned pmu_field_width(const struct pmu_field *field);

/*
 * Put @value where @field is in @configs, whose other bits stay.
 * ERR_USAGE: it has more bits than the field.
 */
MUST_USE struct err *pmu_field_set(const struct pmu_field *field, uint64_t value,
				   uint64_t configs[PMU_CONFIGS]);

/*
 * Put @value where the term @name says: a field of @pmu, or a whole "config", "config1" or "config2".
 * ERR_USAGE: there is no such term, or the value is too large. ERR_UNSUPPORTED: see pmu_field.config.
 */
MUST_USE struct err *pmu_term_set(const struct pmu *pmu, const char *name, uint64_t value,
				  uint64_t configs[PMU_CONFIGS]);

/* Put what @event stands for into @configs. ERR_USAGE: it wants a value that only the user knows ("?"). */
MUST_USE struct err *pmu_event_encode(const struct pmu *pmu, const struct pmu_event *event,
				      uint64_t configs[PMU_CONFIGS]);

/* Parse a line of format/ ("config1:0-15"); false if it is not one. @field's name is left alone. */
bool pmu_field_parse(const char *text, struct pmu_field *field);

#endif
