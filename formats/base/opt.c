/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.c - tables of options on top of getopt_long(3), which knows abbreviations, bundling and "--".
 */
#include "formats/base/opt.h"

#include "formats/base/memory.h"
#include "formats/base/columns.h"
#include "formats/base/text.h"

#include <assert.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LONG_BASE     0x1000 /* getopt's value for flattened option i is LONG_BASE + i */
#define HELP_VALUE    0x100
#define VERSION_VALUE 0x101
#define HELP_COLUMN   30 /* where the explanations start */

/* An option together with where its field is, counted from the outermost struct. */
struct flat {
	const struct opt *opt;
	size_t offset;
};

struct flat_table {
	VEC(struct flat) options;
	VEC(struct option) longs; /* for getopt_long() */
	VEC(char) shorts;
};

static void flatten(struct flat_table *table, const struct opt *opts, size_t base)
{
	for (; opts->kind != OPT_KIND_END; opts++) {
		if (opts->kind == OPT_KIND_GROUP) {
			flatten(table, opts->group, base + opts->offset);
			continue;
		}
		if (opts->kind == OPT_KIND_LIFE)
			continue;

		struct flat flat = { opts, base + opts->offset };

		vec_push(&table->options, flat);
	}
}

static int has_arg(const struct opt *opt)
{
	if (!opt->arg)
		return no_argument;
	return *opt->arg == '[' ? optional_argument : required_argument;
}

static void add_long(struct flat_table *table, const char *name, int has_argument, int value)
{
	struct option option = { .name = name, .has_arg = has_argument, .val = value };

	vec_push(&table->longs, option);
}

static void add_short(struct flat_table *table, char name, int has_argument)
{
	vec_push(&table->shorts, name);
	for (int i = 0; i < has_argument; i++)
		vec_push(&table->shorts, ':');
}

/*
 * Does a word of @argv give long option @name in full? Only then an option of another tool is one, so that it
 * never makes an abbreviation of ours ambiguous.
 */
static bool is_given(const char *name, int argc, char **argv)
{
	size_t len = strlen(name);

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, len) == 0 &&
		    (!argv[i][2 + len] || argv[i][2 + len] == '='))
			return true;
	return false;
}

static bool is_parsed(const struct opt *opt, int argc, char **argv)
{
	if (opt->kind == OPT_KIND_SAME || opt->kind == OPT_KIND_OPERAND)
		return false;
	return !opt_is_foreign(opt) || !opt->name || is_given(opt->name, argc, argv);
}

static void build(struct flat_table *table, const struct opt *opts, enum opt_order order, int argc,
		  char **argv)
{
	flatten(table, opts, 0);
	if (order == OPT_BEFORE_OPERANDS)
		vec_push(&table->shorts, '+');
	vec_push(&table->shorts, ':'); /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < table->options.len; i++) {
		const struct opt *opt = table->options.items[i].opt;

		if (opt->name && is_parsed(opt, argc, argv))
			add_long(table, opt->name, has_arg(opt), LONG_BASE + (int)i);
		if (opt->short_name && opt->kind != OPT_KIND_SAME)
			add_short(table, opt->short_name, has_arg(opt));
	}
	add_short(table, 'h', no_argument);
	add_long(table, "help", no_argument, HELP_VALUE);
	add_long(table, "version", no_argument, VERSION_VALUE);
	vec_push(&table->longs, (struct option){ 0 });
	vec_push(&table->shorts, 0);
}

static void flat_table_deinit(struct flat_table *table)
{
	vec_deinit(&table->options);
	vec_deinit(&table->longs);
	vec_deinit(&table->shorts);
}

static const struct flat *find(const struct flat_table *table, int value)
{
	if (value >= LONG_BASE)
		return &table->options.items[value - LONG_BASE];
	for (size_t i = 0; i < table->options.len; i++)
		if (table->options.items[i].opt->short_name == value &&
		    table->options.items[i].opt->kind != OPT_KIND_SAME)
			return &table->options.items[i];
	return NULL;
}

/* The option of ours that is called so; NULL if there is none. */
static const struct flat *find_own(const struct flat_table *table, const char *name, size_t len)
{
	for (size_t i = 0; i < table->options.len; i++) {
		const struct opt *opt = table->options.items[i].opt;

		if (!opt_is_foreign(opt) && opt->name && strlen(opt->name) == len &&
		    memcmp(opt->name, name, len) == 0)
			return &table->options.items[i];
	}
	return NULL;
}

