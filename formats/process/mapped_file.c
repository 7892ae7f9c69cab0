/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped_file.c - mappings tell a file by device and inode or by build ID, hardly ever by both; the path counts as well,
 * since one file may have several.
 */
#include "formats/process/mapped_file.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/process/mapping.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const struct event_mmap *map, size_t path_len)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	hash = map_hash_bytes(hash, map->path, path_len);
	hash = map_hash_bytes(hash, map->build_id, map->build_id_len);
	hash = map_hash_bytes(hash, &map->device, sizeof(map->device));
	return map_hash_bytes(hash, &map->inode, sizeof(map->inode));
}

static bool is_same(const struct mapped_file *file, const struct event_mmap *map, size_t path_len)
{
	return !file->replaced && file->device == map->device && file->inode == map->inode &&
	       file->generation == map->generation && file->build_id_len == map->build_id_len &&
	       memcmp(file->build_id, map->build_id, map->build_id_len) == 0 &&
	       strncmp(file->path, map->path, path_len) == 0 && !file->path[path_len];
}

static struct mapped_file *at(const uint64_t *slot)
{
	return slot ? (struct mapped_file *)(uintptr_t)*slot : NULL;
}

static enum mapped_file_kind kind_of(const struct event_mmap *map)
{
	if (mapping_is_anonymous(map))
		return MAPPED_ANONYMOUS;
	if (mapping_is_file(map))
		return MAPPED_FILE;
	return strcmp(map->path, "[vdso]") == 0 ? MAPPED_VDSO : MAPPED_OTHER;
}

void mapped_files_init(struct mapped_files *files, size_t file_len,
		       void (*forget)(struct mapped_file *))
{
	*files = (struct mapped_files){ .file_len = file_len, .forget = forget };
}

static void free_file(struct mapped_file *file)
{
	if (file->files->forget)
		file->files->forget(file);
	free(file->path);
	free(file);
}

void mapped_files_deinit(struct mapped_files *files)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&files->by_hash, &pos));) {
		struct mapped_file *next;

		for (struct mapped_file *file = at(&slot->value); file; file = next) {
			next = file->next_same_hash;
			free_file(file);
		}
	}
	map_deinit(&files->by_hash);
}

/* ---- those that no one refers to -------------------------------------------------------------------- */

static void leave_idle(struct mapped_file *file)
{
	struct mapped_files *files = file->files;

	*(file->older ? &file->older->newer : &files->oldest) = file->newer;
	*(file->newer ? &file->newer->older : &files->newest) = file->older;
	file->older = file->newer = NULL;
	files->nidle--;
}

static void remove_file(struct mapped_file *file)
{
	struct mapped_files *files = file->files;
	uint64_t *slot = map_get(&files->by_hash, file->hash);
	struct mapped_file *first = at(slot);

	if (first == file && !file->next_same_hash) {
		map_remove(&files->by_hash, file->hash);
	} else if (first == file) {
		*slot = (uintptr_t)file->next_same_hash;
	} else {
		while (first->next_same_hash != file)
			first = first->next_same_hash;
		first->next_same_hash = file->next_same_hash;
	}
	files->nfiles--;
	free_file(file);
}

static void become_idle(struct mapped_file *file)
{
	struct mapped_files *files = file->files;

	file->older = files->newest;
	file->newer = NULL;
	*(files->newest ? &files->newest->newer : &files->oldest) = file;
	files->newest = file;
	if (++files->nidle <= MAPPED_FILES_IDLE_MAX)
		return;
	struct mapped_file *oldest = files->oldest;

	leave_idle(oldest);
	remove_file(oldest);
}

struct mapped_file *mapped_file_ref(struct mapped_file *file)
{
	if (!file->nrefs++)
		leave_idle(file);
	return file;
}

void mapped_file_unref(struct mapped_file *file)
{
	if (file && !--file->nrefs)
		become_idle(file);
}

struct mapped_file *mapped_files_get(struct mapped_files *files, const struct event_mmap *map,
				     bool *ret_new)
{
	bool deleted = false;
	size_t path_len = mapping_is_anonymous(map) ? strlen(map->path)
						    : mapping_path_len(map->path, &deleted);
	uint64_t hash = hash_of(map, path_len);
	uint64_t *slot = map_put(&files->by_hash, hash, NULL);

	if (ret_new)
		*ret_new = false;
	for (struct mapped_file *file = at(slot); file; file = file->next_same_hash) {
		if (is_same(file, map, path_len))
			return file;
	}
	struct mapped_file *file = memory_zeroed(1, files->file_len);

	file->files = files;
	file->next_same_hash = at(slot);
	file->hash = hash;
	file->kind = kind_of(map);
	file->deleted = deleted;
	file->path = memory_alloc(path_len + 1);
	memcpy(file->path, map->path, path_len);
	file->path[path_len] = '\0';
	file->device = map->device;
	file->inode = map->inode;
	file->generation = map->generation;
	file->build_id_len = (uint8_t)MIN(map->build_id_len, sizeof(file->build_id));
	memcpy(file->build_id, map->build_id, file->build_id_len);
	*slot = (uintptr_t)file;
	files->nfiles++;
	if (ret_new)
		*ret_new = true;
	become_idle(file);
	return file;
}
