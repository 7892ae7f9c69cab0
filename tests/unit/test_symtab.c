/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/elf/object_table.h"
#include "symbolize/elf/symtab.h"
#include "tests/unit/elf_file.h"
#include "tests/unit/unwind_world.h"

#include <elf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 0x1000
#define DATA 0x8000

/* A file with a .text of 4 KiB, a .data, and symbols that are added one by one. */
struct subject {
	struct elf_file file;
	struct writer symbols, names;
	uint8_t text[0x1000], data[16];
	struct image *image;
	struct symtab *tab;
};

static void subject_init(struct subject *s)
{
	*s = (struct subject){ 0 };
	elf_file_section(&s->file, (struct elf_file_section){ .name = ".text",
							      .type = SHT_PROGBITS,
							      .flags = SHF_ALLOC | SHF_EXECINSTR,
							      .vaddr = TEXT,
							      .data = s->text,
							      .len = sizeof(s->text) });
	elf_file_section(&s->file, (struct elf_file_section){ .name = ".data",
							      .type = SHT_PROGBITS,
							      .flags = SHF_ALLOC | SHF_WRITE,
							      .vaddr = DATA,
							      .data = s->data,
							      .len = sizeof(s->data) });
	elf_file_segment(&s->file, (struct elf_file_segment){
					   .type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = TEXT });
	for (int i = 0; i < 3; i++)
		writer_u64(&s->symbols, 0); /* number 0 is no symbol */
	writer_string(&s->names, "");
}

static void put_symbol(struct subject *s, const char *name, const Elf64_Sym *sym)
{
	writer_u32(&s->symbols, (uint32_t)s->names.len);
	writer_u8(&s->symbols, sym->st_info);
	writer_u8(&s->symbols, 0);
	writer_u16(&s->symbols, sym->st_shndx);
	writer_u64(&s->symbols, sym->st_value);
	writer_u64(&s->symbols, sym->st_size);
	writer_string(&s->names, name);
}

static void add(struct subject *s, const char *name, unsigned info, uint64_t vaddr, uint64_t len)
{
	Elf64_Sym sym = { .st_info = (unsigned char)info,
			  .st_shndx = vaddr >= DATA ? 2 : 1,
			  .st_value = vaddr,
			  .st_size = len };

	put_symbol(s, name, &sym);
}

#define GLOBAL ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define WEAK   ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LOCAL  ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define LABEL  ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)
#define OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

/* Make the symbols those of @name, ".symtab" or ".dynsym". */
static void put_table(struct subject *s, const char *name, uint32_t type)
{
	elf_file_section(&s->file,
			 (struct elf_file_section){ .name = name,
						    .type = type,
						    .link = (uint32_t)s->file.nsections + 2,
						    .entry_len = sizeof(Elf64_Sym),
						    .data = s->symbols.data,
						    .len = s->symbols.len });
	elf_file_section(&s->file, (struct elf_file_section){ .name = ".strtab",
							      .type = SHT_STRTAB,
							      .data = s->names.data,
							      .len = s->names.len });
}

static void open_subject(struct subject *s)
{
	elf_file_finish(&s->file);
	CHECK_OK(image_open_memory(guarded(s->file.out.data, s->file.out.len), s->file.out.len,
				   "test", &s->image));
	s->tab = symtab_new(s->image);
}

static void finish(struct subject *s)
{
	put_table(s, ".symtab", SHT_SYMTAB);
	open_subject(s);
}

static void subject_deinit(struct subject *s)
{
	symtab_free(s->tab);
	image_close(s->image);
	elf_file_deinit(&s->file);
	writer_deinit(&s->symbols);
	writer_deinit(&s->names);
}

static const char *name_at(const struct subject *s, uint64_t vaddr)
{
	const struct symtab_entry *entry = symtab_find(s->tab, vaddr);

	return entry ? entry->name : NULL;
}

