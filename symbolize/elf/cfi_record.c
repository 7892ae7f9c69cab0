/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_record.c - CIEs and FDEs as bytes.
 *
 *	| length | CIE id or pointer | version, augmentation, alignments … or begin, length … | instructions |
 *
 * In .eh_frame an id of 0 marks a CIE and other values count back from the field to it; in .debug_frame
 * all ones mark a CIE and other values are offsets in the section. (LSB Core 5.0, 10.6.1; DWARF 5, 6.4.1.)
 */
#include "symbolize/elf/cfi_record.h"

#include <string.h>

/* A reader over [@offset, @end), which are in the section, whose offset counts from the section's start. */
static struct reader reader_over(const struct cfi_bytes *bytes, uint64_t offset, uint64_t end)
{
	return (struct reader){ .pos = bytes->data + offset, .end = bytes->data + end, .offset = offset };
}

bool cfi_record_at(const struct cfi_bytes *bytes, uint64_t offset, struct cfi_record *ret)
{
	struct cfi_record rec = { .offset = offset };
	struct reader r;
	bool is_64;

	if (offset >= bytes->len)
		return false;
	r = reader_over(bytes, offset, bytes->len);
	uint64_t len = reader_u32(&r, "record length");

	is_64 = len == UINT32_MAX;
	if (is_64)
		len = reader_u64(&r, "record length");
	if (r.failed || len > reader_left(&r))
		return false;
	rec.id_offset = r.offset;
	rec.end = r.offset + len;
	rec.is_end = len == 0;
	if (!rec.is_end) {
		bool wide_id =
			is_64 && bytes->is_debug; /* GNU as and gcc agree on 4 bytes in .eh_frame */
		uint64_t id_len = wide_id ? 8 : 4;
		uint64_t id;

		if (len < id_len)
			return false;
		id = wide_id ? reader_u64(&r, "CIE id") : reader_u32(&r, "CIE id");
		rec.body_len = (size_t)(len - id_len);
		if (bytes->is_debug) {
			rec.is_cie = id == (wide_id ? UINT64_MAX : UINT32_MAX);
			rec.cie_offset = id;
		} else {
			rec.is_cie = id == 0;
			rec.cie_offset =
				rec.id_offset - id; /* wraps to nonsense, which is checked */
		}
	}
	*ret = rec;
	return true;
}

/*
 * A program of 30 MB has half a million of them, and each step waits for the length that it has just read: no reader, whose checks the processor
 * would do in between.
 */
size_t cfi_record_count_fdes(const struct cfi_bytes *bytes, size_t most)
{
	const uint8_t *pos = bytes->data, *end = pos + bytes->len;
	size_t count = 0, nends = 0;

	while (nends <= most && end - pos >= 4) {
		uint64_t len = four_bytes(pos);

		pos += 4;
		if (len == UINT32_MAX) {
			if (end - pos < 8)
				break;
			len = four_bytes(pos) | (uint64_t)four_bytes(pos + 4) << 32;
			pos += 8;
		}
		nends = len ? 0 : nends + 1;
		if (len > (uint64_t)(end - pos) || (len && len < 4))
			break;
		count += len && four_bytes(pos) != 0;
		pos += len;
	}
	return count;
}

/* Real ones have at most seven letters; the bound keeps a CIE cheap to parse, however often it is referred to. */
#define AUGMENTATION_MAX 16

static const char *read_letters(struct reader *r)
{
	struct reader near = *r;
	const char *letters;

	near.end = near.pos + MIN(reader_left(r), AUGMENTATION_MAX + 1);
	letters = reader_string(&near, "augmentation");
	near.end = r->end;
	*r = near;
	return letters;
}

/* What the letters after 'z' announce, in their order (LSB 10.6.1.1.1; 'B' and 'G': AADWARF64). */
static void parse_augmentation(struct reader *r, const char *letters, struct cfi_cie *cie)
{
	for (const char *letter = letters; *letter; letter++) {
		switch (*letter) {
		case 'R':
			cie->pointer_encoding = reader_u8(r, "pointer encoding");
			break;
		case 'P':
			cfi_pointer_skip(r, reader_u8(r, "personality encoding"), "personality");
			break;
		case 'L':
			reader_skip(r, 1, "LSDA encoding");
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B':
			cie->b_key = true;
			break;
		case 'G': /* memory tags: nothing to unwind */
			break;
		default:
			return; /* the length lets us pass over what we do not know */
		}
	}
}

static void parse_version(struct reader *r, uint8_t version)
{
	if (version == 4) {
		uint8_t address_len = reader_u8(r, "address size");
		uint8_t segment_len = reader_u8(r, "segment size");

		if (address_len != 8 || segment_len != 0)
			reader_fail(r, "address size");
	} else if (version != 1 && version != 3) {
		reader_fail(r, "CIE version");
	}
}

bool cfi_record_cie(const struct cfi_bytes *bytes, uint64_t offset, struct cfi_cie *ret)
{
	struct cfi_cie cie = { 0 };
	struct cfi_record rec;
	struct reader r;

	if (!cfi_record_at(bytes, offset, &rec) || rec.is_end || !rec.is_cie)
		return false;
	r = reader_over(bytes, rec.end - rec.body_len, rec.end);
	uint8_t version = reader_u8(&r, "CIE version");
	const char *letters = read_letters(&r);

	parse_version(&r, version);
	if (r.failed)
		return false;
	if (strcmp(letters, "eh") == 0)
		reader_skip(&r, 8, "EH data"); /* gcc 2 */
	else if (letters[0] && letters[0] != 'z')
		return false; /* of unknown meaning and length */
	cie.code_align = reader_uleb(&r, "code alignment");
	cie.data_align = reader_sleb(&r, "data alignment");
	uint64_t return_reg = version == 1 ? reader_u8(&r, "return register")
					   : reader_uleb(&r, "return register");

	cie.return_reg = return_reg > UINT32_MAX ? UINT32_MAX : (uint32_t)return_reg;
	if (letters[0] == 'z') {
		uint64_t len = reader_uleb(&r, "augmentation length");
		struct reader data = reader_slice(&r, (size_t)len, "augmentation data");

		parse_augmentation(&data, letters + 1, &cie);
		if (data.failed)
			return false;
		cie.augmented = true;
	}
	if (r.failed)
		return false;
	cie.instructions = r.pos;
	cie.instructions_len = reader_left(&r);
	cie.instructions_vaddr = bytes->base.start_vaddr + r.offset;
	*ret = cie;
	return true;
}

bool cfi_record_fde(const struct cfi_bytes *bytes, const struct cfi_record *rec,
		    const struct cfi_cie *cie, struct cfi_fde *ret)
{
	struct cfi_fde fde = { .cie = *cie, .from_debug_frame = bytes->is_debug };
	struct reader r = reader_over(bytes, rec->end - rec->body_len, rec->end);
	uint64_t len;

	fde.begin = cfi_pointer_read(&r, cie->pointer_encoding, &bytes->base, "begin of FDE");
	len = cfi_pointer_read(&r, cie->pointer_encoding & CFI_POINTER_FORMAT_MASK, &bytes->base,
			       "length of FDE");
	fde.end = fde.begin + len;
	if (cie->augmented) {
		uint64_t skip = reader_uleb(&r, "augmentation length");

		reader_skip(&r, (size_t)skip, "augmentation data");
	}
	if (r.failed || fde.end < fde.begin)
		return false;
	fde.instructions = r.pos;
	fde.instructions_len = reader_left(&r);
	fde.instructions_vaddr = bytes->base.start_vaddr + r.offset;
	*ret = fde;
	return true;
}
