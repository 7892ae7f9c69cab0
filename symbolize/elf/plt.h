/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plt.h - the slots of the procedure linkage table and what they call.
 *
 * Goes by the code of each slot (the pointer it jumps through, or the relocation it pushes) and not by the
 * order of relocations, so that the layouts of ld, gold, lld and mold, with and without branch protection,
 * come out right.
 */
#ifndef ELF_PLT_H
#define ELF_PLT_H

#include "symbolize/elf/image.h"

struct plt_slot {
	uint64_t vaddr, len;
	const char *name;  /* of the function called; NULL if only @resolver is known */
	uint64_t resolver; /* link-time address of the IFUNC's resolver; 0 if @name is known */
};

/* Call @visit for each slot that can be identified. A name is valid during the visit. */
void plt_each(struct image *img, void (*visit)(void *context, const struct plt_slot *slot),
	      void *context);

/* Does a section of that name hold such slots? */
bool plt_is_section(const char *name);

#endif
