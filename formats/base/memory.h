/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - heap allocation that ends the program, with one line, when there is none left.
 *
 * What is allocated here is released with free(). Sizes that come from input are bounded by the bytes
 * present before they get here, so exhaustion means a small machine, not a hostile file.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "formats/base/compiler.h"

#include <stddef.h>

/* @len bytes, not zeroed. */
void *memory_alloc(size_t len);

/* @count zeroed elements of @size bytes. */
void *memory_zeroed(size_t count, size_t size);

/*
 * The same for a hash table. Where a page is looked at before it is written, the kernel maps a page of zeros that all share, and
 * replaces it at the first write, for which the other threads' processors are interrupted. So each is written here.
 */
void *memory_table(size_t count, size_t size);

/* realloc() to @count elements of @size bytes. */
void *memory_resize(void *ptr, size_t count, size_t size);

/* strdup() that cannot fail. */
char *memory_strdup(const char *text);

/*
 * For a program that grows until it ends: what free() gets is kept, and large pieces come from the same heap. Given back, memory
 * has to be zeroed again by the kernel, under a lock that all threads need.
 */
void memory_keep(void);

/*
 * The same for the heap that malloc() gives the calling thread: room for it is taken at once, in large pages where the system has
 * them. Otherwise it grows by a few pages at a time, each time under that lock, and every page costs a fault.
 */
void memory_keep_thread(void);

/*
 * When there is no memory left, call @words with @context once, with some megabytes set free for it, and then exit with @status.
 * It must not return to what was being done, which is half done. NULL: no more.
 */
void memory_last_words(void (*words)(void *context), void *context, int status);

/* In a process that was just forked: they are its parent's. What is set aside stays so, since each page that is given back would be copied. */
void memory_no_last_words(void);

/* Say that @len bytes could not be had, and exit with status 1, or as memory_last_words() set. */
__attribute__((noreturn)) void memory_exhausted(size_t len);

/* For CLEANUP() on a pointer that free() releases. */
void memory_freep(void *pointer_to_pointer);

#endif
