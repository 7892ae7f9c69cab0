/* SPDX-License-Identifier: Apache-2.0 */
#include "record/system/block_devices.h"

#include "formats/base/writer.h"
#include "record/system/text_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEN_MAX	    65536
#define MAPPED_MAX  256 /* devices whose mapper's name is asked for */

/* What LVM or cryptsetup calls the device "dm-0". */
static const char *mapped_name(const char *name, struct arena *arena)
{
	const char *text = "";
	struct err *err = text_file_read(arena_printf(arena, "/sys/block/%s/dm/name", name), arena, &text);

	err_free(err);
	return *text && !strpbrk(text, "/\n") ? arena_printf(arena, "mapper/%s", text) : name;
}

/* "cciss!c0d0": the kernel writes '!' for '/'. */
static void replace_marks(char *name)
{
	for (char *mark = name; (mark = strchr(mark, '!'));)
		*mark = '/';
}

const char *block_devices_list(const char *path, struct arena *arena)
{
	const char *text = "";
	struct err *err = text_file_read(path, arena, &text);
	char *rest = arena_strdup(arena, text), *line;
	struct writer list = { 0 };
	unsigned mapped = 0;

	err_free(err);
	while ((line = strsep(&rest, "\n")) && list.len < LEN_MAX) {
		uint32_t major, minor;
		char name[64];

		if (sscanf(line, " %" SCNu32 " %" SCNu32 " %*u %63s", &major, &minor, name) != 3)
			continue;
		const char *known = strncmp(name, "dm-", 3) == 0 && mapped++ < MAPPED_MAX ? mapped_name(name, arena) : name;

		replace_marks(name);
		known = arena_printf(arena, "%" PRIu32 ":%" PRIu32 " /dev/%s\n", major, minor, known);
		writer_bytes(&list, known, strlen(known));
	}
	writer_u8(&list, 0);
	text = arena_strdup(arena, (const char *)list.data);
	writer_deinit(&list);
	return text;
}
