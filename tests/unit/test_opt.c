/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/opt.h"

#include <string.h>

struct filter {
	const char *comm;
	bool all;
};

struct args {
	uint64_t lines;
	bool source;
	bool inlined;
	const char *input;
	const char *format;
	struct opt_list symbols;
	int level;
	const char *how;
	struct filter filter;
};

static const char *const formats[] = { "text", "csv", "json", NULL };

static struct err *parse_level(void *field, const char *value)
{
	if (value && strcmp(value, "high") != 0)
		return err_new(ERR_USAGE, "it must be high");
	*(int *)field = value ? 9 : 1;
	return NULL;
}

static struct err *parse_how(void *field, const char *value)
{
	*(const char **)field = value ? value : "alone";
	return NULL;
}

static bool is_how(const char *word)
{
	return strcmp(word, "fp") == 0;
}

static const struct opt filter_opts[] = {
	OPT_STR(struct filter, comm, "comm", 0, "NAME", "only processes called NAME"),
	OPT_FLAG(struct filter, all, "all", 'a', "everything"),
	OPT_END,
};

static const struct opt opts[] = {
	OPT_UINT(struct args, lines, "lines", 'n', "N", "at most N lines"),
	OPT_FLAG(struct args, source, "source", 's', "interleave source lines"),
	OPT_NOT(struct args, inlined, "no-inline", 0, "leave inlined calls out"),
	OPT_STR(struct args, input, "input", 'i', "FILE", "read FILE"),
	OPT_CHOICE(struct args, format, "format", 'f', "FORMAT", "text, csv or json", formats),
	OPT_LIST(struct args, symbols, "symbol", 0, "NAME", "only NAME"),
	OPT_PARSE(struct args, level, "level", 'l', "[LEVEL]", "how much", parse_level),
	OPT_MAYBE(struct args, how, NULL, 'g', "[HOW]", "how", parse_how, is_how),
	OPT_GROUP(struct args, filter, filter_opts),
	OPT_END,
};

/* Parse the words of @line, which is cut up in place. */
static struct err *parse(char *line, enum opt_order order, struct args *args,
			 struct opt_result *ret)
{
	static char *argv[32];
	char *save = NULL;
	int argc = 1;

	argv[0] = (char *)"program";
	for (char *word = line; (word = strtok_r(word, " ", &save)); word = NULL)
		argv[argc++] = word;
	argv[argc] = NULL;
	return opt_parse(opts, args, argc, argv, order, ret);
}

#define PARSE(text) parse((char[]){ text }, OPT_ANYWHERE, &args, &result)

TEST(opt_stores_every_kind)
{
	struct args args = { .inlined = true };
	struct opt_result result;

	CHECK_OK(PARSE(
		"-n 5 one -s --no-inline --input=f --format json --symbol a two --symbol=b -lhigh "
		"--comm cc -a"));
	CHECK_UINT(args.lines, 5);
	CHECK(args.source && !args.inlined && args.filter.all);
	CHECK_STR(args.format, "json");
	CHECK_UINT(args.symbols.len, 2);
	CHECK_INT(args.level, 9);
	CHECK_INT(result.noperands, 2);
	opt_list_deinit(&args.symbols);
}

TEST(opt_values_and_operands_are_the_words_given)
{
	struct args args = { 0 };
	struct opt_result result;
	char line[] = "-sn7 x --input f --comm=c=d y -- -s";

	CHECK_OK(parse(line, OPT_ANYWHERE, &args, &result));
	CHECK_UINT(args.lines, 7);
	CHECK_STR(args.input, "f");
	CHECK_STR(args.filter.comm, "c=d");
	CHECK_INT(result.noperands, 3);
	CHECK_STR(result.operands[0], "x");
	CHECK_STR(result.operands[1], "y");
	CHECK_STR(result.operands[2], "-s");
	CHECK(!result.help && !result.version);
}

TEST(opt_can_end_at_the_first_operand)
{
	struct args args = { 0 };
	struct opt_result result;
	char line[] = "-s sleep -n 5", dashes[] = "-n 1 -- -s";

	CHECK_OK(parse(line, OPT_BEFORE_OPERANDS, &args, &result));
	CHECK_INT(result.noperands, 3);
	CHECK_STR(result.operands[0], "sleep");
	CHECK_UINT(args.lines, 0);
	CHECK_OK(parse(dashes, OPT_BEFORE_OPERANDS, &args, &result));
	CHECK_STR(result.operands[0], "-s");
}

TEST(opt_argument_may_be_optional_or_look_like_an_option)
{
	struct args args = { 0 };
	struct opt_result result;
	char line[] = "--level x -i -s";

	CHECK_OK(parse(line, OPT_ANYWHERE, &args, &result));
	CHECK_INT(args.level, 1);
	CHECK_STR(args.input, "-s");
	CHECK(!args.source);
	CHECK_STR(result.operands[0], "x");
}

