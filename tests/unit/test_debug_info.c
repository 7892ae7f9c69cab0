/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/debug/info.h"
#include "tests/unit/elf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#define TEXT 0x401000

/*
 *	outer   [TEXT, +0x40)        line 10, declared at 9
 *	  middle  [+0x10, +0x30)     inlined at a.c:12:5, declared at 4
 *	    inner   [+0x18, +0x20)   inlined at inc/b.h:6:7, declared at 2, ranges in two pieces in DWARF 4
 *	plain   [+0x40, +0x50)       a C function without inlined calls
 */
enum code {
	CODE_UNIT = 1,
	CODE_ABSTRACT,
	CODE_OUTER,
	CODE_INLINED,
	CODE_INLINED_RANGES,
	CODE_BLOCK,
	CODE_ODD = 70, /* out of order */
};

struct subject {
	uint16_t version;
	bool no_range;         /* the unit does not say where its code ends */
	const char *nested;    /* "plain" lies in "outer", and this is its name */
	uint32_t inner_origin; /* offset that the innermost call refers to; 0: the right one */
	struct elf_file file;
	struct writer info, abbrev, line, ranges;
	uint8_t text[0x60];
	struct image *image;
	struct debug_info *debug;
};

static void put_abbrev(struct writer *w, enum code code, uint16_t tag, bool children,
		       const uint16_t *attrs)
{
	writer_uleb(w, code);
	writer_uleb(w, tag);
	writer_u8(w, children);
	for (; *attrs; attrs++)
		writer_uleb(w, *attrs);
	writer_u16(w, 0);
}

static void put_abbrevs(struct subject *s)
{
	static const uint16_t unit[] = { DW_AT_name,
					 DW_FORM_string,
					 DW_AT_comp_dir,
					 DW_FORM_string,
					 DW_AT_low_pc,
					 DW_FORM_addr,
					 DW_AT_high_pc,
					 DW_FORM_data4,
					 DW_AT_stmt_list,
					 DW_FORM_sec_offset,
					 0 };
	static const uint16_t abstract[] = { DW_AT_name,      DW_FORM_string,  DW_AT_linkage_name,
					     DW_FORM_string,  DW_AT_decl_file, DW_FORM_data1,
					     DW_AT_decl_line, DW_FORM_data1,   0 };
	static const uint16_t outer[] = { DW_AT_name,
					  DW_FORM_string,
					  DW_AT_decl_file,
					  DW_FORM_data1,
					  DW_AT_decl_line,
					  DW_FORM_data1,
					  DW_AT_low_pc,
					  DW_FORM_addr,
					  DW_AT_high_pc,
					  DW_FORM_udata,
					  0 };
	static const uint16_t inlined[] = { DW_AT_abstract_origin,
					    DW_FORM_ref4,
					    DW_AT_low_pc,
					    DW_FORM_addr,
					    DW_AT_high_pc,
					    DW_FORM_data1,
					    DW_AT_call_file,
					    DW_FORM_data1,
					    DW_AT_call_line,
					    DW_FORM_data1,
					    DW_AT_call_column,
					    DW_FORM_data1,
					    0 };
	static const uint16_t ranges[] = { DW_AT_abstract_origin,
					   DW_FORM_ref4,
					   DW_AT_ranges,
					   DW_FORM_sec_offset,
					   DW_AT_call_file,
					   DW_FORM_data1,
					   DW_AT_call_line,
					   DW_FORM_data1,
					   DW_AT_call_column,
					   DW_FORM_data1,
					   0 };
	static const uint16_t block[] = { DW_AT_location, DW_FORM_exprloc, 0 };
	struct writer *w = &s->abbrev;

	put_abbrev(w, CODE_UNIT, DW_TAG_compile_unit, true, unit);
	if (s->no_range)
		memset(memchr(w->data, DW_AT_high_pc, w->len), DW_AT_language, 1);
	put_abbrev(w, CODE_ABSTRACT, DW_TAG_subprogram, false, abstract);
	put_abbrev(w, CODE_OUTER, DW_TAG_subprogram, true, outer);
	put_abbrev(w, CODE_INLINED, DW_TAG_inlined_subroutine, true, inlined);
	put_abbrev(w, CODE_INLINED_RANGES, DW_TAG_inlined_subroutine, false, ranges);
	put_abbrev(w, CODE_BLOCK, DW_TAG_lexical_block, true, block);
	put_abbrev(w, CODE_ODD, DW_TAG_variable, false, block);
	writer_u8(w, 0);
}

