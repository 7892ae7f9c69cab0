/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bombs.c - small files that stand for more than they are: what they ask for is refused, and what is
 * beside it in the same file is used all the same.
 *
 * Each would take gigabytes, or minutes, if it were believed. What is inside one module's walls (loops of
 * expressions, headers that lie, cut tables) is in that module's test.
 */
#include "tests/unit/test.h"

#include "formats/base/memory.h"
#include "formats/base/writer.h"
#include "record/embed/perf_map.h"
#include "symbolize/debug/line_header.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"
#include "tests/unit/elf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#define TEXT 0x1000
#define MIB  ((size_t)1 << 20)

/* A compressed section of @len zeros: a thousandth of that. */
static void put_zeros(struct writer *w, size_t len)
{
	CLEANUP(memory_freep) uint8_t *zeros = memory_zeroed(1, len);
	uLongf packed_len = compressBound(len);
	CLEANUP(memory_freep) uint8_t *packed = memory_alloc(packed_len);

	CHECK(compress(packed, &packed_len, zeros, len) == Z_OK);
	writer_u32(w, ELFCOMPRESS_ZLIB);
	writer_u32(w, 0);
	writer_u64(w, len);
	writer_u64(w, 1);
	writer_bytes(w, packed, packed_len);
}

static void add_section(struct elf_file *f, const char *name, uint32_t type, uint64_t flags,
			const struct writer *content)
{
	elf_file_section(f, (struct elf_file_section){ .name = name,
						       .type = type,
						       .flags = flags,
						       .data = content->data,
						       .len = content->len });
}

static void add_text(struct elf_file *f)
{
	static const uint8_t text[0x100];

	elf_file_section(f, (struct elf_file_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .vaddr = TEXT,
						       .data = text,
						       .len = sizeof(text) });
	elf_file_segment(f, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, TEXT, 0, 0 });
}

/* Of many sections that expand a thousand times, a file gets some, and the rest is refused. */
TEST(bombs_of_compressed_sections_expand_to_a_bounded_sum)
{
	static const char *const names[] = { ".debug_a", ".debug_b", ".debug_c", ".debug_d",
					     ".debug_e", ".debug_f", ".debug_g", ".debug_h" };
	CLEANUP(writer_deinit) struct writer zeros = { 0 };
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct image_section s;
	size_t expanded = 0;

	put_zeros(&zeros, 6 * MIB);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		add_section(&f, names[i], SHT_PROGBITS, SHF_COMPRESSED, &zeros);
	elf_file_finish(&f);
	CHECK(f.out.len < MIB / 10);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		expanded += image_section(img, names[i], &s) ? s.len : 0;
	CHECK(expanded >= 6 * MIB && expanded <= 16 * MIB);
}

/* What a trace embeds is never compressed: an image of 20 MiB of zeros, which cost it nothing, gets no 200 times that. */
TEST(bombs_of_embedded_images_do_not_grow_with_their_length)
{
	CLEANUP(memory_freep) uint8_t *padding = memory_zeroed(1, 20 * MIB);
	CLEANUP(writer_deinit) struct writer zeros = { 0 };
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct image_section s;

	put_zeros(&zeros, 40 * MIB);
	add_section(&f, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, &zeros);
	elf_file_section(&f, (struct elf_file_section){ .name = ".padding",
							.type = SHT_PROGBITS,
							.data = padding,
							.len = 20 * MIB });
	elf_file_finish(&f);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
	CHECK(!image_section(img, ".debug_info", &s));
	CHECK(image_defect(img));
}

/* A file of a few kilobytes on disk that says it is terabytes long, as a header at its beginning or what it holds. */
TEST(bombs_of_sparse_files_count_by_what_they_store)
{
	CLEANUP(writer_deinit) struct writer zeros = { 0 };
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct image_section s;
	FILE *file = tmpfile();

	CHECK(file);
	put_zeros(&zeros, 40 * MIB);
	add_section(&f, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, &zeros);
	elf_file_finish(&f);
	CHECK_UINT(fwrite(f.out.data, 1, f.out.len, file), f.out.len);
	fflush(file);
	CHECK_INT(ftruncate(fileno(file), (off_t)(64 * MIB)), 0);
	CHECK_OK(image_open_fd(dup(fileno(file)), "sparse", &img));
	CHECK(!image_section(img, ".debug_info", &s));
	fclose(file);
}

