/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.c - two pipes to the child: it waits for a byte from "go", and "failed" is closed by a successful exec.
 */
#include "record/task/workload.h"

#include "formats/base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#define STATUS_NOT_FOUND   127
#define STATUS_NOT_STARTED 126

/* Runs in the child: only what is safe after fork(). */
__attribute__((noreturn)) static void run_child(char **argv, const sigset_t *mask, int go_fd,
						int failed_fd)
{
	char go;
	ssize_t got;

	do
		got = read(go_fd, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(STATUS_NOT_STARTED);
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(argv[0], argv);

	int error = errno;

	if (write(failed_fd, &error, sizeof(error)) < 0)
		_exit(STATUS_NOT_STARTED);
	_exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_STARTED);
}

struct err *workload_fork(char **argv, const sigset_t *mask, bool stdout_taken,
			  struct workload *ret)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_system(errno, "cannot make a pipe");
	if (pipe2(failed, O_CLOEXEC) < 0) {
		int error = errno;

		close(go[0]);
		close(go[1]);
		return err_system(error, "cannot make a pipe");
	}
	pid_t pid = fork();
	int error = errno;

	if (pid == 0) {
		close(go[1]);
		close(failed[0]);
		if (stdout_taken)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		run_child(argv, mask, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	*ret = (struct workload){ .pid = pid, .go_fd = go[1], .failed_fd = failed[0] };
	if (pid < 0) {
		ret->pid = 0;
		workload_deinit(ret);
		return err_system(error, "cannot start a process");
	}
	return NULL;
}

struct err *workload_start(struct workload *w)
{
	int error = 0;
	ssize_t got;

	if (write(w->go_fd, "g", 1) != 1)
		return err_system(errno, "cannot start the command");
	w->started = true;
	do
		got = read(w->failed_fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	if (got != sizeof(error))
		return NULL;
	w->exec_errno = error;
	return err_system(error, "cannot run the command");
}

bool workload_ended(struct workload *w)
{
	if (!w->ended && w->pid && waitpid(w->pid, &w->status, WNOHANG) == w->pid)
		w->ended = true;
	return w->ended;
}

void workload_signal(const struct workload *w, int signal)
{
	if (w->pid && !w->ended)
		kill(w->pid, signal);
}

int workload_exit_status(const struct workload *w, int *ret_signal)
{
	*ret_signal = 0;
	if (w->exec_errno)
		return w->exec_errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_STARTED;
	if (!w->ended)
		return 0;
	if (WIFSIGNALED(w->status)) {
		*ret_signal = WTERMSIG(w->status);
		return 128 + *ret_signal;
	}
	return WEXITSTATUS(w->status);
}

void workload_die_by(int signal_number)
{
	const struct rlimit no_core = { 0, 0 };
	sigset_t mask;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(signal_number, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, signal_number);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	raise(signal_number);
}

void workload_deinit(struct workload *w)
{
	if (!w->pid && !w->go_fd)
		return;
	close(w->go_fd);
	close(w->failed_fd);
	w->go_fd = w->failed_fd = 0;
	w->pid = 0;
}

bool workload_in_path(const char *name)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *path = getenv("PATH");
	char *rest = arena_strdup(&arena, path ? path : "/bin:/usr/bin");

	while (rest) {
		const char *folder = strsep(&rest, ":");
		const char *file = arena_printf(&arena, "%s/%s", *folder ? folder : ".", name);
		struct stat st;

		if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0)
			return true;
	}
	return false;
}
