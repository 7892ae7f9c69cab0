/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct draw_args {
	uint64_t lines;
	bool colour;
	const char *format;
	const char *input;
	struct opt_list only;
};

static const char *const formats[] = { "text", "csv", NULL };

static const struct opt input_opts[] = {
	OPT_STR(struct draw_args, input, "input", 'i', "FILE", "read FILE"),
	OPT_END,
};

static const struct opt draw_opts[] = {
	OPT_UINT(struct draw_args, lines, "lines", 'n', "N", "draw at most N lines"),
	OPT_FLAG(struct draw_args, colour, "colour", 0, "use colour"),
	OPT_CHOICE(struct draw_args, format, "format", 0, "FORMAT", "text or csv", formats),
	OPT_LIST(struct draw_args, only, "only", 0, "NAME", "only what is called NAME"),
	{ .kind = OPT_KIND_GROUP, .group = input_opts },
	OPT_END,
};

static void draw_release(void *args)
{
	struct draw_args *draw = args;

	opt_list_deinit(&draw->only);
}

static struct err *draw_run(void *args, char **operands, int noperands, int *ret_status)
{
	const struct draw_args *draw = args;

	if (noperands && strcmp(operands[0], "nothing") == 0)
		return err_system(ENOENT, "cannot draw 'a\nb'");
	if (noperands && strcmp(operands[0], "seven") == 0)
		*ret_status = 7;
	printf("lines=%d input=%s only=%zu", (int)draw->lines, draw->input ? draw->input : "-",
	       draw->only.len);
	for (int i = 0; i < noperands; i++)
		printf(" [%s]", operands[i]);
	printf("\n");
	return NULL;
}

static struct err *sum_run(void *args, char **operands, int noperands, int *ret_status)
{
	(void)args, (void)operands, (void)ret_status;
	printf("sum %d\n", noperands);
	return NULL;
}

static const struct command cmd_sum = {
	.name = "",
	.summary = "add it up",
	.operands = "",
	.opts = input_opts,
	.args_size = sizeof(struct draw_args),
	.run = sum_run,
};
static const struct command cmd_draw = {
	.name = "draw",
	.summary = "draw it",
	.operands = "[FILE]...",
	.opts = draw_opts,
	.args_size = sizeof(struct draw_args),
	.run = draw_run,
	.release = draw_release,
};
static const struct command cmd_any = {
	.name = "",
	.summary = "run a command",
	.operands = "[--] COMMAND",
	.opts = draw_opts,
	.args_size = sizeof(struct draw_args),
	.run = draw_run,
	.release = draw_release,
	.order = OPT_BEFORE_OPERANDS,
};
static const struct command *const adder_commands[] = { &cmd_sum, &cmd_draw, NULL };
static const struct command *const runner_commands[] = { &cmd_any, NULL };
static const struct topic adder_topics[] = {
	{ "carry", "what is left over", (const unsigned char *)"Carry the one.\n" },
	{ NULL, NULL, NULL },
};
static const char *const divider_words[] = { "divide", NULL };
static const struct program adder = {
	.name = "adder", .version = "1.2", .summary = "adds", .see_also = "adder(1)", .commands = adder_commands,
	.topics = adder_topics, .sibling = "divider", .sibling_words = divider_words,
};
static const struct program runner = { .name = "runner", .version = "1.2", .summary = "runs", .commands = runner_commands };

/* What a call wrote where. */
struct result {
	int status;
	char out[8192];
	char err[2048];
};

static int divert(int fd, int onto)
{
	int saved = fcntl(onto, F_DUPFD_CLOEXEC, 10);

	dup2(fd, onto);
	return saved;
}

static void take_back(int fd, int saved, int onto, char *text, size_t room)
{
	ssize_t len = pread(fd, text, room - 1, 0);

	text[len < 0 ? 0 : len] = 0;
	dup2(saved, onto);
	close(saved);
	close(fd);
}

/* Run @program with the words of @line, which blanks separate. */
static struct result call(const struct program *program, int failure_status, const char *line)
{
	struct result result = { 0 };
	char words[256], *argv[16] = { NULL }, *save = NULL;
	int argc = 0;

	snprintf(words, sizeof(words), "%s %s", program->name, line);
	for (char *word = words; (word = strtok_r(word, " ", &save)); word = NULL)
		argv[argc++] = word;
	fflush(stdout);
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	int real_out = divert(out, STDOUT_FILENO), real_err = divert(err, STDERR_FILENO);

