/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_code_targets.c - where calls lead, each place once.
 */
#include "symbolize/elf/code_targets.h"

#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <string.h>

#define CODE	 0x1000
#define CODE_LEN 0x1000

static void put_call(uint8_t *code, size_t at, size_t to)
{
	uint32_t distance = (uint32_t)(to - (at + 5));

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
}

TEST(code_targets_are_in_order_and_each_is_there_once)
{
	static const uint64_t wanted[] = { CODE + 0x80, CODE + 0x400, CODE + 0xfff };
	struct elf_file file = { 0 };
	uint8_t code[CODE_LEN];
	struct image *img;
	size_t count;

	memset(code, 0x55, CODE_LEN); /* push %rbp: the end of nothing */
	code[0x7f] = code[0x3ff] = code[0xffe] = 0xc3;
	put_call(code, 0x10, 0xfff);
	put_call(code, 0x20, 0x400);
	put_call(code, 0x30, 0x80);
	put_call(code, 0x40, 0x400);
	put_call(code, 0x50, 0x500);	  /* behind no end */
	put_call(code, 0x60, CODE_LEN + 1); /* outside */
	elf_file_section(&file, (struct elf_file_section){ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR,
							  .vaddr = CODE, .data = code, .len = CODE_LEN });
	elf_file_segment(&file, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, CODE, 0, 0 });
	elf_file_finish(&file);
	CHECK_OK(image_open_memory(file.out.data, file.out.len, "library", &img));
	const uint64_t *items = code_targets_list(code_targets_of(img), &count);

	CHECK_UINT(count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		CHECK_UINT(items[i], wanted[i]);
	CHECK(code_targets_of(img) == code_targets_of(img));
	image_close(img);
	elf_file_deinit(&file);
}

static void put_lea(uint8_t *code, size_t at, size_t to)
{
	uint32_t distance = (uint32_t)(to - (at + 7));

	memcpy(code + at, (const uint8_t[]){ 0x4c, 0x8d, 0x3d }, 3);
	memcpy(code + at + 3, &distance, sizeof(distance));
}

static void put_move(uint8_t *code, size_t at, size_t to, uint64_t vaddr)
{
	uint32_t address = (uint32_t)(vaddr + to);

	if (at % 2) {
		code[at] = 0xbf;
		memcpy(code + at + 1, &address, sizeof(address));
	} else {
		memcpy(code + at, (const uint8_t[]){ 0x48, 0xc7, 0xc7 }, 3);
		memcpy(code + at + 3, &address, sizeof(address));
	}
}

/* Around where one piece of the code ends and the next begins, and at both ends of all; @kinds: 2 without moves. */
static void check_everywhere(uint64_t vaddr, uint16_t type, size_t kinds)
{
	enum { LEN = 0x9000, TO = 0x100 };
	static uint8_t code[LEN];
	struct elf_file file = { .type = type };
	size_t places[30], n = 0, count, found = 0;
	struct image *img;

	memset(code, 0xcc, LEN);
	places[n++] = 0;
	for (size_t piece = 0x4000; piece < LEN; piece += 0x4000)
		for (size_t at = piece - 28 + piece / 0x4000; at < piece + 28; at += 7)
			places[n++] = at;
	places[n++] = LEN - 7;
	for (size_t i = 0; i < n; i++) {
		if (i % kinds == 2)
			put_move(code, places[i], TO + 16 * i, vaddr);
		else
			(i % kinds ? put_lea : put_call)(code, places[i], TO + 16 * i);
	}
	elf_file_section(&file, (struct elf_file_section){ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR,
							  .vaddr = vaddr, .data = code, .len = LEN });
	elf_file_segment(&file, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, vaddr, 0, 0 });
	elf_file_finish(&file);
	CHECK_OK(image_open_memory(file.out.data, file.out.len, "library", &img));
	const uint64_t *items = code_targets_list(code_targets_of(img), &count);

	for (size_t i = 0; i < count; i++)
		found += found < n && items[i] == vaddr + TO + 16 * found;
	CHECK_UINT(found, n);
	image_close(img);
	elf_file_deinit(&file);
}

TEST(code_targets_are_found_wherever_a_call_or_an_lea_stands)
{
	check_everywhere(CODE, ET_DYN, 2);
}

TEST(code_targets_of_a_file_that_is_not_moved_are_found_wherever_a_move_stands)
{
	check_everywhere(0x400000, ET_EXEC, 3);
	check_everywhere(0xffe000, ET_EXEC, 3); /* the highest bytes of its addresses differ */
}
