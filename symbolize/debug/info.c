/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - address to unit, then the unit's line table and its functions.
 *
 * Units are found by their own ranges, since .debug_aranges is often not there or does not list all. The
 * innermost frame's position comes from the line table, the others' from where the call that was
 * inlined stands.
 */
#include "symbolize/debug/info.h"

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "symbolize/debug/inlines.h"
#include "symbolize/debug/lines.h"
#include "symbolize/debug/ranges.h"
#include "symbolize/debug/split.h"
#include "symbolize/debug/supplement.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#define ORIGINS_MAX  8 /* instance, abstract instance, declaration; more is a cycle */
#define NAME_LEN_MAX (1u << 16)
#define QUALIFIED_MAX 4096 /* of a name that is put together; longer ones end there */

/* What was opened of one unit. */
struct opened {
	struct debug_lines *lines;
	struct inlines *inlines;
	struct debug_unit *unit; /* with the entries: the split unit if there is one */
	struct map names; /* offset of an entry without linkage name -> its qualified name */
};

struct debug_info {
	struct image *image, *alt_image;
	struct debug_source source, alt;
	struct debug_split *split; /* NULL until needed */
	struct range_overlay *layers;
	VEC(uint32_t) owners;  /* of each layer: index of the unit */
	struct opened *opened; /* by index of the unit */
	struct map lines;      /* offset in .debug_line -> struct debug_lines * */
	struct arena names;    /* that are made of several */
	const char *missing;
	size_t missing_at; /* index of the unit that reported it, so that the order of look-ups does not matter */
};

static bool is_executable(const struct image *img, uint64_t vaddr)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++) {
		if (segments[i].exec && vaddr - segments[i].vaddr < segments[i].memory_len)
			return true;
	}
	return false;
}

static bool has_code(const struct debug_unit *unit)
{
	return unit->tag == DW_TAG_compile_unit || unit->tag == DW_TAG_skeleton_unit;
}

/* Units may share a table. */
static struct debug_lines *lines_of(struct debug_info *info, const struct debug_unit *unit)
{
	bool is_new;
	uint64_t *slot =
		map_put(&info->lines, unit->has_lines ? unit->line_offset : UINT64_MAX, &is_new);

	if (is_new)
		*slot = (uintptr_t)debug_lines_new(unit);
	return (struct debug_lines *)(uintptr_t)*slot;
}

/* From the last to the first, so that the first holds where units overlap. Code that was thrown away is at 0. */
static void index_units(struct debug_info *info)
{
	struct debug_ranges ranges = { 0 };
	struct debug_ranges kept = { 0 };
	struct debug_die die;

	for (size_t i = info->source.nunits; i-- > 0;) {
		struct debug_unit *unit = &info->source.units[i];

		if (!has_code(unit) || !debug_die_read(unit, unit->root, NULL, &die))
			continue;
		ranges.len = 0;
		debug_ranges_append(&ranges, unit, &die);
		if (!ranges.len && !debug_die_has(&die, SLOT_HIGH_PC) && unit->has_lines)
			debug_lines_ranges(lines_of(info, unit), &ranges);
		for (size_t j = 0; j < ranges.len; j++) {
			if (!ranges.items[j].begin ||
			    !is_executable(info->image, ranges.items[j].begin))
				continue;
			vec_push(&kept, ranges.items[j]);
			vec_push(&info->owners, (uint32_t)i);
		}
	}
	info->layers = range_overlay_new(kept.items, kept.len);
	vec_deinit(&ranges);
	vec_deinit(&kept);
}

static void open_supplement(struct debug_info *info)
{
	if (!debug_supplement_is_linked(info->image))
		return;
	info->alt_image = debug_supplement_open(info->image);
	if (!info->alt_image || !debug_source_init(&info->alt, info->alt_image, "")) {
		info->missing = "the supplementary file of dwz";
		return;
	}
	debug_units_read(&info->alt);
	info->source.alt = &info->alt;
}

struct debug_info *debug_info_new(struct image *img)
{
	struct debug_info *info;
	struct image_section section;

	if (!image_section(img, ".debug_info", &section))
		return NULL;
	info = memory_zeroed(1, sizeof(*info));
	info->image = img;
	debug_source_init(&info->source, img, "");
	open_supplement(info);
	debug_units_read(&info->source);
	info->opened = memory_zeroed(info->source.nunits, sizeof(*info->opened));
	index_units(info);
	return info;
}

static void close_unit(struct opened *opened)
{
	inlines_free(opened->inlines);
	map_deinit(&opened->names);
}

