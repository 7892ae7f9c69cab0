/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_map.h - the code a just-in-time compiler says it wrote: the text of a /tmp/perf-PID.map, and a dump
 * (formats/perf/jitdump.h), which has the code and its source lines as well.
 *
 * A line is "START SIZE NAME", numbers in hexadecimal, the name up to the end of the line, blanks
 * included. The file is hostile: lines that are not of this form are skipped. Memory is reused as code
 * comes and goes, so where ranges overlap the later line holds; and the dump holds where both speak.
 *
 * A dump's records have times. Where they are those of the recording, each moment has the code that was there then: jit_map_at()
 * makes of an address and a moment a *place*, the same number as the address, but in its highest bits the level (jit_levels.h) of the code: code_place.h. All
 * functions here take places; an address stands for the first code there. Where the dump says of all code when it certainly was there, nothing
 * is known of the address at other times: it may have been other code, which was gone before it was read.
 */
#ifndef SYMBOLIZE_JIT_MAP_H
#define SYMBOLIZE_JIT_MAP_H

#include "formats/perf/jitdump.h"
#include "symbolize/debug/info.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/name/jit_levels.h"

#include <stddef.h>
#include <stdint.h>

struct jit_symbol {
	uint64_t start, len; /* as the line says, addresses in the process */
	const char *name; /* "" of code that is gone, whose place jit_map_find() knows nothing of */
	const uint8_t *code;              /* @len bytes; NULL if not known */
	const struct jitdump_line *lines; /* ascending by offset from @start */
	size_t nlines;
	const uint8_t *frames; /* .eh_frame, @frames_len bytes; NULL if not known */
	size_t frames_len;
	uint64_t from_ns; /* when it was written, or first there for certain; 0: not known */
	uint64_t until_ns; /* until when it was there; 0: it was not replaced */
	uint32_t level;   /* jit_levels.h */
	size_t object; /* for jit_map_rules() and jit_map_source(): 1 and up; 0: it is of no object */
};

/* A function at an address, innermost first: what was inlined there, then what the code is of. */
struct jit_call {
	const char *name;
	const char *file; /* "" if not known */
	uint32_t begin;	  /* the line at which the function begins; 0 if not known */
	uint32_t line;	  /* that is executed; 0 if not known */
};

/* What is known of one address: of a caller, the address of its call's last byte. */
struct jit_place {
	enum jitdump_frame frame;
	uint32_t frame_len;
	size_t first, count; /* of its calls, for jit_map_calls() */
};

struct jit_map;

/* Parse @len bytes at @text, which may go away afterwards. Never fails: at worst the map is empty. */
struct jit_map *jit_map_new(const char *text, size_t len);

/* The same with @dump_len bytes of a dump laid over the text; what is no dump adds nothing. */
struct jit_map *jit_map_new_dumped(const char *text, size_t len, const void *dump,
				   size_t dump_len);

/* The same of a dump whose times are the recording's. */
struct jit_map *jit_map_new_timed(const char *text, size_t len, const void *dump, size_t dump_len);
void jit_map_free(struct jit_map *map);

/* The place of address @ip at @time_ns. Thread-safe. One that is a place already stays as it is. */
uint64_t jit_map_at(const struct jit_map *map, uint64_t ip, uint64_t time_ns);

/* How often, until @time_ns, code was replaced by other code; while that stays the same, so do all places. */
size_t jit_map_changes(const struct jit_map *map, uint64_t time_ns);

/* What is at @place; NULL if nothing is. Valid until jit_map_free(). Thread-safe. */
const struct jit_symbol *jit_map_find(const struct jit_map *map, uint64_t place);

/* What the recorder read of @place in its runtime; NULL if nothing was. As above. */
const struct jit_place *jit_map_place(const struct jit_map *map, uint64_t place);
const struct jit_call *jit_map_calls(const struct jit_map *map, const struct jit_place *place);

/* The unwind rules of the object that @symbol is of; NULL if it has none. */
const struct cfi_section *jit_map_rules(const struct jit_map *map, const struct jit_symbol *symbol);

/* What that object's debug information says of @place, as debug_info_find(). Not thread-safe. */
size_t jit_map_source(struct jit_map *map, const struct jit_symbol *symbol, uint64_t place,
		      struct debug_frame ret[DEBUG_INFO_FRAMES_MAX]);

/* What was in memory at @ip, and *@ret_len bytes of it; NULL if the recorder did not copy it. */
const uint8_t *jit_map_bytes(const struct jit_map *map, uint64_t ip, size_t *ret_len);

size_t jit_map_nplaces(const struct jit_map *map);

/* The source line of @place, in @symbol; false if not known. @ret_file may become NULL. */
bool jit_symbol_line(const struct jit_symbol *symbol, uint64_t place, const char **ret_file,
		     uint32_t *ret_line);

/* All lines that were understood, in the order of the files; and how many were skipped. */
const struct jit_symbol *jit_map_symbols(const struct jit_map *map, size_t *ret_count);
size_t jit_map_skipped(const struct jit_map *map);

#endif