static uint32_t put_abstract(struct writer *w, const char *name, const char *linkage_name,
			     uint8_t line)
{
	uint32_t offset = (uint32_t)w->len;

	writer_uleb(w, CODE_ABSTRACT);
	writer_string(w, name);
	writer_string(w, linkage_name);
	writer_u8(w, 2);
	writer_u8(w, line);
	return offset;
}

static void put_call(struct writer *w, uint8_t file, uint8_t line, uint8_t column)
{
	writer_u8(w, file);
	writer_u8(w, line);
	writer_u8(w, column);
}

static void put_function(struct writer *w, const char *name, uint64_t vaddr, uint64_t len)
{
	writer_uleb(w, CODE_OUTER);
	writer_string(w, name);
	writer_u8(w, 1);
	writer_u8(w, 9);
	writer_u64(w, vaddr);
	writer_uleb(w, len);
}

static void put_odd(struct writer *w, enum code code)
{
	writer_uleb(w, code);
	writer_uleb(w, 3);
	writer_bytes(w, "abc", 3);
}

static void put_info(struct subject *s)
{
	struct writer *w = &s->info;

	writer_u32(w, 0); /* length, put in below */
	writer_u16(w, s->version);
	if (s->version >= 5) {
		writer_u8(w, DW_UT_compile);
		writer_u8(w, 8);
	}
	writer_u32(w, 0);
	if (s->version < 5)
		writer_u8(w, 8);
	writer_uleb(w, CODE_UNIT);
	writer_string(w, "a.c");
	writer_string(w, "/src");
	writer_u64(w, TEXT);
	writer_u32(w, 0x50);
	writer_u32(w, 0);

	uint32_t middle = put_abstract(w, "middle", "_Z6middlei", 4);
	uint32_t inner = put_abstract(w, "inner", "_Z5inneri", 2);

	put_odd(w, CODE_ODD);
	put_function(w, "outer", TEXT, 0x40);
	put_odd(w, CODE_BLOCK);
	writer_uleb(w, CODE_INLINED);
	writer_u32(w, middle);
	writer_u64(w, TEXT + 0x10);
	writer_u8(w, 0x20);
	put_call(w, 1, 12, 5);
	writer_uleb(w, CODE_INLINED_RANGES);
	writer_u32(w, s->inner_origin ? s->inner_origin : inner);
	writer_u32(w, 0);
	put_call(w, 2, 6, 7);
	writer_u8(w, 0); /* of middle */
	writer_u8(w, 0); /* of the block */
	if (!s->nested)
		writer_u8(w, 0); /* of outer */
	put_function(w, s->nested ? s->nested : "plain", TEXT + 0x40, 0x10);
	if (s->nested)
		writer_u8(w, 0);
	writer_u8(w, 0);
	writer_u8(w, 0);
	uint32_t len = (uint32_t)w->len - 4;

	memcpy(w->data, &len, sizeof(len));
}

static void put_ranges(struct subject *s)
{
	struct writer *w = &s->ranges;

	if (s->version < 5) {
		const uint64_t pairs[] = { 0x18, 0x1c, UINT64_MAX, TEXT, 0x1c, 0x20, 0, 0 };

		writer_bytes(w, pairs, sizeof(pairs));
		return;
	}
	writer_u8(w, DW_RLE_offset_pair);
	writer_uleb(w, 0x18);
	writer_uleb(w, 0x1c);
	writer_u8(w, DW_RLE_start_length);
	writer_u64(w, TEXT + 0x1c);
	writer_uleb(w, 4);
	writer_u8(w, DW_RLE_end_of_list);
}

