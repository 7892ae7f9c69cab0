/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_file.c - a few hundred files at most hold what a machine executes, so each keeps its descriptor
 * from first sight: the file may be deleted, or its process gone, a moment later.
 *
 * Paths come from processes that may be hostile: what is opened is first looked at through O_PATH, which
 * has no side effects, and only a regular file is opened for reading.
 */
#include "record/embed/code_file.h"

#include "formats/base/path_fd.h"
#include "formats/process/mapping.h"
#include "symbolize/elf/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTEMPTS_MAX 8

/* ---- the table ------------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL; /* FNV-1a */
	return hash;
}

/* Mappings tell a file by device and inode or by build ID, hardly ever by both. */
static uint64_t hash_of(const struct event_mmap *map, size_t path_len)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	hash = hash_bytes(hash, map->path, path_len);
	hash = hash_bytes(hash, map->build_id, map->build_id_len);
	hash = hash_bytes(hash, &map->device, sizeof(map->device));
	return hash_bytes(hash, &map->inode, sizeof(map->inode));
}

static bool is_same(const struct code_file *file, const struct event_mmap *map, size_t path_len)
{
	return file->device == map->device && file->inode == map->inode &&
	       file->generation == map->generation && file->build_id_len == map->build_id_len &&
	       memcmp(file->build_id, map->build_id, map->build_id_len) == 0 &&
	       strncmp(file->path, map->path, path_len) == 0 && !file->path[path_len];
}

struct code_file *code_files_get(struct code_files *files, const struct event_mmap *map)
{
	bool deleted;
	size_t path_len = mapping_path_len(map->path, &deleted);
	uint64_t *slot = map_put(&files->by_hash, hash_of(map, path_len), NULL);
	struct code_file *first = *slot ? files->items.items[*slot - 1] : NULL;

	for (struct code_file *file = first; file; file = file->next_same_hash) {
		if (is_same(file, map, path_len))
			return file;
	}
	struct code_file *file = ARENA_NEW(&files->arena, struct code_file);

	file->next_same_hash = first;
	file->path = arena_memdup(&files->arena, map->path, path_len);
	file->device = map->device;
	file->inode = map->inode;
	file->generation = map->generation;
	file->build_id_len = (uint8_t)MIN(map->build_id_len, sizeof(file->build_id));
	memcpy(file->build_id, map->build_id, file->build_id_len);
	file->deleted = deleted;
	file->is_vdso = !mapping_is_file(map);
	file->fd = -1;
	vec_push(&files->items, file);
	*slot = files->items.len;
	return file;
}

void code_files_deinit(struct code_files *files)
{
	for (size_t i = 0; i < files->items.len; i++) {
		struct code_file *file = files->items.items[i];

		if (file->fd >= 0)
			close(file->fd);
		map_deinit(&file->offsets);
	}
	vec_deinit(&files->items);
	vec_deinit(&files->foreseen);
	map_deinit(&files->by_hash);
	arena_deinit(&files->arena);
}

/* ---- opening --------------------------------------------------------------------------------------- */

static bool has_build_id(const struct code_file *file, int fd)
{
	struct image *img;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	size_t len;

	if (copy < 0)
		return false;
	struct err *err = image_open_fd(copy, file->path, &img);

	if (err) {
		err_free(err);
		return false;
	}
	const uint8_t *id = image_build_id(img, &len);
	bool same = len == file->build_id_len && memcmp(id, file->build_id, len) == 0;

	image_close(img);
	return same;
}

/* Is the open file that of the mapping? On some file systems only the inode agrees (btrfs, overlayfs). */
static bool is_right(const struct code_file *file, int fd, const struct stat *st)
{
	if (file->build_id_len)
		return has_build_id(file, fd);
	return file->inode && st->st_ino == file->inode;
}

static int open_map_file(const struct code_place *place)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 place->lineage[0], place->start, place->end);
	return path_fd_take_regular(open(path, O_PATH | O_CLOEXEC), &st);
}

static int take_if_right(const struct code_file *file, int path_fd)
{
	struct stat st;
	int fd = path_fd_take_regular(path_fd, &st);

	if (fd >= 0 && is_right(file, fd, &st))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Links inside the process's root must not lead out of it (openat2(2), since Linux 5.6). */
static int open_in_root(const struct code_file *file, uint32_t pid)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
	int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, root, file->path, &how, sizeof(how));

	close(root);
	return take_if_right(file, fd);
}

static int open_by_path(const struct code_file *file)
{
	return take_if_right(file, open(file->path, O_PATH | O_CLOEXEC));
}

static void keep(struct code_files *files, struct code_file *file, int fd)
{
	if (fd < 0)
		return;
	file->fd = fd;
	files->nopen++;
}

static void open_through(struct code_files *files, struct code_file *file,
			 const struct code_place *place)
{
	int fd = open_map_file(place);

	for (size_t i = 0; i < CODE_FILE_LINEAGE && place->lineage[i] && fd < 0; i++)
		fd = open_in_root(file, place->lineage[i]);
	if (fd < 0)
		fd = open_by_path(file);
	keep(files, file, fd);
}

/* Those that turned out to be wanted stay open; of the others no more than the latest @most. */
static void trim_foreseen(struct code_files *files, size_t most)
{
	size_t idle = 0, kept = 0;

	for (size_t i = 0; i < files->foreseen.len; i++)
		idle += !files->foreseen.items[i]->wanted;
	for (size_t i = 0; i < files->foreseen.len; i++) {
		struct code_file *file = files->foreseen.items[i];

		if (file->wanted)
			continue;
		if (idle <= most) {
			files->foreseen.items[kept++] = file;
			continue;
		}
		idle--;
		close(file->fd);
		file->fd = -1;
		files->nopen--;
	}
	files->foreseen.len = kept;
}

/* A file that is wanted now comes before those that may be. */
static bool has_room(struct code_files *files)
{
	if (files->nopen >= files->max_open)
		trim_foreseen(files, CODE_FILES_FORESEEN / 2);
	if (files->nopen >= files->max_open)
		trim_foreseen(files, 0);
	return files->nopen < files->max_open;
}

void code_files_foresee(struct code_files *files, struct code_file *file,
			const struct code_place *place)
{
	if (file->fd >= 0 || file->is_vdso || files->nopen >= files->max_open)
		return;
	open_through(files, file, place);
	if (file->fd < 0)
		return;
	vec_push(&files->foreseen, file);
	if (files->foreseen.len > CODE_FILES_FORESEEN)
		trim_foreseen(files, CODE_FILES_FORESEEN);
}

bool code_files_hold(struct code_files *files, struct code_file *file,
		     const struct code_place *place)
{
	if (file->fd < 0)
		open_through(files, file, place);
	return file->fd >= 0;
}

void code_file_forget(struct code_file *file)
{
	map_clear(&file->offsets);
	file->merged = false;
}

bool code_files_open(struct code_files *files, struct code_file *file)
{
	if (file->fd < 0)
		keep(files, file, open_by_path(file));
	return file->fd >= 0;
}

bool code_files_touch(struct code_files *files, struct code_file *file, uint64_t offset,
		      uint64_t leaves, const struct code_place *place)
{
	bool is_new;
	uint64_t *slot = map_put(&file->offsets, offset, &is_new);

	*slot += leaves;
	file->wanted |= is_new;
	if (is_new && file->fd < 0 && !file->is_vdso && file->nattempts < ATTEMPTS_MAX &&
	    has_room(files)) {
		file->nattempts++;
		open_through(files, file, place);
	}
	return is_new;
}
