/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_package.c - os-release(5): lines of KEY=VALUE, the value perhaps in quotes. No command is run: which package a file is of
 * is what the distribution's own command finds out.
 */
#include "report/load/debug_package.h"

#include "formats/base/file_bytes.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/base/writer.h"

#include <string.h>

#define OS_RELEASE_MAX (64u << 10)

/* The first that ID or a word of ID_LIKE names. */
static const struct {
	const char *id, *command, *server;
} distributions[] = {
	{ "debian", "find-dbgsym-packages %s (of debian-goodies)", "https://debuginfod.debian.net" },
	{ "ubuntu", "find-dbgsym-packages %s (of debian-goodies)", "https://debuginfod.ubuntu.com" },
	{ "fedora", "dnf debuginfo-install $(rpm -qf %s)", "https://debuginfod.fedoraproject.org" },
	{ "centos", "dnf debuginfo-install $(rpm -qf %s)", "https://debuginfod.centos.org" },
	{ "rhel", "dnf debuginfo-install $(rpm -qf %s)", NULL },
	{ "arch", NULL, "https://debuginfod.archlinux.org" },
	{ "opensuse", "zypper install $(rpm -qf --qf '%{NAME}' %s)-debuginfo", "https://debuginfod.opensuse.org" },
};

/* The value of @key; "" if there is none. */
static const char *value_of(const char *text, const char *key, struct arena *arena)
{
	size_t key_len = strlen(key);

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len > key_len && strncmp(text, key, key_len) == 0 && text[key_len] == '=') {
			const char *value = text + key_len + 1;
			bool quoted = *value == '"' || *value == '\'';

			return arena_memdup(arena, value + quoted, strcspn(value + quoted, quoted ? "\"'\n" : "\n"));
		}
		text += len + (text[len] == '\n');
	}
	return "";
}

/* The number of the first of @words that is known. */
static size_t find(char *words)
{
	while (words) {
		const char *word = strsep(&words, " ");

		for (size_t i = 0; i < ARRAY_LEN(distributions); i++)
			if (strcmp(distributions[i].id, word) == 0)
				return i;
	}
	return ARRAY_LEN(distributions);
}

static size_t find_distribution(const char *os_release, struct arena *arena)
{
	CLEANUP(writer_deinit) struct writer bytes = { 0 };
	CLEANUP(err_freep) struct err *err = file_bytes_read(os_release, OS_RELEASE_MAX, &bytes);

	if (err)
		return ARRAY_LEN(distributions);
	writer_u8(&bytes, 0);

	const char *text = (const char *)bytes.data;

	return find(arena_printf(arena, "%s %s", value_of(text, "ID", arena), value_of(text, "ID_LIKE", arena)));
}

const char *debug_package_remedy(const char *os_release, const char *path, struct arena *arena)
{
	size_t i = find_distribution(os_release, arena);
	const char *file = text_shell_word(arena, path), *command = NULL, *server = NULL;

	if (i < ARRAY_LEN(distributions)) {
		command = distributions[i].command;
		server = distributions[i].server;
	}
	if (command) {
		const char *hole = strstr(command, "%s");

		command = arena_printf(arena, "%.*s%s%s", (int)(hole - command), command, file, hole + 2);
	}
	if (command && server)
		return arena_printf(arena, "for its symbols: %s, or DEBUGINFOD_URLS=%s", command, server);
	if (command || server)
		return arena_printf(arena, "for its symbols: %s%s", command ? command : "DEBUGINFOD_URLS=", command ? "" : server);
	return "install its debug symbols, or set DEBUGINFOD_URLS";
}
