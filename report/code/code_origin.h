/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_origin.h - where the code of a function comes from: its file or what the trace embeds of it, a JIT, the memory of the
 * running kernel, the kernel's file; and how the last two differ.
 */
#ifndef REPORT_CODE_ORIGIN_H
#define REPORT_CODE_ORIGIN_H

#include "report/load/session.h"
#include "symbolize/disasm.h"
#include "symbolize/name/symbolizer.h"

#include <stdbool.h>

#define CODE_ORIGIN_NAMED 3 /* so many instructions that differ are named */

struct code_origin {
	const uint8_t *code;
	size_t len; /* that follow, perhaps of other functions, too */
	const struct arch *arch;
	uint64_t vaddr;

	/* Of the kernel's functions. */
	bool running; /* the code was in the kernel's memory as it ran */
	bool has_file;
	struct symbol_kernel_file file;
	size_t patched; /* instructions that are others in the file */
	uint64_t patched_at[CODE_ORIGIN_NAMED];
};

/* Find the code of @mod from @vaddr on. False if it is not there. */
bool code_origin_find(const struct session *s, struct module *mod, uint64_t vaddr,
		      struct code_origin *ret);

/* Is there any at @vaddr of module @module of its profile? @session is a struct session. */
bool code_origin_is_there(void *session, uint32_t module, uint64_t vaddr);

/* Why function @name of @mod has no code, with what to do. */
MUST_USE struct err *code_origin_missing(const struct recording *rec, const struct module *mod,
					 const char *name);

/* Hold @insn, which is of the code, against the kernel's file, if both are there. */
void code_origin_compare(struct code_origin *origin, const struct disasm_insn *insn);

/* All of that in words, when @ninsns instructions were compared; NULL where the code is simply its file's. */
const char *code_origin_text(const struct code_origin *origin, size_t ninsns, struct arena *arena);

/* What @rec has of the kernel's code, in a few words; empty if it says nothing. */
const char *code_origin_kernel_note(const struct recording *rec, struct arena *arena);

#endif
