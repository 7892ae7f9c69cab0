/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - scripts for bash and zsh.
 *
 * Both work alike: the first word that is a command's name decides whose options are offered, and the
 * name of an option's argument decides what is offered for it (FILE and TRACE: files, DIR: folders).
 */
#include "formats/base/completion.h"

#include <string.h>

enum operand {
	OPERAND_OTHER,
	OPERAND_FILE,
	OPERAND_DIR,
	OPERAND_COMMAND, /* another program and its arguments */
};

static enum operand operand_kind(const char *name)
{
	if (strstr(name, "FILE") || strstr(name, "TRACE"))
		return OPERAND_FILE;
	if (strstr(name, "DIR"))
		return OPERAND_DIR;
	return strstr(name, "COMMAND") ? OPERAND_COMMAND : OPERAND_OTHER;
}

static void each_opt(const struct command *command,
		     void (*visit)(const struct opt *opt, void *context), FILE *out)
{
	if (command->opts)
		opt_each(command->opts, visit, out);
}

/* The words by which an option is called, '|' between them. */
static void put_names(const struct opt *opt, FILE *out)
{
	if (opt->short_name)
		fprintf(out, "-%c%s", opt->short_name, opt->name ? "|" : "");
	if (opt->name)
		fprintf(out, "--%s", opt->name);
}

static void bash_words(const struct opt *opt, void *context)
{
	FILE *out = context;

	if (opt->name)
		fprintf(out, " --%s%s", opt->name, opt->arg && *opt->arg != '[' ? "=" : "");
	else
		fprintf(out, " -%c", opt->short_name);
}

static void bash_compgen(enum operand kind, FILE *out)
{
	static const char *const flags[] = {
		[OPERAND_OTHER] = NULL,
		[OPERAND_FILE] = "-f",
		[OPERAND_DIR] = "-d",
		[OPERAND_COMMAND] = "-c",
	};

	if (flags[kind])
		fprintf(out, "COMPREPLY=($(compgen %s -- \"$cur\"))", flags[kind]);
	else
		fprintf(out, "COMPREPLY=()");
}

static void bash_argument(const struct opt *opt, void *context)
{
	FILE *out = context;

	if (!opt->arg)
		return;
	fprintf(out, "\t\t");
	put_names(opt, out);
	fprintf(out, ") ");
	if (opt->choices) {
		fprintf(out, "COMPREPLY=($(compgen -W '");
		for (const char *const *choice = opt->choices; *choice; choice++)
			fprintf(out, "%s%s", choice == opt->choices ? "" : " ", *choice);
		fprintf(out, "' -- \"$cur\"))");
	} else {
		bash_compgen(operand_kind(opt->arg), out);
	}
	fprintf(out, "; return ;;\n");
}

static void bash_command(const struct command *command, FILE *out)
{
	fprintf(out, "\t'%s')\n\t\topts='--help --version", command->name);
	each_opt(command, bash_words, out);
	fprintf(out, "'\n\t\tcase $prev in\n");
	each_opt(command, bash_argument, out);
	fprintf(out, "\t\tesac\n\t\t");
	bash_compgen(operand_kind(command->operands), out);
	fprintf(out, " ;;\n");
}

static void put_command_names(const struct program *program, const char *between, FILE *out)
{
	bool first = true;

	for (const struct command *const *command = program->commands; *command; command++) {
		if (!*(*command)->name)
			continue;
		fprintf(out, "%s%s", first ? "" : between, (*command)->name);
		first = false;
	}
	if (first)
		fprintf(out, "''"); /* a pattern that matches no word */
}

static void print_bash(const struct program *program, FILE *out)
{
	const char *name = program->name;

	fprintf(out,
		"# %s(1) completion for bash; made by '%s --completion=bash'\n"
		"_%s()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		"\tlocal command='' opts='' i\n"
		"\tif [[ $cur == '=' ]]; then\n"
		"\t\tcur=''\n"
		"\telif [[ $prev == '=' ]]; then\n"
		"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
		"\tfi\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tcase ${COMP_WORDS[i]} in\n"
		"\t\t--) break ;;\n\t\t",
		name, name, name);
	put_command_names(program, "|", out);
	fprintf(out,
		") command=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone\n\tcase $command in\n");
	for (const struct command *const *command = program->commands; *command; command++)
		bash_command(*command, out);
	fprintf(out, "\tesac\n\tif [[ $cur == -* ]]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$opts\" -- \"$cur\"))\n"
		     "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
		     "\telif [[ ! $command ]]; then\n"
		     "\t\tCOMPREPLY+=($(compgen -W '");
	put_command_names(program, " ", out);
	fprintf(out, "' -- \"$cur\"))\n\tfi\n}\ncomplete -o filenames -F _%s %s\n", name, name);
}

