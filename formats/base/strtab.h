/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strtab.h - each distinct string once, named by a small number.
 *
 * A zeroed table is ready. Number 0 is always the empty string. Strings keep their address until
 * strtab_deinit(). Not thread-safe.
 */
#ifndef BASE_STRTAB_H
#define BASE_STRTAB_H

#include "formats/base/arena.h"

#include <stdint.h>

struct strtab {
	struct arena arena;
	const char **strings; /* by number */
	uint32_t len, cap;
	uint32_t *slots; /* hash table of numbers + 1 */
	uint32_t nslots;
};

/* The number of @text, new or old. */
uint32_t strtab_add(struct strtab *tab, const char *text);

/* The same of the first @len bytes of @text, or of those in front of a NUL among them. */
uint32_t strtab_add_len(struct strtab *tab, const char *text, size_t len);

/* The string with number @id, which this table gave out. */
const char *strtab_get(const struct strtab *tab, uint32_t id);

void strtab_deinit(struct strtab *tab);

#endif
