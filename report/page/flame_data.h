/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_data.h - a flame tree as the block of bytes that the page's script reads: Documentation/flame-page.md has
 * every byte.
 */
#ifndef REPORT_FLAME_DATA_H
#define REPORT_FLAME_DATA_H

#include "formats/base/arena.h"
#include "formats/base/writer.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

struct flame_tree_node {
	uint32_t parent; /* smaller than its own number */
	uint32_t depth;
	uint32_t function; /* index in flame_tree.functions; PROFILE_NONE for the root */
	bool inlined;
};

struct flame_tree_row {
	uint32_t node, thread, cpu; /* thread: index in flame_tree.threads */
	uint8_t stop;
	bool waits; /* the thread was on no CPU */
};

/* Samples that are the same, at the same time. */
struct flame_tree_sample {
	uint32_t event, row, bin;
	uint64_t count;
	int64_t weight; /* of each */
};

/* Time in steps that a person would choose: 1, 2 or 5 times a power of ten, in ms. */
struct flame_tree_clock {
	uint64_t start_ns; /* of bin 0, since the recording began */
	uint64_t bin_ns;   /* 0: times are not known, all is in bin 0 */
	uint32_t nbins;
};

struct flame_tree {
	VEC(uint32_t) functions; /* of the profile */
	VEC(uint32_t) threads;   /* of the profile */
	VEC(struct flame_tree_node) nodes;
	VEC(struct flame_tree_row) rows;
	VEC(struct flame_tree_sample) samples; /* by event, row, bin, weight */
	struct flame_tree_clock clock;
};

/* Of all value types of @p, with every frame named. For a clock it needs times. */
void flame_tree_init(struct flame_tree *tree, const struct profile *p, const struct profile_facts *facts);
void flame_tree_deinit(struct flame_tree *tree);

/* How the picture is shown at first. Texts are plain; NULL for none. */
struct flame_data_view {
	const char *title;
	const char *by; /* "none", "program", "process", "thread", "comm", "cpu" */
	bool callers;   /* leaves first */
	bool root_on_top;
	uint32_t event;
	bool compare; /* show what differs between .event and .other from the start */
	uint32_t other;
	double run_noise;      /* of a comparison, see diff_stats.h; with .effects */
	const double *effects; /* by function of the profile: how it clumps; NULL: not known */
	const char *const *names; /* of the events, for people; NULL: their own */
};

/* Append the block. ERR_SYSTEM: out of memory. */
MUST_USE struct err *flame_data_write(const struct flame_tree *tree, const struct profile *p,
				      const struct profile_facts *facts, const struct flame_data_view *view, struct writer *out);

#endif
