/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_starts.h - where functions begin that neither a symbol nor a table knows, by who calls them; x86-64.
 *
 * A stripped C library without unwind tables (musl, as Alpine has it) names what it exports and nothing else, and the
 * assembly of a stripped codec or cipher has no table either. Their functions are called directly, or their addresses are
 * taken: each such target that stands behind padding, a return or a jump is a beginning (code_targets.h). That is a good
 * guess; who uses it checks what follows from it.
 *
 * A bundle (bundle.h) has none of this code, but in CODE_STARTS_SECTION the beginnings that matter: ascending, each as
 * a uleb of its difference to the one before.
 */
#ifndef ELF_CODE_STARTS_H
#define ELF_CODE_STARTS_H

#include "formats/base/writer.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"

#define CODE_STARTS_SECTION ".precord.starts"

struct code_starts;

/*
 * Bytes of code of a file whose functions are mostly found this way, since it has no table of them; 0 if it has one, which
 * leaves out only a few.
 */
uint64_t code_starts_cost(const struct image *img);

/* Looks at the code. @img and its @symbols must outlive the result. Never fails. */
struct code_starts *code_starts_new(struct image *img, const struct symtab *symbols);
void code_starts_free(struct code_starts *starts);

/* Where the function that holds @vaddr begins, which no symbol covers; 0 if that is not known. */
uint64_t code_starts_find(const struct code_starts *starts, uint64_t vaddr);

/* Where it ends at the latest: at the next beginning that is known. @start is what code_starts_find() gave. */
uint64_t code_starts_end(const struct code_starts *starts, uint64_t start);

#endif
