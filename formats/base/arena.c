/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - bump allocation in chunks that double up to a limit.
 */
#include "formats/base/arena.h"

#include "formats/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN     16
#define CHUNK_MIN (16 * 1024)
#define CHUNK_MAX (4 * 1024 * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	size_t size; /* of data[] */
	_Alignas(ALIGN) char data[];
};

static void add_chunk(struct arena *arena, size_t len)
{
	size_t size = arena->chunks ? MIN(arena->chunks->size * 2, CHUNK_MAX) : CHUNK_MIN;

	size = MAX(size, len);
	if (size > SIZE_MAX / 2)
		memory_exhausted(size);

	struct arena_chunk *chunk = memory_alloc(sizeof(*chunk) + size);

	chunk->next = arena->chunks;
	chunk->size = size;
	arena->chunks = chunk;
	arena->pos = chunk->data;
	arena->end = chunk->data + size;
}

void *arena_alloc(struct arena *arena, size_t len)
{
	size_t room = (size_t)(arena->end - arena->pos);
	size_t need = (len + ALIGN - 1) & ~(size_t)(ALIGN - 1);

	if (need < len)
		memory_exhausted(len);
	if (need > room || !arena->pos)
		add_chunk(arena, need);

	char *result = arena->pos;

	arena->pos += need;
	arena->used += need;
	return memset(result, 0, len);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t len;

	if (__builtin_mul_overflow(count, size, &len))
		memory_exhausted(SIZE_MAX);
	return arena_alloc(arena, len);
}

char *arena_memdup(struct arena *arena, const void *data, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (len)
		memcpy(copy, data, len);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_memdup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list args, again;

	va_start(args, fmt);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);

	char *text = arena_alloc(arena, (size_t)MAX(len, 0) + 1);

	if (len > 0)
		vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	return text;
}

static void free_chunks(struct arena_chunk *chunk)
{
	while (chunk) {
		struct arena_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void arena_reset(struct arena *arena)
{
	if (!arena->chunks)
		return;
	free_chunks(arena->chunks->next);
	arena->chunks->next = NULL;
	arena->pos = arena->chunks->data;
	arena->used = 0;
}

void arena_deinit(struct arena *arena)
{
	free_chunks(arena->chunks);
	*arena = (struct arena){ 0 };
}
