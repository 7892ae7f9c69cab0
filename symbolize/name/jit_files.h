/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_files.h - what is known of a process's code that was made at run time: from the recording, or else from the dump
 * that the process left on this machine.
 */
#ifndef SYMBOLIZE_JIT_FILES_H
#define SYMBOLIZE_JIT_FILES_H

#include "symbolize/name/jit_map.h"
#include "symbolize/module/module.h"

#define JIT_FILES_DUMP_MAX (512u << 20) /* bytes: it is held in memory as a whole */

/*
 * The map of @mod, a MODULE_JIT of @modules; NULL if nothing is known. A dump on disk is read only if the recording has none,
 * and only if it is of the process, was begun before the recording ended, and is no longer than JIT_FILES_DUMP_MAX; that it
 * is not used is reported.
 */
struct jit_map *jit_files_open(struct module_table *modules, const struct module *mod);

#endif
