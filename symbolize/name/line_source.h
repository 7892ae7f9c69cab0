/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_source.h - who knows the source lines and inlined calls of a module: the table that travels in the trace, what was
 * asked in an earlier run (line_cache.h), the debug information of the first file that has any; in this order.
 *
 * Each is opened when the ones before it do not know. For symbolizer.c only.
 */
#ifndef SYMBOLIZE_LINE_SOURCE_H
#define SYMBOLIZE_LINE_SOURCE_H

#include "symbolize/debug/info.h"
#include "symbolize/debug/line_table.h"
#include "symbolize/name/line_cache.h"
#include "symbolize/module/module.h"

struct line_source {
	/* The symbolizer's, to be filled before the first question; images and strings must stay. */
	const struct module *mod;
	struct image *images[4]; /* best first */
	size_t nimages;
	uint64_t slide;	    /* of addresses that are asked for against the files; the table has it in */
	const struct recording *rec; /* where functions of a running kernel module are */
	bool off;	    /* read no debug information */
	const char *folder; /* of the cache; NULL: none */
	struct line_table *table; /* of the trace, the source's from now on; NULL if it has none */

	/* Private. */
	struct kernel_module *places; /* of a kernel module, the sections of which have a slide each */
	struct line_cache *cache, *retired; /* what the latter said is still good */
	const struct image *cached; /* what @cache is about */
	bool cache_tried;
	struct debug_info *debug;
	bool debug_tried;
};

/* Keep in the cache what was found since the last time; line_source_deinit() does it, too. See line_cache_save(). */
MUST_USE struct err *line_source_keep(struct line_source *source);
void line_source_deinit(struct line_source *source);

/* As debug_info_find(); strings are valid until line_source_deinit(). */
size_t line_source_find(struct line_source *source, uint64_t vaddr,
			struct debug_frame ret[DEBUG_INFO_FRAMES_MAX]);

/* Add what debug information says from @begin to @end to @maker. */
void line_source_gather(struct line_source *source, uint64_t begin, uint64_t end,
			struct line_table_maker *maker);

/* Was debug information of a file of its use, in this run or an earlier one? */
bool line_source_was_used(const struct line_source *source);

/* Are there lines? Opens nothing that was not opened. */
bool line_source_has_lines(const struct line_source *source);

/* How much there is to be read, in bytes of debug information as the file holds it; 0 if there is none. Opens nothing. */
uint64_t line_source_weight(const struct line_source *source);

/* See debug_info_missing(). */
const char *line_source_missing(const struct line_source *source);

#endif
