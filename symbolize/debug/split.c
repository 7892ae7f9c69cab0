/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.c - the package first, then the file that the skeleton names, where it was compiled or beside the
 * binary.
 */
#include "symbolize/debug/split.h"

#include "formats/base/vec.h"
#include "symbolize/debug/package.h"

#include <dwarf.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* A file, or a share of the package, that units are in. */
struct part {
	struct image *image; /* NULL for a share */
	struct debug_source source;
};

struct debug_split {
	struct arena arena;
	char *directory; /* of the binary */
	struct debug_package *package;
	VEC(struct part *) parts;
};

struct debug_split *debug_split_new(const char *path)
{
	struct debug_split *split = memory_zeroed(1, sizeof(*split));

	split->directory = dirname(arena_strdup(&split->arena, path));
	split->package = debug_package_open(arena_printf(&split->arena, "%s.dwp", path));
	return split;
}

static void part_free(struct part *part)
{
	debug_source_deinit(&part->source);
	image_close(part->image);
	free(part);
}

void debug_split_free(struct debug_split *split)
{
	if (!split)
		return;
	for (size_t i = 0; i < split->parts.len; i++)
		part_free(split->parts.items[i]);
	vec_deinit(&split->parts);
	debug_package_close(split->package);
	arena_deinit(&split->arena);
	free(split);
}

/* The unit of @source with the id of @skeleton. DWARF 4 has the id among the attributes. */
static struct debug_unit *find_unit(struct debug_source *source, struct debug_unit *skeleton)
{
	debug_units_read(source);
	for (size_t i = 0; i < source->nunits; i++) {
		struct debug_unit *unit = &source->units[i];

		if (unit->tag != DW_TAG_compile_unit || unit->id != skeleton->id)
			continue;
		debug_unit_attach(unit, skeleton);
		return unit;
	}
	return NULL;
}

/* Keep @part if the unit is in it. */
static struct debug_unit *adopt(struct debug_split *split, struct part *part,
				struct debug_unit *skeleton)
{
	struct debug_unit *unit = find_unit(&part->source, skeleton);

	if (unit)
		vec_push(&split->parts, part);
	else
		part_free(part);
	return unit;
}

static struct debug_unit *find_in_package(struct debug_split *split, struct debug_unit *skeleton)
{
	struct part *part = memory_zeroed(1, sizeof(*part));

	if (debug_package_find(split->package, skeleton->id, &part->source))
		return adopt(split, part, skeleton);
	part_free(part);
	return NULL;
}

static struct debug_unit *find_in_file(struct debug_split *split, const char *path,
				       struct debug_unit *skeleton)
{
	struct part *part = memory_zeroed(1, sizeof(*part));
	struct err *err = image_open(path, &part->image);

	err_free(err);
	if (!err && debug_source_init(&part->source, part->image, ".dwo"))
		return adopt(split, part, skeleton);
	part_free(part);
	return NULL;
}

struct debug_unit *debug_split_find(struct debug_split *split, struct debug_unit *skeleton)
{
	const char *name = skeleton->dwo_name;
	struct debug_unit *unit = NULL;

	if (!name || !skeleton->id)
		return NULL;
	if (split->package)
		unit = find_in_package(split, skeleton);
	if (unit)
		return unit;
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	const char *candidates[] = {
		name[0] == '/' ? name
			       : arena_printf(&split->arena, "%s/%s",
					      skeleton->comp_dir ? skeleton->comp_dir : ".", name),
		arena_printf(&split->arena, "%s/%s", split->directory, name),
		arena_printf(&split->arena, "%s/%s", split->directory, base),
	};

	for (size_t i = 0; i < ARRAY_LEN(candidates) && !unit; i++)
		unit = find_in_file(split, candidates[i], skeleton);
	return unit;
}
