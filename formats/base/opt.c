/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.c - tables of options on top of getopt_long(3), which knows abbreviations, bundling and "--".
 */
#include "formats/base/opt.h"

#include "formats/base/text.h"

#include <assert.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#define LONG_BASE     0x1000 /* getopt's value for flattened option i is LONG_BASE + i */
#define HELP_VALUE    0x100
#define VERSION_VALUE 0x101
#define HELP_COLUMN   30 /* where the explanations start */
#define HELP_WIDTH    80

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
		struct flat flat = { opts, base + opts->offset };

		vec_push(&table->options, flat);
	}
}

static int has_arg(const struct opt *opt)
{
	return !opt->arg ? no_argument : *opt->arg == '[' ? optional_argument : required_argument;
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

static void build(struct flat_table *table, const struct opt *opts, enum opt_order order)
{
	flatten(table, opts, 0);
	if (order == OPT_BEFORE_OPERANDS)
		vec_push(&table->shorts, '+');
	vec_push(&table->shorts, ':'); /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < table->options.len; i++) {
		const struct opt *opt = table->options.items[i].opt;

		if (opt->name)
			add_long(table, opt->name, has_arg(opt), LONG_BASE + (int)i);
		if (opt->short_name)
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
		if (table->options.items[i].opt->short_name == value)
			return &table->options.items[i];
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

			if ((a->short_name && a->short_name == b->short_name) ||
			    (a->name && b->name && strcmp(a->name, b->name) == 0))
				return true;
		}
	}
	return false;
}

struct err *opt_parse(const struct opt *opts, void *args, int argc, char **argv,
		      enum opt_order order, struct opt_result *ret)
{
	CLEANUP(flat_table_deinit) struct flat_table table = { 0 };
	struct opt_result result = { 0 };
	int code;

	build(&table, opts, order);
	assert(!has_clash(&table));
	optind = 0; /* glibc: start afresh, permutation state included */
	opterr = 0;
	for (;;) {
		optopt = 0;
		code = getopt_long(argc, argv, table.shorts.items, table.longs.items, NULL);
		if (code == -1)
			break;
		if (code == ':' || code == '?')
			return refuse(&table, code, argv[optind - 1]);
		result.help = code == 'h' || code == HELP_VALUE;
		result.version = code == VERSION_VALUE;
		if (result.help || result.version)
			break;
		struct err *err = apply(find(&table, code), args, optarg);

		if (err)
			return err;
	}
	result.operands = argv + optind;
	result.noperands = argc - optind;
	*ret = result;
	return NULL;
}

int opt_first_operand(const struct opt *opts, int argc, char **argv)
{
	CLEANUP(flat_table_deinit) struct flat_table table = { 0 };
	int before, code;

	build(&table, opts, OPT_BEFORE_OPERANDS);
	optind = 0;
	opterr = 0;
	do {
		before = MAX(optind, 1);
		code = getopt_long(argc, argv, table.shorts.items, table.longs.items, NULL);
	} while (code != -1);
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
	text_put_wrapped(out, opt->help, HELP_COLUMN, HELP_WIDTH);
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
		else
			visit(opts, context);
	}
}

void opt_list_deinit(struct opt_list *list)
{
	vec_deinit(list);
}