static void put_files(struct writer *w, uint16_t version)
{
	if (version < 5) {
		writer_string(w, "inc");
		writer_u8(w, 0);
		writer_string(w, "a.c");
		writer_u8(w, 0);
		writer_u16(w, 0);
		writer_string(w, "b.h");
		writer_u8(w, 1);
		writer_u16(w, 0);
		writer_u8(w, 0);
		return;
	}
	static const uint8_t directories[] = { 1, DW_LNCT_path, DW_FORM_string, 2 };
	static const uint8_t files[] = {
		2, DW_LNCT_path, DW_FORM_string, DW_LNCT_directory_index, DW_FORM_udata, 3
	};

	writer_bytes(w, directories, sizeof(directories));
	writer_string(w, "/src");
	writer_string(w, "inc");
	writer_bytes(w, files, sizeof(files));
	writer_string(w, "a.c"); /* 0 and 1 are the same, as gcc has it */
	writer_u8(w, 0);
	writer_string(w, "a.c");
	writer_u8(w, 0);
	writer_string(w, "b.h");
	writer_u8(w, 1);
}

static void put_row(struct writer *w, uint8_t advance, uint8_t file, int8_t lines)
{
	writer_u8(w, DW_LNS_advance_pc);
	writer_uleb(w, advance);
	writer_u8(w, DW_LNS_set_file);
	writer_uleb(w, file);
	writer_u8(w, DW_LNS_set_column);
	writer_uleb(w, 3);
	writer_u8(w, DW_LNS_advance_line);
	writer_sleb(w, lines);
	writer_u8(w, DW_LNS_copy);
}

static void put_program(struct writer *w)
{
	writer_u8(w, 0);
	writer_uleb(w, 9);
	writer_u8(w, DW_LNE_set_address);
	writer_u64(w, TEXT);
	put_row(w, 0, 1, 9);                  /* a.c:10 */
	put_row(w, 0x10, 2, -5);              /* b.h:5 */
	put_row(w, 8, 2, -2);                 /* b.h:3, of inner */
	put_row(w, 0, 2, 0);                  /* the same again */
	put_row(w, 8, 2, 4);                  /* b.h:7 */
	put_row(w, 0x10, 1, 9);               /* a.c:16 */
	writer_u8(w, 13 + 14 * 0x10 + 5 + 2); /* special: 16 further, line + 2; to 0x40 */
	writer_u8(w, DW_LNS_advance_pc);
	writer_uleb(w, 0x10);
	writer_u8(w, 0);
	writer_uleb(w, 1);
	writer_u8(w, DW_LNE_end_sequence);
}

static void put_line(struct subject *s)
{
	static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct writer tables = { 0 }, rest = { 0 };
	struct writer *w = &s->line;

	writer_u8(&tables, 1);
	if (s->version >= 4)
		writer_u8(&tables, 1);
	writer_u8(&tables, 1);
	writer_u8(&tables, (uint8_t)-5);
	writer_u8(&tables, 14);
	writer_u8(&tables, 13);
	writer_bytes(&tables, operands, sizeof(operands));
	put_files(&tables, s->version);
	writer_u16(&rest, s->version);
	if (s->version >= 5)
		writer_u16(&rest, 8);
	writer_u32(&rest, (uint32_t)tables.len);
	writer_bytes(&rest, tables.data, tables.len);
	put_program(&rest);
	writer_u32(w, (uint32_t)rest.len);
	writer_bytes(w, rest.data, rest.len);
	writer_deinit(&tables);
	writer_deinit(&rest);
}

