/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.c - names that the kernel gives mappings: perf_event_mmap_event() in kernel/events/core.c,
 * show_map_vma() in fs/proc/task_mmu.c.
 */
#include "formats/process/mapping.h"

#include "formats/base/text.h"

#include <string.h>

#define DELETED " (deleted)"

bool mapping_is_anonymous(const struct event_mmap *map)
{
	/* The later ones are files of a kind; with a build ID they hold a program after all. */
	static const char *const prefixes[] = {
		"//",        "[heap]",    "[stack", "[anon",          "anon_inode:", "/memfd:",
		"/dev/zero", "/dev/shm/", "/SYSV",  "/anon_hugepage", "/dmabuf:",
	};

	if (!*map->path)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		if (text_begins(map->path, prefixes[i]))
			return !map->build_id_len;
	}
	return false;
}

bool mapping_is_file(const struct event_mmap *map)
{
	return map->path[0] == '/' && !mapping_is_anonymous(map);
}

size_t mapping_path_len(const char *path, bool *ret_deleted)
{
	size_t len = strlen(path), suffix = strlen(DELETED);

	*ret_deleted = len > suffix && strcmp(path + len - suffix, DELETED) == 0;
	return *ret_deleted ? len - suffix : len;
}
