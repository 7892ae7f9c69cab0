/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - from argv to the command that it names, and from its error to two lines and a status.
 *
 * The command word is the first operand. To find it, options that stand before it must be skipped with
 * their arguments, and they may be any command's; so the search goes by the options of all of them.
 */
#include "formats/base/program.h"

#include "formats/base/columns.h"
#include "formats/base/completion.h"
#include "formats/base/settings.h"
#include "formats/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_COLUMN 16 /* of what commands and topics are about */

static const struct opt no_opts[] = { OPT_END };

/* One run of a program: what argv came to. */
struct call {
	const struct program *program;
	const struct command *command;
	int argc;
	char **argv; /* without the command word; on the heap */
	bool help;   /* asked for with the word "help" */
	const struct topic *topic; /* that help is wanted about; NULL: the command */
	struct arena arena;        /* of words that are put into argv */
};

static const struct opt *opts_of(const struct command *command)
{
	return command->opts ? command->opts : no_opts;
}

static const struct command *find_command(const struct program *program, const char *name)
{
	for (const struct command *const *command = program->commands; *command; command++)
		if (strcmp((*command)->name, name) == 0 ||
		    ((*command)->alias && strcmp((*command)->alias, name) == 0))
			return *command;
	return NULL;
}

/* May @word, which is no command's name, be the file that the unnamed command reads? */
static bool may_be_file(const struct command *command, const char *word)
{
	return opt_has_operand(opts_of(command)) &&
	       (strcmp(word, "-") == 0 || access(word, F_OK) == 0 || strpbrk(word, "./"));
}

static const struct topic *find_topic(const struct program *program, const char *name)
{
	for (const struct topic *topic = program->topics; topic && topic->name; topic++)
		if (strcmp(topic->name, name) == 0)
			return topic;
	return NULL;
}

/* The index of the first operand, by everybody's options. */
static int find_word(const struct program *program, int argc, char **argv)
{
	VEC(struct opt) all = { 0 };

	for (const struct command *const *command = program->commands; *command; command++) {
		struct opt group = { .kind = OPT_KIND_GROUP, .group = opts_of(*command) };

		vec_push(&all, group);
	}
	vec_push(&all, (struct opt)OPT_END);

	int word = opt_first_operand(all.items, argc, argv);

	vec_deinit(&all);
	return word;
}

static void remove_word(struct call *call, int word)
{
	memmove(call->argv + word, call->argv + word + 1,
		(size_t)(call->argc - word) * sizeof(*call->argv));
	call->argc--;
}

static bool is_siblings(const struct program *program, const char *word)
{
	for (const char *const *known = program->sibling_words; program->sibling && *known; known++)
		if (strcmp(*known, word) == 0)
			return true;
	return false;
}

static const char *instead(const struct call *call, const char *word)
{
	return call->program->instead ? call->program->instead(call->command->name, word) : NULL;
}

/* @word stands where only a command's name can. */
static struct err *refuse_operand(const struct call *call, const char *word)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = word };

	if (instead(call, word))
		return err_remedy(err_new(ERR_USAGE, *call->command->name ? "unexpected operand '%s'" : "unknown command '%s'", word),
				  "type %s", instead(call, word));
	if (*call->command->name || find_command(call->program, word))
		return err_new(ERR_USAGE, "unexpected operand '%s'", word);
	for (const struct command *const *command = call->program->commands; *command; command++)
		if (*(*command)->name)
			text_near_offer(&near, (*command)->name);
	for (const struct topic *topic = call->program->topics; call->help && topic && topic->name;
	     topic++)
		text_near_offer(&near, topic->name);

	const char *hint = text_near_hint(&near, &arena);
	struct err *err = err_new(ERR_USAGE, "unknown %s '%s'",
				  call->help && call->program->topics ? "command or topic" : "command",
				  word);

	if (is_siblings(call->program, word))
		return err_remedy(err, "did you mean %s %s?", call->program->sibling, word);
	return hint ? err_remedy(err, "%s", hint) : err;
}

static void note_input(const struct opt *opt, void *context)
{
	bool *found = context;

	*found |= opt->name && strcmp(opt->name, "input") == 0;
}