TEST(bombs_of_section_headers_are_refused)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	FILE *file = tmpfile();
	Elf64_Ehdr head;

	CHECK(file);
	add_text(&f);
	elf_file_finish(&f);
	memcpy(&head, f.out.data, sizeof(head));
	head.e_shoff = 4096; /* in a hole: section 0 says how many there are */
	head.e_shnum = 0;
	CHECK_UINT(fwrite(&head, 1, sizeof(head), file), sizeof(head));
	Elf64_Shdr first = { .sh_size = (8 * MIB) };

	CHECK_INT(fseek(file, 4096, SEEK_SET), 0);
	CHECK_UINT(fwrite(&first, 1, sizeof(first), file), sizeof(first));
	fflush(file);
	CHECK_INT(ftruncate(fileno(file), (off_t)(513 * MIB)), 0);
	CHECK_ERR(image_open_fd(dup(fileno(file)), "sparse", &img), ERR_UNSUPPORTED,
		  "section and");
	fclose(file);
}

/* 32 MiB of zeros in some kilobytes of .gnu_debugdata: its own symbols are those that are left. */
TEST(bombs_of_gnu_debugdata_are_no_symbols)
{
	CLEANUP(memory_freep) uint8_t *zeros = memory_zeroed(1, 32 * MIB);
	CLEANUP(memory_freep) uint8_t *packed = memory_alloc(MIB);
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct symtab *tab;
	size_t len = 0, count;

	CHECK(lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, zeros, 32 * MIB, packed, &len,
				      MIB) == LZMA_OK);
	CHECK(len < MIB / 10);
	add_text(&f);
	elf_file_section(&f, (struct elf_file_section){ .name = ".gnu_debugdata",
							.type = SHT_PROGBITS,
							.data = packed,
							.len = len });
	elf_file_finish(&f);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
	tab = symtab_new(img);
	symtab_entries(tab, &count);
	CHECK_UINT(count, 0);
	CHECK(image_defect(img));
	symtab_free(tab);
}

/* A header that declares @count symbols, of which one is there. */
static void check_declared(uint64_t count)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct writer names = { 0 }, symbols = { 0 };
	struct symtab *tab = NULL;
	Elf64_Sym sym = { .st_name = 1,
			  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			  .st_shndx = 1,
			  .st_value = TEXT,
			  .st_size = 16 };
	Elf64_Shdr header;
	Elf64_Ehdr file;
	size_t at, found;
	struct err *err;

	writer_bytes(&names, "\0only\0", 6);
	writer_bytes(&symbols, &(Elf64_Sym){ 0 }, sizeof(sym));
	writer_bytes(&symbols, &sym, sizeof(sym));
	add_text(&f);
	add_section(&f, ".strtab", SHT_STRTAB, 0, &names);
	elf_file_section(&f, (struct elf_file_section){ .name = ".symtab",
							.type = SHT_SYMTAB,
							.link = 2,
							.entry_len = sizeof(sym),
							.data = symbols.data,
							.len = symbols.len });
	elf_file_finish(&f);
	memcpy(&file, f.out.data, sizeof(file));
	at = file.e_shoff + 3 * sizeof(header);
	memcpy(&header, f.out.data + at, sizeof(header));
	CHECK_UINT(header.sh_type, SHT_SYMTAB);
	header.sh_size = count * sizeof(sym);
	memcpy(f.out.data + at, &header, sizeof(header));
	err = image_open_memory(f.out.data, f.out.len, "test", &img);
	if (!err) {
		tab = symtab_new(img);
		symtab_entries(tab, &found);
		CHECK(found <= 1);
	}
	err_free(err);
	symtab_free(tab);
	writer_deinit(&names);
	writer_deinit(&symbols);
}

TEST(bombs_of_symbol_tables_declare_what_is_not_there)
{
	check_declared(2);
	check_declared(3);
	check_declared(4000000000);
	check_declared(UINT64_MAX / sizeof(Elf64_Sym));
}

