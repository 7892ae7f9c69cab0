/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms_cache.h - caches the kernel's own names between recordings: the kernel takes 35 ms to write them.
 *
 * They do not change before the next boot. Names of modules and of code loaded at run time do, so only addresses in the kernel's own code
 * are answered. Kept in a folder of root, used only by root.
 */
#ifndef RECORD_KALLSYMS_CACHE_H
#define RECORD_KALLSYMS_CACHE_H

#include "formats/base/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KALLSYMS_CACHE_FOLDER "/run/precord"

/* Where things are. */
struct kallsyms_cache {
	const char *folder, *kallsyms, *boot_id;
};

/*
 * Append to @ret the lines of kallsyms that matter for @addresses, which ascend, and begin the cache if there is none.
 * False, and nothing is appended, if one of them may be no code of the kernel's own, or there can be no cache.
 */
bool kallsyms_cache_lines(const struct kallsyms_cache *cache, const uint64_t *addresses, size_t count, struct writer *ret);

#endif
