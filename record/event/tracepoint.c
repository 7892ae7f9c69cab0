/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint.c - events/SYSTEM/NAME/{id,format} below the root of tracefs.
 */
#include "record/event/tracepoint.h"

#include "formats/base/text.h"
#include "formats/base/vec.h"
#include "record/system/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct directory {
	struct dirent **entries;
	int len;
};

static void directory_deinit(struct directory *dir)
{
	for (int i = 0; i < dir->len; i++)
		free(dir->entries[i]);
	free(dir->entries);
}

static int is_event_dir(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* The owner's group of every file in tracefs is set by remounting; users may read them through it. */
static struct err *with_remedy(struct err *err, const char *root)
{
	if (err_errno(err) != EACCES && err_errno(err) != EPERM)
		return err;
	return err_remedy(err,
			  "run as root, or let your group read it with: "
			  "mount -o remount,mode=750,gid=%u %s",
			  (unsigned)getgid(), root);
}

static struct err *not_permitted(int errnum, const char *root)
{
	return with_remedy(err_system(errnum, "cannot read the tracepoints in '%s'", root), root);
}

/* The mount point of tracefs, or what debugfs shows of it; NULL if there is neither. */
static const char *mount_point(struct arena *arena)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const char *found = NULL;
	struct mntent *entry;

	while (mounts && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, "tracefs") == 0) {
			found = arena_strdup(arena, entry->mnt_dir);
			break;
		}
		if (strcmp(entry->mnt_type, "debugfs") == 0 && !found)
			found = arena_printf(arena, "%s/tracing", entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

struct err *tracepoint_find_root(struct arena *arena, const char **ret)
{
	const char *root = mount_point(arena);

	if (!root) {
		struct err *err =
			err_system(ENOENT, "tracefs, which lists the tracepoints, is not mounted");

		return err_remedy(err,
				  "mount it with: mount -t tracefs tracefs /sys/kernel/tracing");
	}

	const char *events = arena_printf(arena, "%s/events", root);

	if (access(events, R_OK | X_OK) != 0)
		return not_permitted(errno, root);
	*ret = root;
	return NULL;
}

struct gathered {
	VEC(struct tracepoint) items;
};

static void gathered_deinit(struct gathered *gathered)
{
	vec_deinit(&gathered->items);
}

static void match_names(const char *dir, const char *system, const char *glob, struct arena *arena,
			struct gathered *found)
{
	CLEANUP(directory_deinit) struct directory names = { 0 };
	const char *own_system = NULL;

	names.len = scandir(dir, &names.entries, is_event_dir, alphasort);
	for (int i = 0; i < names.len; i++) {
		const char *name = names.entries[i]->d_name;

		if (fnmatch(glob, name, 0) != 0)
			continue;
		if (!own_system)
			own_system = arena_strdup(arena, system);
		struct tracepoint tp = { .system = own_system, .name = arena_strdup(arena, name) };

		vec_push(&found->items, tp);
	}
}

struct err *tracepoint_match(const char *root, const char *system, const char *name,
			     struct arena *arena, struct tracepoint_list *ret)
{
	CLEANUP(directory_deinit) struct directory systems = { 0 };
	CLEANUP(gathered_deinit) struct gathered found = { 0 };
	const char *events = arena_printf(arena, "%s/events", root);

	systems.len = scandir(events, &systems.entries, is_event_dir, alphasort);
	if (systems.len < 0)
		return not_permitted(errno, root);
	for (int i = 0; i < systems.len; i++) {
		const char *own = systems.entries[i]->d_name;

		if (fnmatch(system, own, 0) == 0)
			match_names(arena_printf(arena, "%s/%s", events, own), own, name, arena,
				    &found);
	}
	ret->items = ARENA_ARRAY(arena, struct tracepoint, found.items.len);
	ret->len = found.items.len;
	if (ret->len)
		memcpy(ret->items, found.items.items, ret->len * sizeof(*ret->items));
	return NULL;
}

struct err *tracepoint_load(const char *root, struct arena *arena, struct tracepoint *tp)
{
	const char *dir = arena_printf(arena, "%s/events/%s/%s", root, tp->system, tp->name);
	const char *id = NULL, *format = NULL;
	struct err *err = text_file_read(arena_printf(arena, "%s/id", dir), arena, &id);

	if (!err)
		err = text_file_read(arena_printf(arena, "%s/format", dir), arena, &format);
	if (err)
		return err_wrap(with_remedy(err, root), "tracepoint %s:%s", tp->system, tp->name);
	if (!text_parse_u64(id, &tp->id))
		return err_new(ERR_CORRUPT, "tracepoint %s:%s has the id '%s', which is not a number",
			       tp->system, tp->name, id);
	tp->format = format;
	return NULL;
}

/* The name in "type name[len]": the last word before the semicolon and any bracket. */
static const char *field_name(struct arena *arena, const char *declaration)
{
	const char *end = declaration + strcspn(declaration, ";\n[");
	const char *start = end;

	while (start > declaration && !strchr(" \t*", start[-1]))
		start--;
	return arena_memdup(arena, start, (size_t)(end - start));
}

const char *tracepoint_fields(struct arena *arena, const char *format)
{
	static const char key[] = "\tfield:";
	const char *list = "";

	for (const char *p = strstr(format, key); p; p = strstr(p, key)) {
		p += sizeof(key) - 1;
		const char *name = field_name(arena, p);

		if (strncmp(name, "common_", 7) != 0)
			list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", name);
	}
	return list;
}
