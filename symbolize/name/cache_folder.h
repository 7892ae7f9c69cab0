/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_folder.h - a folder of small files that may be lost at any time: read whole, replaced whole, the longest unused
 * removed when there are too many.
 *
 * Safe to use by several processes at a time: a file appears under its name only when it is complete, and has one content until
 * the next replaces it. Names are plain file names without a dot in front.
 */
#ifndef SYMBOLIZE_CACHE_FOLDER_H
#define SYMBOLIZE_CACHE_FOLDER_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define CACHE_FILE_MAX	 (64u << 20)  /* bytes of one file; larger ones are not read, nor written */
#define CACHE_FOLDER_MAX (256u << 20) /* of all */

/*
 * Where this user's is: $XDG_CACHE_HOME/preport, else ~/.cache/preport. NULL if neither is set and absolute, or what there
 * is belongs to somebody else (as with sudo, which would leave files there that their owner cannot replace).
 */
const char *cache_folder_path(struct arena *arena);

/*
 * The content of @name, to be freed; NULL if it is not there, is no plain file of this user, or is too large. It
 * counts as used.
 */
uint8_t *cache_folder_read(const char *folder, const char *name, size_t *ret_len);

/*
 * Replace @name by @len bytes at @data, make the folder if there is none, and remove what was not used for longest if
 * there is too much. ERR_SYSTEM: it could not be written, and is as before.
 */
MUST_USE struct err *cache_folder_write(const char *folder, const char *name, const void *data,
					size_t len);

struct cache_file {
	const char *name;
	uint64_t len;
	struct timespec used;
};

/* All files, those used last first. None if there is no folder. ERR_SYSTEM: it cannot be read. */
MUST_USE struct err *cache_folder_list(const char *folder, struct arena *arena,
				       struct cache_file **ret, size_t *ret_count);

/* Remove all files. ERR_SYSTEM: one could not be. */
MUST_USE struct err *cache_folder_clear(const char *folder, uint64_t *ret_count, uint64_t *ret_len);

#endif
