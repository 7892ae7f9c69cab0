/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_go_table.c - Go's own table of functions: names, rules, where code begins, in each version of it.
 */
#include "symbolize/elf/go_table.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/unwind/cfi_program.h"

#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <string.h>

#define CODE	  0x401000
#define CODE_LEN  0x1000
#define TABLE	  0x500000
#define MODULE	  0x600000
#define GO_116	  0xfffffffa
#define GO_118	  0xfffffff0
#define GO_120	  0xfffffff1
#define NOT_THERE 0 /* no such word in the header: Go 1.26 */

/* Functions in order of address, at CODE and at these distances from it. */
static const struct {
	const char *name;
	uint32_t begin;
	uint8_t flag;
	const char *stream; /* pairs of change (zigzag) and distance */
} functions[] = {
	{ "main.work", 0, 0, "\x02\x04\x30\x0c\x2f\x10" }, /* 0 for 4, 24 for 12, 0 for 16 bytes: padding up to 0x40 */
	{ "runtime.goexit", 0x40, 1, "\x02\x10" },
	{ "runtime.sigtramp", 0x60, 1, "\x12\x20" }, /* 8 */
	{ "main.odd", 0x80, 0, "\x08\x20" },	 /* 3: no stack pointer is so */
	{ "_rt0_amd64_linux", 0xa0, 0, "\x02\x20" },
};

#define FUNCTIONS ARRAY_LEN(functions)

/* How the table is written. */
struct form {
	uint32_t magic;
	uint64_t text; /* in the header */
	bool moved;    /* addresses are not those of the file, as where they are relocated */
};

static void put_at(struct writer *w, size_t at, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		w->data[at + i] = (uint8_t)(value >> 8 * i);
}

/* Header of up to 9 words; names; streams; table and records. */
static void write_table(struct writer *w, struct form form)
{
	bool old = form.magic == GO_116;
	size_t len = old ? 8 : 4, header = 8, names[FUNCTIONS], streams[FUNCTIONS], table;
	size_t at = header + (old ? 16 : 24);

	writer_u32(w, form.magic);
	writer_u16(w, 0);
	writer_u8(w, 1);
	writer_u8(w, 8);
	for (size_t i = 0; i < 8; i++)
		writer_u64(w, i == 0 ? FUNCTIONS : i == 2 && !old ? form.text : 0);
	put_at(w, at, w->len, 8);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		names[i] = w->len - (size_t)(8 + 64);
		writer_bytes(w, functions[i].name, strlen(functions[i].name) + 1);
	}
	size_t base = w->len;

	put_at(w, at + 24, base, 8);
	writer_u8(w, 0); /* a stream at 0 is none */
	for (size_t i = 0; i < FUNCTIONS; i++) {
		streams[i] = w->len - base;
		writer_bytes(w, functions[i].stream, strlen(functions[i].stream));
		writer_u16(w, 0);
	}
	table = w->len;
	put_at(w, at + 32, table, 8);
	for (size_t i = 0; i <= FUNCTIONS; i++) {
		uint64_t begin = (i < FUNCTIONS ? functions[i].begin : 0xc0) + (old && !form.moved ? CODE : 0);

		writer_u64(w, begin);
		w->len -= 8 - len;
		if (i == FUNCTIONS)
			break;
		writer_u64(w, 0);
		w->len -= 8 - len;
	}
	for (size_t i = 0; i < FUNCTIONS; i++) {
		put_at(w, table + (2 * i + 1) * len, w->len - table, len);
		writer_u64(w, functions[i].begin);
		w->len -= 8 - len;
		writer_u32(w, (uint32_t)names[i]);
		writer_u32(w, 0);
		writer_u32(w, 0);
		writer_u32(w, (uint32_t)streams[i]);
		for (size_t word = 0; word < (form.magic == GO_120 ? 5u : 4u); word++)
			writer_u32(w, 0); /* files, lines, tables, unit, first line */
		writer_u8(w, 0);
		writer_u8(w, functions[i].flag);
		writer_u16(w, 0);
	}
}

/* A program with the table, and what reads it. */
struct program {
	struct elf_file file;
	struct writer table, module;
	struct image *img;
	struct go_table *go;
};

static void program_cleanup(struct program *p)
{
	go_table_free(p->go);
	image_close(p->img);
	elf_file_deinit(&p->file);
	writer_deinit(&p->table);
	writer_deinit(&p->module);
}

static void open_program(struct program *p)
{
	static uint8_t code[CODE_LEN];

	elf_file_section(&p->file, (struct elf_file_section){ .name = ".text", .type = SHT_PROGBITS,
							     .flags = SHF_ALLOC | SHF_EXECINSTR, .vaddr = CODE,
							     .data = code, .len = sizeof(code) });
	elf_file_section(&p->file, (struct elf_file_section){ .name = ".gopclntab", .type = SHT_PROGBITS,
							     .flags = SHF_ALLOC, .vaddr = TABLE,
							     .data = p->table.data, .len = p->table.len });
	if (p->module.len)
		elf_file_section(&p->file, (struct elf_file_section){ .name = ".go.module", .type = SHT_PROGBITS,
								     .flags = SHF_ALLOC, .vaddr = MODULE,
								     .data = p->module.data,
								     .len = p->module.len });
	elf_file_segment(&p->file, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, CODE, 0, 0 });
	elf_file_finish(&p->file);
	CHECK_OK(image_open_memory(guarded(p->file.out.data, p->file.out.len), p->file.out.len, "go", &p->img));
	p->go = go_table_new(p->img);
}