	result.status = program_main(program, argc, argv, failure_status);
	fflush(stdout);
	take_back(out, real_out, STDOUT_FILENO, result.out, sizeof(result.out));
	take_back(err, real_err, STDERR_FILENO, result.err, sizeof(result.err));
	return result;
}

#define CHECK_CALL(program, line, expected_status, expected_out, expected_err) \
	do {                                                                   \
		struct result call_ = call(program, 0, line);                  \
		CHECK_STR(call_.err, expected_err);                            \
		CHECK_STR(call_.out, expected_out);                            \
		CHECK_INT(call_.status, expected_status);                      \
	} while (0)

TEST(command_runs_the_unnamed_one_when_none_is_named)
{
	CHECK_CALL(&adder, "", 0, "sum 0\n", "");
	CHECK_CALL(&adder, "-i x", 0, "sum 0\n", "");
}

TEST(command_word_may_stand_between_its_options)
{
	CHECK_CALL(&adder, "draw", 0, "lines=0 input=- only=0\n", "");
	CHECK_CALL(&adder, "-i f draw a -n 3 b", 0, "lines=3 input=f only=0 [a] [b]\n", "");
	CHECK_CALL(&adder, "-n 5 --only draw --only=x draw draw", 0,
		   "lines=5 input=- only=2 [draw]\n", "");
	CHECK_CALL(&adder, "draw -- -n 3", 0, "lines=0 input=- only=0 [-n] [3]\n", "");
}

TEST(command_word_is_not_looked_for_behind_two_dashes)
{
	CHECK_CALL(&adder, "-- draw", 2, "",
		   "adder: unexpected operand 'draw'\nadder: try 'adder --help'\n");
	CHECK_CALL(&adder, "draw -i -- x", 0, "lines=0 input=-- only=0 [x]\n", "");
	CHECK_CALL(&adder, "-i -- draw", 0, "lines=0 input=-- only=0\n", "");
}

TEST(command_leaves_options_behind_the_first_operand_alone_when_asked)
{
	CHECK_CALL(&runner, "-n 1 sleep -n 5 --colour", 0,
		   "lines=1 input=- only=0 [sleep] [-n] [5] [--colour]\n", "");
	CHECK_CALL(&runner, "-n 1 -- -x", 0, "lines=1 input=- only=0 [-x]\n", "");
}

TEST(command_names_what_was_misused_and_the_remedy_in_two_lines)
{
	CHECK_CALL(&adder, "drwa", 2, "",
		   "adder: unknown command 'drwa'\nadder: did you mean 'draw'?\n");
	CHECK_CALL(&adder, "divide", 2, "",
		   "adder: unknown command 'divide'\nadder: did you mean divider divide?\n");
	CHECK_CALL(&adder, "zzz", 2, "",
		   "adder: unknown command 'zzz'\nadder: try 'adder --help'\n");
	CHECK_CALL(&adder, "drwa --colour", 2, "",
		   "adder: unknown command 'drwa'\nadder: did you mean 'draw'?\n");
	CHECK_CALL(&adder, "--in-put x", 2, "",
		   "adder: unknown option '--in-put'\nadder: did you mean '--input'?\n");
	CHECK_CALL(&adder, "draw --line=x", 2, "",
		   "adder: bad value 'x' for --lines: it must be a whole number\n"
		   "adder: try 'adder draw --help'\n");
	CHECK_CALL(&adder, "draw -n", 2, "",
		   "adder: option '-n' needs an argument\nadder: try 'adder draw --help'\n");
	CHECK_CALL(&adder, "draw x --lines", 2, "",
		   "adder: option '--lines' needs an argument\nadder: try 'adder draw --help'\n");
	CHECK_CALL(&adder, "draw y --colour=1", 2, "",
		   "adder: option '--colour' takes no argument\nadder: try 'adder draw --help'\n");
	CHECK_CALL(&adder, "draw y -q z", 2, "",
		   "adder: unknown option '-q'\nadder: try 'adder draw --help'\n");
	CHECK_CALL(&adder, "draw y --colors z", 2, "",
		   "adder: unknown option '--colors'\nadder: did you mean '--colour'?\n");
	CHECK_CALL(&adder, "draw --format xml --only y", 2, "",
		   "adder: bad value 'xml' for --format: it must be one of text, csv\n"
		   "adder: try 'adder draw --help'\n");
}