/* @text inside a single-quoted _arguments specification. */
static void zsh_put(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("[]:\\", *text))
			fputc('\\', out);
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
}

static const char *zsh_action(enum operand kind)
{
	static const char *const actions[] = {
		[OPERAND_OTHER] = " ",
		[OPERAND_FILE] = "_files",
		[OPERAND_DIR] = "_directories",
		[OPERAND_COMMAND] = "_normal",
	};

	return actions[kind];
}

/* One way to call an option: its dashes and name, and how its argument follows. */
static void zsh_spec(const struct opt *opt, const char *name, const char *joint, FILE *out)
{
	fprintf(out, " \\\n\t\t\t'*%s%s[", name, opt->arg ? joint : "");
	zsh_put(opt->help, out);
	fputc(']', out);
	if (opt->arg) {
		fprintf(out, "%s", *opt->arg == '[' ? "::" : ":");
		zsh_put(opt->arg, out);
		fputc(':', out);
		if (opt->choices) {
			fputc('(', out);
			for (const char *const *choice = opt->choices; *choice; choice++)
				fprintf(out, "%s%s", choice == opt->choices ? "" : " ", *choice);
			fputc(')', out);
		} else {
			fputs(zsh_action(operand_kind(opt->arg)), out);
		}
	}
	fputc('\'', out);
}

static void zsh_opt(const struct opt *opt, void *context)
{
	FILE *out = context;
	char short_name[] = { '-', opt->short_name, 0 };
	bool optional = opt->arg && *opt->arg == '[';

	if (opt->short_name)
		zsh_spec(opt, short_name, optional ? "-" : "+", out);
	if (opt->name) {
		char name[64];

		snprintf(name, sizeof(name), "--%s", opt->name);
		zsh_spec(opt, name, optional ? "=-" : "=", out);
	}
}

static void zsh_commands(const struct program *program, FILE *out)
{
	fprintf(out, " \\\n\t\t\t'*:: :((");
	for (const struct command *const *command = program->commands; *command; command++) {
		if (!*(*command)->name)
			continue;
		fprintf(out, " %s\\:\"", (*command)->name);
		zsh_put((*command)->summary, out);
		fputc('"', out);
	}
	fprintf(out, " ))'");
}

static void zsh_command(const struct program *program, const struct command *command, FILE *out)
{
	enum operand kind = operand_kind(command->operands);

	fprintf(out,
		"\t'%s')\n\t\t_arguments -s \\\n\t\t\t'--help[show help]' \\\n"
		"\t\t\t'--version[show the version]'",
		command->name);
	each_opt(command, zsh_opt, out);
	if (kind == OPERAND_COMMAND)
		fprintf(out, " \\\n\t\t\t'*:::command:_normal'");
	else if (!*command->name)
		zsh_commands(program, out);
	else if (kind != OPERAND_OTHER)
		fprintf(out, " \\\n\t\t\t'*:%s:%s'", kind == OPERAND_DIR ? "folder" : "file",
			zsh_action(kind));
	fprintf(out, "\n\t\t;;\n");
}

static void print_zsh(const struct program *program, FILE *out)
{
	const char *name = program->name;

	fprintf(out,
		"#compdef %s\n# %s(1) completion for zsh; made by '%s --completion=zsh'\n"
		"_%s()\n{\n"
		"\tlocal command='' word\n"
		"\tfor word in ${words[2,CURRENT-1]}; do\n"
		"\t\tcase $word in\n"
		"\t\t--) break ;;\n\t\t",
		name, name, name, name);
	put_command_names(program, "|", out);
	fprintf(out, ") command=$word; break ;;\n\t\tesac\n\tdone\n\tcase $command in\n");
	for (const struct command *const *command = program->commands; *command; command++)
		zsh_command(program, *command, out);
	fprintf(out, "\tesac\n}\n_%s \"$@\"\n", name);
}

struct err *completion_print(const struct program *program, const char *shell, FILE *out)
{
	if (strcmp(shell, "bash") == 0)
		print_bash(program, out);
	else if (strcmp(shell, "zsh") == 0)
		print_zsh(program, out);
	else
		return err_new(ERR_USAGE, "no completion for '%s': it must be bash or zsh", shell);
	return NULL;
}