static uint64_t cfa_offset_at(const struct cfi_fde *fde, uint64_t vaddr)
{
	struct cfi_rules *rules = cfi_rules_new();
	uint32_t number;
	uint64_t offset;

	CHECK(cfi_program_find(rules, &arch_x86_64, fde, vaddr, &number));
	const struct cfi_rule *rule = cfi_rules_get(rules, number);

	CHECK_UINT(rule->cfa_reg, 7);
	offset = cfi_rule_is_root(rule) ? 0 : (uint64_t)rule->cfa_value;
	cfi_rules_free(rules);
	return offset;
}

static void check_program(const struct program *p)
{
	struct go_function f;
	struct cfi_fde fde;
	size_t index;

	CHECK(p->go);
	CHECK_UINT(go_table_count(p->go), FUNCTIONS);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		CHECK(go_table_function(p->go, i, &f));
		CHECK_STR(f.name, functions[i].name);
		CHECK_UINT(f.begin, CODE + functions[i].begin);
		CHECK(go_table_find(p->go, f.begin, &index) && index == i);
		CHECK(go_table_find(p->go, f.end - 1, &index) && index == i);
	}
	CHECK(!go_table_find(p->go, CODE - 1, &index));
	CHECK(!go_table_find(p->go, CODE + 0xc0, &index));
	CHECK(!go_table_function(p->go, FUNCTIONS, &f));
	CHECK(go_table_fde(p->go, 0, &fde));
	CHECK_UINT(fde.begin, CODE);
	CHECK_UINT(fde.end, CODE + 0x20); /* without the padding */
	CHECK_UINT(cfa_offset_at(&fde, CODE + 3), 8);
	CHECK_UINT(cfa_offset_at(&fde, CODE + 4), 32);
	CHECK_UINT(cfa_offset_at(&fde, CODE + 15), 32);
	CHECK_UINT(cfa_offset_at(&fde, CODE + 16), 8);
	CHECK(!go_table_fde(p->go, 3, &fde));
}

TEST(go_table_reads_every_version)
{
	static const struct form forms[] = { { GO_116, 0, false }, { GO_118, CODE, false }, { GO_120, CODE, false } };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		CLEANUP(program_cleanup) struct program p = { 0 };
		struct cfi_fde fde;

		write_table(&p.table, forms[i]);
		open_program(&p);
		check_program(&p);
		CHECK(go_table_fde(p.go, 1, &fde));
		CHECK_UINT(cfa_offset_at(&fde, CODE + 0x44), 0); /* the root */
		CHECK_UINT(fde.end, CODE + 0x60);
		/* Said to be a root, too, but the signal's frame lies above it. */
		CHECK(go_table_fde(p.go, 2, &fde));
		CHECK_UINT(cfa_offset_at(&fde, CODE + 0x60), 16);
	}
}

/* The header of Go 1.26 does not say where code begins. */
TEST(go_table_finds_where_code_begins)
{
	for (int by_module = 0; by_module < 2; by_module++) {
		CLEANUP(program_cleanup) struct program p = { 0 };

		write_table(&p.table, (struct form){ GO_120, NOT_THERE, false });
		for (size_t i = 0; by_module && i < 23; i++)
			writer_u64(&p.module, i == 0 ? TABLE : i == 22 ? CODE : 0);
		p.file.entry = by_module ? CODE + 1 : CODE + 0xa0;
		open_program(&p);
		check_program(&p);
	}
}

TEST(go_table_believes_no_place_outside_the_code)
{
	static const struct form forms[] = { { GO_116, 0, true },
					     { GO_120, NOT_THERE, false },
					     { GO_120, CODE + CODE_LEN - 0x80, false },
					     { GO_120 + 1, CODE, false } };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		CLEANUP(program_cleanup) struct program p = { 0 };

		write_table(&p.table, forms[i]);
		open_program(&p);
		CHECK(!p.go);
	}
}

TEST(go_table_names_functions_and_unwinds_where_nothing_else_does)
{
	CLEANUP(program_cleanup) struct program p = { 0 };
	struct cfi_fde fde;
	size_t pos = 0, count = 0;

	write_table(&p.table, (struct form){ GO_120, CODE, false });
	open_program(&p);
	struct symtab *symbols = symtab_new(p.img);
	const struct symtab_entry *entry = symtab_find(symbols, CODE + 0x45);

	CHECK(entry);
	CHECK_STR(entry->name, "runtime.goexit");
	CHECK_UINT(entry->vaddr, CODE + 0x40);
	symtab_free(symbols);

	struct cfi_section *cfi = cfi_section_new(p.img);

	CHECK(cfi && cfi_section_find(cfi, CODE + 4, &fde) && fde.from_go);
	CHECK(!cfi_section_find(cfi, CODE + 0x20, &fde)); /* padding */
	CHECK(!cfi_section_find(cfi, CODE + 0x80, &fde));
	while (cfi_section_each(cfi, &pos, &fde))
		count++;
	CHECK_UINT(count, FUNCTIONS - 1);
	cfi_section_free(cfi);
}

TEST(go_table_survives_every_damage_of_a_byte_and_every_length)
{
	struct writer whole = { 0 };
	struct cfi_fde fde;
	struct go_function f;

	write_table(&whole, (struct form){ GO_120, CODE, false });
	for (size_t i = 0; i < 2 * whole.len; i++) {
		CLEANUP(program_cleanup) struct program p = { 0 };

		writer_bytes(&p.table, whole.data, i < whole.len ? whole.len : i - whole.len + 1);
		if (i < whole.len)
			p.table.data[i] ^= 0xff;
		open_program(&p);
		for (size_t n = 0; p.go && n < 2 * FUNCTIONS; n++) {
			if (!go_table_function(p.go, n, &f) || !go_table_fde(p.go, n, &fde))
				continue;
			CHECK(fde.begin < fde.end && fde.end <= f.end);
		}
	}
	writer_deinit(&whole);
}