/* What another tool means by the letter of @own; NULL if it has no such letter, or means the same. */
static const struct opt *find_clash(const struct flat_table *table, const struct opt *own)
{
	for (size_t i = 0; i < table->options.len && own->short_name; i++) {
		const struct opt *opt = table->options.items[i].opt;

		if (opt->kind == OPT_KIND_INSTEAD && opt->short_name == own->short_name)
			return opt;
	}
	return NULL;
}

static struct err *store_choice(const struct opt *opt, const char **field, const char *value)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *list = "";

	for (const char *const *choice = opt->choices; *choice; choice++) {
		if (strcmp(*choice, value) == 0) {
			*field = *choice;
			return NULL;
		}
		list = arena_printf(&arena, "%s%s%s", list, *list ? ", " : "", *choice);
	}
	return err_new(ERR_USAGE, "it must be one of %s", list);
}

static struct err *store(const struct opt *opt, void *field, const char *value)
{
	switch (opt->kind) {
	case OPT_KIND_FLAG:
	case OPT_KIND_NOT:
		*(bool *)field = opt->kind == OPT_KIND_FLAG;
		return NULL;
	case OPT_KIND_UINT:
		if (!text_parse_u64(value, field))
			return err_new(ERR_USAGE, "it must be a whole number");
		return NULL;
	case OPT_KIND_STR:
		*(const char **)field = value;
		return NULL;
	case OPT_KIND_LIST:
		vec_push((struct opt_list *)field, value);
		return NULL;
	case OPT_KIND_CHOICE:
		return store_choice(opt, field, value);
	default:
		return opt->parse(field, value);
	}
}

static struct err *apply(const struct flat *flat, void *args, const char *value)
{
	const struct opt *opt = flat->opt;
	struct err *err = store(opt, (char *)args + flat->offset, value);

	if (!err)
		return NULL;
	if (opt->name)
		return err_wrap(err, "bad value '%s' for --%s", value ? value : "", opt->name);
	return err_wrap(err, "bad value '%s' for -%c", value ? value : "", opt->short_name);
}

/* One word of what an option stands for, "symbol=*%s*", with @value in it. */
static struct err *apply_word(const struct flat_table *table, struct arena *values, void *args,
			      const char *word, const char *value)
{
	size_t name_len = strcspn(word, "=");
	const struct flat *own = find_own(table, word, name_len);
	char *pattern = word[name_len] ? arena_strdup(values, word + name_len + 1) : NULL;
	char *hole = pattern ? strchr(pattern, '%') : NULL;
	struct err *err = NULL;

	assert(own);
	if (!hole)
		return apply(own, args, pattern);

	bool list = hole[1] == ',';

	*hole = 0;
	while (!err && value) {
		size_t len = list ? strcspn(value, ",") : strlen(value);

		err = apply(own, args,
			    arena_printf(values, "%s%.*s%s", pattern, (int)len, value, hole + 2));
		value = value[len] ? value + len + 1 : NULL;
	}
	return err;
}

static struct err *apply_like(const struct flat_table *table, struct arena *values,
			      const struct opt *opt, void *args, const char *value)
{
	char *rest = arena_strdup(values, opt->like);
	struct err *err = NULL;

	while (rest && *rest && !err)
		err = apply_word(table, values, args, strsep(&rest, " "), value);
	return err;
}

static struct err *refuse_foreign(const struct opt *opt)
{
	struct err *err = opt->name ? err_new(ERR_USAGE, "there is no option '--%s'", opt->name)
				    : err_new(ERR_USAGE, "there is no option '-%c'", opt->short_name);

	return err_remedy(err, "%s", opt->help);
}

/* What getopt found as @code, ours or another tool's. */
static struct err *apply_any(const struct flat_table *table, struct arena *values, int code, void *args,
			     const char *value)
{
	const struct flat *flat = find(table, code);
	const struct opt *clash;
	struct err *err;

	switch (flat->opt->kind) {
	case OPT_KIND_LIKE:
		return apply_like(table, values, flat->opt, args, value);
	case OPT_KIND_ANYWAY:
		return NULL;
	case OPT_KIND_INSTEAD:
		return refuse_foreign(flat->opt);
	default:
		err = apply(flat, args, value);
		clash = err && code < LONG_BASE ? find_clash(table, flat->opt) : NULL;
		return clash ? err_remedy(err, "%s", clash->help) : err;
	}
}

