/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_args.c - the options that every command with an input has.
 */
#include "report/load/session_args.h"

#include "formats/base/text.h"
#include "symbolize/module/debuginfod.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* A path that does not exist would otherwise be ignored silently. */
static struct err *parse_existing(const char *value, mode_t type)
{
	struct stat st;

	if (stat(value, &st) != 0)
		return err_system(errno, "'%s'", value);
	if ((st.st_mode & S_IFMT) != type)
		return err_new(ERR_USAGE, type == S_IFDIR ? "'%s' is no folder" : "'%s' is no file",
			       value);
	return NULL;
}

static struct err *parse_symfs(void *field, const char *value)
{
	*(const char **)field = value;
	return parse_existing(value, S_IFDIR);
}

static struct err *parse_debug_dir(void *field, const char *value)
{
	vec_push((struct opt_list *)field, value);
	return parse_existing(value, S_IFDIR);
}

static struct err *parse_file(void *field, const char *value)
{
	*(const char **)field = value;
	return parse_existing(value, S_IFREG);
}

static const char *const demangle_words[] = { "full", "simple", "off", NULL };

static struct err *parse_demangle(void *field, const char *value)
{
	for (int how = 0; demangle_words[how]; how++) {
		if (strcmp(value ? value : "full", demangle_words[how]) != 0)
			continue;
		*(enum demangle_how *)field = (enum demangle_how)how;
		return NULL;
	}
	return err_new(ERR_USAGE, "'%s' is not one of full, simple, off", value);
}

static struct err *parse_no_demangle(void *field, const char *value)
{
	(void)value;
	*(enum demangle_how *)field = DEMANGLE_OFF;
	return NULL;
}

static struct err *parse_seconds(void *field, const char *value)
{
	uint64_t seconds;

	if (!text_parse_u64(value, &seconds) || seconds > 86400)
		return err_new(ERR_USAGE, "'%s' is not a number of seconds up to a day", value);
	*(uint64_t *)field = seconds * 1000000000u;
	return NULL;
}

static void init(void *args)
{
	session_args_init(args);
}

static void deinit(void *args)
{
	session_args_deinit(args);
}

const struct opt session_opts[] = {
	OPT_LIFE(init, deinit),
	OPT_OPERAND(struct session_args, input, "FILE"),
	OPT_STR(struct session_args, input, "input", 'i', "FILE",
		"read FILE, - for standard input (default precord.trace)"),
	OPT_PARSE(struct session_args, symfs, "symfs", 0, "DIR", "look for binaries below DIR",
		  parse_symfs),
	OPT_PARSE(struct session_args, debug_dirs, "debug-dir", 0, "DIR",
		  "look for debug files below DIR as well", parse_debug_dir),
	OPT_PARSE(struct session_args, vmlinux, "vmlinux", 0, "FILE",
		  "the kernel's vmlinux, used if its build ID matches", parse_file),
	OPT_PARSE(struct session_args, kallsyms, "kallsyms", 0, "FILE",
		  "a copy of /proc/kallsyms from the machine of a perf.data", parse_file),
	OPT_UINT(struct session_args, threads, "threads", 0, "N",
		 "unwind with N threads, at most 8 (default 1)"),
	OPT_NOT(struct session_args, inlines, "no-inline", 0,
		"do not resolve inlined calls and source lines"),
	OPT_NOT(struct session_args, cache, "no-cache", 0,
		"do not use or fill the cache of debug information"),
	{ OPT_FIELD_(OPT_KIND_PARSE, struct session_args, demangle, "demangle", 0, "[HOW]",
		     "C++ and Rust names: full (default), simple (without arguments) or off"),
	  .parse = parse_demangle, .choices = demangle_words },
	{ OPT_FIELD_(OPT_KIND_PARSE, struct session_args, demangle, "no-demangle", 0, NULL,
		     "do not demangle C++ and Rust names"),
	  .parse = parse_no_demangle },
	OPT_PARSE(struct session_args, debuginfod_time_ns, "debuginfod-time", 0, "SECONDS",
		  "time limit for all downloads from DEBUGINFOD_URLS (120)", parse_seconds),
	OPT_LIST(struct session_args, not_mine, "not-mine", 0, "GLOB,..", "files that are not your own code, for --by mine"),
	OPT_FLAG(struct session_args, native, "native", 0,
		 "show frames that are a runtime's alone, not only the program's"),
	OPT_NOT(struct session_args, progress, "no-progress", 0,
		"do not show progress while reading a large trace"),
	OPT_END,
};

int session_args_take_file(struct session_args *args, char **operands, int noperands)
{
	struct stat st;

	for (int i = 0; i < noperands; i++) {
		if (!strpbrk(operands[i], "./") || stat(operands[i], &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		args->input = operands[i];
		memmove(operands + i, operands + i + 1, (size_t)(noperands - i - 1) * sizeof(*operands));
		return noperands - 1;
	}
	return noperands;
}

void session_args_init(struct session_args *args)
{
	*args = (struct session_args){ .input = "precord.trace",
				       .inlines = true,
				       .debuginfod_time_ns = DEBUGINFOD_TIME_NS,
				       .cache = true,
				       .progress = true };
}

void session_args_deinit(struct session_args *args)
{
	opt_list_deinit(&args->debug_dirs);
	opt_list_deinit(&args->not_mine);
}
