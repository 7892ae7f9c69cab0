/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_tids.c - /proc maps outer thread numbers to inner ones, not the other way round: so in a PID namespace all threads of a process are
 * read.
 */
#include "record/runtime/runtime_tids.h"

#include "formats/base/compiler.h"
#include "record/task/inner_pid.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 4096 /* that are asked */

void runtime_tids_deinit(struct runtime_tids *tids)
{
	map_deinit(&tids->outer);
	*tids = (struct runtime_tids){ 0 };
}

static bool read_comm(uint32_t pid, uint32_t tid, char ret[RUNTIME_COMM_LEN])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, ret, RUNTIME_COMM_LEN - 1);

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	ret[len] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static void ask_all(struct runtime_tids *tids, uint32_t pid)
{
	char path[32];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	DIR *dir = opendir(path);

	map_clear(&tids->outer);
	for (unsigned i = 0; dir && i < THREADS_MAX && (entry = readdir(dir)); i++) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid)
			*map_put(&tids->outer, inner_tid(pid, tid), NULL) = tid;
	}
	if (dir)
		closedir(dir);
}

bool runtime_tids_find(struct runtime_tids *tids, uint32_t pid, uint32_t *tid, char comm[RUNTIME_COMM_LEN])
{
	uint32_t inner = *tid;

	if (inner_tid(pid, inner) == inner && read_comm(pid, inner, comm))
		return true;
	for (unsigned tries = 0; tries < 2; tries++) {
		const uint64_t *slot = map_get(&tids->outer, inner);

		if (slot && inner_tid(pid, (uint32_t)*slot) == inner && read_comm(pid, (uint32_t)*slot, comm)) {
			*tid = (uint32_t)*slot;
			return true;
		}
		if (!tries)
			ask_all(tids, pid);
	}
	return false;
}
