/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - units of .debug_info and their entries (DWARF 5, sections 7.5.1 to 7.5.3).
 *
 * DWARF 2 to 5, 32 and 64 bit, skeletons and split units. An entry is read into slots; values are looked up
 * on demand, since tables of strings and addresses are found by attributes of the unit.
 */
#ifndef DEBUG_UNIT_H
#define DEBUG_UNIT_H

#include "symbolize/debug/abbrev.h"
#include "symbolize/debug/form.h"
#include "symbolize/debug/source.h"

#include <stdbool.h>
#include <stdint.h>

struct debug_die {
	uint64_t offset; /* in .debug_info */
	uint64_t next;   /* offset behind the attributes */
	uint16_t tag;    /* 0: the end of a list of children */
	bool children;
	uint32_t present; /* bit for each slot that is filled */
	struct debug_attr attrs[SLOT_COUNT];
};

struct debug_unit {
	struct debug_source *source;
	uint64_t offset, end; /* in .debug_info */
	uint64_t root;        /* offset of the first entry */
	uint64_t abbrev_offset;
	struct abbrevs *abbrevs; /* NULL until the first entry is read */
	struct form_sizes sizes;
	uint16_t version;
	uint8_t type; /* DW_UT_*; DW_UT_compile before DWARF 5 */
	bool plain;   /* abbreviations' steps hold */
	uint64_t id;  /* of a skeleton and its split unit, 0 if there is none */

	/* From the first entry. */
	uint16_t tag;
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base, low_pc;
	uint64_t line_offset;
	bool has_lines;
	const char *comp_dir, *dwo_name; /* NULL if not there */
	struct debug_unit *skeleton; /* of a split unit: where addresses, ranges and lines are */
};

/* Find all units of @source and read their first entries. What is malformed ends the list. */
void debug_units_read(struct debug_source *source);

/* Give a split unit its skeleton. */
void debug_unit_attach(struct debug_unit *unit, struct debug_unit *skeleton);

/*
 * Read the entry at @offset; false if it is malformed. Attributes are read where @tags, a predicate, holds
 * for the tag (NULL: always), and skipped for others.
 */
bool debug_die_read(struct debug_unit *unit, uint64_t offset, bool (*tags)(uint16_t tag),
		    struct debug_die *ret);

static inline bool debug_die_has(const struct debug_die *die, enum debug_slot slot)
{
	return die->present >> slot & 1;
}

/* The values of attributes; NULL, false or 0 if absent or not to be had. */
const char *debug_die_string(const struct debug_unit *unit, const struct debug_die *die,
			     enum debug_slot slot);
bool debug_die_address(const struct debug_unit *unit, const struct debug_die *die,
		       enum debug_slot slot, uint64_t *ret);
uint64_t debug_die_uint(const struct debug_die *die, enum debug_slot slot);

/* The entry that @slot refers to, perhaps in another unit or in the supplementary file. */
bool debug_die_ref(struct debug_unit *unit, const struct debug_die *die, enum debug_slot slot,
		   struct debug_unit **ret_unit, uint64_t *ret_offset);

/* Entry @index of the address table that @unit uses. */
bool debug_unit_address(const struct debug_unit *unit, uint64_t index, uint64_t *ret);

#endif
