/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - checked malloc. The one place besides the command layer that may end the program: with no
 * memory left there is nothing a caller could do but the same.
 */
#include "formats/base/memory.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#define PAGE_LEN 4096 /* the smallest there is */
#define LARGE_PAGE ((uintptr_t)2 << 20)
#define MAPPED_APART (16 << 20)

/* A thread's heap has 64 MiB at most, of which these leave some to what is there. */
#define ROOMS	 4
#define ROOM_LEN ((size_t)15 << 20)

_Static_assert(ROOM_LEN < MAPPED_APART, "a room is part of the heap");

void memory_keep(void)
{
	mallopt(M_MMAP_THRESHOLD, MAPPED_APART);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_TOP_PAD, 1 << 20);
	memory_keep_thread();
}

void memory_keep_thread(void)
{
	char *rooms[ROOMS];

	for (size_t i = 0; i < ROOMS; i++) {
		rooms[i] = malloc(ROOM_LEN);

		uintptr_t begin = ((uintptr_t)rooms[i] + LARGE_PAGE - 1) & -LARGE_PAGE;
		uintptr_t end = ((uintptr_t)rooms[i] + ROOM_LEN) & -LARGE_PAGE;

		if (rooms[i])
			madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* no harm if it is refused */
	}
	for (size_t i = 0; i < ROOMS; i++)
		free(rooms[i]);
}

/* Pieces lie in the heap; a mapping of its own would be given back, and not be had again where the system refuses more. */
#define PIECES	  128
#define PIECE_LEN ((size_t)64 << 10)

#define SPEAKS_SECONDS 10 /* at most, once another thread has no memory either */

/* There is one heap, and one end of it. */
static struct {
	void (*words)(void *context);
	void *context;
	void *reserve[PIECES];
	int status;
	_Atomic bool ending; /* a thread says its last words: @speaker */
	pthread_t speaker;
} last;

static void free_reserve(void)
{
	for (size_t i = 0; i < PIECES; i++) {
		free(last.reserve[i]);
		last.reserve[i] = NULL;
	}
}

void memory_last_words(void (*words)(void *context), void *context, int status)
{
	free_reserve();
	for (size_t i = 0; words && i < PIECES; i++)
		last.reserve[i] = malloc(PIECE_LEN);
	last.words = words;
	last.context = context;
	last.status = status;
}

void memory_no_last_words(void)
{
	last.words = NULL;
}

/* Another thread is ending the program: that is to be let finish, but it may want a lock that is held here. */
__attribute__((noreturn)) static void wait_for_speaker(void)
{
	for (unsigned left = SPEAKS_SECONDS; left;)
		left = sleep(left);
	_exit(last.status);
}

void memory_exhausted(size_t len)
{
	void (*words)(void *context) = last.words;

	fprintf(stderr, "%s: out of memory: cannot allocate %zu bytes\n",
		program_invocation_short_name, len);
	if (!words)
		exit(1);
	if (atomic_exchange(&last.ending, true)) {
		if (!pthread_equal(last.speaker, pthread_self()))
			wait_for_speaker();
		_exit(last.status); /* not even for that */
	}
	last.speaker = pthread_self();
	mallopt(M_TRIM_THRESHOLD, INT_MAX); /* what is freed stays in the heap */
	free_reserve();
	words(last.context);
	/* Other threads are at work, perhaps: nothing is torn down under them. */
	_exit(last.status);
}

void *memory_alloc(size_t len)
{
	void *ptr = malloc(len ? len : 1);

	if (!ptr)
		memory_exhausted(len);
	return ptr;
}

void *memory_zeroed(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size ? size : 1);

	if (!ptr)
		memory_exhausted(count * size);
	return ptr;
}

void *memory_table(size_t count, size_t size)
{
	volatile char *bytes = memory_zeroed(count, size);

	for (size_t i = 0; i < count * size; i += PAGE_LEN)
		bytes[i] = 0;
	return (void *)bytes;
}

void *memory_resize(void *ptr, size_t count, size_t size)
{
	size_t len;

	if (__builtin_mul_overflow(count, size, &len))
		memory_exhausted(SIZE_MAX);
	ptr = realloc(ptr, len ? len : 1);
	if (!ptr)
		memory_exhausted(len);
	return ptr;
}

char *memory_strdup(const char *text)
{
	size_t len = strlen(text) + 1;

	return memcpy(memory_alloc(len), text, len);
}

void memory_freep(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}