static bool has_input(const struct command *command)
{
	bool found = false;

	opt_each(opts_of(command), note_input, &found);
	return found;
}

/*
 * "preport FILE annotate FUNCTION" means "preport annotate -i FILE FUNCTION": a command that stands right behind the file is
 * one, unless that is a file too.
 */
static bool takes_file_before(struct call *call, int word)
{
	const char *file = call->argv[word];
	const struct command *named;

	if (*call->command->operands || word + 1 >= call->argc || !may_be_file(call->command, file) ||
	    access(call->argv[word + 1], F_OK) == 0)
		return false;
	named = find_command(call->program, call->argv[word + 1]);
	if (!named || !*named->name)
		return false;
	call->command = named;
	remove_word(call, word + 1);
	if (has_input(named))
		call->argv[word] = arena_printf(&call->arena, "--input=%s", file);
	return true;
}

/* Settle which command @call is for, and take its word out of argv. */
static struct err *choose_command(struct call *call)
{
	const struct program *program = call->program;
	int word = find_word(program, call->argc, call->argv);

	call->command = program->commands[0];
	if (word >= call->argc)
		return NULL;

	const struct command *named = find_command(program, call->argv[word]);

	if (!named && strcmp(call->argv[word], "help") == 0) {
		call->help = true;
		remove_word(call, word);
		return choose_command(call);
	}
	if (named) {
		call->command = named;
		remove_word(call, word);
		return NULL;
	}
	call->topic = call->help ? find_topic(program, call->argv[word]) : NULL;
	if (call->topic) {
		remove_word(call, word);
		return NULL;
	}
	if (!call->help && takes_file_before(call, word))
		return NULL;
	/* Behind options it may be the value of an unknown one: then parsing says so. */
	return word == 1 && !may_be_file(call->command, call->argv[word]) && !*call->command->operands ? refuse_operand(call, call->argv[word])
						      : NULL;
}

static void print_listed(const char *name, const char *summary)
{
	printf("  %-12s  ", name);
	text_put_wrapped(stdout, summary, LIST_COLUMN, columns_of_prose(stdout));
}

static void print_command_list(const struct program *program)
{
	printf("\ncommands:\n");
	for (const struct command *const *command = program->commands; *command; command++)
		if (*(*command)->name)
			print_listed((*command)->name, (*command)->summary);
}

static void print_topic_list(const struct program *program)
{
	if (!program->topics)
		return;
	printf("\ntopics:\n");
	for (const struct topic *topic = program->topics; topic->name; topic++)
		print_listed(topic->name, topic->summary);
}

static bool has_named_commands(const struct program *program)
{
	for (const struct command *const *command = program->commands; *command; command++)
		if (*(*command)->name)
			return true;
	return false;
}

static void print_more(const struct program *program)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	putchar('\n');
	text_put_wrapped(stdout,
			 arena_printf(&arena, "'%s COMMAND --help' describes one command%s.", program->name,
				      program->topics ? ", 'help TOPIC' a topic" : ""),
			 0, columns_of_prose(stdout));
}

static void print_help(const struct program *program, const struct command *command)
{
	bool whole = !*command->name;

	printf("usage: %s%s%s [OPTION]...%s%s\n", program->name, whole ? "" : " ", command->name,
	       *command->operands ? " " : "", command->operands);
	if (whole && has_named_commands(program))
		printf("       %s COMMAND [OPTION]... [OPERAND]...\n", program->name);
	text_put_wrapped(stdout, *command->summary ? command->summary : program->summary, 0,
			 columns_of_prose(stdout));
	if (whole && has_named_commands(program))
		print_command_list(program);
	if (whole)
		print_topic_list(program);
	printf("\noptions:\n");
	opt_print_help(opts_of(command), stdout);
	if (command->details) {
		putchar('\n');
		text_put_wrapped(stdout, command->details, 0, columns_of_prose(stdout));
	}
	if (command->needs)
		printf("\nNeeds a recording: profiles of other tools hold no %s.\n", command->needs);
	if (whole && has_named_commands(program))
		print_more(program);
	if (command->examples) {
		printf("\nexamples:\n");
		text_put_lines(stdout, command->examples, columns_of_prose(stdout));
	}
	if (command->manual)
		printf("\nManual: %s\n", command->manual);
	if (program->see_also)
		printf("%sSee also: %s\n", command->manual ? "" : "\n", program->see_also);
}