TEST(opt_takes_an_optional_value_in_the_word_of_its_letter_or_in_the_next)
{
	struct args args = { 0 };
	struct opt_result result;

	CHECK_OK(PARSE("-gfp x"));
	CHECK_STR(args.how, "fp");
	CHECK_STR(result.operands[0], "x");
	args = (struct args){ 0 };
	CHECK_OK(PARSE("x -agfp -s y"));
	CHECK_STR(args.how, "fp");
	CHECK(args.filter.all && args.source);
	CHECK_INT(result.noperands, 2);
	args = (struct args){ 0 };
	CHECK_OK(PARSE("-gsa fp")); /* letters, and the value is no longer next to -g */
	CHECK_STR(args.how, "alone");
	CHECK(args.filter.all && args.source);
	CHECK_STR(result.operands[0], "fp");
	opt_result_deinit(&result);
	CHECK_ERR(PARSE("-gx"), ERR_USAGE, "unknown option '-x'");
}

TEST(opt_help_and_version_stop_parsing)
{
	struct args args = { 0 };
	struct opt_result result;

	CHECK_OK(PARSE("-s --help -n bad"));
	CHECK(result.help && args.source);
	CHECK_OK(PARSE("--version --unknown"));
	CHECK(result.version && !result.help);
}

TEST(opt_refuses_with_the_name_as_the_user_wrote_it)
{
	struct args args = { 0 };
	struct opt_result result;

	CHECK_ERR(PARSE("-n x"), ERR_USAGE, "bad value 'x' for --lines: it must be a whole number");
	CHECK_ERR(PARSE("-n -1"), ERR_USAGE, "bad value '-1' for --lines");
	CHECK_ERR(PARSE("--format xml"), ERR_USAGE,
		  "bad value 'xml' for --format: it must be one of text, csv, json");
	CHECK_ERR(PARSE("-llow"), ERR_USAGE, "bad value 'low' for --level: it must be high");
	CHECK_ERR(PARSE("a b -si"), ERR_USAGE, "option '-i' needs an argument");
	CHECK_ERR(PARSE("a --input"), ERR_USAGE, "option '--input' needs an argument");
	CHECK_ERR(PARSE("a --source=1 b"), ERR_USAGE, "option '--source' takes no argument");
	CHECK_ERR(PARSE("y -sxn b"), ERR_USAGE, "unknown option '-x'");
	CHECK_ERR(PARSE("a --unknown=3 b"), ERR_USAGE, "unknown option '--unknown'");
	CHECK_ERR(PARSE("--s"), ERR_USAGE, "ambiguous option '--s'");
	CHECK_UINT(args.lines, 0);
}

TEST(opt_offers_near_names)
{
	struct args args = { 0 };
	struct opt_result result;
	CLEANUP(err_freep) struct err *err = PARSE("--simbol x");

	CHECK(err);
	CHECK_STR(err_hint(err), "did you mean '--symbol'?");
}

TEST(opt_finds_the_first_operand)
{
	char *argv[] = { (char *)"p",    (char *)"-n", (char *)"3", (char *)"--unknown",
			 (char *)"word", (char *)"-s", NULL };
	char *dashes[] = { (char *)"p", (char *)"-s", (char *)"--", (char *)"word", NULL };
	char *value[] = { (char *)"p", (char *)"-i", (char *)"--", (char *)"word", NULL };

	CHECK_INT(opt_first_operand(opts, 6, argv), 4);
	CHECK_INT(opt_first_operand(opts, 3, argv), 3);
	CHECK_INT(opt_first_operand(opts, 1, argv), 1);
	CHECK_INT(opt_first_operand(opts, 4, dashes), 4);
	CHECK_INT(opt_first_operand(opts, 4, value), 3);
}

static void print_help(FILE *out, void *context)
{
	opt_print_help(context, out);
}

TEST(opt_help_is_two_columns)
{
	static const struct opt few[] = {
		OPT_FLAG(struct args, source, "source", 's', "interleave source lines"),
		OPT_PARSE(struct args, level, "level", 0, "[LEVEL]", "how much", parse_level),
		OPT_UINT(struct args, lines, NULL, 'n', "N", "lines"),
		OPT_STR(struct args, input, "a-very-long-name-that-is", 'i', "FILE", "read"),
		OPT_END,
	};

	CHECK_STR(test_printed(print_help, (void *)(uintptr_t)few),
		  "  -s, --source                interleave source lines\n"
		  "      --level[=LEVEL]         how much\n"
		  "  -n N                        lines\n"
		  "  -i, --a-very-long-name-that-is=FILE\n"
		  "                              read\n"
		  "  -h, --help                  show this help\n"
		  "      --version               show the version\n");
}
