/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/elf/cfi_section.h"
#include "tests/unit/cfi_writer.h"
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <string.h>

#define EH_VADDR    0x9000
#define HDR_VADDR   0x8000
#define PC_RELATIVE 0x1b

static const uint8_t initial[] = { 0x0c, 7, 8, 0x90, 1 }; /* CFA rsp+8, return address at CFA-8 */
static const uint8_t body[] = { 0x41, 0x0e, 16 };         /* one byte on, CFA rsp+16 */

/* Three functions with a gap between the second and the third. */
static void three_functions(struct cfi_writer *w, uint8_t encoding)
{
	w->vaddr = w->is_debug ? 0 : EH_VADDR;
	cfi_writer_cie(w, "zR", encoding, 16, initial, sizeof(initial));
	cfi_writer_fde(w, 0x1000, 0x100, body, sizeof(body));
	cfi_writer_fde(w, 0x1100, 0x80, body, sizeof(body));
	cfi_writer_fde(w, 0x1200, 0x40, body, sizeof(body));
}

/* Put sections into a file and open what is in there. */
static struct cfi_section *open_sections(struct elf_file *f, const struct cfi_writer *eh,
					 const struct writer *hdr, const struct cfi_writer *debug,
					 struct image **ret_img)
{
	if (eh)
		elf_file_section(f, (struct elf_file_section){ .name = ".eh_frame",
							       .type = SHT_PROGBITS,
							       .flags = SHF_ALLOC,
							       .vaddr = EH_VADDR,
							       .data = eh->out.data,
							       .len = eh->out.len });
	if (hdr)
		elf_file_section(f, (struct elf_file_section){ .name = ".eh_frame_hdr",
							       .type = SHT_PROGBITS,
							       .flags = SHF_ALLOC,
							       .vaddr = HDR_VADDR,
							       .data = hdr->data,
							       .len = hdr->len });
	if (debug)
		elf_file_section(f, (struct elf_file_section){ .name = ".debug_frame",
							       .type = SHT_PROGBITS,
							       .data = debug->out.data,
							       .len = debug->out.len });
	elf_file_finish(f);
	CHECK_OK(image_open_memory(guarded(f->out.data, f->out.len), f->out.len, "test", ret_img));
	return cfi_section_new(*ret_img);
}

static void check_three(const struct cfi_section *cfi)
{
	static const struct {
		uint64_t vaddr, begin; /* begin 0: nothing there */
	} cases[] = {
		{ 0xfff, 0 },       { 0x1000, 0x1000 }, { 0x10ff, 0x1000 }, { 0x1100, 0x1100 },
		{ 0x117f, 0x1100 }, { 0x1180, 0 },      { 0x11ff, 0 },      { 0x1200, 0x1200 },
		{ 0x123f, 0x1200 }, { 0x1240, 0 },      { 0, 0 },           { UINT64_MAX, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cfi_fde fde = { .begin = 42 };
		bool found = cfi_section_find(cfi, cases[i].vaddr, &fde);

		CHECK_UINT(found, cases[i].begin != 0);
		CHECK_UINT(fde.begin, found ? cases[i].begin : 42);
		if (found) {
			CHECK_UINT(fde.cie.return_reg, 16);
			CHECK_INT(fde.cie.data_align, -8);
			CHECK_MEM(fde.instructions, body, sizeof(body));
			CHECK_MEM(fde.cie.instructions, initial, sizeof(initial));
		}
	}
}

static void check_each(const struct cfi_section *cfi, size_t expected)
{
	struct cfi_fde fde;
	uint64_t last = 0;
	size_t pos = 0, count = 0;

	while (cfi_section_each(cfi, &pos, &fde)) {
		CHECK(fde.begin >= last);
		last = fde.begin;
		count++;
	}
	CHECK_UINT(count, expected);
	CHECK(cfi_section_any(cfi, &fde) == (expected > 0));
	if (expected)
		CHECK(cfi_section_find(cfi, fde.begin, &fde));
}

TEST(cfi_section_finds_functions_by_the_header)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct writer hdr = { 0 };

	three_functions(&w, PC_RELATIVE);
	cfi_writer_hdr(&w, HDR_VADDR, &hdr);
	struct cfi_section *cfi = open_sections(&f, &w, &hdr, NULL, &img);

	check_three(cfi);
	check_each(cfi, 3);
	CHECK_STR(cfi_section_defect(cfi), NULL);
	cfi_section_free(cfi);
	writer_deinit(&hdr);
}