TEST(command_failure_escapes_what_could_steer_a_terminal)
{
	CHECK_CALL(&adder, "draw nothing", 1, "",
		   "adder: cannot draw 'a\\x0ab': No such file or directory\n");
	CHECK_INT(call(&adder, 125, "draw nothing").status, 125);
	CHECK_INT(call(&adder, 125, "draw -n x").status, 125);
}

TEST(command_passes_on_the_status_that_run_set)
{
	CHECK_INT(call(&adder, 0, "draw seven").status, 7);
	CHECK_INT(call(&adder, 125, "draw seven").status, 7);
}

TEST(command_help_is_an_answer)
{
	struct result whole = call(&adder, 0, "--help"), one = call(&adder, 0, "draw -n 3 -h -n x");

	CHECK_INT(whole.status, 0);
	CHECK_STR(whole.err, "");
	CHECK(strstr(whole.out, "usage: adder [OPTION]...\n"));
	CHECK(strstr(whole.out, "  draw          draw it\n"));
	CHECK_INT(one.status, 0);
	CHECK(strstr(one.out, "usage: adder draw [OPTION]... [FILE]...\n"));
	CHECK(strstr(one.out, "  -n, --lines=N               draw at most N lines\n"));
	CHECK(strstr(one.out, "      --colour                use colour\n"));
	CHECK_STR(call(&adder, 0, "help draw").out, one.out);
	CHECK_STR(call(&adder, 0, "help").out, whole.out);
	CHECK_CALL(&adder, "--version", 0, "adder 1.2\n", "");
}

TEST(command_help_knows_topics_too)
{
	struct result whole = call(&adder, 0, "--help"), topic = call(&adder, 0, "help carry");
	struct result wrong = call(&adder, 0, "help cary");

	CHECK(strstr(whole.out, "topics:\n  carry "));
	CHECK_STR(topic.out, "Carry the one.\n");
	CHECK_INT(topic.status, 0);
	CHECK_INT(wrong.status, 2);
	CHECK(strstr(wrong.err, "unknown command or topic 'cary'"));
	CHECK(strstr(wrong.err, "carry"));
	CHECK_INT(call(&adder, 0, "carry").status, 2); /* no command */
}

TEST(command_lists_every_option_for_the_checks)
{
	CHECK_CALL(&adder, "--options", 0,
		   "adder --input\ndraw --lines\ndraw --colour\ndraw --format\ndraw --only\ndraw "
		   "--input\n",
		   "");
}

TEST(command_completion_offers_commands_options_and_choices)
{
	struct result bash = call(&adder, 0, "--completion=bash");
	struct result zsh = call(&adder, 0, "--completion=zsh");

	CHECK(strstr(bash.out, "complete -o filenames -F _adder adder\n"));
	CHECK(strstr(bash.out, "--format) COMPREPLY=($(compgen -W 'text csv' -- \"$cur\"))"));
	CHECK(strstr(bash.out, "-i|--input) COMPREPLY=($(compgen -f -- \"$cur\"))"));
	CHECK(strstr(zsh.out, "#compdef adder\n"));
	CHECK(strstr(zsh.out, "'*--format=[text or csv]:FORMAT:(text csv)'"));
	CHECK(strstr(zsh.out, "'*-i+[read FILE]:FILE:_files'"));
	CHECK_CALL(&adder, "--completion=fish", 2, "",
		   "adder: no completion for 'fish': it must be bash or zsh\n"
		   "adder: try 'adder --help'\n");
}

TEST(command_reports_output_that_could_not_be_written)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char *argv[] = { "adder", NULL };

	if (full < 0)
		SKIP("there is no /dev/full");
	fflush(stdout);
	int message = memfd_create("err", MFD_CLOEXEC);
	int real_out = divert(full, STDOUT_FILENO), real_err = divert(message, STDERR_FILENO);
	int status = program_main(&adder, 1, argv, 0);
	char text[256];

	clearerr(stdout);
	dup2(real_out, STDOUT_FILENO);
	close(real_out);
	close(full);
	take_back(message, real_err, STDERR_FILENO, text, sizeof(text));
	CHECK_STR(text, "adder: cannot write to standard output: No space left on device\n");
	CHECK_INT(status, 1);
}
