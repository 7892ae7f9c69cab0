/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_writer.c - the instructions go over as they are, but for three things: DW_CFA_set_loc, whose operand
 * has the encoding of .eh_frame, the padding at the end, and what is malformed: there one stands that no reader
 * knows, so that a reader gets as far as with the original, and no further.
 */
#include "symbolize/elf/frame_writer.h"

#include "formats/base/reader.h"

#include <dwarf.h>
#include <string.h>

#define CIE_ID      0xffffffffU
#define CIE_VERSION 4
#define MALFORMED   DW_CFA_high_user

/*
 * Operands by opcode: u, s LEB128; 1, 2, 4, 8 bytes; b a block; p a pointer; "-" none. NULL: unknown.
 */
static const char *const operands[0x40] = {
	[DW_CFA_nop] = "-",
	[DW_CFA_set_loc] = "p",
	[DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2",
	[DW_CFA_advance_loc4] = "4",
	[DW_CFA_offset_extended] = "uu",
	[DW_CFA_restore_extended] = "u",
	[DW_CFA_undefined] = "u",
	[DW_CFA_same_value] = "u",
	[DW_CFA_register] = "uu",
	[DW_CFA_remember_state] = "-",
	[DW_CFA_restore_state] = "-",
	[DW_CFA_def_cfa] = "uu",
	[DW_CFA_def_cfa_register] = "u",
	[DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b",
	[DW_CFA_expression] = "ub",
	[DW_CFA_offset_extended_sf] = "us",
	[DW_CFA_def_cfa_sf] = "us",
	[DW_CFA_def_cfa_offset_sf] = "s",
	[DW_CFA_val_offset] = "uu",
	[DW_CFA_val_offset_sf] = "us",
	[DW_CFA_val_expression] = "ub",
	[DW_CFA_MIPS_advance_loc8] = "8",
	[0x2c] = "-",                   /* DW_CFA_AARCH64_negate_ra_state_with_pc */
	[DW_CFA_GNU_window_save] = "-", /* on aarch64 negate_ra_state */
	[DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "uu",
};

/* Instructions on their way from one section to the other. */
struct program {
	struct reader r;
	const uint8_t *start;
	uint64_t vaddr;   /* of @start, for pc-relative operands */
	uint8_t encoding; /* DW_EH_PE_* of set_loc's operand */
};

static uint64_t read_pointer(struct program *p)
{
	uint64_t base = (p->encoding & 0x70) == DW_EH_PE_pcrel
				? p->vaddr + (uint64_t)(p->r.pos - p->start)
				: 0;

	switch (p->encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return base + reader_u64(&p->r, "location");
	case DW_EH_PE_udata4:
		return base + reader_u32(&p->r, "location");
	case DW_EH_PE_sdata4:
		return base + (uint64_t)(int64_t)(int32_t)reader_u32(&p->r, "location");
	default:
		reader_fail(&p->r, "pointer encoding");
		return 0;
	}
}

static void skip_operand(struct reader *r, char kind)
{
	if (kind == 'u')
		reader_uleb(r, "operand");
	else if (kind == 's')
		reader_sleb(r, "operand");
	else if (kind == 'b')
		reader_skip(r, reader_uleb(r, "block length"), "block");
	else if (kind >= '1' && kind <= '8')
		reader_skip(r, (size_t)(kind - '0'), "operand");
}

static void skip_operands(struct program *p, uint8_t opcode)
{
	static const char *const packed[] = { NULL, "-", "u",
					      "-" }; /* advance_loc, offset, restore */
	const char *kinds = opcode & 0xc0 ? packed[opcode >> 6] : operands[opcode];

	if (!kinds)
		reader_fail(&p->r, "instruction");
	for (; kinds && *kinds; kinds++)
		skip_operand(&p->r, *kinds);
}

static void copy_instructions(struct program p, struct writer *out)
{
	size_t used = out->len; /* up to the last one that does something */

	while (reader_left(&p.r)) {
		const uint8_t *from = p.r.pos;
		uint8_t opcode = reader_u8(&p.r, "instruction");

		if (opcode == DW_CFA_set_loc) {
			uint64_t location = read_pointer(&p);

			writer_u8(out, opcode);
			writer_u64(out, location);
		} else {
			skip_operands(&p, opcode);
			writer_bytes(out, from, (size_t)(p.r.pos - from));
		}
		if (opcode != DW_CFA_nop && !p.r.failed)
			used = out->len;
	}
	out->len = used;
	if (p.r.failed)
		writer_u8(out, MALFORMED);
}

static struct program program_of(const uint8_t *instructions, size_t len, uint64_t vaddr,
				 uint8_t encoding)
{
	struct program p = { .start = instructions, .vaddr = vaddr, .encoding = encoding };

	reader_init(&p.r, instructions, len, /* big_endian= */ false);
	return p;
}

static void set_u32(struct writer *out, size_t at, uint64_t value)
{
	for (size_t i = 0; i < 4; i++)
		out->data[at + i] = (uint8_t)(value >> (8 * i));
}

static bool is_augmented(const struct cfi_cie *cie)
{
	return cie->signal_frame || cie->b_key;
}

/* What follows the length of a CIE. */
static void write_cie_body(const struct cfi_cie *cie, struct writer *out)
{
	writer_u32(out, CIE_ID);
	writer_u8(out, CIE_VERSION);
	if (is_augmented(cie))
		writer_u8(out, 'z');
	if (cie->signal_frame)
		writer_u8(out, 'S');
	if (cie->b_key)
		writer_u8(out, 'B');
	writer_u8(out, 0);
	writer_u8(out, 8); /* bytes of an address */
	writer_u8(out, 0); /* of a segment selector */
	writer_uleb(out, cie->code_align);
	writer_sleb(out, cie->data_align);
	writer_uleb(out, cie->return_reg);
	if (is_augmented(cie))
		writer_uleb(out, 0); /* neither letter brings data */
	copy_instructions(program_of(cie->instructions, cie->instructions_len,
				     cie->instructions_vaddr, cie->pointer_encoding),
			  out);
}

static uint64_t hash_of(const struct writer *body)
{
	uint64_t hash = body->len;

	for (size_t i = 0; i < body->len; i++)
		hash = map_hash(hash ^ body->data[i]);
	return hash;
}

static bool stands_at(const struct writer *out, uint64_t offset, const struct writer *body)
{
	return out->len - offset - 4 >= body->len &&
	       memcmp(out->data + offset + 4, body->data, body->len) == 0;
}

static bool same_cie(const struct cfi_cie *a, const struct cfi_cie *b)
{
	return a->instructions && a->instructions == b->instructions && a->instructions_len == b->instructions_len &&
	       a->code_align == b->code_align && a->data_align == b->data_align && a->return_reg == b->return_reg &&
	       a->pointer_encoding == b->pointer_encoding && a->signal_frame == b->signal_frame && a->b_key == b->b_key;
}

/* The offset of the CIE, which is written if it is new. Most are the one before. */
static uint32_t place_cie(struct frame_writer *w, const struct cfi_cie *cie)
{
	struct writer body = { 0 };

	if (same_cie(&w->last, cie))
		return w->last_offset;
	write_cie_body(cie, &body);
	uint64_t *slot = map_put(&w->cies, hash_of(&body), NULL);

	if (!*slot || !stands_at(&w->out, *slot - 1, &body)) {
		*slot = w->out.len + 1;
		writer_u32(&w->out, (uint32_t)body.len);
		writer_bytes(&w->out, body.data, body.len);
	}
	writer_deinit(&body);
	w->last = *cie;
	w->last_offset = (uint32_t)(*slot - 1);
	return w->last_offset;
}

bool frame_writer_add(struct frame_writer *w, const struct cfi_fde *fde)
{
	if (w->out.len > UINT32_MAX / 2)
		return false;
	uint32_t cie = place_cie(w, &fde->cie);
	size_t start = w->out.len;

	writer_u32(&w->out, 0); /* length, set below */
	writer_u32(&w->out, cie);
	writer_u64(&w->out, fde->begin);
	writer_u64(&w->out, fde->end - fde->begin);
	if (is_augmented(&fde->cie))
		writer_uleb(&w->out, 0);
	copy_instructions(program_of(fde->instructions, fde->instructions_len,
				     fde->instructions_vaddr, fde->cie.pointer_encoding),
			  &w->out);
	set_u32(&w->out, start, w->out.len - start - 4);
	return true;
}

void frame_writer_deinit(struct frame_writer *w)
{
	writer_deinit(&w->out);
	map_deinit(&w->cies);
}
