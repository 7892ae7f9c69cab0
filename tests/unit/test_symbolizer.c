/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/elf/cfi_section.h"
#include "symbolize/name/symbolizer.h"
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define TEXT 0x1000

struct subject {
	struct recording rec;
	struct module_search search;
	struct diag diag;
	struct module_table *modules;
	struct symbolizer *symbolizer;
};

static struct recording_ksym ksyms[] = {
	{ 0xffffffff81000000, 0x100, "startup_64", "" },
	{ 0xffffffff81000200, 0, "without_length", "" },
	{ 0xffffffffc0001000, 0x80, "ext4_readdir", "ext4" },
};

static const char jit_text[] = "7f0000001000 40 LazyCompile:~add /srv/app.js:3\n";
static struct recording_jit_map jit_maps[] = {
	{ .pid = 4711, .text = jit_text, .len = sizeof(jit_text) - 1 }
};

static void subject_init(struct subject *s)
{
	struct symbolizer_options options = { 0 };

	*s = (struct subject){ 0 };
	s->rec.ksyms = ksyms;
	s->rec.nksyms = ARRAY_LEN(ksyms);
	s->rec.jit_maps = jit_maps;
	s->rec.njit_maps = ARRAY_LEN(jit_maps);
	s->rec.arch = &arch_x86_64;
	s->modules = module_table_new(&s->rec, &s->search, &s->diag);
	s->symbolizer = symbolizer_new(s->modules, &options);
}

static void subject_deinit(struct subject *s)
{
	symbolizer_free(s->symbolizer);
	module_table_free(s->modules);
	diag_deinit(&s->diag);
}

static const char *name_at(struct subject *s, struct module *mod, uint64_t vaddr)
{
	size_t count;
	const struct symbol_frame *frames = symbolizer_find(s->symbolizer, mod, vaddr, &count);

	CHECK_UINT(count, 1);
	CHECK(!frames[0].inlined);
	return frames[0].function;
}

static void put_symbol(struct writer *symbols, struct writer *names, const char *name,
		       uint64_t vaddr)
{
	writer_u32(symbols, (uint32_t)names->len);
	writer_u8(symbols, name ? ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) : 0);
	writer_u8(symbols, 0);
	writer_u16(symbols, name ? 1 : 0);
	writer_u64(symbols, vaddr);
	writer_u64(symbols, name ? 0x10 : 0);
	writer_string(names, name ? name : "");
}

static void add_text(struct elf_file *f, const uint8_t *text, size_t len)
{
	elf_file_section(f, (struct elf_file_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .vaddr = TEXT,
						       .data = text,
						       .len = len });
	elf_file_segment(f, (struct elf_file_segment){
				    .type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = TEXT });
}

/* As sections 2 and 3. */
static void add_symbols(struct elf_file *f, const struct writer *symbols, const struct writer *names)
{
	elf_file_section(f, (struct elf_file_section){ .name = ".symtab",
						       .type = SHT_SYMTAB,
						       .link = 3,
						       .entry_len = sizeof(Elf64_Sym),
						       .data = symbols->data,
						       .len = symbols->len });
	elf_file_section(f, (struct elf_file_section){ .name = ".strtab",
						       .type = SHT_STRTAB,
						       .data = names->data,
						       .len = names->len });
}

static void write_elf(struct elf_file *f, const char *path)
{
	elf_file_finish(f);
	FILE *out = fopen(path, "w");

	CHECK(out && fwrite(f->out.data, 1, f->out.len, out) == f->out.len && !fclose(out));
}

/* A file with two functions. */
static const char *write_file(void)
{
	static const uint8_t text[0x100];
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(writer_deinit) struct writer symbols = { 0 };
	CLEANUP(writer_deinit) struct writer names = { 0 };
	const char *path = test_path("program");

	put_symbol(&symbols, &names, NULL, 0);
	put_symbol(&symbols, &names, "_ZN5shape4areaEd", TEXT + 0x20);
	put_symbol(&symbols, &names, "main", TEXT);
	add_text(&f, text, sizeof(text));
	add_symbols(&f, &symbols, &names);
	write_elf(&f, path);
	return path;
}

TEST(symbolizer_names_functions_of_a_file)
{
	CLEANUP(subject_deinit) struct subject s;
	size_t count;

	subject_init(&s);
	struct module *mod = module_table_file(s.modules, MODULE_FILE, write_file(), NULL, 0);
	const struct symbol_frame *frame = symbolizer_find(s.symbolizer, mod, TEXT + 0x2f, &count);

	CHECK_UINT(count, 1);
	CHECK_STR(frame->function, "shape::area(double)");
	CHECK_STR(frame->linkage_name, "_ZN5shape4areaEd");
	CHECK_UINT(frame->function_vaddr, TEXT + 0x20);
	CHECK_UINT(frame->function_len, 0x10);
	CHECK_STR(frame->file, NULL);
	CHECK_STR(name_at(&s, mod, TEXT + 0x10), NULL);
	CHECK_STR(name_at(&s, mod, TEXT + 0xf), "main");
	CHECK(strstr(symbolizer_note(s.symbolizer, mod), "no debug information"));
}

TEST(symbolizer_keeps_linkage_names_when_asked)
{
	CLEANUP(subject_deinit) struct subject s;
	struct symbolizer_options options = { .demangle = DEMANGLE_OFF };

	subject_init(&s);
	symbolizer_free(s.symbolizer);
	s.symbolizer = symbolizer_new(s.modules, &options);
	CHECK_STR(name_at(&s, module_table_file(s.modules, MODULE_FILE, write_file(), NULL, 0),
			  TEXT + 0x20),
		  "_ZN5shape4areaEd");
}

