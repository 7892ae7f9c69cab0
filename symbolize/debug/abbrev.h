/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abbrev.h - abbreviation tables (DWARF 5, section 7.5.3): which attributes a debugging entry has and how
 * each is written.
 *
 * Attributes that anyone here asks for have a slot; the others are only skipped.
 */
#ifndef DEBUG_ABBREV_H
#define DEBUG_ABBREV_H

#include "formats/base/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum debug_slot {
	SLOT_NAME,
	SLOT_LINKAGE_NAME,
	SLOT_LOW_PC,
	SLOT_HIGH_PC,
	SLOT_RANGES,
	SLOT_ABSTRACT_ORIGIN,
	SLOT_SPECIFICATION,
	SLOT_CALL_FILE,
	SLOT_CALL_LINE,
	SLOT_CALL_COLUMN,
	SLOT_DECL_FILE,
	SLOT_DECL_LINE,
	SLOT_STMT_LIST,
	SLOT_COMP_DIR,
	SLOT_STR_OFFSETS_BASE,
	SLOT_ADDR_BASE,
	SLOT_RNGLISTS_BASE,
	SLOT_RANGES_BASE,
	SLOT_DWO_NAME,
	SLOT_DWO_ID,
	SLOT_COUNT,
	SLOT_NONE = SLOT_COUNT
};

/* Large debug information has millions of these. */
struct abbrev_attr {
	uint16_t form;
	uint8_t slot;	   /* enum debug_slot */
	uint32_t implicit; /* for abbrevs_implicit() */
};

/* How to skip attributes in a plain unit: some bytes, then a value whose length varies (@form 0: none). */
struct abbrev_step {
	uint32_t fixed_len;
	uint16_t form;
};

struct abbrev {
	uint16_t tag;
	bool children;
	uint32_t first_attr, nattrs;
	uint32_t first_step, nsteps;
};

struct abbrevs;

/*
 * The table at @from in .debug_abbrev. It is parsed as far as codes are asked for, and as far as @budget, which counts the
 * bytes that may still be parsed and outlives it.
 */
struct abbrevs *abbrevs_new(const struct reader *from, size_t *budget);
void abbrevs_free(struct abbrevs *table);

/* The abbreviation with @code, NULL if there is none. Valid until the next call. */
const struct abbrev *abbrevs_find(struct abbrevs *table, uint64_t code);

/* Its attributes, and how to skip them; valid as long. */
const struct abbrev_attr *abbrevs_attrs(const struct abbrevs *table, const struct abbrev *abbrev);
const struct abbrev_step *abbrevs_steps(const struct abbrevs *table, const struct abbrev *abbrev);

/* The constant of an attribute with DW_FORM_implicit_const. */
int64_t abbrevs_implicit(const struct abbrevs *table, const struct abbrev_attr *attr);

#endif
