/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_outline.h - rows of a table that are a tree: each is a call of what stands above it and is one step less indented.
 */
#ifndef FORMATS_IMPORT_OUTLINE_H
#define FORMATS_IMPORT_OUTLINE_H

#include "formats/base/vec.h"
#include "formats/profile/import/import_build.h"

#define IMPORT_OUTLINE_DEPTH_MAX 65536

/* A zeroed one is empty. */
struct import_outline {
	VEC(uint32_t) stacks; /* of the last row of each depth */
};

/*
 * The stack of the next row, *@ret: of @location below the row one step above, or that row's own if it is PROFILE_NONE. False if @depth is
 * more than one step below the last row.
 */
static inline bool import_outline_add(struct import_outline *outline, struct profile *p, size_t depth, uint32_t location, uint32_t *ret)
{
	uint32_t stack;

	if (depth > outline->stacks.len || depth >= IMPORT_OUTLINE_DEPTH_MAX)
		return false;
	stack = depth ? outline->stacks.items[depth - 1] : 0;
	if (location != PROFILE_NONE)
		stack = import_stack(p, stack, location);
	outline->stacks.len = depth;
	vec_push(&outline->stacks, stack);
	*ret = stack;
	return true;
}

static inline void import_outline_deinit(struct import_outline *outline)
{
	vec_deinit(&outline->stacks);
}

#endif
