/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_search.h - where the files of modules are looked for.
 */
#ifndef SYMBOLIZE_MODULE_SEARCH_H
#define SYMBOLIZE_MODULE_SEARCH_H

#include "symbolize/module/debuginfod.h"

/* Where files are looked for, in this order: embedded in the trace, @symfs, @debug_dirs, debuginfod. */
struct module_search {
	const char *symfs;             /* root to put before paths, NULL for "/" */
	const char *const *debug_dirs; /* NULL-terminated; besides /usr/lib/debug */
	const char *vmlinux; /* the kernel's file, if the build ID is right; NULL: where it usually is */
	struct debuginfod *debuginfod; /* limits for what servers take, and counts; NULL: limits as usual */
};

#endif
