/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_table.h - the variables that an ELF file names (STT_OBJECT), sorted by address: what a data address belongs to.
 *
 * From .symtab and .dynsym. Where several share an address: global before weak before local, then by name. Variables of
 * threads (STT_TLS) have no link-time address and are left out.
 */
#ifndef ELF_OBJECT_TABLE_H
#define ELF_OBJECT_TABLE_H

#include "symbolize/elf/image.h"

struct object_entry {
	uint64_t vaddr, len; /* len is at least 1 */
	const char *name;    /* as in the file, mangled */
};

struct object_table;

/* @img may be closed afterwards. Never fails: a file without variables gives an empty table. */
struct object_table *object_table_new(struct image *img);
void object_table_free(struct object_table *table);

/* The variable that holds @vaddr, the innermost of those that overlap; NULL if none does. */
const struct object_entry *object_table_find(const struct object_table *table, uint64_t vaddr);

#endif
