/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_file.c - a machine executes code of a few hundred files at most, so each one's descriptor is kept from the start: the
 * file may be deleted, or its process gone, a moment later.
 */
#include "record/embed/code_file.h"

#include "formats/base/clock.h"
#include "formats/base/path_fd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS_MAX 8
#define LATE_MAX     2 /* timeouts after which a file is not tried again */
#define CHECK_NS     1000000000ULL /* between checks whether a file that is not open has changed */

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

/* Unmapped and without sampled addresses. */
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

static struct code_wish wish_of(const struct code_file *file)
{
	struct code_wish wish = {
		.path = file->mapped.path,
		.inode = file->mapped.inode,
		.build_id_len = file->mapped.build_id_len,
		.own_id_len = file->own_id_len,
	};

	memcpy(wish.build_id, file->mapped.build_id, sizeof(wish.build_id));
	memcpy(wish.own_id, file->own_id, sizeof(wish.own_id));
	return wish;
}

static enum code_result look(struct code_files *files, struct code_file *file,
			     const struct code_place *place, const struct code_wish *wish,
			     struct code_found *ret, int *ret_fd)
{
	*ret_fd = -1;
	if (file->nlate >= LATE_MAX)
		return CODE_LATE;
	enum code_result result = code_place_open(files->reader, place, wish, ret, ret_fd);

	file->nlate += result == CODE_LATE;
	if (result == CODE_FOUND)
		file->owner = ret->owner;
	return result;
}

static void keep(struct code_files *files, struct code_file *file, int fd)
{
	if (fd < 0)
		return;
	file->fd_plus_1 = fd + 1;
	files->nopen++;
}

static enum code_result open_through(struct code_files *files, struct code_file *file,
				     const struct code_place *place)
{
	struct code_wish wish = wish_of(file);
	struct code_found found;
	int fd;
	enum code_result result = look(files, file, place, &wish, &found, &fd);

	keep(files, file, fd);
	return result;
}

static bool may_be_wanted(const struct code_file *file)
{
	return !file->wanted && code_file_fd(file) >= 0;
}

/* Wanted files stay open; of the others only the latest @most. */
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

/* A file that is wanted now takes the place of those that may be later. */
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

/* ---- build IDs ------------------------------------------------------------------------------------- */

/* As far as this machine knows: no server is asked. */
static uint64_t change_ns(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_CTIME, &st) < 0)
		return 0;
	return (uint64_t)st.stx_ctime.tv_sec * 1000000000ULL + st.stx_ctime.tv_nsec;
}

/* Apply the result for @file; false if it is another program now. */
static bool take_id(struct code_file *file, const struct code_found *found)
{
	bool first = !file->looked_at, changed = found->changed_ns != file->changed_ns;

	file->looked_at = true;
	file->changed_ns = found->changed_ns;
	if (!first)
		return !changed || (found->id_len == file->own_id_len &&
				    memcmp(found->id, file->own_id, found->id_len) == 0);
	file->own_id_len = found->id_len;
	memcpy(file->own_id, found->id, found->id_len);
	return true;
}

/*
 * Is a check of @file due? An open file is checked by the recorder, once in each round with mappings of it: they all came
 * before that check.
 */
static bool is_due(const struct code_files *files, struct code_file *file)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC_COARSE);
	int fd = code_file_fd(file);
	bool looked = file->checked_ns && (fd < 0 ? now_ns - file->checked_ns < CHECK_NS : file->checked_round == files->round);

	if (looked)
		return false;
	file->checked_ns = now_ns;
	file->checked_round = files->round;
	return fd < 0 || !file->looked_at || change_ns(fd) != file->changed_ns;
}

/* Look at @file if that is due. False if it is another program now. */
static bool check(struct code_files *files, struct code_file *file, const struct code_place *place,
		  bool may_keep)
{
	bool first = !file->looked_at, same = true;
	struct code_wish wish = wish_of(file);
	struct code_found found;
	int fd;

	if (!is_due(files, file))
		return true;
	wish.own_id_len = 0; /* it may be another by now */
	switch (look(files, file, place, &wish, &found, &fd)) {
	case CODE_FOUND:
		same = take_id(file, &found);
		break;
	case CODE_MISSING:
		if (first)
			take_id(file, &found);
		break;
	default: /* another time */
		break;
	}
	if (fd >= 0 && !(same && may_keep && first && foresee(files, file, fd)))
		close(fd);
	return same;
}

/* The kernel gave the build ID of @file; it only has to be kept open. */
static void hold_new(struct code_files *files, struct code_file *file, const struct code_place *place)
{
	struct code_wish wish = wish_of(file);
	struct code_found found;
	int fd;

	if (code_file_fd(file) >= 0 || files->nopen >= files->max_open ||
	    look(files, file, place, &wish, &found, &fd) != CODE_FOUND)
		return;
	if (!foresee(files, file, fd))
		close(fd);
}

struct code_file *code_files_identify(struct code_files *files, struct event_mmap *map,
				      const struct code_place *place, bool may_keep, bool *ret_new)
{
	struct code_file *file = code_file_of(mapped_files_get(&files->mapped, map, ret_new));
	bool is_file = file->mapped.kind == MAPPED_FILE;

	if (is_file && !map->build_id_len && !check(files, file, place, may_keep)) {
		file->mapped.replaced = true;
		file = code_file_of(mapped_files_get(&files->mapped, map, ret_new));
		check(files, file, place, may_keep);
	} else if (is_file && map->build_id_len && *ret_new && may_keep) {
		hold_new(files, file, place);
	}
	if (!map->build_id_len && file->own_id_len) {
		map->build_id_len = file->own_id_len;
		memcpy(map->build_id, file->own_id, file->own_id_len);
	}
	return file;
}

void code_files_query(struct code_files *files, struct event_mmap *map,
		      const struct code_place *place)
{
	if (!map->build_id_len && map->inode && map->path[0] == '/')
		code_place_query(files->reader, place, map);
}

/* ---- opening for sampled addresses ----------------------------------------------------------------- */

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

/* Make room: drop half of the files, unmapped ones that were sampled longest ago. */
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
	struct code_wish wish = wish_of(file);
	int own = code_file_fd(file), path_fd = own >= 0 ? own : code_place_open_path(&wish);
	int fd = path_fd < 0 ? -1 : path_fd_reopen(path_fd, O_RDONLY | O_NONBLOCK);

	if (path_fd >= 0 && path_fd != own)
		close(path_fd);
	return fd;
}

/* It may not have been opened when it was mapped, since the reader had too much to do: once in each round is soon enough. */
static void open_wanted(struct code_files *files, struct code_file *file, const struct code_place *place)
{
	bool may = code_file_fd(file) < 0 && file->mapped.kind == MAPPED_FILE && file->nattempts < ATTEMPTS_MAX &&
		   file->tried_round != files->round + 1 && has_room(files);

	if (!may)
		return;
	file->tried_round = files->round + 1;
	file->nattempts += open_through(files, file, place) != CODE_REFUSED;
}

bool code_files_touch(struct code_files *files, struct code_file *file, uint64_t offset,
		      uint64_t leaves, const struct code_place *place)
{
	uint64_t *slot = map_get(&file->offsets, offset);

	if (slot) {
		*slot += leaves;
		open_wanted(files, file, place);
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
	open_wanted(files, file, place);
	return true;
}