/* Gigabytes without a line, sparse: what comes before counts, and what lies behind is not waited for. */
TEST(bombs_of_perf_maps_are_read_as_far_as_a_map_may_go)
{
	static const char first[] = "1000 10 first\n", last[] = "\n2000 10 last\n";
	static const uint64_t addresses[] = { 0x1000, 0x2000 };
	CLEANUP(writer_deinit) struct writer out = { 0 };
	FILE *file = tmpfile();
	off_t end = (off_t)3 << 30;
	uint64_t left = UINT64_MAX;
	struct rusage before, after;

	CHECK(file);
	CHECK(pwrite(fileno(file), first, sizeof(first) - 1, 0) == sizeof(first) - 1);
	CHECK(pwrite(fileno(file), last, sizeof(last) - 1, end) == sizeof(last) - 1);
	getrusage(RUSAGE_SELF, &before);
	CHECK(!perf_map_filter(file, addresses, ARRAY_LEN(addresses), &left, &out));
	CHECK_UINT(UINT64_MAX - left, sizeof(first) - 1); /* zeros are no text */
	getrusage(RUSAGE_SELF, &after);
	fclose(file);
	CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024); /* KiB: no line is held in memory */
	CHECK_UINT(out.len, sizeof(first) - 1);
	CHECK_MEM(out.data, first, sizeof(first) - 1);
}

/* As many kept lines as one likes: the trace gets a bounded part of them. */
TEST(bombs_of_perf_maps_leave_a_bounded_part_in_the_trace)
{
	static const uint64_t address = 0x1000;
	CLEANUP(writer_deinit) struct writer out = { 0 };
	FILE *file = tmpfile();
	uint64_t left = UINT64_MAX;
	char line[256];

	CHECK(file);
	snprintf(line, sizeof(line), "1000 10 %0200d\n", 0);
	for (size_t i = 0; i < 40 * MIB / strlen(line); i++)
		fputs(line, file);
	rewind(file);
	CHECK(!perf_map_filter(file, &address, 1, &left, &out));
	fclose(file);
	CHECK(out.len > MIB && out.len < 17 * MIB);
	CHECK(out.data[out.len - 1] == '\n'); /* whole lines */
}

/* A long file is read as far as the budget goes. */
TEST(bombs_of_perf_maps_are_read_as_far_as_the_budget_goes)
{
	static const uint64_t address = 0x1000;
	CLEANUP(writer_deinit) struct writer out = { 0 };
	FILE *file = tmpfile();
	uint64_t left = MIB;

	CHECK(file);
	for (size_t i = 0; i < 2 * MIB / 16; i++)
		fputs("2000 10 other12\n", file);
	rewind(file);
	CHECK(!perf_map_filter(file, &address, 1, &left, &out));
	CHECK_UINT(left, 0);
	fclose(file);
}

/* A CIE whose length says that it goes on for ever, one that is its own CIE, an FDE that is its own. */
TEST(bombs_of_eh_frame_lead_back_to_themselves)
{
	static const uint32_t entries[][4] = {
		{ 12, 4, 0x1000, 0x10 },	  /* the CIE of the FDE is the FDE */
		{ 12, 0x7fffffff, 0x1000, 0x10 }, /* is before the section */
		{ 0xfffffff0, 0, 0, 0 },	  /* longer than the section */
		{ 12, 0, 0x00527a01, 0 },	  /* a CIE that ends in its augmentation */
	};

	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		CLEANUP(writer_deinit) struct writer section = { 0 };
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(image_closep) struct image *img = NULL;
		struct cfi_section *cfi;
		struct cfi_fde fde;

		for (size_t k = 0; k < 4; k++)
			writer_u32(&section, entries[i][k]);
		add_text(&f);
		elf_file_section(&f, (struct elf_file_section){ .name = ".eh_frame",
								.type = SHT_PROGBITS,
								.flags = SHF_ALLOC,
								.vaddr = 0x3000,
								.data = section.data,
								.len = section.len });
		elf_file_finish(&f);
		CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
		cfi = cfi_section_new(img);
		CHECK(!cfi || !cfi_section_find(cfi, 0x1004, &fde));
		cfi_section_free(cfi);
	}
}