static void put_section(struct subject *s, const char *name, const struct writer *w)
{
	elf_file_section(&s->file, (struct elf_file_section){ .name = name,
							      .type = SHT_PROGBITS,
							      .data = w->data,
							      .len = w->len });
}

static void subject_write(struct subject *s)
{
	put_abbrevs(s);
	put_info(s);
	put_ranges(s);
	put_line(s);
	elf_file_section(&s->file, (struct elf_file_section){ .name = ".text",
							      .type = SHT_PROGBITS,
							      .flags = SHF_ALLOC | SHF_EXECINSTR,
							      .vaddr = TEXT,
							      .data = s->text,
							      .len = sizeof(s->text) });
	elf_file_segment(&s->file, (struct elf_file_segment){
					   .type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = TEXT });
	put_section(s, ".debug_info", &s->info);
	put_section(s, ".debug_abbrev", &s->abbrev);
	put_section(s, ".debug_line", &s->line);
	put_section(s, s->version < 5 ? ".debug_ranges" : ".debug_rnglists", &s->ranges);
}

static void subject_open(struct subject *s)
{
	elf_file_finish(&s->file);
	CHECK_OK(image_open_memory(guarded(s->file.out.data, s->file.out.len), s->file.out.len,
				   "test", &s->image));
	s->debug = debug_info_new(s->image);
	CHECK(s->debug);
}

static void subject_deinit(struct subject *s)
{
	debug_info_free(s->debug);
	image_close(s->image);
	elf_file_deinit(&s->file);
	writer_deinit(&s->info);
	writer_deinit(&s->abbrev);
	writer_deinit(&s->line);
	writer_deinit(&s->ranges);
}

static void check_frame(const struct debug_frame *frame, const char *name, const char *file,
			uint32_t line, uint32_t decl_line)
{
	CHECK_STR(frame->linkage_name ? frame->linkage_name : frame->name, name);
	CHECK_STR(frame->file, file);
	CHECK_UINT(frame->line, line);
	CHECK_UINT(frame->decl_line, decl_line);
}

static void check_nesting(uint16_t version)
{
	CLEANUP(subject_deinit) struct subject s = { .version = version };
	struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];

	subject_write(&s);
	subject_open(&s);
	CHECK_UINT(debug_info_find(s.debug, TEXT - 1, frames), 0);
	CHECK_UINT(debug_info_find(s.debug, TEXT + 0x50, frames), 0);

	CHECK_UINT(debug_info_find(s.debug, TEXT + 0xf, frames), 1);
	check_frame(&frames[0], "outer", "/src/a.c", 10, 9);
	CHECK_UINT(frames[0].column, 3);

	CHECK_UINT(debug_info_find(s.debug, TEXT + 0x10, frames), 2);
	check_frame(&frames[0], "_Z6middlei", "/src/inc/b.h", 5, 4);
	check_frame(&frames[1], "outer", "/src/a.c", 12, 9);
	CHECK_UINT(frames[1].column, 5);

	for (uint64_t at = 0x18; at < 0x20; at++) {
		CHECK_UINT(debug_info_find(s.debug, TEXT + at, frames), 3);
		check_frame(&frames[0], "_Z5inneri", "/src/inc/b.h", 3, 2);
		CHECK_STR(frames[0].name, "inner");
		CHECK_STR(frames[0].decl_file, "/src/inc/b.h");
		CHECK_STR(frames[2].decl_file, "/src/a.c");
		check_frame(&frames[1], "_Z6middlei", "/src/inc/b.h", 6, 4);
		check_frame(&frames[2], "outer", "/src/a.c", 12, 9);
	}
	CHECK_UINT(debug_info_find(s.debug, TEXT + 0x20, frames), 2);
	CHECK_UINT(frames[0].line, 7);
	CHECK_UINT(debug_info_find(s.debug, TEXT + 0x30, frames), 1);
	CHECK_UINT(frames[0].line, 16);
	CHECK_UINT(debug_info_find(s.debug, TEXT + 0x4f, frames), 1);
	check_frame(&frames[0], "plain", "/src/a.c", 18, 9);
}

