/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - DWARF 5, sections 2.17 and 7.25; DWARF 4, section 2.17.3; GNU's split DWARF 4.
 */
#include "symbolize/debug/ranges.h"

#include "formats/base/vec.h"

#include <dwarf.h>

struct list {
	struct debug_ranges *out;
	struct debug_unit *unit;
	struct debug_source *source; /* of the list */
	struct reader r;
	uint64_t base;
};

static void add(struct list *list, uint64_t begin, uint64_t end)
{
	struct layer range = { begin, end };

	if (begin < end)
		vec_push(list->out, range);
}

static uint64_t read_address(struct list *list)
{
	return list->unit->sizes.addr == 8 ? reader_u64(&list->r, "address")
					   : reader_u32(&list->r, "address");
}

static bool spend(struct list *list)
{
	if (list->r.failed || !list->source->range_budget)
		return false;
	list->source->range_budget--;
	return true;
}

/* Pairs, relative to a base that a pair with the highest address changes; a pair of zeros ends them. */
static void read_pairs(struct list *list)
{
	uint64_t highest = list->unit->sizes.addr == 8 ? UINT64_MAX : UINT32_MAX;

	while (spend(list)) {
		uint64_t begin = read_address(list);
		uint64_t end = read_address(list);

		if (list->r.failed || (!begin && !end))
			return;
		if (begin == highest)
			list->base = end;
		else
			add(list, list->base + begin, list->base + end);
	}
}

static uint64_t read_indexed(struct list *list)
{
	uint64_t address = 0;

	if (!debug_unit_address(list->unit, reader_uleb(&list->r, "address index"), &address))
		reader_fail(&list->r, "address index");
	return address;
}

/* One entry of kind @kind; false at the end of the list. */
static bool read_entry(struct list *list, uint8_t kind)
{
	uint64_t begin, end;

	switch (kind) {
	case DW_RLE_base_addressx:
		list->base = read_indexed(list);
		return true;
	case DW_RLE_base_address:
		list->base = read_address(list);
		return true;
	case DW_RLE_startx_endx:
		begin = read_indexed(list);
		end = read_indexed(list);
		break;
	case DW_RLE_startx_length:
		begin = read_indexed(list);
		end = begin + reader_uleb(&list->r, "range length");
		break;
	case DW_RLE_offset_pair:
		begin = list->base + reader_uleb(&list->r, "range begin");
		end = list->base + reader_uleb(&list->r, "range end");
		break;
	case DW_RLE_start_end:
		begin = read_address(list);
		end = read_address(list);
		break;
	case DW_RLE_start_length:
		begin = read_address(list);
		end = begin + reader_uleb(&list->r, "range length");
		break;
	default:
		return false;
	}
	if (!list->r.failed)
		add(list, begin, end);
	return true;
}

static void read_entries(struct list *list)
{
	while (spend(list)) {
		uint8_t kind = reader_u8(&list->r, "range list entry");

		if (list->r.failed || !read_entry(list, kind))
			return;
	}
}

/* Where list @index of the unit's table begins. */
static bool find_list(const struct debug_unit *unit, uint64_t index, uint64_t *ret)
{
	uint64_t pos;

	if (__builtin_mul_overflow(index, unit->sizes.offset, &pos) ||
	    __builtin_add_overflow(pos, unit->rnglists_base, &pos))
		return false;
	struct reader r = debug_source_reader(unit->source, DEBUG_RNGLISTS, pos);
	uint64_t offset = unit->sizes.offset == 8 ? reader_u64(&r, "range list offset")
						  : reader_u32(&r, "range list offset");

	*ret = unit->rnglists_base + offset;
	return !r.failed;
}

static void append_list(struct debug_ranges *ranges, struct debug_unit *unit,
			const struct debug_attr *attr)
{
	/* Before DWARF 5 there was no .debug_ranges.dwo: a split unit's lists are in its skeleton's file. */
	bool old = unit->version < 5;
	struct debug_unit *owner = old && unit->skeleton ? unit->skeleton : unit;
	struct list list = {
		.out = ranges, .unit = unit, .source = owner->source, .base = unit->low_pc
	};
	uint64_t offset = attr->value;

	if (attr->form == DW_FORM_rnglistx && !find_list(unit, attr->value, &offset))
		return;
	if (old && unit->skeleton)
		offset += unit->ranges_base;
	list.r = debug_source_reader(list.source, old ? DEBUG_RANGES : DEBUG_RNGLISTS, offset);
	if (old)
		read_pairs(&list);
	else
		read_entries(&list);
}

void debug_ranges_append(struct debug_ranges *ranges, struct debug_unit *unit,
			 const struct debug_die *die)
{
	struct layer range;

	if (debug_die_has(die, SLOT_RANGES)) {
		append_list(ranges, unit, &die->attrs[SLOT_RANGES]);
		return;
	}
	if (!debug_die_has(die, SLOT_HIGH_PC) ||
	    !debug_die_address(unit, die, SLOT_LOW_PC, &range.begin))
		return;
	/* The end is an address or, since DWARF 4, a length. */
	if (!debug_die_address(unit, die, SLOT_HIGH_PC, &range.end))
		range.end = range.begin + debug_die_uint(die, SLOT_HIGH_PC);
	if (range.begin < range.end)
		vec_push(ranges, range);
}
