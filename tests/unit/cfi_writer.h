/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_writer.h - .eh_frame, .eh_frame_hdr and .debug_frame for tests, record by record.
 */
#ifndef UNIT_CFI_WRITER_H
#define UNIT_CFI_WRITER_H

#include "formats/base/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_WRITER_FDES 16

struct cfi_writer {
	struct writer out;
	uint64_t vaddr;   /* of the section */
	bool is_debug;    /* .debug_frame */
	uint64_t cie;     /* offset of the last CIE */
	uint8_t encoding; /* of its pointers */
	bool augmented;
	struct {
		uint64_t begin, offset;
	} fdes[CFI_WRITER_FDES];
	size_t nfdes;
};

/*
 * A CIE for return register @return_reg, code alignment 1 and data alignment -8. @augmentation is "" or
 * begins with 'z' and may hold R (@encoding), S and B.
 */
void cfi_writer_cie(struct cfi_writer *w, const char *augmentation, uint8_t encoding,
		    unsigned return_reg, const void *code, size_t len);

/* An FDE of the last CIE. */
void cfi_writer_fde(struct cfi_writer *w, uint64_t begin, uint64_t fde_len, const void *code,
		    size_t len);

/* The header with its table, to be loaded at @vaddr. */
void cfi_writer_hdr(const struct cfi_writer *w, uint64_t vaddr, struct writer *hdr);

void cfi_writer_deinit(struct cfi_writer *w);

#endif
