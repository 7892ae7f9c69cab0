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
#include "record/task/map_query.h"
#include "symbolize/elf/build_id_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS_MAX 8
#define CHECK_NS     1000000000ULL /* a file that is not open is looked at as often, to see whether it changed */

/* ---- the table ------------------------------------------------------------------------------------- */

static struct code_file *code_file_of(struct mapped_file *mapped)
{
	return (struct code_file *)mapped;
}

static void close_file(struct code_files *files, struct code_file *file)
{
	if (code_file_fd(file) < 0)
		return;
	close(code_file_fd(file));
	file->fd_plus_1 = 0;
	files->nopen--;
}

/* No one maps it, and nothing was seen in it. */
static void forget(struct mapped_file *mapped)
{
	struct code_files *files = (struct code_files *)mapped->files;
	struct code_file *file = code_file_of(mapped);
	size_t kept = 0;

	for (size_t i = 0; i < files->foreseen.len; i++) {
		if (files->foreseen.items[i] != file)
			files->foreseen.items[kept++] = files->foreseen.items[i];
	}
	files->foreseen.len = kept;
	close_file(files, file);
	map_deinit(&file->offsets);
}

void code_files_init(struct code_files *files, size_t max_open)
{
	*files = (struct code_files){ .max_open = max_open };
	mapped_files_init(&files->mapped, sizeof(struct code_file), forget);
}

void code_files_deinit(struct code_files *files)
{
	mapped_files_deinit(&files->mapped);
	vec_deinit(&files->wanted);
	vec_deinit(&files->foreseen);
}

