/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - scripts for bash and zsh.
 *
 * Both work alike: the first word that is a command's name decides whose options are offered. What is offered for an
 * option's argument is its choices, words that the program prints (program.word_uses), or what the argument's name says
 * (FILE and TRACE: files, DIR: folders). Words complete the last item of a list with commas; one with a TAB and a name
 * behind it is found by that too.
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

/* The kind of words that complete @name, which has @dashes; NULL if there are none. */
static const char *words_of(const struct program *program, const char *dashes, const char *name)
{
	for (const struct word_use *use = program->word_uses; name && use && use->name; use++)
		if (strncmp(use->name, dashes, strlen(dashes)) == 0 &&
		    strcmp(use->name + strlen(dashes), name) == 0)
			return use->kind;
	return NULL;
}

/* The same for the value of @opt; a choice is only what its table says. */
static const char *words_of_option(const struct program *program, const struct opt *opt)
{
	return opt->kind == OPT_KIND_CHOICE ? NULL : words_of(program, "--", opt->name);
}

struct script {
	const struct program *program;
	FILE *out;
};

static void each_opt(const struct command *command,
		     void (*visit)(const struct opt *opt, void *context), struct script *script)
{
	if (command->opts)
		opt_each(command->opts, visit, script);
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
	FILE *out = ((struct script *)context)->out;

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
	struct script *script = context;
	const char *words = words_of_option(script->program, opt);
	FILE *out = script->out;

	if (!opt->arg)
		return;
	fprintf(out, "\t\t");
	put_names(opt, out);
	fprintf(out, ") ");
	if (words) {
		fprintf(out, "_%s_words %s", script->program->name, words);
	} else if (opt->choices) {
		fprintf(out, "COMPREPLY=($(compgen -W '");
		for (const char *const *choice = opt->choices; *choice; choice++)
			fprintf(out, "%s%s", choice == opt->choices ? "" : " ", *choice);
		fprintf(out, "' -- \"$cur\"))");
	} else {
		bash_compgen(operand_kind(opt->arg), out);
	}
	fprintf(out, "; return ;;\n");
}

static void bash_command(const struct command *command, struct script *script)
{
	const char *words = words_of(script->program, "", command->name);
	FILE *out = script->out;

	fprintf(out, "\t'%s')\n\t\topts='--help --version", command->name);
	each_opt(command, bash_words, script);
	fprintf(out, "'\n\t\tcase $prev in\n");
	each_opt(command, bash_argument, script);
	fprintf(out, "\t\tesac\n\t\t");
	if (words)
		fprintf(out, "[[ $cur == -* ]] || _%s_words %s", script->program->name, words);
	else
		bash_compgen(operand_kind(command->operands), out);
	fprintf(out, " ;;\n");
}