/* getopt did not know long option @word, or saw several that it abbreviates. */
static struct err *refuse_long(const struct flat_table *table, const char *word)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = word };
	unsigned begins = 0;

	for (size_t i = 0; i + 1 < table->longs.len; i++) {
		const char *known = arena_printf(&arena, "--%s", table->longs.items[i].name);

		begins += strncmp(known, word, strlen(word)) == 0;
		text_near_offer(&near, known);
	}
	struct err *err =
		err_new(ERR_USAGE, "%s option '%s'", begins > 1 ? "ambiguous" : "unknown", word);
	const char *hint = text_near_hint(&near, &arena);

	return hint ? err_remedy(err, "%s", hint) : err;
}

/* What getopt stumbled over: @word if it was a long option, optopt if it was a short one. */
static struct err *refuse(const struct flat_table *table, int code, const char *word)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	if (optopt && optopt <= UINT8_MAX)
		return err_new(ERR_USAGE,
			       code == ':' ? "option '-%c' needs an argument"
					   : "unknown option '-%c'",
			       optopt);

	const char *name = arena_memdup(&arena, word, strcspn(word, "="));

	if (code == ':')
		return err_new(ERR_USAGE, "option '%s' needs an argument", name);
	if (optopt)
		return err_new(ERR_USAGE, "option '%s' takes no argument", name);
	return refuse_long(table, name);
}

/* Two options of one command that are called the same: our own mistake, and the later one never heard of. */
static bool has_clash(const struct flat_table *table)
{
	for (size_t i = 0; i < table->options.len; i++) {
		const struct opt *a = table->options.items[i].opt;

		for (size_t j = 0; j < i; j++) {
			const struct opt *b = table->options.items[j].opt;

			if (opt_is_foreign(a) || opt_is_foreign(b))
				continue;
			if ((a->short_name && a->short_name == b->short_name) ||
			    (a->name && b->name && strcmp(a->name, b->name) == 0))
				return true;
		}
	}
	return false;
}

/*
 * What follows a letter in its word is its optional argument, "-gfp", only where it takes it: otherwise these are more
 * letters, "-ga", and getopt gets them as a word of their own. Does not apply to long options.
 */
static void give_back_letters(const struct opt *opt, int code, char **argv, struct arena *values)
{
	if (code >= LONG_BASE || !optarg || !opt->takes || opt->name || opt->takes(optarg))
		return;
	argv[--optind] = arena_printf(values, "-%s", optarg);
	optarg = NULL;
}

/* The optional argument of @opt in the next word, if it is one. */
static void take_next_word(const struct opt *opt, bool is_last_letter, int argc, char **argv)
{
	if (is_last_letter && !optarg && opt->takes && optind < argc && opt->takes(argv[optind]))
		optarg = argv[optind++];
}

/* Settle the optional argument, if @opt has one, in the rest of its word or in the next. */
static void find_optional(const struct opt *opt, int code, int argc, char **argv,
			  struct arena *values)
{
	bool had_rest = optarg != NULL;

	give_back_letters(opt, code, argv, values);
	take_next_word(opt, !had_rest, argc, argv);
}

struct err *opt_parse(const struct opt *opts, void *args, int argc, char **argv,
		      enum opt_order order, struct opt_result *ret)
{
	CLEANUP(flat_table_deinit) struct flat_table table = { 0 };
	struct opt_result result = { 0 };
	int code;

	build(&table, opts, order, argc, argv);
	assert(!has_clash(&table));
	optind = 0; /* glibc: start afresh, permutation state included */
	opterr = 0;
	for (;;) {
		optopt = 0;
		code = getopt_long(argc, argv, table.shorts.items, table.longs.items, NULL);
		if (code == -1)
			break;
		if (code == ':' || code == '?') {
			opt_result_deinit(&result);
			return refuse(&table, code, argv[optind - 1]);
		}
		result.help = code == 'h' || code == HELP_VALUE;
		result.version = code == VERSION_VALUE;
		if (result.help || result.version)
			break;
		find_optional(find(&table, code)->opt, code, argc, argv, &result.values);
		struct err *err = apply_any(&table, &result.values, code, args, optarg);

		if (err) {
			opt_result_deinit(&result);
			return err;
		}
	}
	result.operands = argv + optind;
	result.noperands = argc - optind;
	*ret = result;
	return NULL;
}

void opt_result_deinit(struct opt_result *result)
{
	arena_deinit(&result->values);
}

