/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_workload.c - a command that is held back, let go, and asked how it ended.
 */
#include "record/task/workload.h"

#include "tests/unit/test.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t no_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	return mask;
}

static void wait_for(struct workload *w)
{
	for (int i = 0; i < 12000 && !workload_ended(w); i++)
		usleep(5000);
	CHECK(w->ended);
}

/* Run @script to its end; the exit status, and in *@ret_signal the signal. */
static int run(const char *script, int *ret_signal)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL };
	const sigset_t mask = no_signals();
	CLEANUP(workload_deinit) struct workload w = { 0 };

	CHECK_OK(workload_fork(argv, &mask, false, &w));
	CHECK_OK(workload_start(&w));
	wait_for(&w);
	return workload_exit_status(&w, ret_signal);
}

TEST(workload_passes_on_how_the_command_ended)
{
	int signal_number;

	CHECK_INT(run("exit 0", &signal_number), 0);
	CHECK_INT(run("exit 7", &signal_number), 7);
	CHECK_INT(signal_number, 0);
	CHECK_INT(run("kill -TERM $$", &signal_number), 128 + SIGTERM);
	CHECK_INT(signal_number, SIGTERM);
}

TEST(workload_does_nothing_before_it_is_started)
{
	const char *mark = test_path("mark");
	char script[512];
	struct stat st;
	const sigset_t mask = no_signals();
	CLEANUP(workload_deinit) struct workload w = { 0 };

	snprintf(script, sizeof(script), ": >'%s'", mark);
	char *argv[] = { (char *)"sh", (char *)"-c", script, NULL };

	CHECK_OK(workload_fork(argv, &mask, false, &w));
	usleep(50000);
	CHECK(stat(mark, &st) < 0);
	CHECK(!workload_ended(&w));
	CHECK_OK(workload_start(&w));
	wait_for(&w);
	CHECK(stat(mark, &st) == 0);
}

TEST(workload_that_is_never_started_goes_away)
{
	char *argv[] = { (char *)"true", NULL };
	const sigset_t mask = no_signals();
	struct workload w = { 0 };

	CHECK_OK(workload_fork(argv, &mask, false, &w));
	pid_t pid = w.pid;
	int status;

	workload_deinit(&w);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
}

TEST(workload_that_cannot_be_run_says_why_as_a_shell_does)
{
	char *missing[] = { (char *)"/no/such/program", NULL };
	char *folder[] = { (char *)"/", NULL };
	const sigset_t mask = no_signals();
	int signal_number;
	struct workload w = { 0 };

	CHECK_OK(workload_fork(missing, &mask, false, &w));
	CHECK_ERR(workload_start(&w), ERR_SYSTEM, "No such file");
	CHECK_INT(workload_exit_status(&w, &signal_number), 127);
	workload_deinit(&w);
	CHECK_OK(workload_fork(folder, &mask, false, &w));
	CHECK_ERR(workload_start(&w), ERR_SYSTEM, "Permission denied");
	CHECK_INT(workload_exit_status(&w, &signal_number), 126);
	workload_deinit(&w);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}
