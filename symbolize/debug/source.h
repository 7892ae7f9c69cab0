/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - where debug information is read from: the .debug sections of one file, or of one unit's
 * share of a package (.dwp), with the abbreviations that were parsed so far.
 *
 * Sections are bytes in place; the image must stay open as long as the source lives.
 */
#ifndef DEBUG_SOURCE_H
#define DEBUG_SOURCE_H

#include "formats/base/arena.h"
#include "formats/base/map.h"
#include "formats/base/reader.h"
#include "symbolize/elf/image.h"

#include <stdbool.h>
#include <stdint.h>

enum debug_section {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_STR,
	DEBUG_LINE_STR,
	DEBUG_LINE,
	DEBUG_STR_OFFSETS,
	DEBUG_ADDR,
	DEBUG_RANGES,
	DEBUG_RNGLISTS,
	DEBUG_SECTIONS
};

struct debug_bytes {
	const uint8_t *data;
	size_t len;
};

struct debug_unit;
struct abbrevs;

struct debug_source {
	struct image *image; /* that the sections are of */
	struct debug_bytes sections[DEBUG_SECTIONS];
	struct debug_source *alt; /* what dwz moved out; NULL if nothing was */
	struct debug_unit *units; /* ascending by offset */
	size_t nunits;
	struct map abbrevs;   /* offset in .debug_abbrev -> struct abbrevs * */
	size_t abbrev_budget; /* bytes that may still be parsed: tables that overlap are not honest */
	size_t range_budget; /* the same for range list entries */
	size_t line_budget;  /* and for bytes of line tables */
	struct arena arena;
};

/* The sections of @img; with @suffix ".dwo" those of a split file. No units yet. False without .debug_info. */
bool debug_source_init(struct debug_source *ret, struct image *img, const char *suffix);

/* To be called once the sections are set: works out the budgets. */
void debug_source_ready(struct debug_source *source);
void debug_source_deinit(struct debug_source *source);

/* A reader at @offset of a section; it has failed if that lies outside. */
struct reader debug_source_reader(const struct debug_source *source, enum debug_section section,
				  uint64_t offset);

struct abbrevs;

/* The abbreviations at @offset (abbrev.h), from the cache; NULL if there are none. Valid until debug_source_deinit(). */
struct abbrevs *debug_source_abbrevs(struct debug_source *source, uint64_t offset);

/* The string at @offset, NULL if there is none. */
const char *debug_source_string(const struct debug_source *source, enum debug_section section,
				uint64_t offset);

#endif
