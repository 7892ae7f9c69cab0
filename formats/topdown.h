/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown.h - where the issue slots of a processor went: for each kind of processor, which events tell, in which groups
 * they must be counted, and by which formulas. Data only: precord records by it, preport computes by it.
 *
 * An event is called MODEL.LABEL in a recording ("zen4.no-ops"). Formulas are those of formats/metric_expr.h over labels,
 * definitions and nodes. Fractions are of slots (width x cycles) unless the model says that they are of cycles.
 */
#ifndef FORMATS_TOPDOWN_H
#define FORMATS_TOPDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPDOWN_EVENTS_MAX 24
#define TOPDOWN_NODES_MAX  16
#define TOPDOWN_DEFS_MAX   8
#define TOPDOWN_GROUPS_MAX 4
#define TOPDOWN_LABEL_MAX  32

struct topdown_event {
	const char *label;
	uint64_t config;
	uint8_t group; /* from 0; the first event of a group leads it */
	uint8_t level; /* needed from this level on */
	bool spare;    /* left out where a counter is missing; a definition takes its place */
};

struct topdown_def {
	const char *name, *formula;
};

struct topdown_node {
	const char *key;     /* in formulas, CSV and JSON */
	const char *name;    /* for people */
	const char *parent;  /* key, NULL at level 1 */
	double threshold;    /* more than this is worth a look */
	const char *formula;
	const char *advice;  /* what usually helps, as the end of a sentence */
};

struct topdown_model {
	const char *name;
	const char *title;  /* "AMD Zen 4" */
	const char *source; /* of events and formulas */
	unsigned width;     /* slots in a cycle; 0: fractions are of cycles */
	bool metrics;       /* PERF_METRICS: the first event is slots and cannot sample */
	const char *lacking; /* what this processor cannot measure; NULL: nothing */
	struct topdown_event events[TOPDOWN_EVENTS_MAX]; /* ends with a label of NULL */
	struct topdown_def defs[TOPDOWN_DEFS_MAX];
	struct topdown_node nodes[TOPDOWN_NODES_MAX];    /* parents before children */
};

extern const struct topdown_model topdown_models[];
extern const size_t topdown_models_len;

/* NULL if there is none of this name, of which @len characters count. */
const struct topdown_model *topdown_find(const char *name, size_t len);

/* A processor as /proc/cpuinfo describes it. */
struct topdown_cpu {
	bool intel, amd, arm;
	uint32_t family, model; /* x86 */
	uint32_t part;          /* Arm: MIDR part number, of implementer 0x41 */
	uint32_t variant, revision;
	bool has_slots; /* sysfs names the event: PERF_METRICS can be read */
	bool smt;       /* two threads share a core */
};

/* NULL if nothing is known for it. */
const struct topdown_model *topdown_for_cpu(const struct topdown_cpu *cpu);

#endif
