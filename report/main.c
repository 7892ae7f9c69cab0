/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - preport: reads a recording and says what burned the time.
 */
#include "formats/base/command.h"
#include "formats/base/memory.h"
#include "formats/base/program.h"
#include "formats/base/topic.h"
#include "formats/perf/perf_command.h"
#include "report/commands.h"
#include "report/load/session.h"
#include "report/metric/metric_set.h"
#include "report/setting_names.h"
#include "report/view/view.h"

#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what shells offer for preport's options ---- */

/* The words of a trace are the names of the groups that a table of it would have. */

extern const struct word_use completion_word_uses[];

const struct word_use completion_word_uses[] = {
	{ "--by", "levels" },
	{ "--default-by", "levels" },
	{ "--metric", "metrics" },
	{ "--event", "events" },
	{ "--symbol", "functions" },
	{ "--callers-of", "functions" },
	{ "--callees-of", "functions" },
	{ "--focus", "functions" },
	{ "--ignore", "functions" },
	{ "--hide", "functions" },
	{ "--show", "functions" },
	{ "--show-from", "functions" },
	{ "annotate", "functions" },
	{ "waits", "comms" },
	{ "--module", "modules" },
	{ "--comm", "comms" },
	{ "--pid", "processes" },
	{ NULL, NULL },
};

static struct err *print_metrics(void)
{
	struct metric_set set;
	struct err *err = metric_set_init(&set);

	for (size_t i = 0; !err && i < set.defs.len; i++)
		puts(set.defs.items[i]->name);
	metric_set_deinit(&set);
	return err;
}

/* A name with a line feed or a tab would be two words. */
static void put_word(const char *word)
{
	if (*word && !strpbrk(word, "\n\t"))
		puts(word);
}

static void print_groups(const struct session *s, enum view_by by)
{
	struct view_spec spec = {
		.levels = { .items = { { by, 0 } }, .len = 1 },
		.event = s->facts.first_type,
	};
	struct view view;

	view_build(&view, s->profile, &spec);
	view_sort(&view, VIEW_SORT_WEIGHT);
	for (uint32_t i = 0; i < view.ntop; i++)
		put_word(view_key(&view, &view.groups.items[view.order.items[i]])->fields[0]);
	view_deinit(&view);
}

static int compare_pids(const void *left, const void *right)
{
	const struct profile_thread *a = left, *b = right;

	return COMPARE(a->pid, b->pid);
}

/* Each once, with the name of its process. */
static void print_processes(const struct profile *p)
{
	size_t len = p->threads.len;
	CLEANUP(memory_freep) struct profile_thread *threads = memory_zeroed(len + 1, sizeof(*threads));

	if (len)
		memcpy(threads, p->threads.items, len * sizeof(*threads));
	qsort(threads, len, sizeof(*threads), compare_pids);
	for (size_t i = 0; i < len; i++) {
		const char *name = profile_text(p, threads[i].process);

		if (threads[i].pid != PROFILE_NONE && (!i || threads[i].pid != threads[i - 1].pid))
			printf("%u\t%s\n", threads[i].pid, strpbrk(name, "\n\t") ? "" : name);
	}
}

static void print_events(const struct profile *p)
{
	for (size_t i = 0; i < p->types.len; i++)
		put_word(profile_text(p, p->types.items[i].name));
}

static struct err *print_of_trace(const char *kind, struct session *s)
{
	struct filter filter = { 0 };
	struct err *err;

	s->names = strcmp(kind, "functions") == 0 ? NAMER_ALL : NAMER_LEAVES;
	err = session_load(s, &filter);
	if (err)
		return err;
	if (strcmp(kind, "functions") == 0)
		print_groups(s, VIEW_TOTAL);
	else if (strcmp(kind, "modules") == 0)
		print_groups(s, VIEW_MODULE);
	else if (strcmp(kind, "comms") == 0)
		print_groups(s, VIEW_COMM);
	else if (strcmp(kind, "processes") == 0)
		print_processes(s->profile);
	else if (strcmp(kind, "events") == 0)
		print_events(s->profile);
	return NULL;
}

/* Shape of program.print_words: "levels", "metrics", "functions", "modules", "comms", "processes", "events". */
static MUST_USE struct err *completion_words_print(const char *kind, const char *input)
{
	struct session_args args;
	struct session session;
	struct err *err;

	if (strcmp(kind, "metrics") == 0)
		return print_metrics();
	if (strcmp(kind, "levels") == 0) {
		for (const char *const *level = view_level_names; *level; level++)
			puts(*level);
		return NULL;
	}
	unsetenv("DEBUGINFOD_URLS"); /* completion must not wait for a server */
	session_args_init(&args);
	args.progress = false;
	if (input)
		args.input = input;
	err = session_open(&session, &args);
	if (!err)
		err = print_of_trace(kind, &session);
	session_close(&session);
	session_args_deinit(&args);
	return err;
}

/* ---- the texts of "preport help TOPIC", which .ci/embed makes arrays of ---- */

extern const unsigned char asset_steps_txt[], asset_shares_txt[], asset_trust_txt[],
	asset_stacks_txt[], asset_symbols_txt[], asset_filters_txt[], asset_outputs_txt[],
	asset_terminal_txt[];

/* Ended by a topic without a name. */
static const struct topic topics[] = {
	{ "steps", "from a slow program to the slow line", asset_steps_txt },
	{ "shares", "how to read a share and its confidence interval", asset_shares_txt },
	{ "trust", "lost, throttled, cut, broken, unnamed: causes and fixes", asset_trust_txt },
	{ "stacks", "how stacks are unwound, and why some are incomplete", asset_stacks_txt },
	{ "symbols", "where symbols and source lines come from", asset_symbols_txt },
	{ "filters", "how to look at a part of the recording", asset_filters_txt },
	{ "outputs", "formats and tools a recording can be exported to", asset_outputs_txt },
	{ "terminal", "width, bars, colour, pager", asset_terminal_txt },
	{ NULL, NULL, NULL },
};

static const char *const precord_words[] = { "record", "stat", "top", "list", NULL };

int main(int argc, char **argv)
{
	static const struct program program = {
		.name = "preport",
		.version = VERSION,
		.summary = "report on a recording made by precord",
		.see_also = "preport(1), precord(1), precord-trace(5)",
		.commands = commands,
		.sibling = "precord",
		.sibling_words = precord_words,
		.instead = perf_command_instead,
		.word_uses = completion_word_uses,
		.print_words = completion_words_print,
		.settings = setting_names,
		.topics = topics,
	};

	memory_keep();
	setlocale(LC_CTYPE, "");
	return program_main(&program, argc, argv, /* failure_status= */ 0);
}
