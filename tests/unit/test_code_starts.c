/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_code_starts.c - functions that nobody names begin where calls and addresses lead.
 */
#include "symbolize/elf/code_starts.h"
#include "symbolize/elf/bundle.h"

#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <string.h>

#define CODE	 0x1000
#define CODE_LEN 0x200
#define NAMED	 0x1140 /* to 0x1150 */

/* A file of code, with one symbol. */
struct program {
	struct elf_file file;
	uint8_t code[CODE_LEN];
	struct writer part;
	struct image *img;
	struct symtab *symbols;
	struct code_starts *starts;
};

static void program_cleanup(struct program *p)
{
	code_starts_free(p->starts);
	symtab_free(p->symbols);
	image_close(p->img);
	elf_file_deinit(&p->file);
	writer_deinit(&p->part);
}

static void put_distance(struct program *p, size_t at, size_t len, uint64_t target)
{
	uint32_t distance = (uint32_t)(target - (CODE + at + len));

	for (size_t i = 0; i < 4; i++)
		p->code[at + len - 4 + i] = (uint8_t)(distance >> 8 * i);
}

static void put_call(struct program *p, size_t at, uint64_t target)
{
	p->code[at] = 0xe8;
	put_distance(p, at, 5, target);
}

static void put_lea(struct program *p, size_t at, uint64_t target)
{
	memcpy(p->code + at, "\x4c\x8d\x25", 3); /* lea ...(%rip), %r12 */
	put_distance(p, at, 7, target);
}

static void open_program(struct program *p)
{
	Elf64_Sym symbols[2] = { 0 };

	symbols[1] = (Elf64_Sym){ .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
				  .st_value = NAMED, .st_size = 0x10 };
	elf_file_section(&p->file, (struct elf_file_section){ .name = ".text", .type = SHT_PROGBITS,
							     .flags = SHF_ALLOC | SHF_EXECINSTR, .vaddr = CODE,
							     .data = p->code, .len = CODE_LEN });
	elf_file_section(&p->file, (struct elf_file_section){ .name = ".symtab", .type = SHT_SYMTAB, .data = symbols,
							     .len = sizeof(symbols), .link = (uint32_t)p->file.nsections + 2,
							     .entry_len = sizeof(symbols[0]) });
	elf_file_section(&p->file, (struct elf_file_section){ .name = ".strtab", .type = SHT_STRTAB,
							     .data = "\0named", .len = 7 });
	elf_file_segment(&p->file, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, CODE, 0, 0 });
	elf_file_finish(&p->file);
	CHECK_OK(image_open_memory(p->file.out.data, p->file.out.len, "code", &p->img));
	p->symbols = symtab_new(p->img);
	p->starts = code_starts_new(p->img, p->symbols);
}

static void put_program(struct program *p)
{
	memset(p->code, 0x55, CODE_LEN); /* push %rbp: the end of nothing */
	put_call(p, 0x00, 0x1100);
	put_call(p, 0x08, 0x1120);
	put_lea(p, 0x10, 0x1180);
	put_call(p, 0x20, 0x1090); /* in the middle of something */
	put_call(p, 0x28, NAMED + 8);
	put_call(p, 0x30, 0x5000); /* outside */
	p->code[0xff] = 0xc3;
	memcpy(p->code + 0x11b, "\xe9\x00\x00\x00\x00", 5);
	memcpy(p->code + 0x147, "\x90", 1);
	p->code[0x17f] = 0xcc;
}

TEST(code_starts_are_where_calls_and_addresses_lead)
{
	static const struct {
		uint64_t vaddr, start;
	} cases[] = {
		{ 0x10ff, 0 }, { 0x1100, 0x1100 }, { 0x111f, 0x1100 }, { 0x1120, 0x1120 }, { 0x113f, 0x1120 },
		{ NAMED + 0x10, 0 }, /* a symbol lies between, and what is called in it is none of ours */
		{ 0x117f, 0 },	     { 0x1180, 0x1180 }, { 0x11ff, 0x1180 },
	};
	CLEANUP(program_cleanup) struct program p = { 0 };

	put_program(&p);
	open_program(&p);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_UINT(code_starts_find(p.starts, cases[i].vaddr), cases[i].start);
	CHECK_UINT(code_starts_find(p.starts, 0x1180 + 0xffff), 0x1180);
	CHECK_UINT(code_starts_find(p.starts, 0x1180 + 0x10000), 0);
	CHECK_UINT(code_starts_end(p.starts, 0x1100), 0x1120);
	CHECK_UINT(code_starts_end(p.starts, 0x1120), NAMED);
	CHECK_UINT(code_starts_end(p.starts, 0x1180), 0x1180 + 0x10000);
}

