/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.c - unit headers, entries, and what attribute values refer to.
 */
#include "symbolize/debug/unit.h"

#include "formats/base/bisect.h"
#include "formats/base/vec.h"

#include <dwarf.h>

/* Header of the unit at @r, which moves behind the unit. False at the end or if it is malformed. */
static bool read_header(struct reader *r, struct debug_unit *ret)
{
	struct debug_unit unit = { .offset = r->offset, .type = DW_UT_compile };
	uint64_t len = reader_u32(r, "unit length");

	unit.sizes.offset = 4;
	if (len == 0xffffffff) {
		len = reader_u64(r, "unit length");
		unit.sizes.offset = 8;
	}
	struct reader u = reader_slice(r, (size_t)len, "unit");
	bool wide = unit.sizes.offset == 8;

	unit.end = u.offset + reader_left(&u);
	unit.version = reader_u16(&u, "version");
	if (unit.version >= 5) {
		unit.type = reader_u8(&u, "unit type");
		unit.sizes.addr = reader_u8(&u, "address size");
	}
	unit.abbrev_offset =
		wide ? reader_u64(&u, "abbreviations") : reader_u32(&u, "abbreviations");
	if (unit.version < 5)
		unit.sizes.addr = reader_u8(&u, "address size");
	if (unit.type == DW_UT_skeleton || unit.type == DW_UT_split_compile)
		unit.id = reader_u64(&u, "unit id");
	if (unit.type == DW_UT_type || unit.type == DW_UT_split_type)
		reader_skip(&u, 8u + unit.sizes.offset, "type signature");
	unit.root = u.offset;
	unit.sizes.ref_addr = unit.version == 2 ? unit.sizes.addr : unit.sizes.offset;
	unit.plain = unit.sizes.addr == 8 && unit.sizes.offset == 4 && unit.version > 2;
	if (u.failed || unit.version < 2 || unit.version > 5 ||
	    (unit.sizes.addr != 4 && unit.sizes.addr != 8))
		unit.type = 0; /* not for us; the next may be */
	*ret = unit;
	return !r->failed;
}

static uint64_t slot_or(const struct debug_die *die, enum debug_slot slot, uint64_t otherwise)
{
	return debug_die_has(die, slot) ? die->attrs[slot].value : otherwise;
}

/* Bases first: strings and addresses are found by them. */
static void read_root(struct debug_unit *unit)
{
	struct debug_die die;
	bool split = unit->type == DW_UT_split_compile || unit->type == DW_UT_split_type;

	if (!debug_die_read(unit, unit->root, NULL, &die))
		return;
	unit->tag = die.tag;
	/* A split unit's tables begin behind their header, which DWARF 4 does not have. */
	unit->str_offsets_base = slot_or(&die, SLOT_STR_OFFSETS_BASE,
					 split ? (unit->sizes.offset == 8 ? 16 : 8) : 0);
	unit->rnglists_base =
		slot_or(&die, SLOT_RNGLISTS_BASE, split ? (unit->sizes.offset == 8 ? 20 : 12) : 0);
	unit->addr_base = slot_or(&die, SLOT_ADDR_BASE, 0);
	unit->ranges_base = slot_or(&die, SLOT_RANGES_BASE, 0);
	unit->id = slot_or(&die, SLOT_DWO_ID, unit->id);
	unit->has_lines = debug_die_has(&die, SLOT_STMT_LIST);
	unit->line_offset = slot_or(&die, SLOT_STMT_LIST, 0);
	unit->comp_dir = debug_die_string(unit, &die, SLOT_COMP_DIR);
	unit->dwo_name = debug_die_string(unit, &die, SLOT_DWO_NAME);
	debug_die_address(unit, &die, SLOT_LOW_PC, &unit->low_pc);
}

void debug_units_read(struct debug_source *source)
{
	struct reader r = debug_source_reader(source, DEBUG_INFO, 0);
	struct debug_unit unit;
	VEC(struct debug_unit) units = { 0 };

	while (reader_left(&r) && read_header(&r, &unit)) {
		unit.source = source;
		if (unit.type)
			vec_push(&units, unit);
	}
	source->units = ARENA_ARRAY(&source->arena, struct debug_unit, units.len);
	source->nunits = units.len;
	for (size_t i = 0; i < units.len; i++) {
		source->units[i] = units.items[i];
		read_root(&source->units[i]);
		image_passed(source->image, IMAGE_PLACE);
	}
	vec_deinit(&units);
}

/* The unit that holds @offset of its .debug_info; NULL if none does. */
static struct debug_unit *find_unit(struct debug_source *source, uint64_t offset)
{
	size_t low = BISECT(source->nunits, i, source->units[i].offset <= offset);

	struct debug_unit *unit = low ? &source->units[low - 1] : NULL;

	return unit && offset >= unit->root && offset < unit->end ? unit : NULL;
}

void debug_unit_attach(struct debug_unit *unit, struct debug_unit *skeleton)
{
	unit->skeleton = skeleton;
	unit->low_pc = skeleton->low_pc;
	unit->addr_base = skeleton->addr_base;
	unit->ranges_base = skeleton->ranges_base;
}

static void read_attrs(struct debug_unit *unit, struct reader *r, const struct abbrev *abbrev,
		       struct debug_die *ret)
{
	const struct abbrev_attr *attrs = abbrevs_attrs(unit->abbrevs, abbrev);
	struct debug_attr ignored;

