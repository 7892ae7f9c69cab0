/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_table.h - what a Go program knows of its own functions: .gopclntab, which no stripping takes out.
 *
 * Go's runtime walks stacks by it, so that it is there when `-ldflags -s` or `-w` has left neither symbols nor DWARF. For
 * each function: where it begins and ends, its name, whether stacks begin there, and by how much the stack pointer has
 * gone down at each of its instructions. The last is handed out as a made-up FDE, the same that Go's linker writes into
 * .debug_frame.
 *
 * Read: the tables of Go 1.16 to 1.26 (internal/abi/symtab.go, runtime/symtab.go, debug/gosym), x86-64 and aarch64.
 * Every byte is hostile: offsets are checked when they are followed, and all FDEs together take no more memory than a few
 * times the section's length.
 */
#ifndef ELF_GO_TABLE_H
#define ELF_GO_TABLE_H

#include "symbolize/elf/cfi_record.h"
#include "symbolize/elf/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct go_table;

struct go_function {
	uint64_t begin, end; /* link-time addresses */
	const char *name;    /* as in "main.main"; the image's */
};

/*
 * NULL: not a Go program, or its table is of another version, or where its code begins is not to be found. @img must
 * outlive the result.
 */
struct go_table *go_table_new(struct image *img);
void go_table_free(struct go_table *table);

/* Functions are numbered by address. */
size_t go_table_count(const struct go_table *table);

/* Function @index; false if what the table says of it makes no sense. Thread-safe. */
bool go_table_function(const struct go_table *table, size_t index, struct go_function *ret);

/* The number of the function that covers @vaddr. Thread-safe. */
bool go_table_find(const struct go_table *table, uint64_t vaddr, size_t *ret_index);

/* Rules of function @index, valid until go_table_free(). False as above. Thread-safe. */
bool go_table_fde(const struct go_table *table, size_t index, struct cfi_fde *ret);

#endif
