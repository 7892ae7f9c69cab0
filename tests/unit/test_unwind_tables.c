/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unwind_tables.c - whose rows are used: those of the trace, or of the file here.
 */
#include "symbolize/unwind/unwind_tables.h"

#include "tests/unit/cfi_writer.h"
#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define TEXT        0x1000
#define EH_FRAME    0x3000
#define PC_RELATIVE 0x1b
#define BIAS        0x555500000000
#define CODE(bytes) (bytes), sizeof(bytes) - 1

/* A program with @nfunctions functions of 0x100 bytes that have rows, and a build ID. */
struct program {
	struct elf_file file;
	struct cfi_writer cfi;
	uint8_t text[0x400];
	uint8_t note[20];
};

static void program_build(struct program *p, size_t nfunctions, uint8_t id)
{
	static const uint8_t head[] = { 4, 0, 0, 0, 4, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0,
					'G', 'N', 'U', 0, 1, 2, 3 };

	memcpy(p->note, head, sizeof(head));
	p->note[19] = id;
	p->cfi.vaddr = EH_FRAME;
	cfi_writer_cie(&p->cfi, "zR", PC_RELATIVE, 16, CODE("\x0c\x07\x08\x90\x01"));
	for (size_t i = 0; i < nfunctions; i++)
		cfi_writer_fde(&p->cfi, TEXT + 0x100 * i, 0x100, CODE(""));
	elf_file_section(&p->file, (struct elf_file_section){ .name = ".text",
							      .type = SHT_PROGBITS,
							      .flags = SHF_ALLOC | SHF_EXECINSTR,
							      .vaddr = TEXT,
							      .data = p->text,
							      .len = sizeof(p->text) });
	elf_file_section(&p->file, (struct elf_file_section){ .name = ".eh_frame",
							      .type = SHT_PROGBITS,
							      .flags = SHF_ALLOC,
							      .vaddr = EH_FRAME,
							      .data = p->cfi.out.data,
							      .len = p->cfi.out.len });
	elf_file_section(&p->file, (struct elf_file_section){ .name = ".note.gnu.build-id",
							      .type = SHT_NOTE,
							      .data = p->note,
							      .len = sizeof(p->note) });
	elf_file_segment(&p->file,
			 (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, TEXT, 0, 0 });
	elf_file_finish(&p->file);
}

static void program_deinit(struct program *p)
{
	elf_file_deinit(&p->file);
	cfi_writer_deinit(&p->cfi);
}

/* A trace that embeds @part of a file, whose path here holds @here. */
struct scene {
	struct program part, here;
	struct recording_image image;
	struct recording rec;
	struct diag diag;
	struct module_table *modules;
	struct unwind_tables *tables;
	struct space_map map;
};

static void scene_init(struct scene *s, uint8_t id_here)
{
	char path[4096];

	*s = (struct scene){ 0 };
	program_build(&s->part, 1, 4);
	program_build(&s->here, 2, id_here);
	snprintf(path, sizeof(path), "%s", test_path("program"));
	FILE *file = fopen(path, "w");

	CHECK(file && fwrite(s->here.file.out.data, 1, s->here.file.out.len, file) ==
			      s->here.file.out.len);
	CHECK_INT(fclose(file), 0);
	s->image = (struct recording_image){ .path = "/elsewhere",
					     .partial = true,
					     .build_id_len = 4,
					     .build_id = { 1, 2, 3, 4 },
					     .elf = s->part.file.out.data,
					     .elf_len = s->part.file.out.len };
	s->rec = (struct recording){ .images = &s->image, .nimages = 1 };
	s->modules = module_table_new(&s->rec, NULL, &s->diag);
	s->tables = unwind_tables_new(s->modules, &arch_x86_64);
	s->map = (struct space_map){
		.start = BIAS,
		.end = BIAS + 0x4000,
		.bias = BIAS,
		.module = module_table_file(s->modules, MODULE_FILE, path, s->image.build_id, 4),
		.mapped = true,
		.exec = true,
		.looked_up = true,
	};
}

static void scene_deinit(struct scene *s)
{
	unwind_tables_free(s->tables);
	module_table_free(s->modules);
	diag_deinit(&s->diag);
	program_deinit(&s->part);
	program_deinit(&s->here);
}

static enum unwind_rule_kind kind_at(struct scene *s, uint64_t vaddr)
{
	return unwind_tables_find(s->tables, &s->map, BIAS + vaddr).kind;
}

TEST(unwind_tables_rows_that_the_trace_lacks_come_from_the_same_file_here)
{
	CLEANUP(scene_deinit) struct scene s;

	scene_init(&s, 4);
	CHECK(kind_at(&s, TEXT + 8) == UNWIND_RULE_CFI);
	CHECK(!s.map.module->rows_from_file);
	CHECK(kind_at(&s, TEXT + 0x108) == UNWIND_RULE_CFI);
	CHECK(s.map.module->rows_from_file);
	CHECK(kind_at(&s, TEXT + 0x208) == UNWIND_RULE_NONE); /* nobody has any */
	CHECK(!s.diag.entries);
	module_table_warn_defects(s.modules);
	CHECK(s.diag.entries && !s.diag.entries->next);
}

TEST(unwind_tables_rows_of_another_build_are_not_used)
{
	CLEANUP(scene_deinit) struct scene s;

	scene_init(&s, 5);
	CHECK(kind_at(&s, TEXT + 8) == UNWIND_RULE_CFI);
	CHECK(kind_at(&s, TEXT + 0x108) == UNWIND_RULE_NONE);
	CHECK(!s.map.module->rows_from_file);
}
