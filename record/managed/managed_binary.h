/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_binary.h - the file of an interpreter, and its symbols.
 *
 * Symbols are read once per file, however many processes run it. The file may be another user's: it may block, or change while it
 * is read. So a foreign_reader opens and parses it and sends back only the symbols.
 * Not thread-safe.
 */
#ifndef RECORD_MANAGED_BINARY_H
#define RECORD_MANAGED_BINARY_H

#include "formats/base/vec.h"
#include "record/managed/managed.h"
#include "record/task/foreign_reader.h"

#define MANAGED_FILES_MAX 1024
#define MANAGED_FILES_OF_USER_MAX 256 /* but for root */

struct image;
struct managed_file;

/* Empty when zeroed. */
struct managed_files {
	struct foreign_reader *reader; /* freed with it; NULL: the caller itself reads, and may wait for ever */
	VEC(struct managed_file *) items;
	size_t max, max_of_user; /* 0, except in tests: those above */
};

/* Where the file is mapped in a process. */
struct managed_place {
	uint32_t pid;
	uint64_t start, end, offset; /* of its executable mapping */
	uint64_t device, inode;
	const char *path;
};

/*
 * The binary at @place, for @runtime, and what to add to its link-time addresses there; NULL if it cannot be read or has
 * none of the runtime's symbols; or if it did not answer or there are MANAGED_FILES_MAX interpreters already, or its user's MANAGED_FILES_OF_USER_MAX;
 * only then *@ret_why is set. @ret_why may be NULL. Valid until managed_files_deinit().
 */
const struct managed_binary *managed_files_get(struct managed_files *files,
					       const struct managed_runtime *runtime,
					       const struct managed_place *place,
					       uint64_t *ret_bias, const char **ret_why);
void managed_files_deinit(struct managed_files *files);

/*
 * Recognise one of @count runtimes in the file at @place by its content: a symbol or the section, and the banner. *@ret is NULL if
 * there is none. False: no reader was available. The result is not cached.
 */
bool managed_files_which(struct managed_files *files, const struct managed_runtime *const *runtimes, size_t count,
			 const struct managed_place *place, const struct managed_runtime **ret);

/* In a foreign reader: the file that is mapped at @place, NULL if it cannot be had. Its pages may be cut off: they read as zeros then. */
struct image *managed_place_open(const struct managed_place *place);

/* A symbol: its link-time address and, if the file says so, its length. */
typedef void managed_symbol_fn(void *context, const char *name, uint64_t vaddr, uint64_t len);

/*
 * There as well: each symbol of @image whose name begins with one of @prefixes, up to NULL, and is no longer than MANAGED_SYMBOL_NAME_MAX;
 * some come twice.
 */
#define MANAGED_SYMBOL_NAME_MAX 127
void managed_image_symbols(struct image *image, const char *const *prefixes, managed_symbol_fn *take, void *context);

/* An executable mapping of a file; its path lasts as long as the call. False ends the walk. */
typedef bool managed_place_fn(void *context, const struct managed_place *place);

/* Visit the executable file mappings of process @pid. */
void managed_place_each(uint32_t pid, managed_place_fn *take, void *context);

/*
 * The first executable mapping of process @pid that the interpreter of @runtime may lie in; false if there is none.
 * ret->path lies in @path_room, of PATH_MAX bytes.
 */
bool managed_place_find(uint32_t pid, const struct managed_runtime *runtime, char *path_room,
			struct managed_place *ret);

/* The first executable mapping of the program that process @pid was started with; otherwise like managed_place_find(). */
bool managed_place_program(uint32_t pid, char *path_room, struct managed_place *ret);

#endif
