/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_table.h - what debug information says about some addresses of a module, as a table that travels
 * in a trace: precord-trace(5), "Lines".
 *
 *	ranges ──► position ──► the call it was inlined into ──► … ──► the function that has code of its own
 *	              └► function: names, where it is declared
 *
 * It answers as debug_info_find() did where it was made, and needs no other file.
 */
#ifndef DEBUG_LINE_TABLE_H
#define DEBUG_LINE_TABLE_H

#include "formats/base/diag.h"
#include "formats/base/err.h"
#include "formats/base/writer.h"
#include "formats/recording.h"
#include "symbolize/debug/info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_table;

/* Parse @len bytes at @data, which must outlive the table. ERR_CORRUPT. */
MUST_USE struct err *line_table_new(const void *data, size_t len, struct line_table **ret);
void line_table_free(struct line_table *table);

/* The table that @rec has for a module; NULL if it has none, or it is malformed, which is a warning. */
struct line_table *line_table_find_recorded(const struct recording *rec, const char *path,
					    const uint8_t *build_id, size_t build_id_len,
					    struct diag *diag);

/* As debug_info_find(); strings are valid until line_table_free(). */
size_t line_table_find(const struct line_table *table, uint64_t vaddr,
		       struct debug_frame ret[DEBUG_INFO_FRAMES_MAX]);

/* Its range @number, from 0 in ascending order; false if there are no more. */
bool line_table_range(const struct line_table *table, size_t number, uint64_t *ret_begin,
		      uint64_t *ret_end);

/* Does it have anything? */
bool line_table_is_empty(const struct line_table *table);

struct line_table_maker;

struct line_table_maker *line_table_maker_new(void);
void line_table_maker_free(struct line_table_maker *maker);

/*
 * From @begin up to @end @frames hold, innermost first. Ranges come in ascending order and do not overlap; one that
 * goes on as the last one did joins it.
 */
void line_table_maker_add(struct line_table_maker *maker, uint64_t begin, uint64_t end,
			  const struct debug_frame *frames, size_t nframes);

/* How many ranges there are by now. */
size_t line_table_maker_len(const struct line_table_maker *maker);

/* Append the table to @out. */
void line_table_maker_finish(const struct line_table_maker *maker, struct writer *out);

#endif
