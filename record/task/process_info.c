/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_info.c - two small files and the owner of a folder; what cannot be read is left empty.
 */
#include "record/task/process_info.h"

#include "formats/base/compiler.h"
#include "formats/base/reader.h"
#include "record/task/foreign_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
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

/* Arguments end in NUL each; a program may overwrite them with anything. */
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
 * The folder's owner is the effective user even of a process that is not dumpable: the files in it then belong to root, but
 * not the folder itself (task_dump_owner() of the kernel).
 */
static uint32_t read_uid(int dir_fd)
{
	struct stat st;

	return fstat(dir_fd, &st) == 0 ? st.st_uid : UINT32_MAX;
}

/* An answer for the first processes, as many as fit: whether each is there, its user, command line, cgroup. */
struct answer {
	uint32_t count;
	uint32_t len; /* bytes in @texts */
	char texts[FOREIGN_ANSWER_MAX - 8];
};

#define BATCH_MAX 64

struct request {
	uint32_t count;
	bool no_cmdline;
	uint32_t pids[BATCH_MAX];
};

static void read_folder(int fd, bool no_cmdline, struct process_info_texts *ret)
{
	ret->cmdline[0] = '\0';
	if (!no_cmdline)
		read_cmdline(fd, ret->cmdline);
	read_cgroup(fd, ret->cgroup, sizeof(ret->cgroup));
	ret->uid = read_uid(fd);
}

/* Room for one more, however long its texts are. */
#define ONE_MAX (1 + sizeof(uint32_t) + sizeof(((struct process_info_texts *)0)->cmdline) + PROCESS_INFO_CGROUP_MAX)

static void put(struct answer *answer, const void *bytes, size_t len)
{
	memcpy(answer->texts + answer->len, bytes, len);
	answer->len += (uint32_t)len;
}

static void put_process(struct answer *answer, uint32_t pid, bool no_cmdline)
{
	struct process_info_texts texts;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	put(answer, fd < 0 ? "" : "x", 1);
	answer->count++;
	if (fd < 0)
		return;
	read_folder(fd, no_cmdline, &texts);
	close(fd);
	put(answer, &texts.uid, sizeof(texts.uid));
	put(answer, texts.cmdline, strlen(texts.cmdline) + 1);
	put(answer, texts.cgroup, strlen(texts.cgroup) + 1);
}

