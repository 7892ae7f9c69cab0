/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exported_labels.c - a label that an assembler exports does not name the functions behind it.
 */
#include "symbolize/elf/symtab.h"

#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <string.h>

#define CODE	 0x1000
#define CODE_LEN 0x1000
#define LABEL	 0x1100
#define HIDDEN	 0x1400 /* a function that is called, and not exported */

struct library {
	struct elf_file file;
	uint8_t code[CODE_LEN];
	struct image *img;
	struct symtab *symbols;
};

static void library_cleanup(struct library *l)
{
	symtab_free(l->symbols);
	image_close(l->img);
	elf_file_deinit(&l->file);
}

static void put_code(struct library *l)
{
	uint32_t distance = HIDDEN - (CODE + 5);

	memset(l->code, 0x55, CODE_LEN); /* push %rbp: the end of nothing */
	l->code[0] = 0xe8;
	memcpy(l->code + 1, &distance, sizeof(distance));
	l->code[HIDDEN - CODE - 1] = 0xc3;
}

static void open_library(struct library *l, const char *table, uint32_t type, uint64_t len)
{
	Elf64_Sym symbols[2] = { 0 };

	put_code(l);
	symbols[1] = (Elf64_Sym){ .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), .st_shndx = 1,
				  .st_value = LABEL, .st_size = len };
	elf_file_section(&l->file, (struct elf_file_section){ .name = ".text", .type = SHT_PROGBITS,
							     .flags = SHF_ALLOC | SHF_EXECINSTR, .vaddr = CODE,
							     .data = l->code, .len = CODE_LEN });
	elf_file_section(&l->file, (struct elf_file_section){ .name = table, .type = type, .data = symbols, .len = sizeof(symbols),
							     .link = (uint32_t)l->file.nsections + 2,
							     .entry_len = sizeof(symbols[0]) });
	elf_file_section(&l->file, (struct elf_file_section){ .name = ".strtab", .type = SHT_STRTAB, .data = "\0label", .len = 7 });
	elf_file_segment(&l->file, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, CODE, 0, 0 });
	elf_file_finish(&l->file);
	CHECK_OK(image_open_memory(l->file.out.data, l->file.out.len, "library", &l->img));
}

#define CLEANUP_LIBRARY __attribute__((cleanup(library_cleanup)))

TEST(exported_labels_end_where_a_call_leads)
{
	static const uint64_t asked[] = { LABEL + 0x20, HIDDEN + 8 };

	for (int near = 0; near < 2; near++) {
		CLEANUP_LIBRARY struct library l = { 0 };

		open_library(&l, ".dynsym", SHT_DYNSYM, 0);
		l.symbols = near ? symtab_new_near(l.img, asked, ARRAY_LEN(asked)) : symtab_new(l.img);
		const struct symtab_entry *entry = symtab_find(l.symbols, asked[0]);

		CHECK(entry);
		CHECK_UINT(symtab_end(l.symbols, entry), HIDDEN);
		CHECK(!symtab_find(l.symbols, asked[1]));
	}
}

/* As in the whole table, also where no address behind the end is asked for. */
TEST(exported_labels_end_alike_for_some_addresses)
{
	static const uint64_t asked[] = { LABEL + 0x20 };
	CLEANUP_LIBRARY struct library l = { 0 };

	open_library(&l, ".dynsym", SHT_DYNSYM, 0);
	l.symbols = symtab_new_near(l.img, asked, ARRAY_LEN(asked));
	CHECK_UINT(symtab_end(l.symbols, symtab_find(l.symbols, asked[0])), HIDDEN);
}

TEST(exported_labels_with_a_length_or_among_all_symbols_reach_as_far_as_they_say)
{
	static const struct {
		const char *table;
		uint32_t type;
		uint64_t len, end;
	} cases[] = { { ".dynsym", SHT_DYNSYM, 0x800, LABEL + 0x800 }, { ".symtab", SHT_SYMTAB, 0, CODE + CODE_LEN } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP_LIBRARY struct library l = { 0 };

		open_library(&l, cases[i].table, cases[i].type, cases[i].len);
		l.symbols = symtab_new(l.img);
		const struct symtab_entry *entry = symtab_find(l.symbols, HIDDEN);

		CHECK(entry);
		CHECK_UINT(symtab_end(l.symbols, entry), cases[i].end);
	}
}
