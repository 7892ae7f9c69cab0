/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_config.c - what configuration files say, and where.
 */
#include "formats/base/columns.h"
#include "formats/base/text.h"
#include "report/commands.h"
#include "report/print/table.h"
#include "report/setting_names.h"

#include <string.h>

struct config_args {
	struct terminal_args terminal;
	const char *format;
};

static const struct opt config_opts[] = {
	OPT_CHOICE(struct config_args, format, "format", 0, "FORMAT", "text (default), csv or json", table_formats),
	OPT_GROUP(struct config_args, terminal, terminal_opts),
	OPT_END,
};

static const struct table_column columns[] = {
	{ "setting", "setting", TABLE_LEFT, TABLE_KEEP, false },
	{ "value", "value", TABLE_LEFT, TABLE_CUT_END, false },
	{ "from", "from", TABLE_LEFT, TABLE_CUT_START, false },
	{ "what it is", "help", TABLE_LEFT, TABLE_DROP, false },
};

/* Of settings with one value the last counts; those that may come often are all in force. */
static bool is_in_force(const struct settings *settings, size_t i)
{
	const char *name = settings->list.items[i].name;

	if (strcmp(name, "debug-dir") == 0 || strcmp(name, "not-mine") == 0)
		return true;
	for (size_t k = i + 1; k < settings->list.len; k++)
		if (strcmp(settings->list.items[k].name, name) == 0)
			return false;
	return true;
}

static void add_setting(struct table *table, const struct settings *settings, const struct setting_name *name)
{
	bool any = false;

	for (size_t i = 0; i < settings->list.len; i++) {
		const struct setting *setting = &settings->list.items[i];
		const char *note = is_in_force(settings, i) ? "" : " (not in force)";

		if (strcmp(setting->name, name->name) != 0)
			continue;
		any = true;
		table_add_row(table, 0, TABLE_PLAIN);
		table_add_cell(table, name->name, NULL);
		table_add_cell(table, setting->value, NULL);
		table_add_cell(table, arena_printf(table->arena, "%s:%u%s", setting->file, setting->line, note), NULL);
		table_add_cell(table, name->help, NULL);
	}
	if (any)
		return;
	table_add_row(table, 0, TABLE_DIM);
	table_add_cell(table, name->name, NULL);
	table_add_cell(table, "-", "");
	table_add_cell(table, "not set", "");
	table_add_cell(table, name->help, NULL);
}

static void print_files(const struct settings *settings)
{
	putchar('\n');
	text_put_wrapped(stdout, "files, the later ones before the earlier, options of the command line before all", 0,
			 columns_of_prose(stdout));
	for (size_t i = 0; i < settings->files.len; i++) {
		const struct settings_file *file = &settings->files.items[i];

		fputs("  ", stdout);
		text_put_escaped(stdout, file->path);
		printf("%s%s\n", file->why_not ? ": not read, " : ": read", file->why_not ? file->why_not : "");
	}
}

static struct err *print(const struct config_args *args, const struct settings *settings)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	enum table_format format = table_format_named(args->format);
	struct terminal term;
	struct table table;

	table_init(&table, &arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (const struct setting_name *name = setting_names; name->name; name++)
		add_setting(&table, settings, name);
	term = terminal_open(&args->terminal);
	table_print(&table, format, "settings", &term, stdout);
	if (format == TABLE_TEXT)
		print_files(settings);
	table_deinit(&table);
	return terminal_close(&term, NULL);
}

static struct err *config_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct settings settings = { 0 };
	struct err *err = settings_read(&settings);

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (!err)
		err = print(args, &settings);
	settings_deinit(&settings);
	return err;
}

const struct command cmd_config = {
	.name = "config",
	.summary = "list settings, their values and where they come from",
	.operands = "",
	.details = "Lines are NAME = VALUE, # begins a comment. /etc/precord.conf is the machine's file, "
		   "~/.config/precord/config the user's; options on the command line come before both.",
	.examples = "  preport config  effective settings and their sources\n"
		    "  echo 'not-mine = libfoo*' >>~/.config/precord/config\n",
	.manual = "preport(1)",
	.opts = config_opts,
	.args_size = sizeof(struct config_args),
	.run = config_run,
};
