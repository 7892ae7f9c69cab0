/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binaries.c - the options as the folders and servers that are searched.
 */
#include "report/load/binaries.h"

#include "formats/base/text.h"
#include "report/load/session_args.h"
#include "symbolize/name/cache_folder.h"

#include <inttypes.h>
#include <string.h>

/* From whichever thread asks: a line is one write. */
static void show_asking(void *context, uint64_t got, uint64_t len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct progress *asking = context;
	const char *of = len ? arena_printf(&arena, " of %s", text_size(&arena, len)) : "";

	if (progress_due(asking))
		progress_show(asking, arena_printf(&arena, "debuginfod: %s%s", text_size(&arena, got), of));
}

static void set_search(struct binaries *b, const struct session_args *args)
{
	size_t ndirs = args->debug_dirs.len;
	const char **dirs = ARENA_ARRAY(&b->arena, const char *, ndirs + 1);

	if (ndirs)
		memcpy(dirs, args->debug_dirs.items, ndirs * sizeof(*dirs));
	b->search = (struct module_search){
		.symfs = args->symfs,
		.debug_dirs = dirs,
		.vmlinux = args->vmlinux,
		.debuginfod = &b->debuginfod,
	};
	progress_begin(&b->asking, stderr, args->progress);
	b->debuginfod.time_ns = args->debuginfod_time_ns;
	b->debuginfod.progress = show_asking;
	b->debuginfod.context = &b->asking;
}

void binaries_open(struct binaries *b, const struct session_args *args, const struct recording *rec, struct diag *diag)
{
	*b = (struct binaries){ 0 };
	set_search(b, args);

	struct symbolizer_options naming = {
		.no_inline = !args->inlines,
		.demangle = args->demangle,
		.cache = args->cache ? cache_folder_path(&b->arena) : NULL,
	};

	b->modules = module_table_new(rec, &b->search, diag);
	module_table_prepare(b->modules); /* the same numbers however many threads there are */
	b->spaces = space_table_new(b->modules);
	b->symbolizer = symbolizer_new(b->modules, &naming);
}

void binaries_close(struct binaries *b)
{
	symbolizer_free(b->symbolizer);
	space_table_free(b->spaces);
	module_table_free(b->modules);
	arena_deinit(&b->arena);
	*b = (struct binaries){ 0 };
}

/* A query that was cut off must not look as if no server had the file. */
static void warn_of_servers(struct binaries *b, struct diag *diag)
{
	unsigned late = atomic_load(&b->debuginfod.late), refused = atomic_load(&b->debuginfod.refused);

	progress_end(&b->asking);
	if (late)
		diag_warn(diag, "debuginfod took more than %" PRIu64 " s: %u files were abandoned or skipped; "
			  "--debuginfod-time=SECONDS raises the limit", b->debuginfod.time_ns / 1000000000u, late);
	if (refused)
		diag_warn(diag, "debuginfod: %u files are larger than 4 GB and were skipped", refused);
}

void binaries_settle(struct binaries *b, struct diag *diag)
{
	if (!b->modules)
		return;
	symbolizer_keep(b->symbolizer, diag);
	module_table_warn_defects(b->modules);
	warn_of_servers(b, diag);
}

uint64_t binaries_unverified(const struct binaries *b)
{
	uint64_t count = 0;

	for (uint32_t id = 0; id < module_table_len(b->modules); id++)
		count += module_is_unverified(module_table_get(b->modules, id));
	return count;
}