TEST(cfi_section_reads_every_pointer_encoding_in_use)
{
	static const uint8_t encodings[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x09, 0x0a,
					     0x0b, 0x0c, 0x1b, 0x1c, 0x10, 0x13 };

	for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
		CLEANUP(image_closep) struct image *img = NULL;

		if (encodings[i] == 0x13)
			continue; /* unsigned and relative: only for what lies behind it */
		three_functions(&w, encodings[i]);
		struct cfi_section *cfi = open_sections(&f, &w, NULL, NULL, &img);

		check_three(cfi);
		CHECK_STR(cfi_section_defect(cfi), NULL);
		cfi_section_free(cfi);
	}
}

TEST(cfi_section_refuses_pointers_it_cannot_follow)
{
	static const uint8_t encodings[] = { 0x9b, 0x2b, 0x4b, 0x50, 0x3b, 0x05, 0x0f, 0xff };

	for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
		CLEANUP(image_closep) struct image *img = NULL;
		struct cfi_fde fde;

		three_functions(&w, encodings[i]);
		struct cfi_section *cfi = open_sections(&f, &w, NULL, NULL, &img);

		CHECK(!cfi_section_find(cfi, 0x1000, &fde));
		CHECK(cfi_section_defect(cfi));
		cfi_section_free(cfi);
	}
}

TEST(cfi_section_reads_debug_frame)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { .is_debug = true };
	CLEANUP(image_closep) struct image *img = NULL;
	struct cfi_fde fde;

	cfi_writer_cie(&w, "", 0, 16, initial, sizeof(initial));
	cfi_writer_fde(&w, 0x1200, 0x40, body, sizeof(body)); /* not in order */
	cfi_writer_fde(&w, 0x1100, 0x80, body, sizeof(body));
	cfi_writer_fde(&w, 0x1000, 0x100, body, sizeof(body));
	cfi_writer_fde(&w, 0, 0x2000, body, sizeof(body)); /* what the linker dropped */
	struct cfi_section *cfi = open_sections(&f, NULL, NULL, &w, &img);

	check_three(cfi);
	check_each(cfi, 3);
	CHECK(cfi_section_find(cfi, 0x1000, &fde) && fde.from_debug_frame);
	cfi_section_free(cfi);
}

TEST(cfi_section_prefers_eh_frame_and_adds_debug_frame)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer eh = { .vaddr = EH_VADDR };
	CLEANUP(cfi_writer_deinit) struct cfi_writer debug = { .is_debug = true };
	CLEANUP(image_closep) struct image *img = NULL;
	struct writer hdr = { 0 };
	struct cfi_fde fde;

	cfi_writer_cie(&eh, "zR", PC_RELATIVE, 16, initial, sizeof(initial));
	cfi_writer_fde(&eh, 0x1000, 0x100, body, sizeof(body));
	cfi_writer_hdr(&eh, HDR_VADDR, &hdr);
	cfi_writer_cie(&debug, "", 0, 16, initial, sizeof(initial));
	cfi_writer_fde(&debug, 0x1000, 0x100, body, sizeof(body));
	cfi_writer_fde(&debug, 0x1100, 0x80, body, sizeof(body));
	struct cfi_section *cfi = open_sections(&f, &eh, &hdr, &debug, &img);

	CHECK(cfi_section_find(cfi, 0x1010, &fde) && !fde.from_debug_frame);
	CHECK(cfi_section_find(cfi, 0x1110, &fde) && fde.from_debug_frame);
	check_each(cfi, 2);
	CHECK_STR(cfi_section_defect(cfi), NULL);
	cfi_section_free(cfi);
	writer_deinit(&hdr);
}