/* Operands where run() takes none: the file that is read. */
static struct err *store_operands(const struct call *call, void *args, const struct opt_result *parsed)
{
	unsigned taken = 0;

	for (int i = 0; i < parsed->noperands; i++) {
		const char *word = parsed->operands[i];

		if ((!*call->command->name && !may_be_file(call->command, word)) ||
		    (instead(call, word) && access(word, F_OK) != 0) ||
		    !opt_store_operand(opts_of(call->command), args, word, &taken))
			return refuse_operand(call, word);
	}
	return NULL;
}

static struct err *answer_or_run(const struct call *call, void *args, const struct opt_result *parsed,
				 int *ret_status)
{
	const struct command *command = call->command;
	struct err *err = NULL;

	if (call->topic) {
		text_put_lines(stdout, (const char *)call->topic->text, columns_of_prose(stdout));
		return NULL;
	}
	if (parsed->help || call->help) {
		print_help(call->program, command);
		return NULL;
	}
	if (parsed->version) {
		printf("%s %s\n", call->program->name, call->program->version);
		return NULL;
	}
	if (*command->operands)
		return command->run(args, parsed->operands, parsed->noperands, ret_status);
	err = store_operands(call, args, parsed);
	return err ? err : command->run(args, parsed->operands, 0, ret_status);
}

static struct err *run_parsed(const struct call *call, void *args, int *ret_status)
{
	const struct command *command = call->command;
	struct opt_result parsed = { 0 };
	struct err *err =
		opt_parse(opts_of(command), args, call->argc, call->argv, command->order, &parsed);

	if (!err)
		err = answer_or_run(call, args, &parsed, ret_status);
	opt_result_deinit(&parsed);
	return err;
}

struct looked_for {
	const char *option; /* "--NAME" or "--NAME=VALUE" */
	bool found;
};

static void look_for(const struct opt *opt, void *context)
{
	struct looked_for *look = context;
	size_t len = strcspn(look->option + 2, "=");

	look->found |= opt->name && strlen(opt->name) == len && strncmp(opt->name, look->option + 2, len) == 0;
}

/* As if it stood before all else on the command line, where @call's command has such an option. */
static struct err *apply(const struct call *call, const struct setting *setting, const char *option, void *args)
{
	struct looked_for look = { .option = option };
	char *words[] = { call->argv[0], (char *)option, NULL };
	struct opt_result parsed = { 0 };
	struct err *err;

	opt_each(opts_of(call->command), look_for, &look);
	if (!look.found)
		return NULL;
	err = opt_parse(opts_of(call->command), args, 2, words, OPT_ANYWHERE, &parsed);
	opt_result_deinit(&parsed);
	return err ? err_wrap(err, "%s:%u", setting->file, setting->line) : NULL;
}

/* Files that are not trusted are left out, which 'preport config' says. */
static struct err *apply_settings(const struct call *call, struct settings *settings, void *args)
{
	const struct setting_name *names = call->program->settings;
	struct err *err = names ? settings_read(settings) : NULL;

	for (size_t i = 0; i < settings->list.len && !err; i++) {
		const char *option;

		err = settings_option(settings, names, &settings->list.items[i], &option);
		if (!err && option)
			err = apply(call, &settings->list.items[i], option, args);
	}
	return err;
}

static struct err *run_command(const struct call *call, int *ret_status)
{
	const struct command *command = call->command;
	void *args = memory_zeroed(1, MAX(command->args_size, (size_t)1));

	opt_init(opts_of(command), args);
	if (command->defaults)
		command->defaults(args);

	struct settings settings = { 0 };
	struct err *err = apply_settings(call, &settings, args);

	if (!err)
		err = run_parsed(call, args, ret_status);
	if (command->release)
		command->release(args);
	opt_deinit(opts_of(command), args);
	free(args);
	settings_deinit(&settings); /* values that options point at */
	return err;
}

