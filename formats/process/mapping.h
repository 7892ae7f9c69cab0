/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - what the path of a mapping says: a file, a file that was gone, or no file at all.
 */
#ifndef FORMATS_MAPPING_H
#define FORMATS_MAPPING_H

#include "formats/event.h"

#include <stdbool.h>
#include <stddef.h>

/* Memory without a file of code behind it, such as a JIT runs from: "//anon", "[heap]", "/memfd:…". */
bool mapping_is_anonymous(const struct event_mmap *map);

/* Is there a file at the path, or was there: "/usr/bin/vi", but not "[vdso]" or "//anon"? */
bool mapping_is_file(const struct event_mmap *map);

/* The length of @path without " (deleted)", which the kernel appends; *@ret_deleted: it was there. */
size_t mapping_path_len(const char *path, bool *ret_deleted);

#endif