static void check_lying_hdr_in(size_t offset, uint32_t value, bool noticed, bool near)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct writer hdr = { 0 };

	three_functions(&w, PC_RELATIVE);
	cfi_writer_hdr(&w, HDR_VADDR, &hdr);
	memcpy(hdr.data + offset, &value, 4);
	struct cfi_section *cfi = open_sections(&f, &w, &hdr, NULL, &img);

	if (near)
		cfi_section_check_near(cfi);
	check_three(cfi);
	CHECK_UINT(cfi_section_defect(cfi) != NULL, noticed);
	CHECK(!cfi_section_has_holes(cfi)); /* nothing is lost */
	cfi_section_free(cfi);
	writer_deinit(&hdr);
}

/* Change 4 bytes of a sound header, and see that nothing is lost, however closely it is looked at. */
static void check_lying_hdr(size_t offset, uint32_t value, bool noticed)
{
	check_lying_hdr_in(offset, value, noticed, /* near= */ false);
	check_lying_hdr_in(offset, value, noticed, /* near= */ true);
}

TEST(cfi_section_notices_a_header_that_lies)
{
	check_lying_hdr(8, 0xffffffff, true);      /* more entries than there is room for */
	check_lying_hdr(8, 2, true);               /* the last function left out */
	check_lying_hdr(8, 0, true);               /* all of them */
	check_lying_hdr(12 + 8, 0x7fffffff, true); /* not sorted */
	check_lying_hdr(12 + 4, 0x7fffffff, true); /* leads out of the section */
	check_lying_hdr(12 + 4, EH_VADDR - HDR_VADDR, true); /* leads to the CIE */
	check_lying_hdr(0, 0x3b031b02, true);                /* version 2 */
	check_lying_hdr(0, 0x1b031b01, false); /* a table in a form that we do not read */
}

/* To count all FDEs for a byte of padding would take longer than the rest of a question. */
TEST(cfi_section_does_not_count_for_a_byte_of_padding)
{
	for (uint32_t gap = 8; gap <= 64; gap += 56) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(cfi_writer_deinit) struct cfi_writer w = { .vaddr = EH_VADDR };
		CLEANUP(image_closep) struct image *img = NULL;
		struct writer hdr = { 0 };
		struct cfi_fde fde;
		uint32_t rows = 2;

		cfi_writer_cie(&w, "zR", PC_RELATIVE, 16, initial, sizeof(initial));
		cfi_writer_fde(&w, 0x1000, 0x100, body, sizeof(body));
		cfi_writer_fde(&w, 0x1100 + gap, 0x80, body, sizeof(body));
		cfi_writer_fde(&w, 0x1200, 0x40, body, sizeof(body));
		cfi_writer_hdr(&w, HDR_VADDR, &hdr);
		memcpy(hdr.data + 8, &rows, sizeof(rows)); /* the last one is left out */
		writer_u32(&w.out, 0x7fffffff);		   /* who reads all of them notices a record that does not end */
		struct cfi_section *cfi = open_sections(&f, &w, &hdr, NULL, &img);

		cfi_section_check_near(cfi);
		CHECK(!cfi_section_find(cfi, 0x1107, &fde));
		CHECK((cfi_section_defect(cfi) != NULL) == (gap > 16));
		CHECK(cfi_section_find(cfi, 0x1210, &fde));
		CHECK(cfi_section_defect(cfi));
		CHECK(!cfi_section_find(cfi, 0x1107, &fde));
		cfi_section_free(cfi);
		writer_deinit(&hdr);
	}
}

/* Overwrite 4 bytes of the section; the first function must be gone, the others may be. */
static void check_broken(size_t offset, uint32_t value)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct cfi_fde fde;

	three_functions(&w, PC_RELATIVE);
	memcpy(w.out.data + w.fdes[0].offset + offset, &value, 4);
	struct cfi_section *cfi = open_sections(&f, &w, NULL, NULL, &img);

	CHECK(!cfi_section_find(cfi, 0x1000, &fde));
	CHECK(cfi_section_defect(cfi));
	CHECK(cfi_section_has_holes(cfi));
	cfi_section_free(cfi);
}

