/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - precord.
 */
#include "formats/base/command.h"
#include "formats/base/program.h"
#include "formats/base/text.h"
#include "record/commands.h"
#include "record/system/text_file.h"
#include "record/event/event_catalog.h"
#include "record/stat/stat_metric.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Completion: events of this machine, ratios, processes (offered by number, found by name), users. */

static const struct word_use word_uses[] = {
	{ "--event", "events" },
	{ "list", "events" },
	{ "--metrics", "ratios" },
	{ "--pid", "processes" },
	{ "--user", "users" },
	{ NULL, NULL },
};

static void print_events(void)
{
	struct event_catalog catalog;

	event_catalog_make(&event_kernel_real, &catalog);
	for (size_t i = 0; i < catalog.len; i++)
		if (catalog.entries[i].use != EVENT_CATALOG_ABSENT)
			puts(catalog.entries[i].name);
	event_catalog_deinit(&catalog);
}

static void print_ratios(void)
{
	for (const char *rest = STAT_METRIC_NAMES; *rest; rest += strspn(rest, ", ")) {
		int len = (int)strcspn(rest, ", ");

		printf("%.*s\n", len, rest);
		rest += len;
	}
}

static void print_process(uint64_t pid)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *path = arena_printf(&arena, "/proc/%" PRIu64 "/comm", pid), *name;
	struct err *err = text_file_read(path, &arena, &name);

	if (!err)
		printf("%" PRIu64 "\t%s\n", pid, strpbrk(name, "\n\t") ? "" : text_escape(&arena, name));
	err_free(err);
}

static struct err *print_processes(void)
{
	DIR *dir = opendir("/proc");
	uint64_t pid;

	if (!dir)
		return err_system(errno, "cannot read /proc");
	for (struct dirent *entry; (entry = readdir(dir));)
		if (text_parse_u64(entry->d_name, &pid))
			print_process(pid);
	closedir(dir);
	return NULL;
}

static void print_users(void)
{
	for (struct passwd *entry; (entry = getpwent());)
		puts(entry->pw_name);
	endpwent();
}

static struct err *print_words(const char *kind, const char *input)
{
	(void)input;
	if (strcmp(kind, "processes") == 0)
		return print_processes();
	if (strcmp(kind, "events") == 0)
		print_events();
	else if (strcmp(kind, "ratios") == 0)
		print_ratios();
	else if (strcmp(kind, "users") == 0)
		print_users();
	return NULL;
}

#define STATUS_OWN_FAILURE 125

static const struct command *const commands[] = { &cmd_record, &cmd_stat, &cmd_top, &cmd_dump, &cmd_list, NULL };

static const struct program program = {
	.name = "precord",
	.version = VERSION,
	.summary = "record what programs do with their time, for preport",
	.see_also = "precord(1), preport(1), precord-trace(5)",
	.commands = commands,
	.word_uses = word_uses,
	.print_words = print_words,
};

int main(int argc, char **argv)
{
	return program_main(&program, argc, argv, STATUS_OWN_FAILURE);
}
