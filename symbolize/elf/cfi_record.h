/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_record.h - one record of .eh_frame or .debug_frame at a time, for cfi_section.c and tests.
 */
#ifndef ELF_CFI_RECORD_H
#define ELF_CFI_RECORD_H

#include "symbolize/elf/cfi_pointer.h"

/*
 * Of Go's linker (cmd/link/internal/ld/dwarf.go), on machines where a slot has 8 bytes. Compilers of C have -8 for x86-64; LLVM has this one too for
 * aarch64.
 */
#define CFI_GO_DATA_ALIGN (-4)

/* A common information entry: what its FDEs share. */
struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint32_t return_reg;      /* DWARF number of the return address column */
	uint8_t pointer_encoding; /* DW_EH_PE_* of addresses in the FDE, absptr in .debug_frame */
	bool signal_frame;        /* augmentation 'S' */
	bool augmented;           /* augmentation 'z': FDEs say how long theirs is */
	bool b_key; /* augmentation 'B': return addresses signed with the B key (aarch64) */
	const uint8_t *instructions; /* initial ones */
	size_t instructions_len;
	uint64_t instructions_vaddr; /* link-time address of the first, for pc-relative operands */
};

/* A frame description entry: the rules for [begin, end), link-time addresses. */
struct cfi_fde {
	uint64_t begin, end;
	struct cfi_cie cie;
	bool from_debug_frame; /* in .debug_frame */
	bool from_go; /* made from .gopclntab (go_table.h); if neither, in .eh_frame */
	const uint8_t *instructions;
	size_t instructions_len;
	uint64_t instructions_vaddr;
};

/* Bytes of one of the two sections. */
struct cfi_bytes {
	const uint8_t *data; /* NULL: the image has no such section */
	size_t len;
	bool is_debug; /* .debug_frame, with its other way to refer to CIEs */
	struct cfi_pointer_base base;
};

/* Where a record lies and what kind it is. */
struct cfi_record {
	uint64_t offset;    /* of its length field */
	uint64_t id_offset; /* of the field that tells CIE from FDE */
	uint64_t end;       /* offset after it; more than @offset */
	bool is_cie;
	bool is_end;         /* the zero that ends .eh_frame */
	uint64_t cie_offset; /* for an FDE; not checked to lead to a CIE */
	size_t body_len;     /* after the id */
};

/* Read the record at @offset of the section; false if it is malformed or there is none. */
bool cfi_record_at(const struct cfi_bytes *bytes, uint64_t offset, struct cfi_record *ret);

/*
 * How many FDEs there are in an .eh_frame, up to the first record that is malformed or @most marks of an end in a row: what
 * counting by cfi_record_at() gives, in a fraction of the time.
 */
size_t cfi_record_count_fdes(const struct cfi_bytes *bytes, size_t most);

/* Parse the CIE at @offset. */
bool cfi_record_cie(const struct cfi_bytes *bytes, uint64_t offset, struct cfi_cie *ret);

/* Parse the FDE @rec with its CIE, which is @cie; that it is the right one is the caller's to know. */
bool cfi_record_fde(const struct cfi_bytes *bytes, const struct cfi_record *rec,
		    const struct cfi_cie *cie, struct cfi_fde *ret);

#endif
