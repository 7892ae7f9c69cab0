/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h - command-line options as a table: parsing, --help, shell completion and the check of the man
 * pages all read it.
 *
 *	static const struct opt annotate_opts[] = {
 *		OPT_UINT(struct annotate_args, lines, "lines", 'n', "N", "show at most N lines"),
 *		OPT_FLAG(struct annotate_args, source, "source", 's', "interleave source lines"),
 *		OPT_GROUP(struct annotate_args, filter, filter_opts),
 *		OPT_END,
 *	};
 */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "formats/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {
	OPT_KIND_END,
	OPT_KIND_FLAG,	 /* bool: set to true */
	OPT_KIND_NOT,	 /* bool: set to false ("--no-inline" for a field that starts out true) */
	OPT_KIND_UINT,	 /* uint64_t: a whole decimal number */
	OPT_KIND_STR,	 /* const char *: the last one given */
	OPT_KIND_LIST,	 /* struct opt_list: every one given, in order */
	OPT_KIND_CHOICE, /* const char *: one of @choices */
	OPT_KIND_PARSE,	 /* anything: @parse stores it */
	OPT_KIND_GROUP,	 /* options of an embedded struct */
	OPT_KIND_OPERAND, /* const char *: the one operand of a command, like the file of "preport FILE" */
	OPT_KIND_LIFE,	  /* no option: how the struct that a table is about begins and ends */

	/* Options of another tool (record/perf_options.h): accepted, but neither in help nor among near names. */
	OPT_KIND_SAME,	  /* one of ours has the name and does the same: nothing to parse */
	OPT_KIND_LIKE,	  /* stands for options of ours, @like */
	OPT_KIND_ANYWAY,  /* what it asks for is done anyway; @help says so */
	OPT_KIND_INSTEAD, /* refused; @help says what to type instead */
};

/* Every value of an OPT_LIST; points into argv. */
struct opt_list {
	const char **items;
	size_t len, cap;
};

struct opt {
	enum opt_kind kind;
	char short_name;	    /* or 0 */
	const char *name;	    /* long, without dashes */
	/*
	 * What the argument is called in help, NULL for none; "[N]" if optional (OPT_PARSE), and then the next word is
	 * the argument if @takes says that it is one.
	 */
	const char *arg;
	const char *help;	    /* one line, lower case, no full stop */
	size_t offset;		    /* of the field in the argument struct */
	const char *const *choices; /* NULL-terminated, for OPT_KIND_CHOICE */
	/* Store @value (NULL when an optional argument is absent) in @field; the error need not name the option. */
	struct err *(*parse)(void *field, const char *value);
	const struct opt *group;
	bool (*takes)(const char *word); /* is the next word the optional argument? NULL: never */
	void (*init)(void *args), (*deinit)(void *args); /* of OPT_KIND_LIFE; NULL: nothing to do */
	const char *like; /* long names with values: "by=module tree", "symbol=*%s*"; "module=%,": once for each of a list */
};

#define OPT_FIELD_(kind_, type, field, name_, short_, arg_, help_)                                   \
	.kind = (kind_), .short_name = (short_), .name = (name_), .arg = (arg_), .help = (help_),    \
	.offset = offsetof(type, field)

#define OPT_FLAG(type, field, name, short, help) \
	{ OPT_FIELD_(OPT_KIND_FLAG, type, field, name, short, NULL, help) }
#define OPT_NOT(type, field, name, short, help) \
	{ OPT_FIELD_(OPT_KIND_NOT, type, field, name, short, NULL, help) }
#define OPT_UINT(type, field, name, short, arg, help) \
	{ OPT_FIELD_(OPT_KIND_UINT, type, field, name, short, arg, help) }
#define OPT_STR(type, field, name, short, arg, help) \
	{ OPT_FIELD_(OPT_KIND_STR, type, field, name, short, arg, help) }
#define OPT_LIST(type, field, name, short, arg, help) \
	{ OPT_FIELD_(OPT_KIND_LIST, type, field, name, short, arg, help) }
#define OPT_CHOICE(type, field, name, short, arg, help, choices_) \
	{ OPT_FIELD_(OPT_KIND_CHOICE, type, field, name, short, arg, help), .choices = (choices_) }
#define OPT_PARSE(type, field, name, short, arg, help, parse_) \
	{ OPT_FIELD_(OPT_KIND_PARSE, type, field, name, short, arg, help), .parse = (parse_) }
