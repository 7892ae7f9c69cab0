/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symtab.h - the functions an ELF file names, sorted by address.
 *
 * Merges .symtab, .dynsym, the .symtab inside .gnu_debugdata (xz, through libelf's or liblzma's decoder), the functions of
 * Go's own table where there is no .symtab (go_table.h), and PLT slots as "name@plt". Where several symbols share an
 * address: sized before unsized, global before weak before local, then fewest leading underscores, then by name, so that
 * the result does not depend on order.
 * aarch64 mapping symbols ($x, $d), section and file symbols are left out.
 */
#ifndef ELF_SYMTAB_H
#define ELF_SYMTAB_H

#include "symbolize/elf/image.h"

struct symtab_entry {
	uint64_t vaddr;
	uint64_t len;	  /* 0 where the file gives none: see symtab_end() */
	const char *name; /* as in the file, mangled; "name@plt" for PLT slots */
};

struct symtab;

/* Read @img's symbols. @img may be closed afterwards. Never fails: a file without symbols gives an empty table. */
struct symtab *symtab_new(struct image *img);

/*
 * symtab_new() for questions about some addresses: symtab_find() of @addresses, which ascend, and symtab_end() of what it finds are
 * as in the whole table; other symbols may be missing. For @addresses that are few this takes a fifth of the time.
 */
struct symtab *symtab_new_near(struct image *img, const uint64_t *addresses, size_t count);
void symtab_free(struct symtab *tab);

/* The symbol that covers @vaddr, NULL if none does. Thread-safe. */
const struct symtab_entry *symtab_find(const struct symtab *tab, uint64_t vaddr);

/*
 * Where an entry of @tab ends: by its length, or if it has none, at the next symbol or the section's end. Where the table
 * is not full, a label without a length also ends where an unwind table's or a call's function begins: what is not exported
 * must not take its name.
 */
uint64_t symtab_end(const struct symtab *tab, const struct symtab_entry *entry);

/* All of them, ascending by address. */
const struct symtab_entry *symtab_entries(const struct symtab *tab, size_t *ret_count);

/* Did the file have a full symbol table (.symtab or .gnu_debugdata), or only dynamic symbols? */
bool symtab_is_full(const struct symtab *tab);

#endif