TEST(symtab_finds_functions_by_every_address_in_them)
{
	CLEANUP(subject_deinit) struct subject s;

	subject_init(&s);
	add(&s, "second", GLOBAL, TEXT + 0x40, 0x20);
	add(&s, "first", LOCAL, TEXT + 0x10, 0x10);
	add(&s, "variable", OBJECT, DATA, 8);
	add(&s, "function_in_data", GLOBAL, DATA + 8, 8);
	finish(&s);
	CHECK_STR(name_at(&s, TEXT + 0xf), NULL);
	CHECK_STR(name_at(&s, TEXT + 0x10), "first");
	CHECK_STR(name_at(&s, TEXT + 0x1f), "first");
	CHECK_STR(name_at(&s, TEXT + 0x20), NULL);
	CHECK_STR(name_at(&s, TEXT + 0x40), "second");
	CHECK_STR(name_at(&s, TEXT + 0x60), NULL);
	CHECK_STR(name_at(&s, DATA), NULL);
	CHECK_STR(name_at(&s, DATA + 8), NULL);
	CHECK(symtab_is_full(s.tab));
}

TEST(symtab_lets_labels_without_a_size_reach_to_the_next)
{
	CLEANUP(subject_deinit) struct subject s;
	size_t count;

	subject_init(&s);
	add(&s, "hand_written", LABEL, TEXT + 0x100, 0);
	add(&s, "sized", GLOBAL, TEXT + 0x200, 0x80);
	add(&s, "place_in_sized", LABEL, TEXT + 0x220, 0);
	add(&s, "last", LABEL, TEXT + 0xf00, 0);
	add(&s, "end", LABEL, TEXT + 0x1000, 0);
	finish(&s);
	CHECK_STR(name_at(&s, TEXT + 0x1ff), "hand_written");
	CHECK_STR(name_at(&s, TEXT + 0x230), "sized");
	CHECK_STR(name_at(&s, TEXT + 0x280), NULL);
	CHECK_STR(name_at(&s, TEXT + 0xfff), "last");
	CHECK_STR(name_at(&s, TEXT + 0x1000), NULL);

	const struct symtab_entry *entries = symtab_entries(s.tab, &count);

	CHECK_UINT(count, 3);
	CHECK_UINT(entries[0].len, 0);
	CHECK_UINT(symtab_end(s.tab, &entries[0]), TEXT + 0x200);
	CHECK_UINT(symtab_end(s.tab, &entries[1]), TEXT + 0x280);
}

TEST(symtab_leaves_out_what_names_no_code)
{
	CLEANUP(subject_deinit) struct subject s;
	size_t count;
	Elf64_Sym undefined = { .st_info = GLOBAL, .st_shndx = SHN_UNDEF, .st_value = TEXT };
	Elf64_Sym absolute = { .st_info = LABEL, .st_shndx = SHN_ABS, .st_value = TEXT };

	subject_init(&s);
	put_symbol(&s, "imported", &undefined);
	put_symbol(&s, "constant", &absolute);
	add(&s, "file.c", ELF64_ST_INFO(STB_LOCAL, STT_FILE), TEXT, 0);
	add(&s, ".text", ELF64_ST_INFO(STB_LOCAL, STT_SECTION), TEXT, 0);
	add(&s, "$x", LABEL, TEXT, 0);
	add(&s, "$d.17", LABEL, TEXT + 4, 0);
	add(&s, ".Lloop", LABEL, TEXT + 8, 0);
	add(&s, "", GLOBAL, TEXT + 8, 8);
	add(&s, "outside", GLOBAL, TEXT + 0x2000, 8);
	add(&s, "$real", LABEL, TEXT + 0x20, 0);
	finish(&s);
	symtab_entries(s.tab, &count);
	CHECK_UINT(count, 1);
	CHECK_STR(name_at(&s, TEXT + 0x20), "$real");
}

TEST(symtab_takes_the_best_of_several_names_in_any_order)
{
	static const struct {
		const char *name;
		unsigned info;
		uint64_t len;
	} worse_to_better[] = {
		{ "unsized", GLOBAL, 0 }, { "memcpy@OLD_1", GLOBAL, 16 }, { "local", LOCAL, 16 },
		{ "weak", WEAK, 16 },     { "__libc_name", GLOBAL, 16 },  { "_name", GLOBAL, 16 },
		{ "zebra", GLOBAL, 16 },  { "apple", GLOBAL, 16 },
	};

	for (size_t i = 0; i + 1 < ARRAY_LEN(worse_to_better); i++) {
		for (size_t order = 0; order < 2; order++) {
			CLEANUP(subject_deinit) struct subject s;

			subject_init(&s);
			for (size_t j = 0; j < 2; j++) {
				size_t k = i + (order ? 1 - j : j);

				add(&s, worse_to_better[k].name, worse_to_better[k].info, TEXT,
				    worse_to_better[k].len);
			}
			finish(&s);
			CHECK_STR(name_at(&s, TEXT),
				  strcmp(worse_to_better[i + 1].name, "memcpy@OLD_1")
					  ? worse_to_better[i + 1].name
					  : "memcpy");
		}
	}
}