/* _NAME_words KIND: the words of this kind that begin with the last item of $cur, which the shell divided at colons. */
static void bash_words_function(const struct program *program, FILE *out)
{
	fprintf(out,
		"_%s_words()\n{\n"
		"\tlocal item=${cur##*,} before='' word name line input=() i\n"
		"\tbefore=${cur%%\"$item\"}\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tcase ${COMP_WORDS[i]} in\n"
		"\t\t-i|--input) input=(\"${COMP_WORDS[i+1]}\")\n"
		"\t\t\t[[ ${input[0]} == '=' ]] && input=(\"${COMP_WORDS[i+2]}\") ;;\n"
		"\t\tesac\n\tdone\n"
		"\tCOMPREPLY=()\n"
		"\twhile IFS= read -r line; do\n"
		"\t\tword=${line%%%%$'\\t'*} name=${line#*$'\\t'}\n"
		"\t\t[[ $word == \"$item\"* || $name == \"$item\"* ]] || continue\n"
		"\t\tword=$before$word\n"
		"\t\tCOMPREPLY+=(\"${word#\"$colons\"}\")\n"
		"\tdone < <(%s --words=\"$1\" \"${input[@]}\" 2>/dev/null)\n}\n",
		program->name, program->name);
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
	struct script script = { program, out };
	const char *name = program->name;

	fprintf(out, "# %s(1) completion for bash; made by '%s --completion=bash'\n", name, name);
	if (program->word_uses)
		bash_words_function(program, out);
	fprintf(out,
		"_%s()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD colons='' prev\n"
		"\tlocal command='' opts='' i\n"
		"\twhile ((at > 1)) && [[ ${COMP_WORDS[at]} == *: || ${COMP_WORDS[at-1]} == *: ]]; do\n"
		"\t\tcolons=${COMP_WORDS[at-1]}$colons\n"
		"\t\tcur=${COMP_WORDS[at-1]}$cur\n"
		"\t\tat=$((at - 1))\n"
		"\tdone\n"
		"\t[[ ${COMP_WORDS[COMP_CWORD]} == *: ]] && colons=$cur\n"
		"\tprev=${COMP_WORDS[at-1]}\n"
		"\tif [[ $cur == '=' ]]; then\n"
		"\t\tcur=''\n"
		"\telif [[ $prev == '=' ]]; then\n"
		"\t\tprev=${COMP_WORDS[at-2]}\n"
		"\tfi\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tcase ${COMP_WORDS[i]} in\n"
		"\t\t--) break ;;\n\t\t",
		name);
	put_command_names(program, "|", out);
	fprintf(out,
		") command=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone\n\tcase $command in\n");
	for (const struct command *const *command = program->commands; *command; command++)
		bash_command(*command, &script);
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
static void zsh_spec(const struct script *script, const struct opt *opt, const char *name, const char *joint)
{
	const char *words = words_of_option(script->program, opt);
	FILE *out = script->out;

	fprintf(out, " \\\n\t\t\t'*%s%s[", name, opt->arg ? joint : "");
	zsh_put(opt->help, out);
	fputc(']', out);
	if (opt->arg) {
		fprintf(out, "%s", *opt->arg == '[' ? "::" : ":");
		zsh_put(opt->arg, out);
		fputc(':', out);
		if (words) {
			fprintf(out, "{_%s_words %s}", script->program->name, words);
		} else if (opt->choices) {
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
	const struct script *script = context;
	char short_name[] = { '-', opt->short_name, 0 };
	bool optional = opt->arg && *opt->arg == '[';

	if (opt->short_name)
		zsh_spec(script, opt, short_name, optional ? "-" : "+");
	if (opt->name) {
		char name[64];

		snprintf(name, sizeof(name), "--%s", opt->name);
		zsh_spec(script, opt, name, optional ? "=-" : "=");
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

static void zsh_command(struct script *script, const struct command *command)
{
	enum operand kind = operand_kind(command->operands);
	const struct program *program = script->program;
	const char *words = words_of(program, "", command->name);
	FILE *out = script->out;

	fprintf(out,
		"\t'%s')\n\t\t_arguments -s \\\n\t\t\t'--help[show help]' \\\n"
		"\t\t\t'--version[show the version]'",
		command->name);
	each_opt(command, zsh_opt, script);
	if (words)
		fprintf(out, " \\\n\t\t\t'*:%s:{_%s_words %s}'", words, program->name, words);
	else if (kind == OPERAND_COMMAND)
		fprintf(out, " \\\n\t\t\t'*:::command:_normal'");
	else if (!*command->name)
		zsh_commands(program, out);
	else if (kind != OPERAND_OTHER)
		fprintf(out, " \\\n\t\t\t'*:%s:%s'", kind == OPERAND_DIR ? "folder" : "file",
			zsh_action(kind));
	fprintf(out, "\n\t\t;;\n");
}

/* _NAME_words KIND, as for bash; the shell itself chooses those that fit. */
static void zsh_words_function(const struct program *program, FILE *out)
{
	fprintf(out,
		"_%s_words()\n{\n"
		"\tlocal -a lines input\n"
		"\tlocal i\n"
		"\tfor ((i = 2; i < CURRENT; i++)); do\n"
		"\t\tcase ${words[i]} in\n"
		"\t\t-i|--input) input=(${words[i+1]}) ;;\n"
		"\t\t--input=*) input=(${words[i]#--input=}) ;;\n"
		"\t\tesac\n\tdone\n"
		"\tlines=(\"${(@f)$(%s --words=$1 $input 2>/dev/null)}\")\n"
		"\tcompset -P '*,'\n"
		"\tcompadd -d lines -a -- ${lines%%%%$'\\t'*}\n}\n",
		program->name, program->name);
}

static void print_zsh(const struct program *program, FILE *out)
{
	struct script script = { program, out };
	const char *name = program->name;

	fprintf(out, "#compdef %s\n# %s(1) completion for zsh; made by '%s --completion=zsh'\n", name, name, name);
	if (program->word_uses)
		zsh_words_function(program, out);
	fprintf(out,
		"_%s()\n{\n"
		"\tlocal command='' word\n"
		"\tfor word in ${words[2,CURRENT-1]}; do\n"
		"\t\tcase $word in\n"
		"\t\t--) break ;;\n\t\t",
		name);
	put_command_names(program, "|", out);
	fprintf(out, ") command=$word; break ;;\n\t\tesac\n\tdone\n\tcase $command in\n");
	for (const struct command *const *command = program->commands; *command; command++)
		zsh_command(&script, *command);
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
