/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_version.c - string tables are searched by memchr(), since few names have a version.
 */
#include "symbolize/elf/symbol_version.h"

#include <string.h>

bool symbol_version_is_hidden(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at != name && at[1] != '@' && strcmp(at, "@plt") != 0;
}

void symbol_versions_cut(char *names, size_t len)
{
	char *end = names + len;

	for (char *at = names; (at = memchr(at, '@', (size_t)(end - at))); at++) {
		bool plt = end - at >= 5 && memcmp(at, "@plt", 5) == 0;

		if (at > names && at[-1] && !plt)
			*at = '\0';
	}
}
