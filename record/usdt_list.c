/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usdt_list.c - a marker that was compiled in at several places is listed once, with their number.
 *
 * Files of a process are opened through its own root, and belong to whoever mapped them: only regular ones are, and those that
 * are no ELF files are passed over.
 */
#include "record/usdt_list.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "record/event/probe_event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 4096 /* of a process */

struct usdt_listing {
	bool csv, begun;
	size_t nmarkers, nfiles;
};

static bool is_same(const struct usdt_marker *a, const struct usdt_marker *b)
{
	return strcmp(a->provider, b->provider) == 0 && strcmp(a->name, b->name) == 0;
}

static void put_csv(const char *text)
{
	putchar('"');
	for (; *text; text++)
		printf(*text == '"' ? "\"\"" : "%c", *text);
	putchar('"');
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
		put_csv(name);
		printf(",%zu,", places);
		put_csv(args);
		putchar('\n');
	} else {
		printf("  %s", name);
		if (places > 1)
			printf("  (%zu places)", places);
		printf("%s%s\n", *args ? "\n      " : "", args);
	}
}

/* @open is what to open for @path. */
static struct err *put_file(struct usdt_listing *l, const char *open, const char *path)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct usdt_markers markers;
	struct err *err = usdt_read(open, &arena, &markers);
	size_t next;

	if (err)
		return err;
	l->nfiles++;
	for (size_t i = 0; i < markers.len; i = next) {
		for (next = i + 1; next < markers.len && is_same(&markers.items[i], &markers.items[next]);)
			next++;
		put_marker(l, path, &markers.items[i], next - i, &arena);
		l->nmarkers++;
	}
	return NULL;
}

static bool is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_known(char *const *paths, size_t len, const char *path)
{
	for (size_t i = 0; i < len; i++)
		if (strcmp(paths[i], path) == 0)
			return true;
	return false;
}

/* The path of a line of /proc/PID/maps that is mapped as code; NULL if it is none. */
static char *code_path(char *line)
{
	char *path = strchr(line, '/');
	char *space = strchr(line, ' ');

	line[strcspn(line, "\n")] = 0;
	return path && space && strlen(space) > 4 && space[3] == 'x' ? path : NULL;
}

static struct err *put_process(struct usdt_listing *l, uint32_t pid)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char **paths = memory_zeroed(FILES_MAX, sizeof(*paths));
	char *line = NULL;
	size_t room = 0, npaths = 0;
	FILE *maps = fopen(arena_printf(&arena, "/proc/%" PRIu32 "/maps", pid), "re");

	if (!maps) {
		free(paths);
		return err_system(errno, "cannot read the mappings of process %" PRIu32, pid);
	}
	while (npaths < FILES_MAX && getline(&line, &room, maps) > 0) {
		char *path = code_path(line);

		if (path && !is_known(paths, npaths, path))
			paths[npaths++] = arena_strdup(&arena, path);
	}
	for (size_t i = 0; i < npaths; i++) {
		const char *open = arena_printf(&arena, "/proc/%" PRIu32 "/root%s", pid, paths[i]);

		if (is_regular(open))
			err_free(put_file(l, open, paths[i]));
	}
	free(line);
	free(paths);
	fclose(maps);
	return NULL;
}

struct err *usdt_list_print(const char *file, uint32_t pid, bool csv)
{
	struct usdt_listing l = { .csv = csv };
	struct err *err = file ? put_file(&l, file, file) : NULL;

	if (!err && pid)
		err = put_process(&l, pid);
	if (err || l.nmarkers)
		return err;
	return err_remedy(err_new(ERR_USAGE, "%s", file ? "the file has no USDT markers"
							: "no file of the process has USDT markers"),
			  "programs have them if they were built with <sys/sdt.h>; functions can be probed without: -e "
			  "uprobe:FILE:FUNCTION");
}