void code_files_round(struct code_files *files)
{
	files->round++;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static bool has_build_id(int fd, const uint8_t *want, size_t want_len)
{
	uint8_t id[20], len;

	return build_id_file_read(fd, id, &len) && len == want_len && memcmp(id, want, len) == 0;
}

/* Is the open file that of the mapping? On some file systems only the inode agrees (btrfs, overlayfs). */
static bool is_right(const struct code_file *file, int fd, const struct stat *st)
{
	const struct mapped_file *mapped = &file->mapped;

	if (mapped->build_id_len)
		return has_build_id(fd, mapped->build_id, mapped->build_id_len);
	if (!mapped->inode || st->st_ino != mapped->inode)
		return false;
	return !file->own_id_len || has_build_id(fd, file->own_id, file->own_id_len);
}

/* Does the kernel name the mapping at @link, of process @pid, as @path? */
static bool is_named(const char *link, const char *path)
{
	char text[PATH_MAX + 16];
	ssize_t len = readlink(link, text, sizeof(text) - 1);
	bool deleted;

	if (len <= 0)
		return false;
	text[len] = '\0';
	text[mapping_path_len(text, &deleted)] = '\0';
	return strcmp(text, path) == 0;
}

/*
 * What is mapped at @place now, which need not be what was mapped there before an exec: the inode or, as file systems that
 * lie over others have inodes of their own, the path tells.
 */
static int open_map_file(const struct code_place *place, const char *path, uint64_t inode)
{
	char link[96];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 place->lineage[0], place->start, place->end);
	int fd = path_fd_take_regular(open(link, O_PATH | O_CLOEXEC), &st);

	if (fd < 0 || !inode || st.st_ino == inode || is_named(link, path))
		return fd;
	close(fd);
	return -1;
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

static int open_by_path(const struct code_file *file)
{
	return take_if_right(file, open(file->mapped.path, O_PATH | O_CLOEXEC));
}

static void keep(struct code_files *files, struct code_file *file, int fd)
{
	if (fd < 0)
		return;
	file->fd_plus_1 = fd + 1;
	files->nopen++;
}

static int open_place(const struct code_file *file, const struct code_place *place)
{
	int fd = open_map_file(place, file->mapped.path, file->mapped.inode);

	for (size_t i = 0; i < PROCESS_LINEAGE && place->lineage[i] && fd < 0; i++)
		fd = take_if_right(file, path_fd_in_root(place->lineage[i], file->mapped.path));
	return fd < 0 ? open_by_path(file) : fd;
}

static void open_through(struct code_files *files, struct code_file *file,
			 const struct code_place *place)
{
	keep(files, file, open_place(file, place));
}

static bool may_be_wanted(const struct code_file *file)
{
	return !file->wanted && code_file_fd(file) >= 0;
}

/* Those that turned out to be wanted stay open; of the others no more than the latest @most. */
static void trim_foreseen(struct code_files *files, size_t most)
{
	size_t idle = 0, kept = 0;

	for (size_t i = 0; i < files->foreseen.len; i++)
		idle += may_be_wanted(files->foreseen.items[i]);
	for (size_t i = 0; i < files->foreseen.len; i++) {
		struct code_file *file = files->foreseen.items[i];

		if (!may_be_wanted(file))
			continue;
		if (idle <= most) {
			files->foreseen.items[kept++] = file;
			continue;
		}
		idle--;
		close_file(files, file);
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
	if (code_file_fd(file) >= 0 || files->nopen >= files->max_open)
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
	if (code_file_fd(file) >= 0 || file->mapped.kind == MAPPED_VDSO || files->nopen >= files->max_open)
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

	if (code_file_fd(file) < 0 && !first && now_ns - file->checked_ns < CHECK_NS)
		return true;
	file->checked_ns = now_ns;
	int fd = code_file_fd(file) >= 0 ? code_file_fd(file) : open_place(file, place);

	if (fd < 0) {
		if (first)
			query_own_id(file, map, place->lineage[0]);
		return true;
	}
	same = read_own_id(file, fd, first);
	if (fd != code_file_fd(file) && !(same && may_keep && first && foresee(files, file, fd)))
		close(fd);
	return same;
}

struct code_file *code_files_identify(struct code_files *files, struct event_mmap *map,
				      const struct code_place *place, bool may_keep, bool *ret_new)
{
	struct code_file *file = code_file_of(mapped_files_get(&files->mapped, map, ret_new));
	bool is_file = file->mapped.kind == MAPPED_FILE;

	if (is_file && !map->build_id_len && !check(files, file, map, place, may_keep)) {
		file->mapped.replaced = true;
		file = code_file_of(mapped_files_get(&files->mapped, map, ret_new));
		check(files, file, map, place, may_keep);
	} else if (is_file && map->build_id_len && *ret_new && may_keep) {
		code_files_foresee(files, file, place);
	}
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
	int fd = open_map_file(place, map->path, map->inode);

	if (fd < 0)
		return;
	if (!build_id_file_read(fd, map->build_id, &map->build_id_len))
		map->build_id_len = 0;
	close(fd);
}

/* ---- opening for what was seen --------------------------------------------------------------------- */

bool code_files_hold(struct code_files *files, struct code_file *file,
		     const struct code_place *place)
{
	if (code_file_fd(file) < 0)
		open_through(files, file, place);
	return code_file_fd(file) >= 0;
}

/* Nothing was seen in @file. */
static void unwant(struct code_files *files, struct code_file *file)
{
	files->naddresses -= file->offsets.len;
	map_deinit(&file->offsets);
	file->offsets = (struct map){ 0 };
	file->merged = file->wanted = false;
	if (code_file_fd(file) >= 0)
		vec_push(&files->foreseen, file);
	mapped_file_unref(&file->mapped);
}

void code_files_forget(struct code_files *files)
{
	/* Those that go away leave the list of what is foreseen, but never this one. */
	for (size_t i = 0; i < files->wanted.len; i++)
		unwant(files, files->wanted.items[i]);
	files->wanted.len = 0;
	files->naddresses = 0; /* those of files with one content were put together */
	trim_foreseen(files, CODE_FILES_FORESEEN);
}

/* Make room: the half that no process maps any more and that was touched longest ago. */
static void drop_oldest(struct code_files *files)
{
	uint64_t newest = 0, oldest = UINT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < files->wanted.len; i++) {
		const struct code_file *file = files->wanted.items[i];

		if (file->mapped.nrefs > 1)
			continue;
		newest = MAX(newest, file->touched);
		oldest = MIN(oldest, file->touched);
	}
	if (newest < oldest)
		return;
	uint64_t middle = oldest + (newest - oldest) / 2;

	for (size_t i = 0; i < files->wanted.len; i++) {
		struct code_file *file = files->wanted.items[i];

		if (file->mapped.nrefs > 1 || file->touched > middle) {
			files->wanted.items[kept++] = file;
			continue;
		}
		files->dropped++;
		files->dropped_addresses += file->offsets.len;
		unwant(files, file);
	}
	files->wanted.len = kept;
}

/* Is there room for another address, in a file that is wanted or not yet? */
static bool has_room_for(struct code_files *files, const struct code_file *file)
{
	bool full = files->naddresses >= CODE_FILES_ADDRESSES_MAX ||
		    (!file->wanted && files->wanted.len >= CODE_FILES_WANTED_MAX);

	if (full && files->full_round != files->round) {
		files->full_round = files->round; /* to look for room costs, so once a round */
		drop_oldest(files);
	}
	return files->naddresses < CODE_FILES_ADDRESSES_MAX &&
	       (file->wanted || files->wanted.len < CODE_FILES_WANTED_MAX);
}

int code_file_open(const struct code_file *file)
{
	if (code_file_fd(file) >= 0)
		return fcntl(code_file_fd(file), F_DUPFD_CLOEXEC, 3);
	return open_by_path(file);
}

bool code_files_touch(struct code_files *files, struct code_file *file, uint64_t offset,
		      uint64_t leaves, const struct code_place *place)
{
	uint64_t *slot = map_get(&file->offsets, offset);

	if (slot) {
		*slot += leaves;
		return false;
	}
	if (!has_room_for(files, file)) {
		files->dropped_addresses++;
		return false;
	}
	*map_put(&file->offsets, offset, NULL) = leaves;
	files->naddresses++;
	file->touched = files->round;
	if (!file->wanted) {
		file->wanted = true;
		mapped_file_ref(&file->mapped);
		vec_push(&files->wanted, file);
	}
	if (code_file_fd(file) < 0 && file->mapped.kind == MAPPED_FILE &&
	    file->nattempts < ATTEMPTS_MAX && has_room(files)) {
		file->nattempts++;
		open_through(files, file, place);
	}
	return true;
}
