/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_binary.h - the file that an interpreter lies in, and where in it things are.
 *
 * Its symbols are read once per file, however many processes run it. Not thread-safe.
 */
#ifndef RECORD_MANAGED_BINARY_H
#define RECORD_MANAGED_BINARY_H

#include "formats/base/vec.h"
#include "record/managed/managed.h"

#define MANAGED_FILES_MAX 64

struct managed_file;

/* Empty when zeroed. */
struct managed_files {
	VEC(struct managed_file *) items;
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
 * none of the runtime's symbols; or if there are MANAGED_FILES_MAX already, which *@ret_why, otherwise untouched, then says. @ret_why may be NULL.
 * Valid until managed_files_deinit().
 */
const struct managed_binary *managed_files_get(struct managed_files *files,
					       const struct managed_runtime *runtime,
					       const struct managed_place *place,
					       uint64_t *ret_bias, const char **ret_why);
/* Copy up to @len bytes that the file of @binary, from managed_files_get(), holds at link-time address @vaddr; how many. */
size_t managed_binary_copy(const struct managed_binary *binary, uint64_t vaddr, void *ret, size_t len);

void managed_files_deinit(struct managed_files *files);

/*
 * The first executable mapping of process @pid that the interpreter of @runtime may lie in; false if there is none.
 * ret->path lies in @path_room, of PATH_MAX bytes.
 */
bool managed_place_find(uint32_t pid, const struct managed_runtime *runtime, char *path_room,
			struct managed_place *ret);

#endif
