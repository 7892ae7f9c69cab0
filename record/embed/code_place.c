/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_place.c - paths come from processes that may be hostile: a file is first opened with O_PATH, which has no side
 * effects, and only a regular file is opened for reading.
 */
#include "record/embed/code_place.h"

#include "formats/base/path_fd.h"
#include "formats/process/mapping.h"
#include "record/task/map_query.h"
#include "record/task/process_stat.h"
#include "symbolize/elf/build_id_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct request {
	uint32_t lineage[PROCESS_LINEAGE];
	uint64_t start, end, file_offset;
	struct code_wish wish; /* without its path */
	char path[PATH_MAX];
};

/* ---- in the reader ------------------------------------------------------------------------------------- */

/* Fill in its attributes and build ID. False if it is not a readable regular file. */
static bool look(int path_fd, struct stat *st, struct code_found *ret)
{
	if (path_fd < 0 || fstat(path_fd, st) != 0 || !S_ISREG(st->st_mode))
		return false;
	int fd = path_fd_reopen(path_fd, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (!build_id_file_read(fd, ret->id, &ret->id_len))
		ret->id_len = 0;
	ret->changed_ns =
		(uint64_t)st->st_ctim.tv_sec * 1000000000ULL + (uint64_t)st->st_ctim.tv_nsec;
	close(fd);
	return true;
}

static bool is_id(const struct code_found *found, const uint8_t *id, size_t len)
{
	return found->id_len == len && memcmp(found->id, id, len) == 0;
}

/* Is it that of the mapping? On some file systems only the inode agrees (btrfs, overlayfs). */
static bool is_right(const struct code_wish *wish, const struct stat *st,
		     const struct code_found *found)
{
	if (wish->build_id_len)
		return is_id(found, wish->build_id, wish->build_id_len);
	if (!wish->inode || st->st_ino != wish->inode)
		return false;
	return !wish->own_id_len || is_id(found, wish->own_id, wish->own_id_len);
}

static int take_if_right(const struct code_wish *wish, int path_fd, struct code_found *ret)
{
	struct code_found found = { 0 };
	struct stat st;

	if (look(path_fd, &st, &found) && is_right(wish, &st, &found)) {
		*ret = found;
		return path_fd;
	}
	if (path_fd >= 0)
		close(path_fd);
	return -1;
}

/* Does the kernel name the mapping at @link as @path? */
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
 * The file mapped at @place now, if it is the right one: after an exec another file may be mapped there. The inode decides or,
 * since overlay file systems have inodes of their own, the path.
 */
static int open_map_file(const struct request *q, struct code_found *ret)
{
	char link[96];
	struct code_found found = { 0 };
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 q->lineage[0], q->start, q->end);
	int fd = open(link, O_PATH | O_CLOEXEC);

	if (look(fd, &st, &found) &&
	    (!q->wish.inode || st.st_ino == q->wish.inode || is_named(link, q->path))) {
		*ret = found;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

int code_place_open_path(const struct code_wish *wish)
{
	struct code_found found;

	return take_if_right(wish, open(wish->path, O_PATH | O_CLOEXEC), &found);
}

/* What the kernel knows of a file that cannot be opened. */
static void query(const struct request *q, struct code_found *ret)
{
	struct event_mmap map = {
		.start = q->start,
		.end = q->end,
		.file_offset = q->file_offset,
		.inode = q->wish.inode,
		.path = q->path,
	};

	if (!q->wish.inode || !map_query_process(q->lineage[0], &map))
		return;
	ret->id_len = map.build_id_len;
	memcpy(ret->id, map.build_id, map.build_id_len);
}

/*
 * The user who can make the file slow to read: its owner, or on a file system without a device, where a server of any user's may answer, that of the
 * process that maps it.
 */
static uint32_t owner_of(int fd, uint32_t pid)
{
	struct stat file;

	if (fstat(fd, &file) < 0)
		return 0;
	uint32_t owner = major(file.st_dev) ? UINT32_MAX : process_owner(pid);

	return owner == UINT32_MAX ? file.st_uid : owner;
}

static void run_open(const void *request, void *to, int *ret_fd)
{
	const struct request *q = request;
	struct code_wish wish = q->wish;
	struct code_found *found = to;

	wish.path = q->path;
	int fd = open_map_file(q, found);

	for (size_t i = 0; i < PROCESS_LINEAGE && q->lineage[i] && fd < 0; i++)
		fd = take_if_right(&wish, path_fd_in_root(q->lineage[i], wish.path), found);
	if (fd < 0)
		fd = take_if_right(&wish, open(q->path, O_PATH | O_CLOEXEC), found);
	*ret_fd = fd;
	if (fd < 0)
		query(q, found);
	else
		found->owner = owner_of(fd, q->lineage[0]);
}

static void run_query(const void *request, void *to, int *ret_fd)
{
	const struct request *q = request;
	struct code_found *found = to;

	(void)ret_fd;
	query(q, found);
	if (found->id_len)
		return;
	int fd = open_map_file(q, found);

	if (fd >= 0)
		close(fd);
}

/* ---- in the recorder ----------------------------------------------------------------------------------- */

static enum foreign_result ask(struct foreign_reader *reader,
			       void (*run)(const void *, void *, int *), struct request *q,
			       const struct code_place *place, const char *path,
			       struct code_found *found, int *ret_fd)
{
	size_t path_len = strlen(path);
	const struct foreign_job job = {
		.run = run,
		.name = path,
		.request = q,
		.request_len = offsetof(struct request, path) + path_len + 1,
		.answer_len = sizeof(*found),
		.pid = place->lineage[0],
	};

	if (path_len >= sizeof(q->path))
		return FOREIGN_REFUSED;
	memcpy(q->lineage, place->lineage, sizeof(q->lineage));
	q->start = place->start;
	q->end = place->end;
	q->file_offset = place->file_offset;
	memcpy(q->path, path, path_len + 1);
	enum foreign_result result = foreign_reader_ask(reader, &job, found, ret_fd);

	if (result == FOREIGN_DONE)
		found->id_len = MIN(found->id_len, (uint8_t)sizeof(found->id));
	return result;
}

enum code_result code_place_open(struct foreign_reader *reader, const struct code_place *place,
				 const struct code_wish *wish, struct code_found *ret, int *ret_fd)
{
	struct request q = { .wish = *wish };
	struct code_found found;

	switch (ask(reader, run_open, &q, place, wish->path, &found, ret_fd)) {
	case FOREIGN_DONE:
		*ret = found;
		return *ret_fd >= 0 ? CODE_FOUND : CODE_MISSING;
	case FOREIGN_LATE:
		return CODE_LATE;
	default:
		return CODE_REFUSED;
	}
}

void code_place_query(struct foreign_reader *reader, const struct code_place *place,
		      struct event_mmap *map)
{
	struct request q = { .wish = { .inode = map->inode } };
	struct code_found found;
	int fd;

	if (ask(reader, run_query, &q, place, map->path, &found, &fd) != FOREIGN_DONE)
		return;
	map->build_id_len = found.id_len;
	memcpy(map->build_id, found.id, sizeof(map->build_id));
}
