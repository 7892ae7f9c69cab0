/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_writer.h - writes call frame information as a .debug_frame section (DWARF 5, 6.4.1).
 *
 * Version 4 CIEs with absolute 8-byte addresses, each distinct one once; the augmentation is "zS" for
 * signal frames, "zB" for the B key, and empty otherwise. A zeroed struct is ready.
 */
#ifndef ELF_FRAME_WRITER_H
#define ELF_FRAME_WRITER_H

#include "formats/base/map.h"
#include "formats/base/writer.h"
#include "symbolize/elf/cfi_section.h"

struct frame_writer {
	struct writer out; /* the section so far */
	struct map cies;   /* hash of its bytes -> offset + 1 */
	struct cfi_cie last; /* and where it is */
	uint32_t last_offset;
};

/*
 * Append @fde; instructions that are malformed are so in what is written as well. False, and nothing is written, if the
 * section is as long as its offsets allow.
 */
bool frame_writer_add(struct frame_writer *w, const struct cfi_fde *fde);

void frame_writer_deinit(struct frame_writer *w);

#endif
