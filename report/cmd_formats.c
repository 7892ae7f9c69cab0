/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_formats.c - what can be read and written, and what each format carries: the table that recognises files, and that of the
 * exporters, whose claims test_round_trip.c checks.
 */
#include "formats/profile/import/import_table.h"
#include "report/commands.h"
#include "report/export/export_format.h"

#include <stdio.h>
#include <string.h>

static const struct carried {
	unsigned bit;
	const char *name;
} carried[] = {
	{ IMPORT_TIMES, "times" },	 { IMPORT_THREADS, "threads" },	  { IMPORT_LINES, "lines" },
	{ IMPORT_INLINED, "inlined" },	 { IMPORT_ADDRESSES, "addresses" }, { IMPORT_LABELS, "labels" },
	{ IMPORT_TYPES, "values" },
};

#define ALL_OF_A_RECORDING \
	(IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_INLINED | IMPORT_ADDRESSES | IMPORT_TYPES)

static void print_head(const char *title, const char *last)
{
	printf("%-12s", title);
	for (size_t i = 0; i < ARRAY_LEN(carried); i++)
		printf(" %s", carried[i].name);
	printf("  %s\n", last);
}

static void print_row(const char *name, unsigned carries, const char *what)
{
	printf("%-12s", name);
	for (size_t i = 0; i < ARRAY_LEN(carried); i++)
		printf(" %-*s", (int)strlen(carried[i].name), carries & carried[i].bit ? "yes" : "-");
	printf("  %s\n", what);
}

static struct err *formats_run(void *args, char **operands, int noperands, int *ret_status)
{
	(void)args;
	(void)operands;
	(void)ret_status;
	if (noperands)
		return err_new(ERR_USAGE, "'%s': formats takes no operand", operands[0]);
	print_head("read", "what it is");
	print_row("trace", ALL_OF_A_RECORDING, "recorded by precord");
	print_row("perf.data", ALL_OF_A_RECORDING, "recorded by perf record");
	print_row("trace.dat", IMPORT_TIMES | IMPORT_THREADS | IMPORT_ADDRESSES | IMPORT_TYPES, "recorded by trace-cmd record");
	for (size_t i = 0; import_table[i]; i++)
		print_row(import_table[i]->name, import_table[i]->carries, import_table[i]->what);
	putchar('\n');
	print_head("written", "of what it reads again, and what else it lacks");
	print_row("perf-data", ALL_OF_A_RECORDING, "perf.data of a recording: preport perf-data");
	for (const struct export_row *row = export_table; row->name; row++)
		print_row(row->name, row->format->carries, row->format->missing ? row->format->missing : "");
	return NULL;
}

static const struct opt formats_opts[] = { OPT_END };

const struct command cmd_formats = {
	.name = "formats",
	.summary = "list the formats read and written, and what each carries",
	.operands = "",
	.details = "Files are recognised by their content, compressed (gzip, zstd) or not; a name only breaks ties.",
	.examples = "  preport formats               all of them\n"
		    "  preport formats | grep pprof  one\n",
	.manual = "preport(1)",
	.opts = formats_opts,
	.run = formats_run,
};
