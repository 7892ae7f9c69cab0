/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/commands.h"
#include "record/perf_options.h"
#include "record/record_args.h"
#include "report/commands.h"
#include "report/perf_options.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const struct command *command;
	const struct opt *options;
} tables[] = {
	{ "record", &cmd_record, perf_record_options },
	{ "stat", &cmd_stat, perf_stat_options },
	{ "list", &cmd_list, perf_list_options },
	{ "report", &cmd_report, perf_report_options },
	{ "annotate", &cmd_annotate, perf_annotate_options },
	{ "script", &cmd_script, perf_script_options },
	{ "diff", &cmd_diff, perf_diff_options },
};

/* The options of ours among those of a command. */
struct wanted {
	const char *name; /* NULL: any */
	size_t name_len;
	char letter; /* 0: any */
	const struct opt *found;
};

static void visit_own(const struct opt *opt, void *context)
{
	struct wanted *wanted = context;
	bool named = !wanted->name || (opt->name && strlen(opt->name) == wanted->name_len &&
				       memcmp(opt->name, wanted->name, wanted->name_len) == 0);

	if (named && (!wanted->letter || opt->short_name == wanted->letter))
		wanted->found = opt;
}

static const struct opt *find_own(const struct command *command, const char *name, size_t len,
				  char letter)
{
	struct wanted wanted = { .name = name, .name_len = len, .letter = letter };

	opt_each(command->opts, visit_own, &wanted);
	return wanted.found;
}

/* Parse one option of perf as @command does; the remedy, copied, if it is refused. */
static struct err *parse_one(const struct command *command, char *word, char *value)
{
	char *argv[] = { (char *)"program", word, value, NULL };
	void *args = calloc(1, command->args_size);
	struct opt_result result = { 0 };

	opt_init(command->opts, args);
	if (command->defaults)
		command->defaults(args);
	struct err *err = opt_parse(command->opts, args, value ? 3 : 2, argv, command->order, &result);

	if (command->release)
		command->release(args);
	opt_deinit(command->opts, args);
	opt_result_deinit(&result);
	free(args);
	return err;
}

/* As a user gives it: "--name=VALUE", or "-x VALUE". */
static struct err *try_option(const struct command *command, const struct opt *opt, bool letter,
			      const char *value)
{
	char word[256], separate[64];

	snprintf(separate, sizeof(separate), "%s", value ? value : "");
	if (letter)
		snprintf(word, sizeof(word), "-%c", opt->short_name);
	else
		snprintf(word, sizeof(word), "--%s%s%s", opt->name, value ? "=" : "", separate);
	return parse_one(command, word, letter && value ? separate : NULL);
}

/* A value that options of each kind take. */
static const char *value_for(const struct opt *opt)
{
	if (!opt->arg || *opt->arg == '[')
		return NULL;
	if (strcmp(opt->arg, "KEY,..") == 0)
		return "dso,sym";
	if (strcmp(opt->arg, "MODE") == 0)
		return "never";
	return strcmp(opt->arg, "FILE") == 0 ? "/dev/null" : "1";
}

static void check_entry(const struct command *command, const struct opt *opt, bool letter)
{
	CLEANUP(err_freep) struct err *err = try_option(command, opt, letter, value_for(opt));

	if (opt->kind != OPT_KIND_INSTEAD) {
		/* "vmlinux=%s" must be a file, which /dev/null is not: the option was understood. */
		CHECK(!err || strstr(err_message(err), "vmlinux"));
		return;
	}
	CHECK(err && err_kind(err) == ERR_USAGE);
	CHECK_STR(err_hint(err), opt->help);
}

TEST(each_option_of_perf_is_the_same_a_synonym_done_anyway_or_answered)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		const struct command *command = tables[i].command;

		for (const struct opt *opt = tables[i].options; opt->kind != OPT_KIND_END; opt++) {
			bool name_is_ours = opt->name && find_own(command, opt->name, strlen(opt->name), 0);
			bool letter_is_ours = opt->short_name &&
					      find_own(command, NULL, 0, opt->short_name);

			if (opt->kind == OPT_KIND_SAME) {
				CHECK(!opt->name || name_is_ours);
				CHECK(!opt->short_name || letter_is_ours);
				continue;
			}
			if (opt->name && !name_is_ours)
				check_entry(command, opt, /* letter= */ false);
			if (opt->short_name && !letter_is_ours)
				check_entry(command, opt, /* letter= */ true);
		}
	}
}

/* A letter that means something else here must not be taken for granted: it says so when its value is wrong. */
TEST(letters_that_mean_something_else_here_are_answered)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		for (const struct opt *opt = tables[i].options; opt->kind != OPT_KIND_END; opt++)
			if (opt->short_name && opt->kind != OPT_KIND_SAME &&
			    find_own(tables[i].command, NULL, 0, opt->short_name))
				CHECK(opt->kind == OPT_KIND_INSTEAD);
	}
}

TEST(synonyms_stand_for_options_that_exist)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		for (const struct opt *opt = tables[i].options; opt->kind != OPT_KIND_END; opt++) {
			for (const char *word = opt->like; word && *word; word += *word == ' ') {
				CHECK(find_own(tables[i].command, word, strcspn(word, "= "), 0));
				word += strcspn(word, " ");
			}
		}
	}
}

TEST(answers_are_one_sentence_that_says_what_to_type)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		for (const struct opt *opt = tables[i].options; opt->kind != OPT_KIND_END; opt++) {
			if (opt->kind != OPT_KIND_INSTEAD && opt->kind != OPT_KIND_ANYWAY)
				continue;
			CHECK(opt->help && *opt->help);
			CHECK(opt->help[strlen(opt->help) - 1] != '.');
			CHECK(strlen(opt->help) <= 120);
		}
	}
}

/* The line that people type most, as perf record takes it. */
TEST(bare_g_stands_in_a_cluster_and_takes_a_mode_as_its_next_word)
{
	static const struct {
		const char *line;
		enum recording_chain kind;
		int noperands;
	} cases[] = {
		{ "precord -F 99 -ag -- sleep 30", RECORDING_CHAIN_DWARF, 2 },
		{ "precord -g -- true", RECORDING_CHAIN_DWARF, 1 },
		{ "precord -g fp true", RECORDING_CHAIN_FP, 1 },
		{ "precord -ga -- true", RECORDING_CHAIN_DWARF, 1 },
		{ "precord --call-graph fp -g true", RECORDING_CHAIN_FP, 1 },
		{ "precord -g true", RECORDING_CHAIN_DWARF, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct record_args args = { 0 };
		struct opt_result result = { 0 };
		char line[128], *argv[16], *rest = line;
		int argc = 0;

		snprintf(line, sizeof(line), "%s", cases[i].line);
		while (rest)
			argv[argc++] = strsep(&rest, " ");
		argv[argc] = NULL;
		record_args_defaults(&args);
		CHECK_OK(opt_parse(record_opts, &args, argc, argv, OPT_BEFORE_OPERANDS, &result));
		CHECK(args.chain.kind == cases[i].kind);
		CHECK_UINT(result.noperands, cases[i].noperands);
		opt_result_deinit(&result);
		record_args_release(&args);
	}
}
