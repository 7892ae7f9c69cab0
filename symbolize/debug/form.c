/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.c - a table of how each form is written, and one reader for each way.
 */
#include "symbolize/debug/form.h"

#include <dwarf.h>

enum writing {
	UNKNOWN,
	BYTES_0,
	BYTES_1,
	BYTES_2,
	BYTES_3,
	BYTES_4,
	BYTES_8,
	BYTES_16,
	ADDRESS,
	OFFSET,
	REF_ADDR,
	ULEB,
	SLEB,
	STRING,
	BLOCK_1, /* length in as many bytes, then the block */
	BLOCK_2,
	BLOCK_4,
	BLOCK_ULEB,
	IMPLICIT,
	INDIRECT,
};

static const uint8_t writings[] = {
	[DW_FORM_addr] = ADDRESS,       [DW_FORM_block2] = BLOCK_2,
	[DW_FORM_block4] = BLOCK_4,     [DW_FORM_data2] = BYTES_2,
	[DW_FORM_data4] = BYTES_4,      [DW_FORM_data8] = BYTES_8,
	[DW_FORM_string] = STRING,      [DW_FORM_block] = BLOCK_ULEB,
	[DW_FORM_block1] = BLOCK_1,     [DW_FORM_data1] = BYTES_1,
	[DW_FORM_flag] = BYTES_1,       [DW_FORM_sdata] = SLEB,
	[DW_FORM_strp] = OFFSET,        [DW_FORM_udata] = ULEB,
	[DW_FORM_ref_addr] = REF_ADDR,  [DW_FORM_ref1] = BYTES_1,
	[DW_FORM_ref2] = BYTES_2,       [DW_FORM_ref4] = BYTES_4,
	[DW_FORM_ref8] = BYTES_8,       [DW_FORM_ref_udata] = ULEB,
	[DW_FORM_indirect] = INDIRECT,  [DW_FORM_sec_offset] = OFFSET,
	[DW_FORM_exprloc] = BLOCK_ULEB, [DW_FORM_flag_present] = BYTES_0,
	[DW_FORM_strx] = ULEB,          [DW_FORM_addrx] = ULEB,
	[DW_FORM_ref_sup4] = BYTES_4,   [DW_FORM_strp_sup] = OFFSET,
	[DW_FORM_data16] = BYTES_16,    [DW_FORM_line_strp] = OFFSET,
	[DW_FORM_ref_sig8] = BYTES_8,   [DW_FORM_implicit_const] = IMPLICIT,
	[DW_FORM_loclistx] = ULEB,      [DW_FORM_rnglistx] = ULEB,
	[DW_FORM_ref_sup8] = BYTES_8,   [DW_FORM_strx1] = BYTES_1,
	[DW_FORM_strx2] = BYTES_2,      [DW_FORM_strx3] = BYTES_3,
	[DW_FORM_strx4] = BYTES_4,      [DW_FORM_addrx1] = BYTES_1,
	[DW_FORM_addrx2] = BYTES_2,     [DW_FORM_addrx3] = BYTES_3,
	[DW_FORM_addrx4] = BYTES_4,
};

static enum writing writing_of(uint16_t form)
{
	if (form < sizeof(writings))
		return writings[form];
	if (form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index)
		return ULEB;
	if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		return OFFSET;
	return UNKNOWN;
}

unsigned form_fixed_len(uint16_t form)
{
	static const uint8_t lens[] = {
		[BYTES_1] = 1,   [BYTES_2] = 2, [BYTES_3] = 3, [BYTES_4] = 4,  [BYTES_8] = 8,
		[BYTES_16] = 16, [ADDRESS] = 8, [OFFSET] = 4,  [REF_ADDR] = 4,
	};
	enum writing writing = writing_of(form);

	if (writing == BYTES_0 || writing == IMPLICIT)
		return 0;
	return writing < sizeof(lens) && lens[writing] ? lens[writing] : FORM_VARIABLE;
}

static uint64_t read_sized(struct reader *r, unsigned len)
{
	return len == 8 ? reader_u64(r, "value") : reader_u32(r, "value");
}

static uint64_t read_u24(struct reader *r)
{
	uint64_t low = reader_u16(r, "index");

	return low | (uint64_t)reader_u8(r, "index") << 16;
}

static uint64_t skip_block(struct reader *r, uint64_t len)
{
	reader_skip(r, (size_t)len, "block");
	return len;
}

void form_read(struct reader *r, const struct form_sizes *sizes, uint16_t form, int64_t implicit,
	       struct debug_attr *ret)
{
	enum writing writing = writing_of(form);

	if (writing == INDIRECT) {
		uint64_t real = reader_uleb(r, "indirect form");

		form = real > UINT16_MAX ? UINT16_MAX : (uint16_t)real;
		writing = writing_of(form);
	}
	ret->form = form;
	switch (writing) {
	case BYTES_0:
		ret->value = 1;
		return;
	case BYTES_1:
		ret->value = reader_u8(r, "value");
		return;
	case BYTES_2:
		ret->value = reader_u16(r, "value");
		return;
	case BYTES_3:
		ret->value = read_u24(r);
		return;
	case BYTES_4:
		ret->value = reader_u32(r, "value");
		return;
	case BYTES_8:
		ret->value = reader_u64(r, "value");
		return;
	case BYTES_16:
		ret->value = skip_block(r, 16);
		return;
	case ADDRESS:
		ret->value = read_sized(r, sizes->addr);
		return;
	case OFFSET:
		ret->value = read_sized(r, sizes->offset);
		return;
	case REF_ADDR:
		ret->value = read_sized(r, sizes->ref_addr);
		return;
	case ULEB:
		ret->value = reader_uleb(r, "value");
		return;
	case SLEB:
		ret->value = (uint64_t)reader_sleb(r, "value");
		return;
	case STRING:
		ret->text = reader_string(r, "string");
		return;
	case BLOCK_1:
		ret->value = skip_block(r, reader_u8(r, "block length"));
		return;
	case BLOCK_2:
		ret->value = skip_block(r, reader_u16(r, "block length"));
		return;
	case BLOCK_4:
		ret->value = skip_block(r, reader_u32(r, "block length"));
		return;
	case BLOCK_ULEB:
		ret->value = skip_block(r, reader_uleb(r, "block length"));
		return;
	case IMPLICIT:
		ret->value = (uint64_t)implicit;
		return;
	case INDIRECT:
	case UNKNOWN:
		reader_fail(r, "form");
		return;
	}
}
