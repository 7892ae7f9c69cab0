/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cache.c - what earlier runs kept of debug information: list it, remove it.
 */
#include "report/commands.h"
#include "report/print/number.h"
#include "symbolize/name/cache_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(struct arena *arena, const struct timespec *time)
{
	char *text = ARENA_ARRAY(arena, char, 32);
	struct tm tm;

	if (localtime_r(&time->tv_sec, &tm))
		strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm);
	return text;
}

static struct err *list(const char *folder)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct cache_file *files;
	uint64_t len = 0;
	size_t count;
	struct err *err = cache_folder_list(folder, &arena, &files, &count);

	if (err)
		return err;
	if (count)
		printf("%-40s %12s  %s\n", "build ID", "bytes", "last used");
	for (size_t i = 0; i < count; i++) {
		printf("%-40s %12s  %s\n", files[i].name, number_count(&arena, files[i].len),
		       text_of(&arena, &files[i].used));
		len += files[i].len;
	}
	printf("%s, %s bytes in %s\n", number_of(&arena, count, "file"),
	       number_count(&arena, len), folder);
	return NULL;
}

static struct err *clear(const char *folder)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	uint64_t count, len;
	struct err *err = cache_folder_clear(folder, &count, &len);

	if (!err)
		printf("removed %s, %s bytes, from %s\n", number_of(&arena, count, "file"),
		       number_count(&arena, len), folder);
	return err;
}

static struct err *cache_run(void *args, char **operands, int noperands, int *ret_status)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *folder = cache_folder_path(&arena);
	bool lists = noperands == 1 && strcmp(operands[0], "list") == 0;
	bool clears = noperands == 1 && strcmp(operands[0], "clear") == 0;
	struct err *err;

	(void)args;
	(void)ret_status;
	if (!lists && !clears)
		return err_new(ERR_USAGE, "what to do with the cache: list or clear");
	if (!folder)
		return err_remedy(err_new(ERR_UNSUPPORTED, "there is no folder for a cache"),
				  "set XDG_CACHE_HOME or HOME to a folder of your own");
	err = lists ? list(folder) : clear(folder);
	return err;
}

static const struct opt cache_opts[] = { OPT_END };

const struct command cmd_cache = {
	.name = "cache",
	.summary = "list or clear the cache of debug information",
	.operands = "list | clear",
	.examples = "  preport cache list   what is kept, and how large it is\n"
		    "  preport cache clear  remove it\n",
	.manual = "preport-cache(1)",
	.opts = cache_opts,
	.run = cache_run,
};