TEST(symtab_cuts_versions_off_names)
{
	CLEANUP(subject_deinit) struct subject s;

	subject_init(&s);
	add(&s, "pthread_create@@GLIBC_2.34", GLOBAL, TEXT, 16);
	finish(&s);
	CHECK_STR(name_at(&s, TEXT), "pthread_create");
}

TEST(symtab_finds_the_inner_one_of_nested_functions)
{
	CLEANUP(subject_deinit) struct subject s;

	subject_init(&s);
	add(&s, "outer", GLOBAL, TEXT, 0x100);
	add(&s, "inner", GLOBAL, TEXT + 0x20, 0x10);
	add(&s, "innermost", GLOBAL, TEXT + 0x28, 4);
	add(&s, "across", GLOBAL, TEXT + 0xf0, 0x20);
	finish(&s);
	CHECK_STR(name_at(&s, TEXT + 0x10), "outer");
	CHECK_STR(name_at(&s, TEXT + 0x20), "inner");
	CHECK_STR(name_at(&s, TEXT + 0x2b), "innermost");
	CHECK_STR(name_at(&s, TEXT + 0x2c), "inner");
	CHECK_STR(name_at(&s, TEXT + 0x30), "outer");
	CHECK_STR(name_at(&s, TEXT + 0xff), "across");
	CHECK_STR(name_at(&s, TEXT + 0x10f), "across");
	CHECK_STR(name_at(&s, TEXT + 0x110), NULL);
}

TEST(symtab_survives_lengths_and_names_that_lie)
{
	CLEANUP(subject_deinit) struct subject s;
	Elf64_Sym odd = {
		.st_info = GLOBAL, .st_shndx = 999, .st_value = TEXT + 0x800, .st_size = 4
	};

	subject_init(&s);
	add(&s, "endless", GLOBAL, TEXT + 8, UINT64_MAX);
	put_symbol(&s, "no_such_section", &odd);
	writer_u32(&s.symbols, 0xfffffff0); /* a name beyond the table */
	for (int i = 0; i < 5; i++)
		writer_u32(&s.symbols, 0x00010002);
	finish(&s);
	CHECK_STR(name_at(&s, TEXT + 0x700), "endless");
	CHECK_STR(name_at(&s, TEXT + 0x800), "no_such_section"); /* its segment is code */
	CHECK_STR(name_at(&s, TEXT + 0x1000), NULL);
}

TEST(symtab_with_dynamic_symbols_only_says_so)
{
	CLEANUP(subject_deinit) struct subject s;

	subject_init(&s);
	add(&s, "exported", GLOBAL, TEXT, 16);
	put_table(&s, ".dynsym", SHT_DYNSYM);
	open_subject(&s);
	CHECK_STR(name_at(&s, TEXT), "exported");
	CHECK(!symtab_is_full(s.tab));
}

TEST(symtab_of_a_file_without_symbols_is_empty)
{
	CLEANUP(subject_deinit) struct subject s;
	size_t count;

	subject_init(&s);
	open_subject(&s);
	symtab_entries(s.tab, &count);
	CHECK_UINT(count, 0);
	CHECK_STR(name_at(&s, TEXT), NULL);
}

TEST(symtab_reads_the_symbols_inside_gnu_debugdata)
{
	CLEANUP(subject_deinit) struct subject inner;
	static uint8_t packed[65536];
	size_t len = 0;

	subject_init(&inner);
	add(&inner, "hidden", LOCAL, TEXT + 0x50, 16);
	finish(&inner);
	CHECK(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, inner.file.out.data,
				      inner.file.out.len, packed, &len, sizeof(packed)) == LZMA_OK);

	for (int broken = 0; broken < 2; broken++) {
		CLEANUP(subject_deinit) struct subject outer;

		subject_init(&outer);
		add(&outer, "exported", GLOBAL, TEXT, 16);
		elf_file_section(&outer.file,
				 (struct elf_file_section){ .name = ".gnu_debugdata",
							    .type = SHT_PROGBITS,
							    .data = packed,
							    .len = len / (broken + 1) });
		put_table(&outer, ".dynsym", SHT_DYNSYM);
		open_subject(&outer);
		CHECK_STR(name_at(&outer, TEXT), "exported");
		CHECK_STR(name_at(&outer, TEXT + 0x50), broken ? NULL : "hidden");
		CHECK(symtab_is_full(outer.tab) == !broken);
	}
}

