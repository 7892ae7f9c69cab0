/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_cache.h - what the debug information of one file said about addresses that were asked for before.
 *
 *	"precache"	8 bytes
 *	stamp		32: SHA-256 of what the answers depend on: this program, the file with the debug information
 *	sum		32: SHA-256 of all that follows
 *	table		debug/line_table.h, to the end
 *
 * An entry that is not whole, or has another stamp, is as good as none and is replaced. An address about which nothing is
 * known has a range of one function without a name, a file and a line: an answer, too.
 */
#ifndef SYMBOLIZE_LINE_CACHE_H
#define SYMBOLIZE_LINE_CACHE_H

#include "symbolize/debug/info.h"
#include "symbolize/debug/line_table.h"

#define LINE_CACHE_STAMP_LEN 32

struct line_cache;

/*
 * The entry in @folder for @img, which has the debug information, is a file of its own and worth an entry. NULL if it has
 * none, is small, or has no build ID. Reads at most CACHE_FILE_MAX.
 */
struct line_cache *line_cache_open(const char *folder, const struct image *img);
void line_cache_free(struct line_cache *cache);

/* As debug_info_find(), of an address that was added in an earlier run; 0 if it was not. Strings: until line_cache_free(). */
size_t line_cache_find(const struct line_cache *cache, uint64_t vaddr,
		       struct debug_frame ret[DEBUG_INFO_FRAMES_MAX]);

/* From @begin up to @end @info says @frames, which must stay until line_cache_save(); line_cache_find() has nothing at @begin. */
void line_cache_add(struct line_cache *cache, uint64_t begin, uint64_t end,
		    const struct debug_frame *frames, size_t nframes);

/*
 * Write what is there and what was added, if anything was. Should that fail, there is one entry less.
 * ERR_UNSUPPORTED: it is larger than CACHE_FILE_MAX, so the old one stays.
 */
MUST_USE struct err *line_cache_save(struct line_cache *cache);

/* The two halves of it, for tests: an entry's bytes, and the table in them, NULL if they are not well-formed. */
void line_cache_pack(const struct line_table_maker *maker,
		     const uint8_t stamp[LINE_CACHE_STAMP_LEN], struct writer *out);
struct line_table *line_cache_unpack(const uint8_t *data, size_t len,
				     const uint8_t stamp[LINE_CACHE_STAMP_LEN]);

#endif