/* A sparse file has as much nothing as it likes behind a few bytes. */
TEST(cfi_section_reads_no_megabytes_of_zeros)
{
	const size_t zeros[] = { 64, 1 << 20 };

	for (size_t i = 0; i < ARRAY_LEN(zeros); i++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
		CLEANUP(image_closep) struct image *img = NULL;
		struct cfi_fde fde;

		three_functions(&w, PC_RELATIVE);
		writer_reserve(&w.out, zeros[i]);
		memset(w.out.data + w.out.len, 0, zeros[i]);
		w.out.len += zeros[i];
		cfi_writer_fde(&w, 0x2000, 0x40, body, sizeof(body));
		struct cfi_section *cfi = open_sections(&f, &w, NULL, NULL, &img);

		CHECK(cfi_section_find(cfi, 0x1200, &fde));
		CHECK_UINT(cfi_section_find(cfi, 0x2000, &fde), i == 0);
		CHECK_UINT(cfi_section_defect(cfi) != NULL, i == 1);
		cfi_section_free(cfi);
	}
}

/* As a file is that was not written to its end: the records read as padding. */
TEST(cfi_section_notices_that_the_header_knows_more)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct writer hdr = { 0 };
	struct cfi_fde fde;

	three_functions(&w, PC_RELATIVE);
	cfi_writer_hdr(&w, HDR_VADDR, &hdr);
	memset(w.out.data + w.fdes[0].offset, 0, w.out.len - w.fdes[0].offset);
	struct cfi_section *cfi = open_sections(&f, &w, &hdr, NULL, &img);

	CHECK(!cfi_section_find(cfi, 0x1000, &fde));
	CHECK_STR(image_defect(img), ".eh_frame_hdr leads to 3 entries, .eh_frame has 0");
	CHECK(cfi_section_has_holes(cfi));
	cfi_section_free(cfi);
	writer_deinit(&hdr);
}

TEST(cfi_section_takes_no_fde_without_a_cie)
{
	check_broken(4, 4);          /* its own length field */
	check_broken(4, 0xfffffff0); /* past the end */
	check_broken(4, 5);          /* itself */
	check_broken(0, 0x7fffffff); /* longer than the section */
	check_broken(0, 6);          /* ends inside its addresses */
}

TEST(cfi_section_survives_every_truncation)
{
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };

	three_functions(&w, PC_RELATIVE);
	for (size_t len = 1; len < w.out.len; len++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(image_closep) struct image *img = NULL;
		struct cfi_writer cut = w;
		struct cfi_fde fde;

		cut.out.len = len;
		struct cfi_section *cfi = open_sections(&f, &cut, NULL, NULL, &img);

		CHECK_UINT(cfi_section_find(cfi, 0x1000, &fde), len >= w.fdes[1].offset);
		cfi_section_free(cfi);
	}
}

TEST(cfi_section_knows_signal_frames)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { .vaddr = EH_VADDR };
	CLEANUP(image_closep) struct image *img = NULL;
	struct cfi_fde fde;

	cfi_writer_cie(&w, "zRS", PC_RELATIVE, 16, initial, sizeof(initial));
	cfi_writer_fde(&w, 0x1000, 0x10, body, sizeof(body));
	cfi_writer_cie(&w, "zRB", PC_RELATIVE, 30, initial, sizeof(initial));
	cfi_writer_fde(&w, 0x1010, 0x10, body, sizeof(body));
	struct cfi_section *cfi = open_sections(&f, &w, NULL, NULL, &img);

	CHECK(cfi_section_find(cfi, 0x1000, &fde) && fde.cie.signal_frame && !fde.cie.b_key);
	CHECK(cfi_section_find(cfi, 0x1010, &fde) && !fde.cie.signal_frame && fde.cie.b_key);
	cfi_section_free(cfi);
}