/* ---- debug information ---- */

/* A source of nothing but @w in one section. */
static void init_source(struct debug_source *ret, enum debug_section section, const struct writer *w)
{
	*ret = (struct debug_source){ 0 };
	ret->sections[section] = (struct debug_bytes){ w->data, w->len };
	debug_source_ready(ret);
}

/* One abbreviation; the table goes on with the next. */
static void put_abbreviation(struct writer *w, uint64_t code)
{
	writer_uleb(w, code);
	writer_uleb(w, DW_TAG_variable);
	writer_u8(w, false);
	writer_uleb(w, DW_AT_name);
	writer_uleb(w, DW_FORM_string);
	writer_u16(w, 0);
}

#define NTABLES 1000

/* Where @separate, each of a thousand tables of three has its own end; else one table begins at a thousand places. */
static size_t find_last_abbreviations(bool separate, size_t *ret_left)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	CLEANUP(debug_source_deinit) struct debug_source source;
	uint64_t offsets[NTABLES];
	size_t found = 0;

	for (unsigned i = 0; i < NTABLES; i++) {
		offsets[i] = w.len;
		for (unsigned k = 0; k < 3; k++)
			put_abbreviation(&w, separate ? k + 1 : 3 * i + k + 1);
		if (separate)
			writer_u8(&w, 0);
	}
	writer_u8(&w, 0);
	init_source(&source, DEBUG_ABBREV, &w);
	for (unsigned i = 0; i < NTABLES; i++)
		found += abbrevs_find(debug_source_abbrevs(&source, offsets[i]), separate ? 3 : 3 * NTABLES) != NULL;
	*ret_left = source.abbrev_budget;
	return found;
}

/* Each is read to its end, but not for ever: some are, and then there is nothing more to be had. */
TEST(bombs_of_abbreviations_lie_in_each_other)
{
	size_t left;

	CHECK_UINT(find_last_abbreviations(/* separate= */ true, &left), NTABLES);
	size_t found = find_last_abbreviations(/* separate= */ false, &left);

	CHECK(found >= 4 && found < 10);
	CHECK(left < 10);
}

/* A line table without directories, files and rows whose length is said to be @len, 0: its own. */
static void put_line_table(struct writer *w, uint32_t len)
{
	static const uint8_t tables[] = { 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0 };

	writer_u32(w, len ? len : 6 + sizeof(tables));
	writer_u16(w, 4);
	writer_u32(w, sizeof(tables));
	writer_bytes(w, tables, sizeof(tables));
}

#define LINE_TABLE_LEN 30

/* @separate as above; what lies in each other reaches to the end of the section. */
static size_t read_line_tables(bool separate, size_t *ret_left)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	CLEANUP(debug_source_deinit) struct debug_source source;
	size_t found = 0;

	for (uint32_t i = 0; i < NTABLES; i++)
		put_line_table(&w, separate ? 0 : (NTABLES - i) * LINE_TABLE_LEN - 4);
	CHECK_UINT(w.len, NTABLES * LINE_TABLE_LEN);
	init_source(&source, DEBUG_LINE, &w);
	for (size_t i = 0; i < NTABLES; i++) {
		struct debug_unit unit = { .source = &source,
					   .has_lines = true,
					   .line_offset = i * LINE_TABLE_LEN,
					   .sizes = { .addr = 8, .offset = 4 } };
		struct line_header header;
		struct reader program;

		found += line_header_read(&unit, &header, &program);
		line_header_deinit(&header);
	}
	*ret_left = source.line_budget;
	return found;
}

TEST(bombs_of_line_tables_lie_in_each_other)
{
	size_t left;

	CHECK_UINT(read_line_tables(/* separate= */ true, &left), NTABLES);
	size_t found = read_line_tables(/* separate= */ false, &left);

	CHECK(found >= 4 && found < NTABLES / 4); /* short ones still have room */
	CHECK(left < LINE_TABLE_LEN);
}
