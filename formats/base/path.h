/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - paths as text: whether there are such files is not asked.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "formats/base/arena.h"

/* @path without "." and "..", in @arena: "/a/b/../c" is "/a/c". Where b is a link elsewhere that is another file. */
const char *path_without_dots(struct arena *arena, const char *path);

/* What messages and headings call the input @path: "standard input" for "-". */
const char *path_shown(const char *path);

/* "c" of "/a/b/c"; all of a path that ends in a slash or has none. */
const char *path_last_part(const char *path);

#endif
