/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_info.c - two small files and the owner of a folder; what cannot be read is left empty.
 */
#include "record/task/process_info.h"

#include "formats/base/compiler.h"
#include "record/task/foreign_reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS 1000000000ULL

static size_t read_file(int dir_fd, const char *name, char *to, size_t room)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = 1;

	while (fd >= 0 && len < room && got > 0) {
		got = read(fd, to + len, room - len);
		if (got > 0)
			len += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	return len;
}

/* Words end in a NUL each; a program may write anything over them. */
static void read_cmdline(int dir_fd, char *to)
{
	size_t len = read_file(dir_fd, "cmdline", to, PROCESS_INFO_CMDLINE_MAX);
	bool whole = len < PROCESS_INFO_CMDLINE_MAX;

	while (len && to[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++) {
		if (to[i] == '\0')
			to[i] = ' ';
	}
	memcpy(to + len, whole ? "" : "...", whole ? 1 : 4);
}

/* The line of the unified hierarchy, "0::PATH", else systemd's, else the first with a path. */
static void read_cgroup(int dir_fd, char *to, size_t room)
{
	char text[8192];
	size_t len = read_file(dir_fd, "cgroup", text, sizeof(text) - 1);
	const char *best = NULL;
	char *rest = NULL;

	text[len] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *colon = strchr(line, ':');
		char *path = colon ? strchr(colon + 1, ':') : NULL;

		if (!path || path[1] != '/')
			continue;
		bool unified = strncmp(line, "0::", 3) == 0;
		bool systemd = strncmp(colon, ":name=systemd:", 14) == 0;

		/* On a machine with both the unified one may be empty. */
		if (!best || (unified && path[2]) || (systemd && !best[1]))
			best = path + 1;
	}
	snprintf(to, room, "%s", best ? best : "");
}

/*
 * The owner of the folder is the effective user, also of a process that may not be looked into: then the files in it are root's,
 * but not the folder itself (task_dump_owner() of the kernel).
 */
static uint32_t read_uid(int dir_fd)
{
	struct stat st;

	return fstat(dir_fd, &st) == 0 ? st.st_uid : UINT32_MAX;
}

struct answer {
	bool found;
	struct process_info_texts texts;
};

struct request {
	uint32_t pid;
	bool no_cmdline;
};

static void read_folder(int fd, bool no_cmdline, struct process_info_texts *ret)
{
	ret->cmdline[0] = '\0';
	if (!no_cmdline)
		read_cmdline(fd, ret->cmdline);
	read_cgroup(fd, ret->cgroup, sizeof(ret->cgroup));
	ret->uid = read_uid(fd);
}

/* In the foreign reader: for a command line the process's mappings are locked, as they may be for ever by another. */
static void run(const void *request, void *answer, int *ret_fd)
{
	const struct request *q = request;
	char path[32];

	struct answer *ret = answer;

	(void)ret_fd;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, q->pid);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	ret->found = true;
	read_folder(fd, q->no_cmdline, &ret->texts);
	close(fd);
}

struct event process_info_event(uint32_t pid, const struct process_info_texts *texts)
{
	return (struct event){
		.kind = EVENT_PROCESS,
		.cpu = EVENT_NO_CPU,
		.pid = pid,
		.tid = pid,
		.process = { .cmdline = texts->cmdline, .cgroup = texts->cgroup, .uid = texts->uid },
	};
}

void process_info_read(const struct process_info *info, int dir_fd, struct process_info_texts *ret)
{
	read_folder(dir_fd, info->no_cmdline, ret);
}

static bool ask(struct process_info *info, uint32_t pid, struct event *ret)
{
	struct request request = { pid, info->no_cmdline };
	struct answer answer;
	char name[64];
	int fd;
	const struct foreign_job job = {
		.run = run,
		.name = name,
		.request = &request,
		.request_len = sizeof(request),
		.answer_len = sizeof(answer),
	};

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/cmdline", pid);
	enum foreign_result result = foreign_reader_ask(info->reader, &job, &answer, &fd);

	if (fd >= 0)
		close(fd);
	if (result != FOREIGN_DONE || !answer.found)
		return false;
	info->texts = answer.texts;
	info->texts.cmdline[sizeof(info->texts.cmdline) - 1] = '\0';
	info->texts.cgroup[sizeof(info->texts.cgroup) - 1] = '\0';
	*ret = process_info_event(pid, &info->texts);
	return true;
}

bool process_info_after_exec(struct process_info *info, uint32_t pid, uint64_t now_ns,
			     struct event *ret)
{
	uint64_t past_ns = now_ns > info->last_ns ? now_ns - info->last_ns : 0;
	uint64_t more = MIN(past_ns, SECOND_NS) * PROCESS_INFO_RATE / SECOND_NS;

	if (more) {
		info->tokens = MIN(info->tokens + more, (uint64_t)PROCESS_INFO_RATE);
		info->last_ns = now_ns;
	}
	if (!info->tokens) {
		info->skipped++;
		return false;
	}
	info->tokens--;
	return ask(info, pid, ret);
}