#define OPT_GROUP(type, field, group_) \
	{ .kind = OPT_KIND_GROUP, .offset = offsetof(type, field), .group = (group_) }
/* A flag whose next word is its argument where @takes_ says so: "-g", "-g fp". */
#define OPT_MAYBE(type, field, name, short, arg, help, parse_, takes_) \
	{ OPT_FIELD_(OPT_KIND_PARSE, type, field, name, short, arg, help), .parse = (parse_), .takes = (takes_) }
#define OPT_OPERAND(type, field, arg_) \
	{ .kind = OPT_KIND_OPERAND, .arg = (arg_), .offset = offsetof(type, field) }
/* The defaults of the struct that the table is about, and what frees more than its lists. */
#define OPT_LIFE(init_, deinit_) { .kind = OPT_KIND_LIFE, .init = (init_), .deinit = (deinit_) }
/* Options of another tool: the same here; these of ours; done anyway; what to type instead. */
#define OPT_SAME(short_, name_) { .kind = OPT_KIND_SAME, .short_name = (short_), .name = (name_) }
#define OPT_LIKE(short_, name_, arg_, like_) \
	{ .kind = OPT_KIND_LIKE, .short_name = (short_), .name = (name_), .arg = (arg_), .like = (like_) }
#define OPT_ANYWAY(short_, name_, arg_, why) \
	{ .kind = OPT_KIND_ANYWAY, .short_name = (short_), .name = (name_), .arg = (arg_), .help = (why) }
#define OPT_INSTEAD(short_, name_, arg_, what) \
	{ .kind = OPT_KIND_INSTEAD, .short_name = (short_), .name = (name_), .arg = (arg_), .help = (what) }
/* A group of them, at the end of a command's table. */
#define OPT_FOREIGN(group_) { .kind = OPT_KIND_GROUP, .group = (group_) }
#define OPT_END { .kind = OPT_KIND_END }

enum opt_order {
	OPT_ANYWHERE,	     /* options and operands mix until "--" */
	OPT_BEFORE_OPERANDS, /* the first operand ends the options, as for a command to run */
};

struct opt_result {
	bool help;	 /* -h or --help was given: parsing stopped there */
	bool version;	 /* --version was given: parsing stopped there */
	char **operands; /* the rest of argv, which is permuted so that operands come last */
	int noperands;
	struct arena values; /* that were made for options of ours: opt_result_deinit() */
};

/* Set all defaults that @opts and its groups name in @args, which is zeroed. */
void opt_init(const struct opt *opts, void *args);

/* Release what @opts, its groups and lists hold in @args. */
void opt_deinit(const struct opt *opts, void *args);

/* Release the values that parsing made; the struct of arguments may point at them until then. */
void opt_result_deinit(struct opt_result *result);

/*
 * Parse @argv[1..] by @opts into the struct @args.
 *
 * ERR_USAGE: an option that is unknown (with near names as the remedy), ambiguous, lacks or refuses an
 * argument, or whose value is wrong.
 */
MUST_USE struct err *opt_parse(const struct opt *opts, void *args, int argc, char **argv,
			       enum opt_order order, struct opt_result *ret);

/*
 * Where in @argv the first operand is, going by @opts and storing nothing; @argc if there is none, or
 * only behind "--". An
 * unknown option counts as one without an argument.
 */
int opt_first_operand(const struct opt *opts, int argc, char **argv);

/* Print the options, groups included, in two columns. */
void opt_print_help(const struct opt *opts, FILE *out);

/* Is @opt one of another tool, or no option at all, and so to be left out of help and completion? */
static inline bool opt_is_foreign(const struct opt *opt)
{
	return opt->kind >= OPT_KIND_OPERAND;
}

/*
 * Store the operand @word where an OPT_OPERAND of @opts says; false if there is none. *@taken (0 at first) counts them:
 * a second one is not stored either.
 */
bool opt_store_operand(const struct opt *opts, void *args, const char *word, unsigned *taken);

/* Do @opts say where an operand goes? */
bool opt_has_operand(const struct opt *opts);

/* Call @visit for every option of ours, groups flattened. */
void opt_each(const struct opt *opts, void (*visit)(const struct opt *opt, void *context),
	      void *context);

/* The same, with those of other tools. */
void opt_each_foreign(const struct opt *opts, void (*visit)(const struct opt *opt, void *context),
		      void *context);

/* Release what OPT_LIST options gathered. */
void opt_list_deinit(struct opt_list *list);

#endif
