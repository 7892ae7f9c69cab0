/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bundle_names.c - an image with other names: they are there, the old ones nowhere; no bytes are trusted.
 */
#include "symbolize/elf/bundle_names.h"

#include "symbolize/elf/image.h"
#include "formats/base/mini_elf.h"
#include "symbolize/elf/symtab.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <string.h>

#define NOTE "\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\x12\x34\0\0"

static const char *shout(void *context, const char *name)
{
	return strcmp(name, "secret_one") == 0 ? "ONE" : (const char *)context;
}

static void make(struct writer *out)
{
	static const char names[] = "\0secret_one\0secret_two";
	static const uint8_t code[16] = { 0xc3 };
	struct writer symbols = { 0 };
	struct mini_elf elf = { .machine = EM_X86_64 };

	for (uint64_t i = 0; i < 3; i++) {
		writer_u32(&symbols, i ? (i == 1 ? 1 : 12) : 0);
		writer_u8(&symbols, i ? ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) : 0);
		writer_u8(&symbols, 0);
		writer_u16(&symbols, i ? SHN_ABS : 0);
		writer_u64(&symbols, i ? 0x1000 + 8 * (i - 1) : 0);
		writer_u64(&symbols, i ? 8 : 0);
	}
	size_t note = mini_elf_section(&elf, (struct mini_elf_section){
		.name = ".note.gnu.build-id", .type = SHT_NOTE, .data = NOTE, .len = 20 });
	size_t strings = mini_elf_section(&elf, (struct mini_elf_section){
		.name = ".strtab", .type = SHT_STRTAB, .data = names, .len = sizeof(names) });

	mini_elf_section(&elf, (struct mini_elf_section){
		.name = ".symtab", .type = SHT_SYMTAB, .data = symbols.data, .len = symbols.len,
		.link = (uint32_t)strings, .info = 1, .entry_len = 24 });
	mini_elf_section(&elf, (struct mini_elf_section){
		.name = ".secret_section", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR,
		.vaddr = 0x1000, .data = code, .len = sizeof(code) });
	mini_elf_section(&elf, (struct mini_elf_section){
		.name = ".comment", .type = SHT_PROGBITS, .data = "secret_comment", .len = 15 });
	mini_elf_segment(&elf, (struct mini_elf_segment){ PT_NOTE, PF_R, .section = note });
	mini_elf_segment(&elf, (struct mini_elf_segment){ PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0, 0x1000, 0 });
	mini_elf_finish(&elf, out);
	mini_elf_deinit(&elf);
	writer_deinit(&symbols);
}

static const uint8_t new_id[2] = { 0, 7 };
static char two[] = "TWO";

static const struct bundle_names loud = {
	.symbol = shout, .context = two, .build_id = new_id, .build_id_len = sizeof(new_id),
};

TEST(bundle_names_replace_what_is_a_name)
{
	CLEANUP(writer_deinit) struct writer elf = { 0 };
	CLEANUP(writer_deinit) struct writer renamed = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	size_t len;

	make(&elf);
	CHECK(memmem(elf.data, elf.len, "secret_", 7));
	CHECK_OK(bundle_rename(elf.data, elf.len, &loud, &renamed));
	CHECK(!memmem(renamed.data, renamed.len, "secret_", 7));
	CHECK_OK(image_open_memory(renamed.data, renamed.len, "renamed", &img));
	CHECK(memcmp(image_build_id(img, &len), new_id, 2) == 0);
	CHECK_UINT(len, 2);

	struct symtab *symbols = symtab_new(img);

	CHECK_STR(symtab_find(symbols, 0x1003)->name, "ONE");
	CHECK_STR(symtab_find(symbols, 0x1008)->name, "TWO");
	CHECK(image_bytes_at(img, 0x1000, &len));
	CHECK_STR(image_section_at(img, 0x1000), ".text");
	symtab_free(symbols);
}

TEST(bundle_names_trust_no_byte)
{
	CLEANUP(writer_deinit) struct writer elf = { 0 };

	make(&elf);
	for (size_t len = 0; len < elf.len; len++) {
		CLEANUP(writer_deinit) struct writer renamed = { 0 };

		err_free(bundle_rename(guarded(elf.data, len), len, &loud, &renamed));
	}
	for (size_t i = 0; i < elf.len; i++) {
		CLEANUP(writer_deinit) struct writer renamed = { 0 };
		uint8_t before = elf.data[i];

		elf.data[i] = (uint8_t)(before + 1 + i % 255);
		err_free(bundle_rename(guarded(elf.data, elf.len), elf.len, &loud, &renamed));
		elf.data[i] = before;
	}
}
