/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines.c - one pass over the entries of a unit, functions and inlined calls laid over each other.
 *
 * An entry is nested in the entry that it is a child of, whatever their ranges say, so each remembers the
 * nearest one above it. Offsets are kept relative to the unit, in 32 bits.
 */
#include "symbolize/debug/inlines.h"

#include "formats/base/bisect.h"
#include "formats/base/vec.h"
#include "symbolize/debug/ranges.h"
#include "symbolize/module/range_overlay.h"

#include <dwarf.h>
#include <string.h>

#define NONE	    UINT32_MAX
#define UNNAMED_MAX 10000 /* scopes that are looked through for classes without a name */

struct node {
	uint32_t offset; /* of the entry in its unit */
	uint32_t parent; /* NONE for a function */
};

/* A namespace, class or function with entries below it. */
struct scope {
	uint32_t offset; /* of the entry in its unit */
	uint32_t parent; /* index in @scopes, or NONE */
	uint16_t tag;
};

/* A function below a scope. */
struct member {
	uint32_t offset; /* ascending */
	uint32_t scope;
};

struct inlines {
	uint64_t unit_offset;
	VEC(struct scope) scopes;
	VEC(struct member) members;
	VEC(struct node) nodes;
	VEC(uint32_t) owners; /* of each layer: index in @nodes */
	struct range_overlay *layers;
};

/* What children belong to: a node and a scope. */
struct level {
	uint32_t node, scope;
};

struct walk {
	struct inlines *inlines;
	struct debug_unit *unit;
	struct debug_ranges ranges;
	VEC(struct level) enclosing; /* for each level of nesting */
};

static bool is_code(uint16_t tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static bool is_scope(uint16_t tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_subprogram;
}

/* Returns the scope that the children of @die belong to. */
static uint32_t add_scope(struct walk *walk, const struct debug_die *die, uint32_t parent)
{
	struct inlines *inlines = walk->inlines;
	uint32_t offset = (uint32_t)(die->offset - walk->unit->offset);

	if (die->tag == DW_TAG_subprogram && parent != NONE)
		vec_push(&inlines->members, ((struct member){ offset, parent }));
	if (!die->children || !is_scope(die->tag))
		return parent;
	vec_push(&inlines->scopes, ((struct scope){ offset, parent, die->tag }));
	return (uint32_t)inlines->scopes.len - 1;
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
		struct level level = walk->enclosing.len
					     ? walk->enclosing.items[walk->enclosing.len - 1]
					     : (struct level){ NONE, NONE };

		if (!die.tag) {
			if (walk->enclosing.len)
				walk->enclosing.len--;
			continue;
		}
		if (is_code(die.tag))
			level.node = add_node(walk, &die, level.node);
		level.scope = add_scope(walk, &die, level.scope);
		if (die.children)
			vec_push(&walk->enclosing, level);
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
	vec_fit(&inlines->scopes);
	vec_fit(&inlines->members);
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
	vec_deinit(&inlines->scopes);
	vec_deinit(&inlines->members);
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

static bool inlines_is_unnamed(const struct debug_unit *unit, const struct debug_die *die)
{
	const char *name = debug_die_string(unit, die, SLOT_NAME);

	return !name || *name == '<' || strncmp(name, "._anon", 6) == 0;
}

static bool is_class(uint16_t tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* How many unnamed classes there are up to @index in its scope; 0 if that one has a name. */
static uint32_t ordinal_of(const struct inlines *inlines, struct debug_unit *unit, uint32_t index)
{
	const struct scope *own = &inlines->scopes.items[index];
	uint32_t first = own->parent == NONE ? 0 : own->parent + 1, ordinal = 0;
	struct debug_die die;

	if (!is_class(own->tag) || index - first > UNNAMED_MAX ||
	    !debug_die_read(unit, unit->offset + own->offset, NULL, &die) ||
	    !inlines_is_unnamed(unit, &die))
		return 0;
	for (uint32_t i = first; i <= index; i++) {
		const struct scope *scope = &inlines->scopes.items[i];

		ordinal += scope->parent == own->parent && is_class(scope->tag) &&
			   debug_die_read(unit, unit->offset + scope->offset, NULL, &die) &&
			   inlines_is_unnamed(unit, &die);
	}
	return ordinal;
}

static uint32_t scope_of(const struct inlines *inlines, uint64_t offset)
{
	size_t from = BISECT(inlines->members.len, i, inlines->members.items[i].offset < offset);

	if (from == inlines->members.len || inlines->members.items[from].offset != offset)
		return NONE;
	return inlines->members.items[from].scope;
}

size_t inlines_scopes(const struct inlines *inlines, struct debug_unit *unit, uint64_t offset,
		      struct inlines_scope ret[INLINES_SCOPES_MAX])
{
	uint32_t index = scope_of(inlines, offset - inlines->unit_offset);
	size_t count = 0;

	for (; index != NONE && count < INLINES_SCOPES_MAX; index = inlines->scopes.items[index].parent)
		ret[count++] = (struct inlines_scope){
			.offset = inlines->unit_offset + inlines->scopes.items[index].offset,
			.tag = inlines->scopes.items[index].tag,
			.ordinal = ordinal_of(inlines, unit, index),
		};
	return count;
}
