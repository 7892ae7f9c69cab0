/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_folder.c - temporary names, rename(), and the time of last use, which is a file's access time.
 *
 * That time is set here, not left to the file system, which may be mounted without it; and only when it is older than an
 * hour, so that a report that finds all it needs writes nothing.
 */
#include "symbolize/name/cache_folder.h"

#include "formats/base/file_bytes.h"
#include "formats/base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY ".new-"

static bool is_mine(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* @path, or the folder it would be made in if it is not there yet. */
static bool may_use(struct arena *arena, const char *path)
{
	char *parent = arena_strdup(arena, path);

	for (;;) {
		char *slash = strrchr(parent, '/');

		if (access(parent, F_OK) == 0)
			return is_mine(parent);
		if (!slash || slash == parent)
			return false;
		*slash = '\0';
	}
}

const char *cache_folder_path(struct arena *arena)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	const char *path = NULL;

	if (base && *base == '/')
		path = arena_printf(arena, "%s/preport", base);
	else if (home && *home == '/')
		path = arena_printf(arena, "%s/.cache/preport", home);
	return path && may_use(arena, path) ? path : NULL;
}

static void mark_used(int fd, const struct stat *st)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };

	if (time(NULL) - st->st_atime > 3600)
		(void)!futimens(fd, times);
}

static uint8_t *read_mine(int fd, const char *path, size_t *ret_len)
{
	struct writer bytes = { 0 };
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return NULL;

	struct err *err = file_bytes_take(fd, path, CACHE_FILE_MAX, &bytes);

	if (err) {
		err_free(err);
		writer_deinit(&bytes);
		return NULL;
	}
	mark_used(fd, &st);
	*ret_len = bytes.len;
	return bytes.data;
}

uint8_t *cache_folder_read(const char *folder, const char *name, size_t *ret_len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *path = arena_printf(&arena, "%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t *data;

	if (fd < 0)
		return NULL;
	data = read_mine(fd, path, ret_len);
	close(fd);
	return data;
}

/* ---- writing --------------------------------------------------------------------------------------- */

static struct err *make_folder(struct arena *arena, const char *folder)
{
	char *path = arena_strdup(arena, folder);

	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		(void)!mkdir(path, 0700);
		*at = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		return err_system(errno, "cannot make '%s'", folder);
	return NULL;
}

static struct err *write_all(int fd, const uint8_t *data, size_t len, const char *path)
{
	while (len) {
		ssize_t done = write(fd, data, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_system(errno, "cannot write '%s'", path);
		data += done;
		len -= (size_t)done;
	}
	return NULL;
}

static struct err *write_temporary(char *path, const void *data, size_t len)
{
	int fd = mkostemp(path, O_CLOEXEC);
	struct err *err;

	if (fd < 0)
		return err_system(errno, "cannot make '%s'", path);
	err = write_all(fd, data, len, path);
	if (close(fd) && !err)
		err = err_system(errno, "cannot write '%s'", path);
	if (err)
		unlink(path);
	return err;
}

/* The least recently used goes first. */
static struct err *trim(const char *folder)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct cache_file *files;
	size_t count = 0;
	uint64_t len = 0;
	struct err *err = cache_folder_list(folder, &arena, &files, &count);

	for (size_t i = 0; i < count && !err; i++) {
		len += files[i].len;
		if (len > CACHE_FOLDER_MAX)
			unlink(arena_printf(&arena, "%s/%s", folder, files[i].name));
	}
	return err;
}

struct err *cache_folder_write(const char *folder, const char *name, const void *data, size_t len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *path = arena_printf(&arena, "%s/%s", folder, name);
	char *temporary =
		arena_strdup(&arena, arena_printf(&arena, "%s/" TEMPORARY "XXXXXX", folder));
	struct err *err;

	if (len > CACHE_FILE_MAX)
		return err_system(EFBIG, "cannot keep '%s'", path);
	err = make_folder(&arena, folder);
	if (!err)
		err = write_temporary(temporary, data, len);
	if (err)
		return err;
	if (rename(temporary, path)) {
		err = err_system(errno, "cannot name '%s'", path);
		unlink(temporary);
		return err;
	}
	return trim(folder);
}

/* ---- what there is --------------------------------------------------------------------------------- */

static int compare_files(const void *a, const void *b)
{
	const struct cache_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec > y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec > y->used.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Writers that were killed leave these behind; a living one takes no hour. */
static bool is_left_over(const char *name, const struct stat *st)
{
	return strncmp(name, TEMPORARY, strlen(TEMPORARY)) == 0 &&
	       time(NULL) - st->st_mtime > 3600;
}

struct err *cache_folder_list(const char *folder, struct arena *arena, struct cache_file **ret,
			      size_t *ret_count)
{
	VEC(struct cache_file) files = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;

	*ret_count = 0;
	if (!dir && errno == ENOENT)
		return NULL;
	if (!dir)
		return err_system(errno, "cannot read '%s'", folder);
	while ((entry = readdir(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (is_left_over(entry->d_name, &st))
			unlinkat(dirfd(dir), entry->d_name, 0);
		if (entry->d_name[0] == '.')
			continue;
		vec_push(&files,
			 ((struct cache_file){ arena_strdup(arena, entry->d_name),
					       (uint64_t)st.st_size,
					       st.st_atim.tv_sec > st.st_mtim.tv_sec ? st.st_atim
										     : st.st_mtim }));
	}
	closedir(dir);
	vec_sort(&files, compare_files);
	*ret = ARENA_ARRAY(arena, struct cache_file, files.len + 1);
	if (files.len)
		memcpy(*ret, files.items, files.len * sizeof(**ret));
	*ret_count = files.len;
	vec_deinit(&files);
	return NULL;
}

struct err *cache_folder_clear(const char *folder, uint64_t *ret_count, uint64_t *ret_len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct cache_file *files;
	size_t count;
	struct err *err = cache_folder_list(folder, &arena, &files, &count);

	*ret_count = *ret_len = 0;
	for (size_t i = 0; i < count && !err; i++) {
		const char *path = arena_printf(&arena, "%s/%s", folder, files[i].name);

		if (unlink(path) && errno != ENOENT)
			return err_system(errno, "cannot remove '%s'", path);
		*ret_count += 1;
		*ret_len += files[i].len;
	}
	return err;
}
