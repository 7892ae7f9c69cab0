/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_dump.c - one stack of each thread: a short recording, shown by preport.
 *
 * Threads that wait are read from outside (idle_reader.h), those that run are sampled; none is stopped. precord itself
 * cannot unwind: a child records and drops its privileges as any recorder does, then preport dump prints the trace.
 */
#include "formats/base/text.h"
#include "record/commands.h"
#include "record/record_args.h"
#include "record/recorder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOMENT_NS 300000000
#define RATE_HZ	  50  /* looks at waiting threads; those that have not run are read once */
#define FREQ_HZ	  499 /* samples of running threads */
#define RECORD_FAILED 125
#define READ_NS	  5000000000u /* for symbols of sampled code */

struct dump_args {
	const char *pids, *output;
	bool native, kernel;
};

#define ARGS struct dump_args

static const struct opt dump_opts[] = {
	OPT_STR(ARGS, pids, "pid", 'p', "PID[,PID]", "processes"),
	OPT_FLAG(ARGS, native, "native", 0, "show the C frames of interpreters, too"),
	OPT_FLAG(ARGS, kernel, "kernel", 'k', "show the kernel's functions, too"),
	OPT_STR(ARGS, output, "output", 'o', "FILE", "keep the recording, for preport dump -i FILE elsewhere"),
	OPT_END,
};

static struct err *record_moment(const struct dump_args *dump, const char *path)
{
	struct record_args args = { 0 };
	struct recorder s;

	record_args_defaults(&args);
	args.target.pids = dump->pids;
	args.target.no_inherit = true;
	args.output = path;
	args.quiet = true;
	args.idle_rate = RATE_HZ;
	args.locals = true;
	args.rate = (struct event_rate){ EVENT_RATE_FREQ, FREQ_HZ };
	args.duration_ns = MOMENT_NS;
	args.embed.time_ns = READ_NS;

	struct err *err = event_list_parse(&args.events, "cpu-clock");

	if (err) {
		record_args_release(&args);
		return err;
	}
	err = recorder_open(&s, &args, NULL);
	if (!err)
		err = recorder_run(&s);
	if (!err)
		err = recorder_finish(&s);
	recorder_close(&s);
	record_args_release(&args);
	return err;
}

static void say(const char *text)
{
	fputs("precord: ", stderr);
	text_put_escaped(stderr, text);
	fputc('\n', stderr);
}

/* The recorder drops the right to run programs, so it is a child. It prints its own errors. */
static struct err *record_in_child(const struct dump_args *dump, const char *path, int *ret_status)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return err_system(errno, "cannot start a process");
	if (pid == 0) {
		CLEANUP(err_freep) struct err *err = record_moment(dump, path);

		if (err)
			say(err_message(err));
		if (err && err_hint(err))
			say(err_hint(err));
		_exit(err ? RECORD_FAILED : 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret_status = status ? RECORD_FAILED : 0;
	return NULL;
}

/* preport beside this program, or else the one in PATH. */
static void run_preport(const struct dump_args *dump, const char *path)
{
	char self[PATH_MAX], beside[PATH_MAX + 16];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *args[] = { "preport", "dump", "-i", path, dump->native ? "--native" : NULL, NULL, NULL };

	if (dump->kernel)
		args[dump->native ? 5 : 4] = "--kernel";
	if (len > 0) {
		self[len] = '\0';
		const char *slash = strrchr(self, '/');

		snprintf(beside, sizeof(beside), "%.*s/preport", slash ? (int)(slash - self) : 0, self);
		execv(beside, (char **)args);
	}
	execvp("preport", (char **)args);
	fprintf(stderr, "precord: cannot run preport: %s\n", strerror(errno));
	_exit(127);
}

static struct err *show(const struct dump_args *dump, const char *path, int *ret_status)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return err_system(errno, "cannot start preport");
	if (pid == 0)
		run_preport(dump, path);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return NULL;
}

static struct err *dump_run(void *args, char **operands, int noperands, int *ret_status)
{
	const struct dump_args *dump = args;
	const char *parent = getenv("TMPDIR");
	char folder[PATH_MAX], file[PATH_MAX + 16];

	(void)operands;
	(void)noperands;
	if (!dump->pids)
		return err_remedy(err_new(ERR_USAGE, "which process?"), "precord dump -p PID");
	snprintf(folder, sizeof(folder), "%s/precord-dump-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!dump->output && !mkdtemp(folder))
		return err_system(errno, "cannot make a folder in '%s'", parent && *parent ? parent : "/tmp");
	snprintf(file, sizeof(file), "%s/dump.trace", folder);

	const char *path = dump->output ? dump->output : file;
	struct err *err = record_in_child(dump, path, ret_status);

	if (!err && !*ret_status)
		err = show(dump, path, ret_status);
	if (!dump->output) {
		unlink(file);
		rmdir(folder);
	}
	return err;
}

const struct command cmd_dump = {
	.name = "dump",
	.summary = "the stacks of all threads of a process, now, without stopping it",
	.operands = "",
	.examples = "  precord dump -p 1234               where is it?\n"
		    "  precord dump -p 1234 -o now.trace  the same, kept for later\n",
	.manual = "precord(1)",
	.opts = dump_opts,
	.args_size = sizeof(struct dump_args),
	.run = dump_run,
	.order = OPT_ANYWHERE,
};
