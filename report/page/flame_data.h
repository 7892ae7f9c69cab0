/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_data.h - a flame tree as the block of bytes that the page's script reads: Documentation/flame-page.md has
 * every byte.
 */
#ifndef REPORT_FLAME_DATA_H
#define REPORT_FLAME_DATA_H

#include "formats/base/writer.h"
#include "report/page/flame_tree.h"

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
