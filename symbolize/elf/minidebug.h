/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minidebug.h - the small ELF file with local symbols that some distributions put in .gnu_debugdata.
 *
 * The section is an xz stream. It is decoded within a limit, so that a small file cannot ask for all memory.
 */
#ifndef ELF_MINIDEBUG_H
#define ELF_MINIDEBUG_H

#include "symbolize/elf/image.h"

struct minidebug {
	struct image *image; /* NULL if there is none, or it is not usable */
	void *data;          /* what @image lies in */
};

/* Decode @img's .gnu_debugdata. The result does not need @img; release it with minidebug_deinit(). */
void minidebug_init(struct minidebug *ret, struct image *img);
void minidebug_deinit(struct minidebug *mini);

#endif