/* Runs in the foreign reader: reading a command line takes the process's mmap lock, which may be held for ever. */
static void run(const void *request, void *answer, int *ret_fd)
{
	const struct request *q = request;
	struct answer *ret = answer;

	(void)ret_fd;
	for (uint32_t i = 0; i < MIN(q->count, BATCH_MAX) && ret->len + ONE_MAX <= sizeof(ret->texts); i++)
		put_process(ret, q->pids[i], q->no_cmdline);
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

static enum foreign_result ask(struct process_info *info, const struct process_exec *execs, size_t count, struct answer *ret)
{
	struct request request = { (uint32_t)count, info->no_cmdline, { 0 } };
	char name[64];
	int fd;
	const struct foreign_job job = {
		.run = run,
		.name = name,
		.request = &request,
		.request_len = sizeof(request),
		.answer_len = sizeof(*ret),
		.pid = count > 1 ? 0 : execs->pid,
		.can_ask_again = count > 1,
	};

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/cmdline", execs->pid);
	for (size_t i = 0; i < count; i++)
		request.pids[i] = execs[i].pid;
	enum foreign_result result = foreign_reader_ask(info->reader, &job, ret, &fd);

	if (fd >= 0)
		close(fd);
	return result;
}

static void copy_text(struct reader *r, char *to, size_t room)
{
	const char *text = reader_string(r, "text of a process");

	snprintf(to, room, "%s", text ? text : "");
}

/* The next process of an answer; false if it is gone. */
static bool take_process(struct reader *r, struct process_info_texts *ret)
{
	if (!reader_u8(r, "presence"))
		return false;
	ret->uid = reader_u32(r, "user");
	copy_text(r, ret->cmdline, sizeof(ret->cmdline));
	copy_text(r, ret->cgroup, sizeof(ret->cgroup));
	return !r->failed;
}

/* Report the first of the @count processes at @execs; *@ret_done is how many were done, 0 if no answer came. */
static struct err *tell_some(struct process_info *info, const struct process_exec *execs, size_t count,
			     struct err *(*tell)(void *context, const struct event *ev), void *context, size_t *ret_done)
{
	struct answer answer;
	struct reader r;
	struct err *err = NULL;

	*ret_done = 0;
	if (ask(info, execs, count, &answer) != FOREIGN_DONE)
		return NULL;
	reader_init(&r, answer.texts, MIN(answer.len, sizeof(answer.texts)), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	*ret_done = MAX(MIN(answer.count, count), 1U);
	for (size_t i = 0; i < *ret_done && !err; i++) {
		if (!take_process(&r, &info->texts))
			continue;
		struct event ev = process_info_event(execs[i].pid, &info->texts);

		ev.time_ns = execs[i].time_ns;
		err = tell(context, &ev);
	}
	return err;
}

/* Add what @past_ns bring to @tokens, of which there are at most @rate. */
static void fill(uint64_t *tokens, uint64_t *last_ns, uint64_t now_ns, uint64_t rate)
{
	uint64_t past_ns = now_ns > *last_ns ? now_ns - *last_ns : 0;
	uint64_t more = MIN(past_ns, SECOND_NS) * rate / SECOND_NS;

	if (!more)
		return;
	*tokens = MIN(*tokens + more, rate);
	*last_ns = now_ns;
}

/* Of a flood of short programs nearly all are gone, which costs next to nothing to see. */
static bool is_there(uint32_t pid)
{
	return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* The execs beyond the rate whose processes still live are read, too. */
static void take_later(struct process_info *info, uint64_t now_ns)
{
	size_t taken = 0;

	fill(&info->later_tokens, &info->later_last_ns, now_ns, PROCESS_INFO_LATER_RATE);
	for (; taken < info->later.len && info->later.items[taken].time_ns + PROCESS_INFO_LATER_NS <= now_ns; taken++) {
		uint32_t pid = info->later.items[taken].pid;

		if (!is_there(pid))
			continue;
		if (!info->later_tokens)
			break;
		info->later_tokens--;
		info->skipped--;
		vec_push(&info->execs, ((struct process_exec){ pid, now_ns }));
	}
	if (taken)
		vec_remove(&info->later, 0, taken);
}

struct err *process_info_tell(struct process_info *info, uint64_t now_ns,
			      struct err *(*tell)(void *context, const struct event *ev), void *context)
{
	struct err *err = NULL;
	size_t done, alone = 0; /* @alone: left to read one by one, because the batch got no answer */

	if (info->later.len)
		take_later(info, now_ns);
	for (size_t i = 0; i < info->execs.len && !err; i += MAX(done, 1U)) {
		size_t count = alone ? 1 : MIN(info->execs.len - i, (size_t)BATCH_MAX);

		err = tell_some(info, &info->execs.items[i], count, tell, context, &done);
		if (!done && count > 1) {
			alone = count;
			err = tell_some(info, &info->execs.items[i], 1, tell, context, &done);
		}
		alone -= alone > 0;
	}
	info->execs.len = 0;
	return err;
}

void process_info_deinit(struct process_info *info)
{
	vec_deinit(&info->execs);
	vec_deinit(&info->later);
}

void process_info_after_exec(struct process_info *info, uint32_t pid, uint64_t now_ns)
{
	fill(&info->tokens, &info->last_ns, now_ns, PROCESS_INFO_RATE);
	if (info->tokens) {
		info->tokens--;
		vec_push(&info->execs, ((struct process_exec){ pid, now_ns }));
		return;
	}
	info->skipped++;
	if (info->later.len < PROCESS_INFO_LATER_MAX)
		vec_push(&info->later, ((struct process_exec){ pid, now_ns }));
}
