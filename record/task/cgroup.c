/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.c - mixed systems mount version 2 somewhere below version 1, so the mount table decides.
 */
#include "record/task/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MAX    4096
#define PROCESSES_MAX (1u << 17)
#define DEPTH_MAX     32

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

/* A walk through a group and those below it. */
struct walk {
	void (*visit)(void *context, uint32_t pid);
	void *context;
	size_t ngroups, nprocesses;
};

static void visit_processes(struct walk *w, int dir_fd)
{
	int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	uint32_t pid;

	/* 0 is a process outside this PID namespace. */
	while (file && w->nprocesses++ < PROCESSES_MAX && fscanf(file, "%" SCNu32, &pid) == 1)
		if (pid)
			w->visit(w->context, pid);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}

static void visit_group(struct walk *w, int dir_fd, unsigned depth)
{
	DIR *dir = w->ngroups++ < GROUPS_MAX ? fdopendir(dir_fd) : NULL;

	if (!dir) {
		close(dir_fd);
		return;
	}
	visit_processes(w, dirfd(dir));
	for (struct dirent *entry; depth < DEPTH_MAX && w->ngroups < GROUPS_MAX && (entry = readdir(dir));) {
		int fd = -1;

		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0)
			visit_group(w, fd, depth + 1);
	}
	closedir(dir);
}

void cgroup_each_process(int fd, void (*visit)(void *context, uint32_t pid), void *context)
{
	struct walk walk = { .visit = visit, .context = context };
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (own >= 0)
		visit_group(&walk, own, 0);
}
