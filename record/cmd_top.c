/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_top.c - records short files into a private folder while "preport tui --live" runs and shows them. The two share
 * only the files.
 */
#include "record/commands.h"
#include "record/event/event_rate.h"
#include "record/event/event_spec.h"
#include "record/record_args.h"
#include "record/time_span.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFRESH_NS  3000000000ull
#define REFRESH_MIN 200000000ull
#define KEEP_NS	    60000000000ull
#define FILES_MAX   1000
#define FILE_NAME   "live"

struct top_args {
	struct record_args record;
	uint64_t refresh_ns, keep_ns;
};

#define ARGS struct top_args

static struct err *parse_chain_kind(void *field, const char *value)
{
	struct record_chain *chain = field;

	if (strcmp(value, "lbr") == 0)
		return event_list_refuse_lbr();
	if (strcmp(value, "dwarf") != 0 && strcmp(value, "fp") != 0 && strcmp(value, "none") != 0)
		return err_new(ERR_USAGE, "'%s' is not one of dwarf, fp, none", value);
	chain->kind = *value == 'd' ? RECORDING_CHAIN_DWARF :
		      *value == 'f' ? RECORDING_CHAIN_FP :
				      RECORDING_CHAIN_NONE;
	return NULL;
}

static const struct opt top_opts[] = {
	OPT_GROUP(ARGS, record.target, target_opts),
	OPT_PARSE(ARGS, record.rate, "freq", 'F', "N|max", "samples a second on each CPU (99)", event_rate_parse_freq),
	OPT_PARSE(ARGS, record.rate, "count", 'c', "N", "a sample every N events instead", event_rate_parse_period),
	OPT_PARSE(ARGS, record.events, "event", 'e', "LIST", "events to sample, see 'precord list' (cycles)",
		  event_list_parse),
	OPT_PARSE(ARGS, record.chain, "call-graph", 0, "MODE", "stacks: dwarf, fp or none (dwarf)", parse_chain_kind),
	OPT_PARSE(ARGS, refresh_ns, "refresh", 'r', "TIME", "new samples every so many seconds (3s)", time_span_parse),
	OPT_PARSE(ARGS, keep_ns, "keep", 'k', "TIME", "keep the last TIME for display and saving (60s)", time_span_parse),
	OPT_FLAG(ARGS, record.exclude_self, "exclude-self", 0, "leave precord itself out of the samples"),
	OPT_END,
};

static void top_defaults(void *args_)
{
	struct top_args *args = args_;

	record_args_defaults(&args->record);
	args->refresh_ns = REFRESH_NS;
	args->keep_ns = KEEP_NS;
}

static void top_release(void *args)
{
	record_args_release(&((struct top_args *)args)->record);
}

/* Readable only for this user; in memory if there is a tmpfs. */
static struct err *make_folder(char ret[256])
{
	const char *places[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!places[i] || *places[i] != '/')
			continue;
		if (snprintf(ret, 256, "%s/precord-top.XXXXXX", places[i]) < 256 && mkdtemp(ret))
			return NULL;
	}
	return err_remedy(err_system(errno, "cannot make a folder for the last moments"),
			  "set TMPDIR to a folder that can be written to");
}

/* Only the two programs can have left files there. */
static void remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

/* Beside this program, or as it is found by its name. */
static void find_preport(char *ret, size_t len)
{
	ssize_t got = readlink("/proc/self/exe", ret, len - sizeof("preport"));
	char *slash;

	ret[got > 0 ? got : 0] = '\0';
	slash = strrchr(ret, '/');
	if (slash)
		memcpy(slash + 1, "preport", sizeof("preport"));
	if (!slash || access(ret, X_OK) != 0)
		snprintf(ret, len, "preport");
}

static bool has_target(const struct target_args *target)
{
	return target->all || target->pids || target->tids || target->cpus || target->cgroup || target->user;
}

static struct err *record_live(struct top_args *args, const char *folder, int *ret_status)
{
	struct record_args *record = &args->record;
	char output[300], preport[4096];
	char *command[] = { preport, "tui", "--live", (char *)folder, NULL };

	find_preport(preport, sizeof(preport));
	snprintf(output, sizeof(output), "%s/" FILE_NAME, folder);
	record->output = output;
	record->quiet = true;
	record->output_files.switches = true;
	record->output_files.switch_time_ns = args->refresh_ns;
	record->output_files.max_files = args->keep_ns / args->refresh_ns;
	if (!has_target(&record->target))
		record->target.all = true;
	return cmd_record.run(record, command, 4, ret_status);
}

static struct err *top_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct top_args *args = args_;
	char folder[256];
	struct err *err;

	(void)operands;
	(void)noperands;
	if (args->refresh_ns < REFRESH_MIN || args->keep_ns / args->refresh_ns < 1 ||
	    args->keep_ns / args->refresh_ns > FILES_MAX)
		return err_new(ERR_USAGE, "--refresh is 0.2 s at least, and --keep from once to %d times as long", FILES_MAX);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_remedy(err_new(ERR_USAGE, "standard input and output must be a terminal"),
				  "without one: precord -a --duration 10, then preport");
	err = make_folder(folder);
	if (err)
		return err;
	err = record_live(args, folder, ret_status);
	remove_folder(folder);
	return err;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "live view of what runs now, in the terminal",
	.operands = "",
	.details = "The terminal interface of preport, with new samples every three seconds: x pauses, t and p choose a thread or a "
		   "process, a shows instructions, S saves the last moments as a trace, ? shows all keys.\n"
		   "Without a target the whole machine is sampled.",
	.examples = "  precord top                    the whole machine\n"
		    "  precord top -p 1234 --keep 5m  one process, the last five minutes\n",
	.manual = "precord-top(1)",
	.opts = top_opts,
	.args_size = sizeof(struct top_args),
	.defaults = top_defaults,
	.run = top_run,
	.release = top_release,
};