	for (uint32_t i = 0; i < abbrev->nattrs; i++) {
		bool wanted = attrs[i].slot < SLOT_COUNT && !(ret->present >> attrs[i].slot & 1);
		int64_t implicit = attrs[i].form == DW_FORM_implicit_const
					   ? abbrevs_implicit(unit->abbrevs, &attrs[i])
					   : 0;

		form_read(r, &unit->sizes, attrs[i].form, implicit,
			  wanted ? &ret->attrs[attrs[i].slot] : &ignored);
		ret->present |= (uint32_t)wanted << attrs[i].slot;
	}
}

static void skip_attrs(struct debug_unit *unit, struct reader *r, const struct abbrev *abbrev)
{
	const struct abbrev_step *steps = abbrevs_steps(unit->abbrevs, abbrev);
	struct debug_attr ignored;

	for (uint32_t i = 0; i < abbrev->nsteps; i++) {
		reader_skip(r, steps[i].fixed_len, "attributes");
		if (steps[i].form)
			form_read(r, &unit->sizes, steps[i].form, 0, &ignored);
	}
}

bool debug_die_read(struct debug_unit *unit, uint64_t offset, bool (*tags)(uint16_t tag),
		    struct debug_die *ret)
{
	const struct debug_bytes *info = &unit->source->sections[DEBUG_INFO];
	struct reader r;

	if (offset < unit->root || offset >= unit->end)
		return false;
	if (!unit->abbrevs)
		unit->abbrevs = debug_source_abbrevs(unit->source, unit->abbrev_offset);
	reader_init(&r, info->data + offset, (size_t)(unit->end - offset), /* big_endian= */ false);
	uint64_t code = reader_uleb(&r, "abbreviation code");

	ret->offset = offset;
	ret->present = 0;
	ret->tag = 0;
	ret->children = false;
	if (code) {
		const struct abbrev *abbrev = abbrevs_find(unit->abbrevs, code);

		if (!abbrev)
			return false;
		ret->tag = abbrev->tag;
		ret->children = abbrev->children;
		if (tags && unit->plain && !tags(abbrev->tag))
			skip_attrs(unit, &r, abbrev);
		else
			read_attrs(unit, &r, abbrev, ret);
	}
	ret->next = offset + r.offset;
	return !r.failed;
}

/* The string that entry @index of the string offsets table leads to. */
static const char *indexed_string(const struct debug_unit *unit, uint64_t index)
{
	uint64_t pos;

	if (__builtin_mul_overflow(index, unit->sizes.offset, &pos) ||
	    __builtin_add_overflow(pos, unit->str_offsets_base, &pos))
		return NULL;
	struct reader r = debug_source_reader(unit->source, DEBUG_STR_OFFSETS, pos);
	uint64_t offset = unit->sizes.offset == 8 ? reader_u64(&r, "string offset")
						  : reader_u32(&r, "string offset");

	return r.failed ? NULL : debug_source_string(unit->source, DEBUG_STR, offset);
}

const char *debug_die_string(const struct debug_unit *unit, const struct debug_die *die,
			     enum debug_slot slot)
{
	const struct debug_attr *attr = &die->attrs[slot];

	if (!debug_die_has(die, slot))
		return NULL;
	switch (attr->form) {
	case DW_FORM_string:
		return attr->text;
	case DW_FORM_strp:
		return debug_source_string(unit->source, DEBUG_STR, attr->value);
	case DW_FORM_line_strp:
		return debug_source_string(unit->source, DEBUG_LINE_STR, attr->value);
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return unit->source->alt
			       ? debug_source_string(unit->source->alt, DEBUG_STR, attr->value)
			       : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_string(unit, attr->value);
	}
	return NULL;
}

bool debug_unit_address(const struct debug_unit *unit, uint64_t index, uint64_t *ret)
{
	const struct debug_unit *owner = unit->skeleton ? unit->skeleton : unit;
	uint64_t pos;

	if (__builtin_mul_overflow(index, unit->sizes.addr, &pos) ||
	    __builtin_add_overflow(pos, unit->addr_base, &pos))
		return false;
	struct reader r = debug_source_reader(owner->source, DEBUG_ADDR, pos);
	uint64_t address =
		unit->sizes.addr == 8 ? reader_u64(&r, "address") : reader_u32(&r, "address");

	if (r.failed)
		return false;
	*ret = address;
	return true;
}

bool debug_die_address(const struct debug_unit *unit, const struct debug_die *die,
		       enum debug_slot slot, uint64_t *ret)
{
	const struct debug_attr *attr = &die->attrs[slot];

	if (!debug_die_has(die, slot))
		return false;
	switch (attr->form) {
	case DW_FORM_addr:
		*ret = attr->value;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return debug_unit_address(unit, attr->value, ret);
	}
	return false;
}

uint64_t debug_die_uint(const struct debug_die *die, enum debug_slot slot)
{
	return debug_die_has(die, slot) ? die->attrs[slot].value : 0;
}

bool debug_die_ref(struct debug_unit *unit, const struct debug_die *die, enum debug_slot slot,
		   struct debug_unit **ret_unit, uint64_t *ret_offset)
{
	const struct debug_attr *attr = &die->attrs[slot];
	struct debug_unit *found = NULL;
	uint64_t offset = attr->value;

	if (!debug_die_has(die, slot))
		return false;
	switch (attr->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (offset < unit->end - unit->offset) {
			offset += unit->offset;
			found = unit;
		}
		break;
	case DW_FORM_ref_addr:
		found = find_unit(unit->source, offset);
		break;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		if (unit->source->alt)
			found = find_unit(unit->source->alt, offset);
		break;
	}
	if (!found)
		return false;
	*ret_unit = found;
	*ret_offset = offset;
	return true;
}
