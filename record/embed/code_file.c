/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_file.c - a few hundred files at most hold what a machine executes, so each keeps its descriptor
 * from first sight: the file may be deleted, or its process gone, a moment later.
 *
 * Paths come from processes that may be hostile: what is opened is first looked at through O_PATH, which
 * has no side effects, and only a regular file is opened for reading.
 */
#include "record/embed/code_file.h"

#include "formats/process/mapping.h"
#include "record/task/map_query.h"
#include "symbolize/elf/build_id_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS_MAX 8
#define CHECK_NS     1000000000ULL /* a file that is not open is looked at as often, to see whether it changed */

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
	return !file->replaced && file->device == map->device && file->inode == map->inode &&
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

/* Open for reading what @path_fd, which is closed, refers to, if it is a regular file. */
static int reopen(int path_fd, struct stat *ret_st)
{
	char link[64];
	int fd = -1;

	if (path_fd < 0)
		return -1;
	if (fstat(path_fd, ret_st) == 0 && S_ISREG(ret_st->st_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	close(path_fd);
	return fd;
}

static bool has_build_id(int fd, const uint8_t *want, size_t want_len)
{
	uint8_t id[20], len;

	return build_id_file_read(fd, id, &len) && len == want_len && memcmp(id, want, len) == 0;
}

/* Is the open file that of the mapping? On some file systems only the inode agrees (btrfs, overlayfs). */
static bool is_right(const struct code_file *file, int fd, const struct stat *st)
{
	if (file->build_id_len)
		return has_build_id(fd, file->build_id, file->build_id_len);
	if (!file->inode || st->st_ino != file->inode)
		return false;
	return !file->own_id_len || has_build_id(fd, file->own_id, file->own_id_len);
}

static int open_map_file(const struct code_place *place)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 place->lineage[0], place->start, place->end);
	return reopen(open(path, O_PATH | O_CLOEXEC), &st);
}

static int take_if_right(const struct code_file *file, int path_fd)
{
	struct stat st;
	int fd = reopen(path_fd, &st);

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

static int open_place(const struct code_file *file, const struct code_place *place)
{
	int fd = open_map_file(place);

	for (size_t i = 0; i < CODE_FILE_LINEAGE && place->lineage[i] && fd < 0; i++)
		fd = open_in_root(file, place->lineage[i]);
	return fd < 0 ? open_by_path(file) : fd;
}

static void open_through(struct code_files *files, struct code_file *file,
			 const struct code_place *place)
{
	keep(files, file, open_place(file, place));
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

/* Take over @fd, the open file; true if there is room for it. */
static bool foresee(struct code_files *files, struct code_file *file, int fd)
{
	if (file->fd >= 0 || files->nopen >= files->max_open)
		return false;
	keep(files, file, fd);
	vec_push(&files->foreseen, file);
	if (files->foreseen.len > CODE_FILES_FORESEEN)
		trim_foreseen(files, CODE_FILES_FORESEEN);
	return true;
}

void code_files_foresee(struct code_files *files, struct code_file *file,
			const struct code_place *place)
{
	if (file->fd >= 0 || file->is_vdso || files->nopen >= files->max_open)
		return;
	int fd = open_place(file, place);

	if (fd >= 0)
		foresee(files, file, fd);
}

/* ---- build IDs ------------------------------------------------------------------------------------- */

static uint64_t coarse_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static uint64_t change_ns(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 0;
	return (uint64_t)st.st_ctim.tv_sec * 1000000000ULL + (uint64_t)st.st_ctim.tv_nsec;
}

/* Read what @fd has, if it changed since. False if it is another program now. */
static bool read_own_id(struct code_file *file, int fd, bool first)
{
	uint64_t changed_ns = change_ns(fd);
	uint8_t id[20], len = 0;

	if (!first && changed_ns == file->changed_ns)
		return true;
	if (!build_id_file_read(fd, id, &len))
		len = 0;
	file->changed_ns = changed_ns;
	if (!first)
		return len == file->own_id_len && memcmp(id, file->own_id, len) == 0;
	file->own_id_len = len;
	memcpy(file->own_id, id, len);
	return true;
}

/* What the kernel knows of a file that cannot be opened. */
static void query_own_id(struct code_file *file, const struct event_mmap *map, uint32_t pid)
{
	struct event_mmap asked = *map;

	if (!map_query_process(pid, &asked))
		return;
	file->own_id_len = asked.build_id_len;
	memcpy(file->own_id, asked.build_id, asked.build_id_len);
}

/* Look at @file if that is due. False if it is another program now. */
static bool check(struct code_files *files, struct code_file *file, const struct event_mmap *map,
		  const struct code_place *place, bool may_keep)
{
	uint64_t now_ns = coarse_ns();
	bool first = !file->checked_ns, same;

	if (file->fd < 0 && !first && now_ns - file->checked_ns < CHECK_NS)
		return true;
	file->checked_ns = now_ns;
	int fd = file->fd >= 0 ? file->fd : open_place(file, place);

	if (fd < 0) {
		if (first)
			query_own_id(file, map, place->lineage[0]);
		return true;
	}
	same = read_own_id(file, fd, first);
	if (fd != file->fd && !(same && may_keep && first && foresee(files, file, fd)))
		close(fd);
	return same;
}

struct code_file *code_files_identify(struct code_files *files, struct event_mmap *map,
				      const struct code_place *place, bool may_keep, bool *ret_new)
{
	size_t known = files->items.len;
	struct code_file *file = code_files_get(files, map);

	if (!file->is_vdso && !map->build_id_len &&
	    !check(files, file, map, place, may_keep)) {
		file->replaced = true;
		file = code_files_get(files, map);
		check(files, file, map, place, may_keep);
	} else if (map->build_id_len && files->items.len > known && may_keep) {
		code_files_foresee(files, file, place);
	}
	*ret_new = files->items.len > known;
	if (!map->build_id_len && file->own_id_len) {
		map->build_id_len = file->own_id_len;
		memcpy(map->build_id, file->own_id, file->own_id_len);
	}
	return file;
}

void code_files_query(struct event_mmap *map, const struct code_place *place)
{
	if (map->build_id_len || !map->inode || map->path[0] != '/' ||
	    map_query_process(place->lineage[0], map))
		return;
	int fd = open_map_file(place);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) != 0 || st.st_ino != map->inode ||
	    !build_id_file_read(fd, map->build_id, &map->build_id_len))
		map->build_id_len = 0;
	close(fd);
}

/* ---- opening for what was seen --------------------------------------------------------------------- */

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