void debug_info_free(struct debug_info *info)
{
	size_t pos = 0;

	if (!info)
		return;
	for (size_t i = 0; i < info->source.nunits; i++)
		close_unit(&info->opened[i]);
	for (const struct map_slot *slot; (slot = map_next(&info->lines, &pos));)
		debug_lines_free((struct debug_lines *)(uintptr_t)slot->value);
	map_deinit(&info->lines);
	arena_deinit(&info->names);
	free(info->opened);
	vec_deinit(&info->owners);
	range_overlay_free(info->layers);
	debug_split_free(info->split);
	debug_source_deinit(&info->source);
	debug_source_deinit(&info->alt);
	image_close(info->alt_image);
	free(info);
}

static struct opened *open_lines(struct debug_info *info, uint64_t vaddr)
{
	uint32_t layer = range_overlay_find(info->layers, vaddr);

	if (layer == RANGE_OVERLAY_NONE)
		return NULL;
	uint32_t index = info->owners.items[layer];
	struct opened *opened = &info->opened[index];

	if (!opened->lines)
		opened->lines = lines_of(info, &info->source.units[index]);
	return opened;
}

/* One is reported: that of the first unit, whichever was looked up first. */
static void note_missing(struct debug_info *info, const struct debug_unit *unit)
{
	size_t at = (size_t)(unit - info->source.units);

	if (info->missing && at >= info->missing_at)
		return;
	info->missing = unit->dwo_name;
	info->missing_at = at;
}

/* The unit with the entries of @unit: itself, or what it is the skeleton of. */
static struct debug_unit *full_unit(struct debug_info *info, struct debug_unit *unit)
{
	if (!unit->dwo_name)
		return unit;
	if (!info->split)
		info->split = debug_split_new(image_path(info->image));
	struct debug_unit *found = debug_split_find(info->split, unit);

	if (!found)
		note_missing(info, unit);
	return found ? found : unit;
}

static void open_inlines(struct debug_info *info, struct opened *opened)
{
	if (opened->inlines)
		return;
	opened->unit = full_unit(info, &info->source.units[opened - info->opened]);
	opened->inlines = inlines_new(opened->unit);
}

/* Files are numbers in the table of the unit, of the skeleton for a split one. Not those of dwz's shared units. */
static const char *decl_file(struct debug_info *info, const struct debug_unit *unit,
			     const struct debug_die *die)
{
	const struct debug_unit *owner = unit->skeleton ? unit->skeleton : unit;

	if (!debug_die_has(die, SLOT_DECL_FILE) || owner->source != &info->source)
		return NULL;
	return debug_lines_file(lines_of(info, owner), debug_die_uint(die, SLOT_DECL_FILE));
}

/* Names may share their bytes, so that each is as long as the section: what no compiler writes is none. */
static const char *name_in(const struct debug_unit *unit, const struct debug_die *die,
			   enum debug_slot slot)
{
	const char *name = debug_die_string(unit, die, slot);

	return name && strnlen(name, NAME_LEN_MAX) < NAME_LEN_MAX ? name : NULL;
}

/* The name that the entry at @offset has by itself or from what it is an instance of; NULL if none. */
static const char *plain_name(struct debug_unit *unit, uint64_t offset)
{
	struct debug_die die;

	for (int i = 0; i < ORIGINS_MAX && debug_die_read(unit, offset, NULL, &die); i++) {
		if (debug_die_has(&die, SLOT_NAME))
			return name_in(unit, &die, SLOT_NAME);
		if (!debug_die_ref(unit, &die, SLOT_ABSTRACT_ORIGIN, &unit, &offset) &&
		    !debug_die_ref(unit, &die, SLOT_SPECIFICATION, &unit, &offset))
			break;
	}
	return NULL;
}

static const char *scope_name(struct debug_info *info, struct debug_unit *unit,
			      const struct inlines_scope *scope, const char *inner)
{
	const char *name = scope->ordinal ? NULL : plain_name(unit, scope->offset);

	if (name)
		return name;
	if (scope->ordinal)
		return arena_printf(&info->names, "{%s#%" PRIu32 "}",
				    strcmp(inner, "operator()") == 0 ? "lambda" : "unnamed",
				    scope->ordinal);
	return scope->tag == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed}";
}

/* Ada's names say where they belong by themselves: "prog__s__sort" lies in "prog__s", or in "prog". */
static bool names_scope(const char *name, const char *scope)
{
	size_t len = strlen(scope);

	return strncmp(name, scope, len) == 0 && strncmp(name + len, "__", 2) == 0;
}

/*
 * Lambdas and methods of local classes have no linkage name that tells where they belong: "main::{lambda#1}::operator()" is
 * put together from what the entry at @offset lies in. It and its scopes are in the unit that was opened.
 */
static void qualify(struct debug_info *info, struct opened *opened, uint64_t offset,
		    struct debug_frame *frame)
{
	struct inlines_scope scopes[INLINES_SCOPES_MAX];
	size_t count = inlines_scopes(opened->inlines, opened->unit, offset, scopes);
	const char *name = frame->name, *inner = frame->name;
	struct debug_die die;
	uint64_t *known = count ? map_put(&opened->names, offset, NULL) : NULL;

