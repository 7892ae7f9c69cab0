/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usdt_list.c - a marker that was compiled in at several places is listed once, with their number.
 *
 * Files of a process are untrusted: they are looked up below its own root, which no link leads out of, only
 * regular ones are opened, and those that are no ELF files are passed over.
 */
#include "record/usdt_list.h"

#include "formats/base/csv.h"
#include "formats/base/page_guard.h"
#include "formats/base/path_fd.h"
#include "formats/base/strtab.h"
#include "formats/base/text.h"
#include "record/event/probe_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 4096u /* of a process */

struct usdt_listing {
	bool csv, begun;
	size_t nmarkers, nfiles;
};

static bool is_same(const struct usdt_marker *a, const struct usdt_marker *b)
{
	return strcmp(a->provider, b->provider) == 0 && strcmp(a->name, b->name) == 0;
}

static void put_marker(struct usdt_listing *l, const char *path, const struct usdt_marker *marker, size_t places,
		       struct arena *arena)
{
	const char *name = text_escape(arena, arena_printf(arena, "usdt:%s:%s:%s", path, marker->provider, marker->name));
	const char *args = text_escape(arena, marker->args);

	if (l->csv && !l->begun)
		printf("event,places,arguments\n");
	l->begun = true;
	if (l->csv) {
		csv_put_quoted(stdout, name);
		printf(",%zu,", places);
		csv_put_quoted(stdout, args);
		putchar('\n');
	} else {
		printf("  %s", name);
		if (places > 1)
			printf("  (%zu places)", places);
		printf("%s%s\n", *args ? "\n      " : "", args);
	}
}

static void put_markers(struct usdt_listing *l, const char *path, const struct usdt_markers *markers, struct arena *arena)
{
	size_t next;

	l->nfiles++;
	for (size_t i = 0; i < markers->len; i = next) {
		for (next = i + 1; next < markers->len && is_same(&markers->items[i], &markers->items[next]);)
			next++;
		put_marker(l, path, &markers->items[i], next - i, arena);
		l->nmarkers++;
	}
}

static struct err *put_file(struct usdt_listing *l, const char *path)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct usdt_markers markers;
	struct err *err = usdt_read(path, &arena, &markers);

	if (!err)
		put_markers(l, path, &markers, &arena);
	return err;
}

/* What is no ELF file that can be read has no markers. */
static void put_mapped(struct usdt_listing *l, uint32_t pid, const char *path)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct usdt_markers markers;
	struct stat st;
	int fd = path_fd_take_regular(path_fd_in_root(pid, path), &st);
	struct err *err = fd < 0 ? NULL : usdt_read_fd(fd, path, &arena, &markers);

	if (fd >= 0 && !err)
		put_markers(l, path, &markers, &arena);
	err_free(err);
}

/* The path of a line of /proc/PID/maps that is mapped as code; NULL if it is none. */
static char *code_path(char *line)
{
	char *path = strchr(line, '/');
	char *space = strchr(line, ' ');

	line[strcspn(line, "\n")] = 0;
	return path && space && strlen(space) > 4 && space[3] == 'x' ? path : NULL;
}

/* The paths in number order from 1 on, each once. */
static void read_paths(FILE *maps, struct strtab *paths)
{
	char *line = NULL;
	size_t room = 0;

	while (paths->len <= FILES_MAX + 1 && getline(&line, &room, maps) > 0) {
		const char *path = code_path(line);

		if (path)
			strtab_add(paths, path);
	}
	free(line);
}

static struct err *put_process(struct usdt_listing *l, uint32_t pid)
{
	CLEANUP(strtab_deinit) struct strtab paths = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	FILE *maps = fopen(path, "re");

	if (!maps)
		return err_system(errno, "cannot read the mappings of process %" PRIu32, pid);
	read_paths(maps, &paths);
	fclose(maps);
	/* Its owner may cut a file short while it is mapped here. */
	page_guard_stay();
	for (uint32_t i = 1; i < paths.len && i <= FILES_MAX; i++)
		put_mapped(l, pid, strtab_get(&paths, i));
	if (paths.len > FILES_MAX + 1)
		return err_new(ERR_UNSUPPORTED, "process %" PRIu32 " has mapped more than %u files: only those are shown", pid,
			       FILES_MAX);
	return NULL;
}

struct err *usdt_list_print(const char *file, uint32_t pid, bool csv)
{
	struct usdt_listing l = { .csv = csv };
	struct err *err = file ? put_file(&l, file) : NULL;

	if (!err && pid)
		err = put_process(&l, pid);
	if (err || l.nmarkers)
		return err;
	return err_remedy(err_new(ERR_USAGE, "%s", file ? "the file has no USDT markers"
							: "no file of the process has USDT markers"),
			  "programs have them if they were built with <sys/sdt.h>; functions can be probed without: -e "
			  "uprobe:FILE:FUNCTION");
}
