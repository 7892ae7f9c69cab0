/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.c - mixed systems mount version 2 somewhere below version 1, so the mount table decides.
 */
#include "record/task/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *cgroup_find_mount(const char *mounts_path, struct arena *arena)
{
	FILE *file = setmntent(mounts_path, "re");
	const char *found = NULL;

	for (struct mntent *entry; file && (entry = getmntent(file));) {
		bool by_controller =
			!strcmp(entry->mnt_type, "cgroup") && hasmntopt(entry, "perf_event");

		if (by_controller || (!found && !strcmp(entry->mnt_type, "cgroup2")))
			found = arena_strdup(arena, entry->mnt_dir);
		if (by_controller)
			break;
	}
	if (file)
		endmntent(file);
	return found;
}

struct err *cgroup_open(const char *name, int *ret_fd)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *mount = cgroup_find_mount("/proc/self/mounts", &arena);

	if (!mount)
		return err_remedy(err_new(ERR_UNSUPPORTED, "no cgroups are mounted here"),
				  "mount -t cgroup2 none /sys/fs/cgroup");
	size_t len = strlen(mount);
	const char *rest = !strncmp(name, mount, len) && name[len] == '/' ? name + len : name;
	int fd = open(arena_printf(&arena, "%s/%s", mount, rest + strspn(rest, "/")),
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_remedy(err_system(errno, "cgroup '%s'", name),
				  "give its path below %s, as /proc/PID/cgroup shows it", mount);
	*ret_fd = fd;
	return NULL;
}