TEST(debug_info_tells_inlined_calls_apart_in_dwarf_4)
{
	check_nesting(4);
}

TEST(debug_info_tells_inlined_calls_apart_in_dwarf_5)
{
	check_nesting(5);
}

/* Without a linkage name; Ada's have their scopes in them. */
TEST(debug_info_puts_scopes_in_front_of_names_that_do_not_have_them)
{
	static const struct {
		const char *name, *found;
	} cases[] = { { "inside", "outer::inside" }, { "outer__inside", "outer__inside" }, { "outer_", "outer::outer_" } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(subject_deinit) struct subject s = { .version = 5, .nested = cases[i].name };
		struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];

		subject_write(&s);
		subject_open(&s);
		CHECK_UINT(debug_info_find(s.debug, TEXT + 0x41, frames), 1);
		CHECK_STR(frames[0].name, cases[i].found);
	}
}

TEST(debug_info_finds_units_that_do_not_say_where_they_are)
{
	CLEANUP(subject_deinit) struct subject s = { .version = 5, .no_range = true };
	struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];

	subject_write(&s);
	subject_open(&s);
	CHECK_UINT(debug_info_find(s.debug, TEXT + 0x18, frames), 3);
	CHECK_UINT(debug_info_find(s.debug, TEXT + 0x50, frames), 0);
}

TEST(debug_info_gives_lines_alone)
{
	CLEANUP(subject_deinit) struct subject s = { .version = 5 };
	const char *file = NULL;
	uint32_t line = 0;

	subject_write(&s);
	subject_open(&s);
	CHECK(debug_info_line(s.debug, TEXT + 0x19, &file, &line));
	CHECK_STR(file, "/src/inc/b.h");
	CHECK_UINT(line, 3);
	CHECK(!debug_info_line(s.debug, TEXT + 0x50, &file, &line));
	CHECK_UINT(line, 3); /* untouched */
	CHECK(!debug_info_missing(s.debug));
}

/* A call that is an instance of itself, of nothing, or of what is no entry: its name is not known, that is all. */
TEST(debug_info_survives_references_that_lead_nowhere)
{
	static const uint32_t origins[] = { 1, 11, 0x90, 0xfffffff0, 0x7fffffff };

	for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
		CLEANUP(subject_deinit)
		struct subject s = { .version = 5, .inner_origin = origins[i] };
		struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];

		subject_write(&s);
		subject_open(&s);
		CHECK_UINT(debug_info_find(s.debug, TEXT + 0x18, frames), 3);
		check_frame(&frames[2], "outer", "/src/a.c", 12, 9);
	}
}

/* Cut each section at each byte: no read beyond its end, and no answer that is not one. */
TEST(debug_info_survives_every_truncation)
{
	for (size_t section = 1; section < 5; section++) {
		for (size_t cut = 0;; cut++) {
			CLEANUP(subject_deinit) struct subject s = { .version = cut % 2 ? 4 : 5 };
			CLEANUP(image_closep) struct image *img = NULL;
			struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];

			subject_write(&s);
			if (cut >= s.file.sections[section].len)
				break;
			s.file.sections[section].len = cut;
			elf_file_finish(&s.file);
			CHECK_OK(image_open_memory(s.file.out.data, s.file.out.len, "test", &img));
			struct debug_info *debug = debug_info_new(img);

			for (uint64_t at = 0; debug && at < 0x60; at += 7)
				CHECK(debug_info_find(debug, TEXT + at, frames) <= 3);
			debug_info_free(debug);
		}
	}
}

TEST(debug_info_is_not_there_in_a_file_without)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;

	elf_file_finish(&f);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
	CHECK(!debug_info_new(img));
}
