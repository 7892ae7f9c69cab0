/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - FIFOs are opened for reading and writing, so that they never reach end of file and opening never blocks. An
 * inherited descriptor keeps its flags and is read only when poll(2) says that it is readable.
 */
#include "record/sample/control.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_DONE "ack\n"

static const struct {
	const char *name;
	enum control_verb verb;
	bool takes_event;
} verbs[] = {
	{ "enable", CONTROL_ENABLE, true },   { "disable", CONTROL_DISABLE, true },
	{ "snapshot", CONTROL_SNAPSHOT, false }, { "stop", CONTROL_STOP, false },
	{ "ping", CONTROL_PING, false },      { "evlist", CONTROL_EVLIST, false },
};

static bool is_descriptor(const char *text, int *ret)
{
	uint64_t value;

	if (!text_parse_u64(text, &value) || value > INT32_MAX)
		return false;
	*ret = (int)value;
	return true;
}

void control_args_deinit(struct control_args *args)
{
	free((char *)args->commands); /* @answers lies in the same memory */
	*args = (struct control_args){ 0 };
}

struct err *control_parse(void *field, const char *value)
{
	struct control_args *args = field;
	bool by_path = !strncmp(value, "fifo:", 5);
	const char *names = value + (by_path ? 5 : 3);

	control_args_deinit(args);
	if (!by_path && strncmp(value, "fd:", 3) != 0)
		return err_new(ERR_USAGE, "'%s' is neither fifo:CTL[,ACK] nor fd:CTL[,ACK]", value);
	char *text = memory_strdup(names);
	char *comma = strchr(text, ',');
	int fd;

	*args = (struct control_args){ .given = true, .by_path = by_path, .commands = text };
	if (comma) {
		*comma = '\0';
		args->answers = comma + 1;
	}
	if (!*text || (comma && !comma[1]))
		return err_new(ERR_USAGE, "a name is missing in '%s'", value);
	if (!by_path && (!is_descriptor(text, &fd) || (comma && !is_descriptor(comma + 1, &fd))))
		return err_new(ERR_USAGE, "'%s' has no numbers of descriptors", value);
	return NULL;
}

static struct err *open_fifo(const char *path, int *ret)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return err_remedy(err_system(errno, "cannot open '%s'", path),
				  "make it with: mkfifo %s", path);
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode)) {
		close(fd);
		return err_remedy(err_new(ERR_USAGE, "'%s' is not a FIFO", path),
				  "make one with: mkfifo NAME");
	}
	*ret = fd;
	return NULL;
}

/* A descriptor that the command does not inherit. */
static struct err *take_descriptor(const char *text, int *ret)
{
	int fd = -1;
	int flags = is_descriptor(text, &fd) ? fcntl(fd, F_GETFD) : -1;

	if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
		return err_remedy(err_system(errno, "descriptor %d", fd),
				  "it must be open when precord starts: 10<>NAME in a shell");
	*ret = fd;
	return NULL;
}

static struct err *open_one(const struct control_args *args, const char *name, int *ret)
{
	return args->by_path ? open_fifo(name, ret) : take_descriptor(name, ret);
}

struct err *control_open(const struct control_args *args, struct control *ret)
{
	*ret = (struct control){ .command_fd = -1, .answer_fd = -1, .owned = args->by_path };
	if (!args->given)
		return NULL;
	struct err *err = open_one(args, args->commands, &ret->command_fd);

	if (!err && args->answers)
		err = open_one(args, args->answers, &ret->answer_fd);
	return err ? err_wrap(err, "--control") : NULL;
}

void control_close(struct control *c)
{
	if (c->owned && c->command_fd >= 0)
		close(c->command_fd);
	if (c->owned && c->answer_fd >= 0)
		close(c->answer_fd);
	c->command_fd = c->answer_fd = -1;
}

bool control_read(struct control *c)
{
	ssize_t got = read(c->command_fd, c->text + c->len, sizeof(c->text) - c->len);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	c->len += (size_t)got;
	return got > 0;
}

/* Drop the line that was handed out last. */
static void drop_line(struct control *c)
{
	memmove(c->text, c->text + c->done, c->len - c->done);
	c->len -= c->done;
	c->done = 0;
}

/* "verb" or "verb EVENT", the latter with quotes as perf takes it. */
static struct err *parse(char *line, struct control_command *ret)
{
	char *event = NULL;
	size_t verb_len = strcspn(line, " ");

	if (line[verb_len]) {
		event = line + verb_len + strspn(line + verb_len, " ");
		line[verb_len] = '\0';
		size_t len = strlen(event);

		if (len >= 2 && *event == '\'' && event[len - 1] == '\'') {
			event[len - 1] = '\0';
			event++;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(verbs[i].name, line) != 0)
			continue;
		if (event && !verbs[i].takes_event)
			return err_new(ERR_USAGE, "command '%s' takes no '%s'", line, event);
		*ret = (struct control_command){ verbs[i].verb, event };
		return NULL;
	}
	return err_new(ERR_USAGE,
		       "unknown command '%s' (enable, disable, snapshot, stop, ping, evlist)",
		       line);
}

bool control_next(struct control *c, struct control_command *ret, struct err **ret_err)
{
	drop_line(c);
	for (;;) {
		char *end = memchr(c->text, '\n', c->len);

		if (!end && c->len == sizeof(c->text)) {
			c->overlong = true;
			c->len = 0;
		}
		if (!end)
			return false;
		c->done = (size_t)(end - c->text) + 1;
		*end = '\0';
		if (c->overlong) {
			c->overlong = false;
			*ret_err = err_new(ERR_USAGE, "a command is longer than %d bytes",
					   CONTROL_LINE_MAX);
			return true;
		}
		if (!*c->text) {
			drop_line(c);
			continue;
		}
		*ret_err = parse(c->text, ret);
		return true;
	}
}

void control_answer(const struct control *c, const struct err *err)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct pollfd poll_fd = { .fd = c->answer_fd, .events = POLLOUT };
	char text[CONTROL_LINE_MAX] = ANSWER_DONE;
	int len = (int)strlen(text);

	if (err)
		len = MIN(snprintf(text, sizeof(text), "error: %.400s\n",
				   text_escape(&arena, err_message(err))),
			  (int)sizeof(text) - 1);
	/* A reader that sleeps must not block the recording. */
	if (c->answer_fd < 0 || poll(&poll_fd, 1, 0) != 1 || !(poll_fd.revents & POLLOUT))
		return;
	if (write(c->answer_fd, text, (size_t)len + 1) < 0)
		return;
}
