/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pseudonyms.h - other names for threads, files and functions: "function12" wherever that function is meant.
 *
 * They are numbered as they are asked for. What the kernel itself names ("[vdso]", "[heap]", "//anon") stays, and so do
 * functions that begin a stack by their names (unwind_is_start_name()).
 */
#ifndef REPORT_PSEUDONYMS_H
#define REPORT_PSEUDONYMS_H

#include "formats/base/arena.h"
#include "formats/base/strtab.h"
#include "formats/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pseudonym_kind {
	PSEUDONYM_THREAD,
	PSEUDONYM_FILE,
	PSEUDONYM_FUNCTION,
	PSEUDONYM_KERNEL_MODULE,
	PSEUDONYM_CGROUP,
	PSEUDONYM_BUILD_ID,
	PSEUDONYM_KINDS
};

/* A zeroed one is ready. */
struct pseudonyms {
	struct arena arena;
	struct strtab names[PSEUDONYM_KINDS];
	VEC(const char *) texts[PSEUDONYM_KINDS]; /* by number of the name */
};

void pseudonyms_deinit(struct pseudonyms *p);

/* All that is returned here lives until pseudonyms_deinit(). "" is "", NULL is NULL. */
const char *pseudonym_of(struct pseudonyms *p, enum pseudonym_kind kind, const char *name);

/* Of the path of a mapping, or of a file that was mapped; " (deleted)" stays. */
const char *pseudonym_of_path(struct pseudonyms *p, const char *path);

/* Of a kernel module: "/lib/modules/.../ext4.ko", "[ext4]" and "ext4" are one, and their forms stay. */
const char *pseudonym_of_module(struct pseudonyms *p, const char *path);

/* "name@plt" is that of "name" with "@plt". */
const char *pseudonym_of_function(struct pseudonyms *p, const char *name);

/* Put another build ID in the place of the @len bytes at @id. */
void pseudonym_build_id(struct pseudonyms *p, uint8_t *id, size_t len);

#endif
