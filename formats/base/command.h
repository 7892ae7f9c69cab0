/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a program's commands as constants: dispatch, --help, completion and man-page checks read them.
 */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include "formats/base/opt.h"
#include "formats/base/topic.h"

struct setting_name;

struct command {
	const char *name;     /* "" for the one that runs when none is named */
	const char *alias;    /* another name that it answers to, or NULL */
	const char *summary;  /* one line, lower case, no full stop */
	/*
	 * "FUNCTION", "[GLOB]"; "" for none: then run() is never given any, and an operand goes where an OPT_OPERAND says,
	 * if there is one.
	 */
	const char *operands;
	/*
	 * What the input must hold beside a profile: "events", "code"; NULL: nothing. A program whose inputs are all alike leaves it
	 * out.
	 */
	const char *needs;
	const char *details;  /* more lines for --help, or NULL */
	const char *examples; /* lines, each a command that works, or NULL */
	const char *manual;   /* "preport-diff(1)"; NULL: the program's */
	const struct opt *opts;
	size_t args_size;
	void (*defaults)(void *args); /* beside those of the options' groups; NULL: the rest is zero */
	/* @args holds the options; *@ret_status is the exit status, with an error too, 0 unless run() sets another. */
	struct err *(*run)(void *args, char **operands, int noperands, int *ret_status);
	void (*release)(void *args); /* frees what parsing allocated beside lists and groups; NULL: nothing */
	enum opt_order order;
};

/* What completes the value of an option, or an operand: words that the program knows. */
struct word_use {
	const char *name; /* "--symbol", or a command's for its operand: "annotate" */
	const char *kind; /* "functions" */
};

struct program {
	const char *name;    /* "preport" */
	const char *version;
	const char *summary;
	const char *see_also; /* "preport(1), precord-trace(5)" */
	const struct command *const *commands; /* NULL-terminated, the unnamed one first */
	const char *sibling;		    /* a program whose commands are sometimes given to this one; NULL: none */
	const char *const *sibling_words;   /* those, ended by NULL */
	/* What to type for another tool's @word behind @command, "" for none, or NULL; NULL: nothing is known. */
	const char *(*instead)(const char *command, const char *word);
	const struct topic *topics; /* for "help TOPIC", ended by one without a name; NULL: none */
	const struct word_use *word_uses; /* for completion, ended by one without a name; NULL: none */
	/*
	 * Print the words of @kind to stdout, each on a line; behind a TAB may follow a name by which it is known too. @input is
	 * the file that the command line names, NULL for none. An error is not shown: then there are no words.
	 */
	struct err *(*print_words)(const char *kind, const char *input);
	const struct setting_name *settings; /* that configuration files may have (settings.h); NULL: none are read */
};

#endif
