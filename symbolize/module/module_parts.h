/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_parts.h - what only module.c and module_files.c share.
 */
#ifndef SYMBOLIZE_MODULE_PARTS_H
#define SYMBOLIZE_MODULE_PARTS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "symbolize/module/debugfile.h"
#include "symbolize/module/module.h"

/* A file that is opened once. */
struct source {
	bool tried;
	enum debugfile_result result;
	struct image *image;
	const char *found; /* the file that was there and not taken */
};

struct entry {
	struct module mod; /* first, so that a module is its entry */
	struct entry *next_same_hash;
	const struct recording_image *recorded;
	struct source embedded, binary, separate;
	enum module_status status;
	struct arena *arena; /* the table's */
};

struct module_table {
	const struct recording *rec;
	const struct module_search *search;
	struct diag *diag;
	struct arena arena;
	struct recording nothing; /* where there is no recording */
	VEC(struct entry *) entries;
	struct map by_hash;    /* of path and build ID -> first entry + 1 by id */
	struct map images;     /* by path -> the only embedded one + 1, or SEVERAL */
	struct map by_jit_pid; /* -> id + 1 */
	uint32_t unknown;      /* id + 1 */
	struct image *running; /* the running kernel's code, from the trace */
	bool running_tried;
};

#endif