TEST(symbolizer_names_the_kernel_by_the_recording)
{
	CLEANUP(subject_deinit) struct subject s;

	subject_init(&s);
	struct module *kernel =
		module_table_file(s.modules, MODULE_KERNEL, "[kernel.kallsyms]", NULL, 0);
	struct module *ext4 = module_table_file(s.modules, MODULE_KERNEL_MODULE, "[ext4]", NULL, 0);

	CHECK_STR(name_at(&s, kernel, 0xffffffff810000ff), "startup_64");
	CHECK_STR(name_at(&s, kernel, 0xffffffff81000100), NULL);
	CHECK_STR(name_at(&s, kernel, 0xffffffff81000210), "without_length");
	CHECK_STR(name_at(&s, kernel, 0xffffffff81002210),
		  NULL); /* a gap, not the next page of it */
	CHECK_STR(name_at(&s, ext4, 0xffffffffc0001010), "ext4_readdir");
}

TEST(symbolizer_names_code_of_a_jit_in_its_own_process_only)
{
	CLEANUP(subject_deinit) struct subject s;

	subject_init(&s);
	struct module *jit = module_table_jit(s.modules, 4711);
	struct module *other = module_table_jit(s.modules, 4712);

	CHECK_STR(name_at(&s, jit, 0x7f0000001020), "LazyCompile:~add /srv/app.js:3");
	CHECK_STR(name_at(&s, other, 0x7f0000001020), NULL);
	CHECK(strstr(symbolizer_note(s.symbolizer, jit), "1 symbol"));
	CHECK(strstr(symbolizer_note(s.symbolizer, other), "perf-PID.map"));
}

TEST(symbolizer_says_that_it_knows_nothing)
{
	CLEANUP(subject_deinit) struct subject s;

	subject_init(&s);
	struct module *unknown = module_table_unknown(s.modules);
	struct module *missing =
		module_table_file(s.modules, MODULE_FILE, test_path("no-such-file"), NULL, 0);

	CHECK_STR(name_at(&s, unknown, 0x1234), NULL);
	CHECK_STR(name_at(&s, missing, TEXT), NULL);
	CHECK(strstr(symbolizer_note(s.symbolizer, missing), "no symbols"));
}

/* ---- damage ---- */

struct damage {
	const char *section;
	uint64_t flags;
	const char *said; /* a part of the warning */
};

static const struct damage damages[] = {
	{ ".gnu_debugdata", 0, ".gnu_debugdata" },
	{ ".debug_info", SHF_COMPRESSED, ".debug_info" },
	{ ".eh_frame", SHF_ALLOC, ".eh_frame" },
	{ ".eh_frame_hdr", SHF_ALLOC, NULL }, /* the section that it is a guide to is not there: nothing is lost */
};

/* A file with one function and a section that holds anything but what it should. */
static const char *write_damaged_file(const struct damage *damage)
{
	static const char garbage[] = "\x11\x00\x00\x00\xff\xff\xff\x7f no such thing";
	static const uint8_t text[0x100];
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(writer_deinit) struct writer symbols = { 0 };
	CLEANUP(writer_deinit) struct writer names = { 0 };
	const char *path = test_path("damaged");

	put_symbol(&symbols, &names, NULL, 0);
	put_symbol(&symbols, &names, "still_known", TEXT);
	add_text(&f, text, sizeof(text));
	add_symbols(&f, &symbols, &names);
	elf_file_section(&f, (struct elf_file_section){ .name = damage->section,
							.type = SHT_PROGBITS,
							.flags = damage->flags,
							.vaddr = damage->flags & SHF_ALLOC ? 0x3000 : 0,
							.data = garbage,
							.len = sizeof(garbage) });
	write_elf(&f, path);
	return path;
}

/* What is wrong with one file is one line, however often it is asked, and changes no other. */
TEST(symbolizer_warns_of_a_damaged_file_once_and_names_the_others)
{
	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		CLEANUP(subject_deinit) struct subject s;
		const char *path = write_damaged_file(&damages[i]);
		char expected[256];

		subject_init(&s);
		struct module *bad = module_table_file(s.modules, MODULE_FILE, path, NULL, 0);
		struct module *good = module_table_file(s.modules, MODULE_FILE, write_file(), NULL, 0);
		struct cfi_section *cfi = cfi_section_new(module_image(s.modules, bad));
		struct cfi_fde fde;

		for (uint64_t vaddr = TEXT; vaddr < TEXT + 0x10; vaddr++) {
			CHECK_STR(name_at(&s, bad, vaddr), "still_known");
			CHECK_STR(name_at(&s, good, vaddr), "main");
			CHECK(!cfi || !cfi_section_find(cfi, vaddr, &fde));
		}
		cfi_section_free(cfi);
		module_table_warn_defects(s.modules);
		if (!damages[i].said) {
			CHECK(!s.diag.entries);
			continue;
		}
		snprintf(expected, sizeof(expected), "'%s' is damaged: ", path);
		CHECK(s.diag.entries && !s.diag.entries->next);
		CHECK_UINT(s.diag.entries->count, 1);
		CHECK(strncmp(s.diag.entries->message, expected, strlen(expected)) == 0);
		CHECK(strstr(s.diag.entries->message, damages[i].said));
		CHECK(!strchr(s.diag.entries->message, '\n'));
	}
}
