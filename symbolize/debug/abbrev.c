/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abbrev.c - codes run from 1 in all files but odd ones, so a table is an array; a map holds the others.
 *
 * Most units are never looked into, and of those only the first entry is read: that is one abbreviation out
 * of hundreds.
 */
#include "symbolize/debug/abbrev.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "symbolize/debug/form.h"

#include <dwarf.h>
#include <stdlib.h>

/* No compiler comes near. An attribute may take no bytes in an entry, so bytes alone bound nothing. */
#define ATTRS_MAX 256

struct abbrevs {
	VEC(struct abbrev) items; /* [code - 1] as long as codes are consecutive */
	VEC(struct abbrev_attr) attrs;
	VEC(struct abbrev_step) steps;
	VEC(int64_t) implicits;
	struct map by_code; /* code -> index in @items, for the rest */
	size_t nconsecutive;
	size_t *budget;
	struct reader rest; /* not parsed yet */
	bool done;
};

/* Slots of the attributes that have one, plus 1, by number. */
static const uint8_t slots[] = {
	[DW_AT_name] = SLOT_NAME + 1,
	[DW_AT_linkage_name] = SLOT_LINKAGE_NAME + 1,
	[DW_AT_low_pc] = SLOT_LOW_PC + 1,
	[DW_AT_high_pc] = SLOT_HIGH_PC + 1,
	[DW_AT_ranges] = SLOT_RANGES + 1,
	[DW_AT_abstract_origin] = SLOT_ABSTRACT_ORIGIN + 1,
	[DW_AT_specification] = SLOT_SPECIFICATION + 1,
	[DW_AT_call_file] = SLOT_CALL_FILE + 1,
	[DW_AT_call_line] = SLOT_CALL_LINE + 1,
	[DW_AT_call_column] = SLOT_CALL_COLUMN + 1,
	[DW_AT_decl_file] = SLOT_DECL_FILE + 1,
	[DW_AT_decl_line] = SLOT_DECL_LINE + 1,
	[DW_AT_stmt_list] = SLOT_STMT_LIST + 1,
	[DW_AT_comp_dir] = SLOT_COMP_DIR + 1,
	[DW_AT_str_offsets_base] = SLOT_STR_OFFSETS_BASE + 1,
	[DW_AT_addr_base] = SLOT_ADDR_BASE + 1,
	[DW_AT_rnglists_base] = SLOT_RNGLISTS_BASE + 1,
	[DW_AT_dwo_name] = SLOT_DWO_NAME + 1,
};

/* The same for those that vendors made up. */
static const struct {
	uint16_t number;
	uint8_t slot;
} vendor_slots[] = {
	{ DW_AT_MIPS_linkage_name, SLOT_LINKAGE_NAME },
	{ DW_AT_GNU_addr_base, SLOT_ADDR_BASE },
	{ DW_AT_GNU_ranges_base, SLOT_RANGES_BASE },
	{ DW_AT_GNU_dwo_name, SLOT_DWO_NAME },
	{ DW_AT_GNU_dwo_id, SLOT_DWO_ID },
};

static uint8_t slot_of(uint64_t number)
{
	if (number < ARRAY_LEN(slots))
		return slots[number] ? slots[number] - 1 : SLOT_NONE;
	for (size_t i = 0; i < ARRAY_LEN(vendor_slots); i++) {
		if (vendor_slots[i].number == number)
			return vendor_slots[i].slot;
	}
	return SLOT_NONE;
}

static void add_step(struct abbrevs *table, struct abbrev *abbrev, struct abbrev_step step)
{
	vec_push(&table->steps, step);
	abbrev->nsteps++;
}

/* The attribute specifications that follow; false if they are cut or are too many. */
static bool parse_attrs(struct abbrevs *table, struct reader *r, struct abbrev *abbrev)
{
	struct abbrev_step step = { 0 };

	abbrev->first_attr = (uint32_t)table->attrs.len;
	abbrev->first_step = (uint32_t)table->steps.len;
	for (;;) {
		uint64_t number = reader_uleb(r, "attribute");
		uint64_t form = reader_uleb(r, "form");
		struct abbrev_attr attr = { .form = (uint16_t)MIN(form, UINT16_MAX) };
		unsigned len = form_fixed_len(attr.form);

		if (r->failed || (!number && !form) || abbrev->nattrs > ATTRS_MAX)
			break;
		attr.slot = slot_of(number);
		if (form == DW_FORM_implicit_const) {
			attr.implicit = (uint32_t)table->implicits.len;
			vec_push(&table->implicits, reader_sleb(r, "implicit constant"));
		}
		vec_push(&table->attrs, attr);
		abbrev->nattrs++;
		if (len != FORM_VARIABLE) {
			step.fixed_len += len;
			continue;
		}
		step.form = attr.form;
		add_step(table, abbrev, step);
		step = (struct abbrev_step){ 0 };
	}
	if (step.fixed_len)
		add_step(table, abbrev, step);
	return !r->failed && abbrev->nattrs <= ATTRS_MAX;
}

/* Parse one more; false at the end. */
static bool parse_next(struct abbrevs *table)
{
	struct reader *r = &table->rest;
	struct abbrev abbrev = { 0 };
	size_t before = reader_left(r);
	uint64_t code = reader_uleb(r, "abbreviation code");

	if (!code || r->failed)
		return false;
	abbrev.tag = (uint16_t)reader_uleb(r, "tag");
	abbrev.children = reader_u8(r, "children flag");
	bool whole = parse_attrs(table, r, &abbrev);
	size_t used = before - reader_left(r);

	if (!whole || used > *table->budget)
		return false;
	*table->budget -= used;
	if (code == table->items.len + 1 && table->nconsecutive == table->items.len)
		table->nconsecutive++;
	else
		*map_put(&table->by_code, code, NULL) = table->items.len;
	vec_push(&table->items, abbrev);
	return true;
}

struct abbrevs *abbrevs_new(const struct reader *from, size_t *budget)
{
	struct abbrevs *table = memory_zeroed(1, sizeof(*table));

	table->rest = *from;
	table->budget = budget;
	return table;
}

void abbrevs_free(struct abbrevs *table)
{
	if (!table)
		return;
	vec_deinit(&table->items);
	vec_deinit(&table->attrs);
	vec_deinit(&table->steps);
	vec_deinit(&table->implicits);
	map_deinit(&table->by_code);
	free(table);
}

static const struct abbrev *find_parsed(const struct abbrevs *table, uint64_t code)
{
	if (code - 1 < table->nconsecutive)
		return &table->items.items[code - 1];
	const uint64_t *index = map_get(&table->by_code, code);

	return index ? &table->items.items[*index] : NULL;
}

const struct abbrev *abbrevs_find(struct abbrevs *table, uint64_t code)
{
	const struct abbrev *found = find_parsed(table, code);

	while (!found && !table->done) {
		table->done = !parse_next(table);
		found = find_parsed(table, code);
	}
	return found;
}

const struct abbrev_attr *abbrevs_attrs(const struct abbrevs *table, const struct abbrev *abbrev)
{
	return abbrev->nattrs ? table->attrs.items + abbrev->first_attr : NULL;
}

const struct abbrev_step *abbrevs_steps(const struct abbrevs *table, const struct abbrev *abbrev)
{
	return abbrev->nsteps ? table->steps.items + abbrev->first_step : NULL;
}

int64_t abbrevs_implicit(const struct abbrevs *table, const struct abbrev_attr *attr)
{
	return table->implicits.items[attr->implicit];
}
