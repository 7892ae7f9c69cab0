/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.h - the CPUs that the recorder runs on (--affinity).
 *
 *	sys    no restriction: the scheduler chooses
 *	LIST   only on these, leaving the others to the recorded programs
 *	node   beside the memory of the ring that it reads: on any CPU of its NUMA node
 *	cpu    on the ring's own CPU, whose caches hold what was just written
 *
 * An affinity belongs to one thread, which makes all calls; processes started earlier keep theirs.
 */
#ifndef RECORD_AFFINITY_H
#define RECORD_AFFINITY_H

#include "formats/base/err.h"
#include "record/system/cpu_list.h"

#include <stdint.h>

enum affinity_kind {
	AFFINITY_SYSTEM,
	AFFINITY_LIST,
	AFFINITY_NODE,
	AFFINITY_CPU,
};

struct affinity_args {
	enum affinity_kind kind;
	const char *list;
};

/* For OPT_PARSE: --affinity=sys|node|cpu|LIST. ERR_USAGE: it is none of these. */
MUST_USE struct err *affinity_parse(void *field, const char *value);

struct affinity_place;

/* A zeroed one does nothing. */
struct affinity {
	enum affinity_kind kind;
	struct arena arena;
	struct affinity_place *places; /* where to run for each CPU's ring, ascending */
	size_t nplaces;
	const struct affinity_place *here; /* NULL: not known */
	struct cpu_list before;            /* where it was allowed to run */
};

/*
 * Prepare for rings of @cpus. @nodes_dir is /sys/devices/system/node.
 * ERR_USAGE: the list is malformed.  ERR_SYSTEM: none of its CPUs is on line and permitted.
 */
MUST_USE struct err *affinity_open(const struct affinity_args *args, const struct cpu_list *cpus,
				   const char *nodes_dir, struct affinity *ret);

/* The ring of @cpu is read next: move there. An offline or forbidden CPU changes nothing. */
void affinity_follow(struct affinity *a, uint32_t cpu);

/* All rings are read: restore the earlier CPUs, unless a list was given. */
void affinity_close(struct affinity *a);

#endif