/* Where a symbol may be, few of them and close together, so that all that can happen to neighbours does. */
static void add_random_symbols(struct subject *s, uint64_t *seed)
{
	static const unsigned infos[] = { GLOBAL, WEAK, LOCAL, LABEL, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC) };
	static const char *const names[] = { "a", "_b", "c@OLD", "$x", ".Lx", "d", "__e" };
	size_t count = world_random(seed) % 12;

	for (size_t i = 0; i < count; i++)
		add(s, names[world_random(seed) % ARRAY_LEN(names)], infos[world_random(seed) % ARRAY_LEN(infos)],
		    TEXT + world_random(seed) % 40, world_random(seed) % 3 ? world_random(seed) % 20 : 0);
}

static void check_same(const struct symtab *all, const struct symtab *near, uint64_t vaddr)
{
	const struct symtab_entry *a = symtab_find(all, vaddr), *b = symtab_find(near, vaddr);

	CHECK_STR(b ? b->name : NULL, a ? a->name : NULL);
	if (!a || !b)
		return;
	CHECK_UINT(b->vaddr, a->vaddr);
	CHECK_UINT(b->len, a->len);
	CHECK_UINT(symtab_end(near, b), symtab_end(all, a));
}

TEST(symtab_near_addresses_says_of_them_what_the_whole_table_says)
{
	uint64_t seed = 7;

	for (int round = 0; round < 3000; round++) {
		CLEANUP(subject_deinit) struct subject s;
		uint64_t addresses[8], last = TEXT;
		size_t count = world_random(&seed) % ARRAY_LEN(addresses);

		subject_init(&s);
		add_random_symbols(&s, &seed);
		finish(&s);
		for (size_t i = 0; i < count; i++)
			addresses[i] = last += world_random(&seed) % 12;
		struct symtab *near = symtab_new_near(s.image, addresses, count);

		for (size_t i = 0; i < count; i++)
			check_same(s.tab, near, addresses[i]);
		symtab_free(near);
	}
}

/* ---- object_table.h ---- */

static const char *object_at(const struct object_table *table, uint64_t vaddr)
{
	const struct object_entry *entry = object_table_find(table, vaddr);

	return entry ? entry->name : NULL;
}

TEST(object_table_finds_variables_and_the_innermost_of_several)
{
	CLEANUP(subject_deinit) struct subject s;
	struct object_table *table;

	subject_init(&s);
	add(&s, "all", OBJECT, DATA, 64);
	add(&s, "part", OBJECT, DATA + 16, 8);
	add(&s, "local_part", ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), DATA + 16, 8);
	add(&s, "a_weak_part", ELF64_ST_INFO(STB_WEAK, STT_OBJECT), DATA + 16, 8);
	add(&s, "function", GLOBAL, DATA + 100, 8);
	add(&s, "empty", OBJECT, DATA + 200, 0);
	add(&s, "endless", OBJECT, DATA + 300, UINT64_MAX);
	finish(&s);
	table = object_table_new(s.image);
	CHECK_STR(object_at(table, DATA - 1), NULL);
	CHECK_STR(object_at(table, DATA), "all");
	CHECK_STR(object_at(table, DATA + 16), "part");
	CHECK_STR(object_at(table, DATA + 23), "part");
	CHECK_STR(object_at(table, DATA + 24), "all");
	CHECK_STR(object_at(table, DATA + 64), NULL);
	CHECK_STR(object_at(table, DATA + 100), NULL);
	CHECK_STR(object_at(table, DATA + 200), NULL);
	CHECK_STR(object_at(table, DATA + 300), NULL);
	CHECK_STR(object_at(table, UINT64_MAX), NULL);
	object_table_free(table);
	object_table_free(NULL);
}