TEST(cfi_section_is_found_without_section_headers)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct image *with_headers = NULL;
	struct writer hdr = { 0 };

	three_functions(&w, PC_RELATIVE);
	writer_u32(&w.out, 0);          /* the end */
	writer_u32(&w.out, 0xffffff00); /* what comes behind does not matter */
	cfi_writer_hdr(&w, HDR_VADDR, &hdr);
	elf_file_segment(&f, (struct elf_file_segment){ PT_LOAD, PF_R, 0, EH_VADDR, 0, 0 });
	elf_file_segment(&f,
			 (struct elf_file_segment){ PT_GNU_EH_FRAME, PF_R, 0, HDR_VADDR, 0, 0 });
	cfi_section_free(open_sections(&f, &w, &hdr, NULL, &with_headers));
	image_close(with_headers);
	memset(f.out.data + 40, 0, 8); /* e_shoff */
	memset(f.out.data + 60, 0, 4); /* e_shnum, e_shstrndx */
	CHECK_OK(image_open_memory(guarded(f.out.data, f.out.len), f.out.len, "test", &img));
	struct cfi_section *cfi = cfi_section_new(img);

	CHECK(cfi);
	check_three(cfi);
	check_each(cfi, 3);
	CHECK_STR(cfi_section_defect(cfi), NULL);
	cfi_section_free(cfi);
	writer_deinit(&hdr);
}

TEST(cfi_section_is_absent_where_a_file_has_none)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;

	CHECK(!open_sections(&f, NULL, NULL, NULL, &img));
}

/* However often a CIE is referred to, it is cheap to parse: its augmentation has at most 16 letters. */
TEST(cfi_section_refuses_an_augmentation_that_is_too_long)
{
	static const char letters[] = "zRSSSSSSSSSSSSSSS"; /* 17 */

	for (size_t skip = 0; skip < 2; skip++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(cfi_writer_deinit) struct cfi_writer w = { .vaddr = EH_VADDR };
		char augmentation[sizeof(letters)] = { 0 };
		struct image *img;
		struct cfi_fde fde;

		memcpy(augmentation, letters, sizeof(letters) - 1 - skip);
		cfi_writer_cie(&w, augmentation, PC_RELATIVE, 16, initial, sizeof(initial));
		cfi_writer_fde(&w, 0x1000, 0x100, body, sizeof(body));
		struct cfi_section *cfi = open_sections(&f, &w, NULL, NULL, &img);

		CHECK(cfi_section_find(cfi, 0x1010, &fde) == (skip == 1));
		cfi_section_free(cfi);
		image_close(img);
	}
}

/* One record after the other. */
static size_t count_slowly(const struct cfi_bytes *bytes, size_t most)
{
	struct cfi_record rec = { 0 };
	size_t count = 0, nends = 0;

	while (nends <= most && cfi_record_at(bytes, rec.end, &rec)) {
		nends = rec.is_end ? nends + 1 : 0;
		count += !rec.is_end && !rec.is_cie;
	}
	return count;
}

TEST(cfi_record_counts_what_reading_one_by_one_counts)
{
	static const uint8_t values[] = { 0, 1, 3, 4, 0x7f, 0xff };
	CLEANUP(cfi_writer_deinit) struct cfi_writer w = { 0 };

	three_functions(&w, PC_RELATIVE);
	for (size_t len = 0; len <= w.out.len; len++) {
		const struct cfi_bytes bytes = { .data = guarded(w.out.data, len), .len = len };

		CHECK_UINT(cfi_record_count_fdes(&bytes, 2), count_slowly(&bytes, 2));
	}
	const struct cfi_bytes bytes = { .data = w.out.data, .len = w.out.len };

	for (size_t i = 0; i < w.out.len; i++) {
		uint8_t *at = (uint8_t *)w.out.data + i, before = *at;

		for (size_t j = 0; j < ARRAY_LEN(values); j++) {
			*at = values[j];
			CHECK_UINT(cfi_record_count_fdes(&bytes, 2), count_slowly(&bytes, 2));
		}
		*at = before;
	}
}
