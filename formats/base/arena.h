/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory with one lifetime.
 *
 * A zeroed arena is ready for use. Allocation cannot fail: running out of memory ends the program with
 * one line, so sizes that come from input must be bounded by the bytes present before they get here.
 * Not thread-safe; one arena per thread.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "formats/base/compiler.h"

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /* newest first */
	char *pos, *end;	    /* free room in the newest chunk */
	size_t used;		    /* bytes handed out, padding included */
};

/* @len zeroed bytes, aligned for any type, valid until arena_deinit() or arena_reset(). */
void *arena_alloc(struct arena *arena, size_t len);

/* @count zeroed elements of @size bytes; the product is checked. */
void *arena_array(struct arena *arena, size_t count, size_t size);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), (count), sizeof(type)))

/* A copy of @len bytes, followed by a NUL that is not counted. */
char *arena_memdup(struct arena *arena, const void *data, size_t len);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *fmt, ...) PRINTF(2, 3);

/* Forget everything but keep the newest chunk for reuse. */
void arena_reset(struct arena *arena);

void arena_deinit(struct arena *arena);

#endif
