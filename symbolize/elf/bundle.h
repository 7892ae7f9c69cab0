/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h - the part of an ELF file that a recording touched, as a small ELF file of its own.
 *
 *	.note.gnu.build-id   as in the original
 *	.debug_frame         the rules that cover the addresses, from .eh_frame or .debug_frame
 *	.precord.holes       what is wrong with those of the original, if some could not be read (cfi_section.h)
 *	.symtab, .strtab     the symbols that cover them, every one with its length
 *	.text, .plt, …       code: whole functions where they were sampled often enough for their length, of
 *	                     others the sampled instruction, the function's first ones where its rules
 *	                     compute the end of the frame, and all up to an address without rules, or from there on; at their own addresses,
 *	                     under the name of the section that they come from
 *	.precord.calls       which addresses follow a call instruction, see bundle_calls.h
 *	.precord.starts      where functions without a symbol and without rules begin, see code_starts.h
 *	PT_LOAD              as in the original, but without bytes in the file (as objcopy --only-keep-debug
 *	                     leaves them): image_bias() works, bytes are found by section
 *
 * symtab.h and cfi_section.h answer from it as from the original, for the addresses it was made for.
 */
#ifndef ELF_BUNDLE_H
#define ELF_BUNDLE_H

#include "formats/base/writer.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address that was recorded, link-time. */
struct bundle_address {
	uint64_t vaddr;
	uint64_t
		leaves; /* samples that were taken there; 0: a return address, or anything else on a stack */
};

/* A qsort() comparison. */
int bundle_address_ascending(const void *a, const void *b);

/* What a bundle is made from. */
struct bundle_source {
	struct image *image;
	const struct cfi_section *cfi; /* NULL: there is none */
	const struct symtab *symbols;
	const struct bundle_address *addresses; /* ascending */
	size_t naddresses;
	uint64_t hot; /* functions with so many samples travel whole, however long */
	bool everything; /* all rules and symbols, and the code of all functions that hold an address */
};

struct bundle_counts {
	uint64_t fdes, symbols, code_len;
};

/* Append the ELF file to @out, which is empty. */
void bundle_write(const struct bundle_source *src, struct writer *out, struct bundle_counts *ret);

#endif