struct listing {
	const char *command;
};

static void print_option(const struct opt *opt, void *context)
{
	const struct listing *listing = context;

	if (opt->name)
		printf("%s --%s\n", listing->command, opt->name);
	else
		printf("%s -%c\n", listing->command, opt->short_name);
}

/* Both of its names, each on a line. */
static void print_every_name(const struct opt *opt, void *context)
{
	const struct listing *listing = context;

	if (opt->name)
		printf("%s --%s\n", listing->command, opt->name);
	if (opt->short_name)
		printf("%s -%c\n", listing->command, opt->short_name);
}

static void print_every_option(const struct program *program)
{
	for (const struct command *const *command = program->commands; *command; command++) {
		struct listing listing = { (*command)->alias ? (*command)->alias : (*command)->name };

		opt_each_foreign(opts_of(*command), print_every_name, &listing);
	}
}

/* "--words=KIND [INPUT]", as the completion scripts ask. */
static bool answer_words(const struct program *program, char **argv)
{
	static const char words[] = "--words=";

	if (strncmp(argv[1], words, strlen(words)) != 0 || !program->print_words)
		return false;
	err_free(program->print_words(argv[1] + strlen(words), argv[2]));
	return true;
}

/* The hidden requests that the checks, the installation and shells make. */
static bool answer_hidden(const struct program *program, char **argv, struct err **ret_err)
{
	static const char completion[] = "--completion=";
	const char *word = argv[1];

	if (answer_words(program, argv))
		return true;

	if (strncmp(word, completion, strlen(completion)) == 0) {
		*ret_err = completion_print(program, word + strlen(completion), stdout);
		return true;
	}
	if (strcmp(word, "--perf-options") == 0) {
		print_every_option(program);
		return true;
	}
	if (strcmp(word, "--options") != 0)
		return false;
	for (const struct command *const *command = program->commands; *command; command++) {
		struct listing listing = { *(*command)->name ? (*command)->name : program->name };

		opt_each(opts_of(*command), print_option, &listing);
	}
	return true;
}

static void print_error(const struct call *call, const struct err *err)
{
	const struct program *program = call->program;
	const char *hint = err_hint(err);

	fprintf(stderr, "%s: ", program->name);
	text_put_escaped(stderr, err_message(err));
	fputc('\n', stderr);
	if (hint) {
		fprintf(stderr, "%s: ", program->name);
		text_put_escaped(stderr, hint);
		fputc('\n', stderr);
	} else if (err_kind(err) == ERR_USAGE) {
		const char *name = call->command ? call->command->name : "";

		fprintf(stderr, "%s: try '%s%s%s --help'\n", program->name, program->name,
			*name ? " " : "", name);
	}
}

/* What is buffered must arrive: a report cut short by a full disk is a failure. */
static struct err *flush_stdout(void)
{
	bool failed = ferror(stdout);

	if (fflush(stdout) != 0)
		return err_system(errno, "cannot write to standard output");
	return failed ? err_new(ERR_SYSTEM, "cannot write to standard output") : NULL;
}

/* A closed standard descriptor would go to the next file opened, and output would end up in that. */
static void occupy_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(125);
}

int program_main(const struct program *program, int argc, char **argv, int failure_status)
{
	struct call call = { .program = program, .argc = argc };
	struct err *err = NULL;
	int status = 0;

	occupy_standard_fds();
	call.argv = memory_zeroed((size_t)argc + 1, sizeof(*argv));
	memcpy(call.argv, argv, (size_t)argc * sizeof(*argv));
	if (argc < 2 || !answer_hidden(program, argv, &err)) {
		err = choose_command(&call);
		if (!err)
			err = run_command(&call, &status);
	}

	struct err *flush_err = flush_stdout();

	if (!err)
		err = flush_err;
	else
		err_free(flush_err);
	if (err) {
		print_error(&call, err);
		if (!status)
			status = failure_status ? failure_status : err_exit_status(err);
	}
	err_free(err);
	free(call.argv);
	arena_deinit(&call.arena);
	return status;
}
