/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolizer.h - a module and an address to function names, source lines and inlined calls.
 *
 * Each distinct address is meant to be asked for once. Strings belong to the symbolizer.
 */
#ifndef SYMBOLIZE_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLIZER_H

#include "symbolize/module/module.h"
#include "symbolize/name/symbol.h"

struct symbolizer;

struct symbolizer *symbolizer_new(struct module_table *modules,
				  const struct symbolizer_options *options);
void symbolizer_free(struct symbolizer *s);

/* Keep what was found for later runs, as symbolizer_free() does, and add to @diag what cannot be kept. */
void symbolizer_keep(struct symbolizer *s, struct diag *diag);

/*
 * The functions at @vaddr of @mod, innermost inlined call first, the function that has code of its own
 * last; at least one frame. Valid until symbolizer_free().
 */
const struct symbol_frame *symbolizer_find(struct symbolizer *s, struct module *mod, uint64_t vaddr,
					   size_t *ret_count);

/* The variable of @mod that holds @vaddr, demangled; NULL if none is known. Valid until symbolizer_free(). */
const char *symbolizer_object(struct symbolizer *s, struct module *mod, uint64_t vaddr);

/*
 * The same in two steps, of which the second can be taken by another thread, by one at a time for a module. Until that is
 * through, nothing else may be asked about the module; other modules are free.
 */
struct naming;

/* Open the files of @mod. Valid until symbolizer_free(). */
struct naming *symbolizer_open(struct symbolizer *s, struct module *mod);

/*
 * The bytes of code that was made at run time, from @vaddr of @mod, a MODULE_JIT, to the end of its function; NULL if
 * they are not known. Valid until symbolizer_free().
 */
const uint8_t *symbolizer_jit_code(struct symbolizer *s, struct module *mod, uint64_t vaddr,
				   size_t *ret_len);

/* Code of the kernel as its file has it, which is not all that ran: it was relocated and patched. */
struct symbol_kernel_file {
	const uint8_t *code;
	size_t len;       /* that follow */
	const char *path; /* of the file */
	uint64_t slide;   /* by which it was relocated */
};

/* What vmlinux has at @vaddr of @mod; false if there is no such file, or @mod is not the kernel itself. Valid as above. */
bool symbolizer_kernel_file(struct symbolizer *s, struct module *mod, uint64_t vaddr,
			    struct symbol_kernel_file *ret);

struct line_table_maker;

/*
 * Add to @maker what debug information on this machine says from @begin to @end of @mod, for preport bundle. Ranges must
 * come in ascending order. Nothing is added where there is none.
 */
void symbolizer_lines(struct symbolizer *s, struct module *mod, uint64_t begin, uint64_t end,
		      struct line_table_maker *maker);

/* What naming found out about @mod, one line: "symbols and lines from /usr/lib/debug/…", "no symbols". */
const char *symbolizer_note(struct symbolizer *s, struct module *mod);

#endif