	for (size_t i = 0; known && !*known && i < count && strlen(name) < QUALIFIED_MAX; i++) {
		inner = scope_name(info, opened->unit, &scopes[i], inner);
		if (names_scope(name, inner))
			continue;
		name = arena_printf(&info->names, "%s::%s", inner, name);
	}
	if (known && !*known)
		*known = (uintptr_t)name;
	if (known)
		frame->name = (const char *)(uintptr_t)*known;
	if (frame->decl_line || !count || !debug_die_read(opened->unit, scopes[0].offset, NULL, &die))
		return;
	frame->decl_line = (uint32_t)debug_die_uint(&die, SLOT_DECL_LINE);
	frame->decl_file = decl_file(info, opened->unit, &die);
}

/* Fill in what the entry at @offset and what it is an instance or the definition of say. */
static void describe(struct debug_info *info, struct opened *opened, uint64_t offset,
		     struct debug_frame *frame)
{
	struct debug_unit *unit = opened->unit;
	struct debug_die die;

	for (int i = 0; i < ORIGINS_MAX && debug_die_read(unit, offset, NULL, &die); i++) {
		image_passed(unit->source->image, IMAGE_PLACE);
		if (!frame->linkage_name)
			frame->linkage_name = name_in(unit, &die, SLOT_LINKAGE_NAME);
		if (!frame->name)
			frame->name = name_in(unit, &die, SLOT_NAME);
		if (!frame->decl_line) {
			frame->decl_line = (uint32_t)debug_die_uint(&die, SLOT_DECL_LINE);
			frame->decl_file = decl_file(info, unit, &die);
		}
		if (!debug_die_ref(unit, &die, SLOT_ABSTRACT_ORIGIN, &unit, &offset) &&
		    !debug_die_ref(unit, &die, SLOT_SPECIFICATION, &unit, &offset))
			break;
	}
	if (frame->name && !frame->linkage_name && unit == opened->unit)
		qualify(info, opened, offset, frame);
}

/* Where the call that @offset, an inlined one, replaces stands. */
static void locate_call(struct opened *opened, uint64_t offset, struct debug_frame *caller)
{
	struct debug_die die;

	if (!debug_die_read(opened->unit, offset, NULL, &die))
		return;
	if (debug_die_has(&die, SLOT_CALL_FILE))
		caller->file =
			debug_lines_file(opened->lines, debug_die_uint(&die, SLOT_CALL_FILE));
	caller->line = (uint32_t)debug_die_uint(&die, SLOT_CALL_LINE);
	caller->column = (uint32_t)debug_die_uint(&die, SLOT_CALL_COLUMN);
}

static bool locate(struct opened *opened, uint64_t vaddr, struct debug_frame *frame)
{
	struct debug_position position;

	if (!debug_lines_find(opened->lines, vaddr, &position))
		return false;
	frame->file = debug_lines_file(opened->lines, position.file);
	frame->line = position.line;
	frame->column = position.column;
	return true;
}

size_t debug_info_find(struct debug_info *info, uint64_t vaddr,
		       struct debug_frame ret[DEBUG_INFO_FRAMES_MAX])
{
	uint64_t offsets[DEBUG_INFO_FRAMES_MAX];
	struct opened *opened = open_lines(info, vaddr);

	if (!opened)
		return 0;
	open_inlines(info, opened);
	ret[0] = (struct debug_frame){ 0 };
	bool located = locate(opened, vaddr, &ret[0]);
	size_t count = inlines_find(opened->inlines, vaddr, offsets, DEBUG_INFO_FRAMES_MAX);

	if (count > DEBUG_INFO_FRAMES_MAX) /* deeper than any compiler goes: nothing to rely on */
		count = 0;
	for (size_t i = 0; i < count; i++) {
		if (i)
			ret[i] = (struct debug_frame){ 0 };
		if (i)
			locate_call(opened, offsets[i - 1], &ret[i]);
		describe(info, opened, offsets[i], &ret[i]);
	}
	return count ? count : located;
}

uint64_t debug_info_next(struct debug_info *info, uint64_t vaddr)
{
	uint64_t next = range_overlay_next(info->layers, vaddr);
	struct opened *opened = open_lines(info, vaddr);

	if (!opened)
		return next;
	open_inlines(info, opened);
	next = MIN(next, debug_lines_next(opened->lines, vaddr));
	return MIN(next, inlines_next(opened->inlines, vaddr));
}

bool debug_info_line(struct debug_info *info, uint64_t vaddr, const char **ret_file,
		     uint32_t *ret_line)
{
	struct opened *opened = open_lines(info, vaddr);
	struct debug_frame frame = { 0 };

	if (!opened || !locate(opened, vaddr, &frame) || !frame.file)
		return false;
	*ret_file = frame.file;
	*ret_line = frame.line;
	return true;
}

const char *debug_info_missing(const struct debug_info *info)
{
	return info->missing;
}
