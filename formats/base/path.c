/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/base/path.h"

#include <string.h>

const char *path_without_dots(struct arena *arena, const char *path)
{
	char *copy = arena_strdup(arena, path), *to = copy;
	const char *from = copy;

	while (*from) {
		size_t len = strcspn(from, "/") + (from[strcspn(from, "/")] == '/');
		char *before = to;

		if (strncmp(from, "./", 2) == 0 && to > copy) {
			from += len;
			continue;
		}
		if (strncmp(from, "../", 3) == 0 && to > copy + 1) {
			for (before = to - 1; before > copy && before[-1] != '/';)
				before--;
			if (strncmp(before, "../", 3) != 0) {
				to = before;
				from += len;
				continue;
			}
		}
		memmove(to, from, len);
		to += len;
		from += len;
	}
	*to = 0;
	return copy;
}

const char *path_shown(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *path_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
