/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines.c - one pass over the entries of a unit, functions and inlined calls laid over each other.
 *
 * An entry is nested in the entry that it is a child of, whatever their ranges say, so each remembers the
 * nearest one above it. Offsets are kept relative to the unit, in 32 bits.
 */
#include "symbolize/debug/inlines.h"

#include "formats/base/vec.h"
#include "symbolize/debug/ranges.h"
#include "symbolize/module/range_overlay.h"

#include <dwarf.h>

#define NONE UINT32_MAX

struct node {
	uint32_t offset; /* of the entry in its unit */
	uint32_t parent; /* NONE for a function */
};

struct inlines {
	uint64_t unit_offset;
	VEC(struct node) nodes;
	VEC(uint32_t) owners; /* of each layer: index in @nodes */
	struct range_overlay *layers;
};

struct walk {
	struct inlines *inlines;
	struct debug_unit *unit;
	struct debug_ranges ranges;
	VEC(uint32_t) enclosing; /* for each level of nesting the node that children belong to */
};

static bool is_code(uint16_t tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Returns the node that the children of @die belong to. */
static uint32_t add_node(struct walk *walk, const struct debug_die *die, uint32_t parent)
{
	struct inlines *inlines = walk->inlines;
	struct node node = { .offset = (uint32_t)(die->offset - walk->unit->offset),
			     .parent = die->tag == DW_TAG_subprogram ? NONE : parent };
	size_t before = walk->ranges.len;

	debug_ranges_append(&walk->ranges, walk->unit, die);
	/* An abstract function has no code; nor can anything in it. */
	if (walk->ranges.len == before)
		return die->tag == DW_TAG_subprogram ? NONE : parent;
	for (size_t i = before; i < walk->ranges.len; i++)
		vec_push(&inlines->owners, (uint32_t)inlines->nodes.len);
	vec_push(&inlines->nodes, node);
	return (uint32_t)inlines->nodes.len - 1;
}

static void walk_unit(struct walk *walk)
{
	struct debug_unit *unit = walk->unit;
	struct debug_die die;

	for (uint64_t offset = unit->root; debug_die_read(unit, offset, is_code, &die);
	     offset = die.next) {
		uint32_t parent =
			walk->enclosing.len ? walk->enclosing.items[walk->enclosing.len - 1] : NONE;

		if (!die.tag) {
			if (walk->enclosing.len)
				walk->enclosing.len--;
			continue;
		}
		if (is_code(die.tag))
			parent = add_node(walk, &die, parent);
		if (die.children)
			vec_push(&walk->enclosing, parent);
	}
}

struct inlines *inlines_new(struct debug_unit *unit)
{
	struct inlines *inlines = memory_zeroed(1, sizeof(*inlines));
	struct walk walk = { .inlines = inlines, .unit = unit };

	inlines->unit_offset = unit->offset;
	if (unit->end - unit->offset < UINT32_MAX)
		walk_unit(&walk);
	inlines->layers = range_overlay_new(walk.ranges.items, walk.ranges.len);
	vec_fit(&inlines->nodes);
	vec_fit(&inlines->owners);
	image_passed(unit->source->image, unit->end - unit->offset);
	vec_deinit(&walk.ranges);
	vec_deinit(&walk.enclosing);
	return inlines;
}

void inlines_free(struct inlines *inlines)
{
	if (!inlines)
		return;
	vec_deinit(&inlines->nodes);
	vec_deinit(&inlines->owners);
	range_overlay_free(inlines->layers);
	free(inlines);
}

size_t inlines_find(const struct inlines *inlines, uint64_t vaddr, uint64_t *ret, size_t max)
{
	uint32_t layer = range_overlay_find(inlines->layers, vaddr);
	uint32_t index = layer == RANGE_OVERLAY_NONE ? NONE : inlines->owners.items[layer];
	size_t count = 0;

	for (; index != NONE && count <= max; index = inlines->nodes.items[index].parent) {
		if (count < max)
			ret[count] = inlines->unit_offset + inlines->nodes.items[index].offset;
		count++;
	}
	return count;
}

uint64_t inlines_next(const struct inlines *inlines, uint64_t vaddr)
{
	return range_overlay_next(inlines->layers, vaddr);
}