/* gcc -Os puts a function right behind a call that does not return. What is no prologue may be the call's own function. */
TEST(code_starts_may_follow_a_call_that_never_returns)
{
	static const struct {
		const char *code;
		uint64_t start;
	} cases[] = {
		{ "\x55", 0x1100 }, { "\x41\x57", 0x1100 }, { "\x48\x83\xec\x18", 0x1100 }, { "\xf3\x0f\x1e\xfa", 0x1100 },
		{ "\x50", 0 },	    { "\x41\x58", 0 },	     { "\x48\x89\xc3", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (int indirect = 0; indirect < 2; indirect++) {
			CLEANUP(program_cleanup) struct program p = { 0 };

			memset(p.code, 0x55, CODE_LEN);
			put_call(&p, 0x00, 0x1100);
			memcpy(p.code + 0xfa, indirect ? "\xff\x15\x00\x10\x00\x00" : "\x55\xe8\x00\x10\x00\x00", 6);
			memcpy(p.code + 0x100, cases[i].code, strlen(cases[i].code));
			open_program(&p);
			CHECK_UINT(code_starts_find(p.starts, 0x1110), cases[i].start);
		}
	}
}

/* Where a file is not moved, main() is a number in start code: mov $0x1100, %rdi; and mov $0x1120, %esi. */
TEST(code_starts_are_numbers_in_a_file_that_is_not_moved)
{
	for (int fixed = 0; fixed < 2; fixed++) {
		CLEANUP(program_cleanup) struct program p = { .file.type = fixed ? ET_EXEC : ET_DYN };

		memset(p.code, 0x55, CODE_LEN);
		memcpy(p.code + 0x10, "\x48\xc7\xc7\x00\x11\x00\x00", 7);
		memcpy(p.code + 0x20, "\xbe\x20\x11\x00\x00", 5);
		p.code[0xff] = p.code[0x11f] = 0xc3;
		open_program(&p);
		CHECK_UINT(code_starts_find(p.starts, 0x1110), fixed ? 0x1100 : 0);
		CHECK_UINT(code_starts_find(p.starts, 0x1130), fixed ? 0x1120 : 0);
	}
}

TEST(code_starts_cost_nothing_beforehand_where_there_is_a_table)
{
	static const uint8_t table[CODE_LEN / 64 + 1];

	for (size_t len = sizeof(table) - 1; len <= sizeof(table); len++) {
		CLEANUP(program_cleanup) struct program p = { 0 };
		bool looks = len < sizeof(table);

		put_program(&p);
		elf_file_section(&p.file, (struct elf_file_section){ .name = ".eh_frame", .type = SHT_PROGBITS,
								    .flags = SHF_ALLOC, .vaddr = 0x3000,
								    .data = table, .len = len });
		open_program(&p);
		CHECK_UINT(code_starts_cost(p.img), looks ? CODE_LEN : 0);
		CHECK_UINT(code_starts_find(p.starts, 0x1108), 0x1100);
	}
}

/* A bundle has not the code that leads there, but says where; and the code from there up to the addresses. */
TEST(code_starts_travel_in_a_bundle)
{
	static const struct bundle_address addresses[] = { { 0x1108, 1 }, { 0x1110, 1 }, { 0x1190, 1 } };
	CLEANUP(program_cleanup) struct program p = { 0 };
	CLEANUP(program_cleanup) struct program part = { 0 };
	struct bundle_counts counts;
	size_t len;

	put_program(&p);
	open_program(&p);
	const struct bundle_source source = {
		.image = p.img, .symbols = p.symbols, .addresses = addresses, .naddresses = ARRAY_LEN(addresses), .hot = 100,
	};

	bundle_write(&source, &part.part, &counts);
	CHECK_OK(image_open_memory(part.part.data, part.part.len, "part", &part.img));
	part.symbols = symtab_new(part.img);
	part.starts = code_starts_new(part.img, part.symbols);
	CHECK_UINT(code_starts_find(part.starts, 0x1110), 0x1100);
	CHECK_UINT(code_starts_find(part.starts, 0x1190), 0x1180);
	CHECK_UINT(code_starts_find(part.starts, 0x1130), 0x1100); /* which was not sampled */
	CHECK(image_bytes_at(part.img, 0x1100, &len) && len >= 0x20);
	CHECK(image_bytes_at(part.img, 0x1180, &len) && len >= 0x20);
	CHECK(!image_bytes_at(part.img, 0x1000, &len));
}
