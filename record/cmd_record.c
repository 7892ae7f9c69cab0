/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_record.c - one recording. The exit status is that of the recorded command.
 */
#include "formats/perf/perf_command.h"
#include "record/commands.h"
#include "record/recorder.h"
#include "record/summary.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_NO_TOPDOWN    1
#define WAIT_AFTER_SIGNAL_MS 2000

/* The command was signalled to end: wait for it briefly, its exit status becomes ours. */
static void wait_for_end(struct recorder *s)
{
	for (int ms = 0; ms < WAIT_AFTER_SIGNAL_MS && !workload_ended(&s->workload); ms += 10)
		usleep(10000);
}

/* Wait for a command that outlives its recording; signals have their default effect again. */
static void wait_for_command(struct recorder *s, const struct err *err, bool quiet)
{
	if (err)
		fprintf(stderr, "precord: %s: the recording is over, the command keeps running\n",
			err_message(err));
	else if (!quiet)
		fprintf(stderr, "precord: the recording is over, the command keeps running\n");
	sigprocmask(SIG_SETMASK, &s->watch.old_mask, NULL);
	if (waitpid(s->workload.pid, &s->workload.status, 0) == s->workload.pid)
		s->workload.ended = true;
}

static void settle_command(struct recorder *s, const struct err *err)
{
	if (!s->workload.started || s->workload.exec_errno || workload_ended(&s->workload))
		return;
	if (s->end == RECORDER_SIGNAL)
		wait_for_end(s);
	else
		wait_for_command(s, err, s->args->quiet);
}

/* The exit status, or the signal to die by. */
static int exit_status(const struct recorder *s, int *ret_signal)
{
	int status = workload_exit_status(&s->workload, ret_signal);

	/* Without a command, a signal is the normal end. */
	if (s->workload.started && !s->workload.ended && s->end == RECORDER_SIGNAL)
		*ret_signal = s->signal;
	return status;
}

/* The remedy for an error of writing the trace; NULL for any other error. */
static const char *write_remedy(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return "free some space, or give -o FILE elsewhere";
	case EFBIG:
		return "raise 'ulimit -f', or give --switch-output";
	case EIO:
		return "look at the disk, or give -o FILE on another";
	default:
		return NULL;
	}
}

/* The rest of the recording cannot be written. */
static void keep_what_there_is(struct recorder *s)
{
	struct err *err = output_files_salvage(&s->output_files);

	if (err)
		diag_err(&s->diag, err);
}

static struct err *record(struct recorder *s, struct record_args *args, char **command)
{
	struct err *err = recorder_open(s, args, command);

	if (err)
		return err;
	summary_print_notes(s, stderr);
	err = recorder_run(s);
	if (s->workload.exec_errno)
		return err_wrap(err, "'%s'", command[0]);

	/* Print the summary even after an error of writing. */
	if (!err)
		err = recorder_finish(s);
	else
		keep_what_there_is(s);
	if (err && write_remedy(err_errno(err)))
		err = err_remedy(err, "everything recorded until then can be read; %s",
				 write_remedy(err_errno(err)));
	diag_print(&s->diag, "precord", stderr);
	if (!args->quiet)
		summary_print(s, stderr, args->verbose);
	return err;
}

/* Is @word of a command line of perf's rather than of a program's? */
static bool is_about_recordings(const char *word)
{
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word, *dot = strrchr(name, '.');

	return !strcmp(word, "record") || !strcmp(word, "report") || !strcmp(word, "-i") ||
	       !strncmp(name, "perf.data", 9) || (dot && !strcmp(dot, ".trace"));
}

/*
 * diff and script are programs too, and so may others be. One is meant if "--" stands before it, which opt leaves there, or
 * if what follows is not about recordings; a program without arguments is not what "precord diff" asks for.
 */
static bool is_program(char **words, int nwords)
{
	if (!workload_in_path(words[0]))
		return false;
	if (!strcmp(words[-1], "--"))
		return true;
	for (int i = 1; i < nwords; i++)
		if (is_about_recordings(words[i]))
			return false;
	return nwords > 1;
}

static struct err *refuse_word(const char *word, const char *verb, const char *program, const char *instead)
{
	struct err *err = err_new(ERR_USAGE, "precord has no command '%s'", word);

	if (workload_in_path(word))
		return err_remedy(err, "%s %s%s; to record the program of this name: precord -- %s", verb, program, instead, word);
	return err_remedy(err, "%s %s%s%s", verb, program, instead, *program ? "?" : "");
}

/* A command of preport or perf. */
static struct err *refuse_report(char **operands, int noperands)
{
	const char *word = operands[0];
	static const char *const words[] = { "report", "annotate", "flamegraph", "folded", "pprof",   "tui",	 "html",
					     "info",   "export",   "script",	 "diff",   "convert", "topdown", "processes",
					     "waits",  "syscalls", "graph",	 "merge",  "strip",   "bundle",	 NULL };

	for (const char *const *known = words; *known; known++)
		if (!strcmp(*known, word) && !is_program(operands, noperands))
			return refuse_word(word, "did you mean", "preport ", word);
	if (perf_command_instead("", word) && !is_program(operands, noperands))
		return refuse_word(word, "type", "", perf_command_instead("", word));
	return NULL;
}

static struct err *record_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct recorder s;
	int signal_number = 0;
	struct err *err = noperands ? refuse_report(operands, noperands) : NULL;

	if (err)
		return err;
	err = record(&s, args, noperands ? operands : NULL);

	settle_command(&s, err);
	int status = exit_status(&s, &signal_number);

	if (err && s.workload.exec_errno) {
		/* Not a failure of ours: the shell's status for it, so the message is printed here. */
		fprintf(stderr, "precord: %s\n", err_message(err));
		err_free(err);
		err = NULL;
	}
	if (!err)
		*ret_status = status;
	else if (s.no_topdown) /* exit status as in preport topdown: this machine cannot */
		*ret_status = STATUS_NO_TOPDOWN;
	recorder_close(&s);
	if (!err && signal_number)
		workload_die_by(signal_number);
	return err;
}

const struct command cmd_record = {
	.name = "",
	.alias = "record",
	.summary = "record where the time goes",
	.operands = "[-- COMMAND [ARG]...]",
	.details =
		"Without a target (-a, -C, -p, -t, -G, -u) the command and its children are recorded; with one, recording ends when the command does.\n"
		"The exit status is the command's; 125 if precord itself failed (1 if there is nothing "
		"for --topdown to count).",
	.examples = "  precord -F 99 -ag -- sleep 30  the whole machine for half a minute\n"
		    "  precord -- ./program ARGUMENT  a program, from its start to its end\n"
		    "  precord -p 1234 --duration 10  what runs already, for ten seconds\n",
	.manual = "precord(1)",
	.opts = record_opts,
	.args_size = sizeof(struct record_args),
	.defaults = record_args_defaults,
	.run = record_run,
	.release = record_args_release,
	.order = OPT_BEFORE_OPERANDS,
};
