/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - attribute values as they are written (DWARF 5, section 7.5.6), and GNU's forms for split and
 * supplementary files.
 */
#ifndef DEBUG_FORM_H
#define DEBUG_FORM_H

#include "formats/base/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* A value, not yet looked up: an index or offset stays one. */
struct debug_attr {
	uint16_t form;
	union {
		uint64_t value; /* constants, addresses, offsets, indices; the length of a block */
		const char *text; /* DW_FORM_string */
	};
};

/* What the size of some forms depends on. */
struct form_sizes {
	uint8_t addr, offset; /* bytes: 4 or 8 */
	uint8_t ref_addr;     /* bytes: an address in DWARF 2, an offset later */
};

#define FORM_VARIABLE UINT32_MAX

/* Bytes of @form where addresses have 8 and offsets 4; FORM_VARIABLE if its values differ in length. */
unsigned form_fixed_len(uint16_t form);

/* Read one value. A form that is not known makes the reader fail. */
void form_read(struct reader *r, const struct form_sizes *sizes, uint16_t form, int64_t implicit,
	       struct debug_attr *ret);

#endif