int opt_first_operand(const struct opt *opts, int argc, char **argv)
{
	CLEANUP(flat_table_deinit) struct flat_table table = { 0 };
	CLEANUP(arena_deinit) struct arena values = { 0 };
	char **words = memory_zeroed((size_t)argc + 1, sizeof(*words)); /* letters are given back in it */
	int before, code;

	memcpy(words, argv, (size_t)argc * sizeof(*words));
	build(&table, opts, OPT_BEFORE_OPERANDS, argc, argv);
	optind = 0;
	opterr = 0;
	do {
		before = MAX(optind, 1);
		code = getopt_long(argc, words, table.shorts.items, table.longs.items, NULL);
		if (code > 0 && code != '?' && code != ':' && find(&table, code))
			find_optional(find(&table, code)->opt, code, argc, words, &values);
	} while (code != -1);
	free(words);
	return optind == before ? optind
				: argc; /* it moved: past a "--", behind which there is no word */
}

static void print_one(const struct opt *opt, void *context)
{
	FILE *out = context;
	const char *arg = opt->arg ? opt->arg : "";
	bool optional = *arg == '[';
	int len;

	if (opt->short_name)
		len = fprintf(out, "  -%c%s", opt->short_name, opt->name ? ", " : "");
	else
		len = fprintf(out, "      ");
	if (opt->name)
		len += fprintf(out, "--%s", opt->name);
	if (optional)
		len += opt->name ? fprintf(out, "[=%s", arg + 1) : fprintf(out, "%s", arg);
	else if (*arg)
		len += fprintf(out, "%c%s", opt->name ? '=' : ' ', arg);
	if (len > HELP_COLUMN - 2) {
		fputc('\n', out);
		len = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - len, "");
	text_put_wrapped(out, opt->help, HELP_COLUMN, columns_of_prose(out));
}

void opt_print_help(const struct opt *opts, FILE *out)
{
	opt_each(opts, print_one, out);
	fprintf(out, "%-*s%s\n", HELP_COLUMN, "  -h, --help", "show this help");
	fprintf(out, "%-*s%s\n", HELP_COLUMN, "      --version", "show the version");
}

void opt_each(const struct opt *opts, void (*visit)(const struct opt *opt, void *context),
	      void *context)
{
	for (; opts->kind != OPT_KIND_END; opts++) {
		if (opts->kind == OPT_KIND_GROUP)
			opt_each(opts->group, visit, context);
		else if (!opt_is_foreign(opts))
			visit(opts, context);
	}
}

void opt_each_foreign(const struct opt *opts, void (*visit)(const struct opt *opt, void *context),
		      void *context)
{
	for (; opts->kind != OPT_KIND_END; opts++) {
		if (opts->kind == OPT_KIND_GROUP)
			opt_each_foreign(opts->group, visit, context);
		else
			visit(opts, context);
	}
}

void opt_init(const struct opt *opts, void *args)
{
	for (; opts->kind != OPT_KIND_END; opts++) {
		if (opts->kind == OPT_KIND_GROUP)
			opt_init(opts->group, (char *)args + opts->offset);
		else if (opts->kind == OPT_KIND_LIFE && opts->init)
			opts->init(args);
	}
}

void opt_deinit(const struct opt *opts, void *args)
{
	for (; opts->kind != OPT_KIND_END; opts++) {
		void *field = (char *)args + opts->offset;

		if (opts->kind == OPT_KIND_GROUP)
			opt_deinit(opts->group, field);
		else if (opts->kind == OPT_KIND_LIFE && opts->deinit)
			opts->deinit(args);
		else if (opts->kind == OPT_KIND_LIST)
			opt_list_deinit(field);
	}
}

bool opt_has_operand(const struct opt *opts)
{
	for (; opts->kind != OPT_KIND_END; opts++) {
		if (opts->kind == OPT_KIND_OPERAND ||
		    (opts->kind == OPT_KIND_GROUP && opt_has_operand(opts->group)))
			return true;
	}
	return false;
}

bool opt_store_operand(const struct opt *opts, void *args, const char *word, unsigned *taken)
{
	for (; opts->kind != OPT_KIND_END; opts++) {
		char *field = (char *)args + opts->offset;

		if (opts->kind == OPT_KIND_GROUP && opt_store_operand(opts->group, field, word, taken))
			return true;
		if (opts->kind != OPT_KIND_OPERAND || (*taken)++)
			continue;
		*(const char **)field = word;
		return true;
	}
	return false;
}

void opt_list_deinit(struct opt_list *list)
{
	vec_deinit(list);
}
