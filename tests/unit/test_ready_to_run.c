/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ready_to_run.c - an assembly with code that was compiled ahead, made by hand: what is read of it, and that nothing it can say does harm.
 *
 *	0x4000  My.Outer.Run, and at 0x4040 its exception handler
 *	0x4060  My.Outer+Inner.Deep
 *	0x40c0  My.Outer+Inner.Wide, of a generic type
 *	0x4100  a thunk
 */
#include "record/embed/ready_to_run.h"

#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"
#include "tests/unit/dotnet_maker.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECTION_LEN 0x2200
#define FILE_LEN    (0x200 + SECTION_LEN)

/* Where a relative address is in the file. */
#define OFFSET(vaddr) ((vaddr) - 0x2000 + 0x200)

enum { HEADER = 0x2600, FUNCTIONS = 0x2700, METHODS = 0x2800, INSTANCES = 0x2840 };

static void put(uint8_t *file, uint32_t vaddr, uint32_t value)
{
	memcpy(file + OFFSET(vaddr), &value, sizeof(value));
}

static void make_header(uint8_t *file)
{
	static const uint32_t areas[][3] = { { 102, FUNCTIONS, 5 * 12 }, { 103, METHODS, 16 }, { 106, 0x4100, 16 }, { 109, INSTANCES, 16 } };

	put(file, HEADER, 0x00525452);
	put(file, HEADER + 12, ARRAY_LEN(areas));
	memcpy(file + OFFSET(HEADER + 16), areas, sizeof(areas));
}

static void make_assembly(uint8_t file[FILE_LEN])
{
	static const uint32_t functions[][3] = { { 0x4000, 0x4040 }, { 0x4040, 0x4060 }, { 0x4060, 0x40b0 }, { 0x40c0, 0x4100 },
						 { 0x4100, 0x4110 } };
	/* Two elements, one block: three nodes with left parts, one with both, function 0, function 2 with what it needs before. */
	static const uint8_t methods[] = { 2 << 3, 1, 1 << 1, 1 << 1, 1 << 1, (2 << 2 | 3) << 1, 0, (2 << 2 | 1) << 1 };
	/* One bucket of one entry: method 3 of class<__Canon>, function 3. */
	static const uint8_t instances[] = { 0, 2, 4, 0x11, 1 << 1, 0x40, 0x15, 0x12, 0x0c, 1, 0x3e, 3, (3 << 1) << 1 };

	memset(file, 0, FILE_LEN);
	dotnet_maker_write(file, SECTION_LEN);
	memcpy(file + 0x84, "\x1d\xfd", 2);
	put(file, 0x2000 + 64, HEADER);
	make_header(file);
	memcpy(file + OFFSET(FUNCTIONS), functions, sizeof(functions));
	memcpy(file + OFFSET(METHODS), methods, sizeof(methods));
	memcpy(file + OFFSET(INSTANCES), instances, sizeof(instances));
}

static bool counts_down(void *context)
{
	size_t *left = context;

	return *left && --*left;
}

/* The ELF file for some addresses, if @time lasts so many questions; false if it is no such assembly. */
static bool write_elf_within(size_t time, const uint8_t *file, size_t len, struct writer *out)
{
	static const uint32_t addresses[] = { 0x4000, 0x403f, 0x4050, 0x40b0, 0x40ff, 0x4104, 0x2000, 0x10000 };
	struct map offsets = { 0 };
	uint64_t symbols;
	int fd = memfd_create("assembly", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, file, len) == (ssize_t)len);
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
		*map_put(&offsets, OFFSET(addresses[i]), NULL) = 1;
	bool written = ready_to_run_write(&(struct ready_to_run_source){ fd, &offsets, counts_down, &time }, out, &symbols);

	close(fd);
	map_deinit(&offsets);
	return written;
}

static bool write_elf(const uint8_t *file, size_t len, struct writer *out)
{
	return write_elf_within(SIZE_MAX, file, len, out);
}

/* The symbols, as "name start+length, "; of a mapping of the file's offset 0 the address relative to the image. */
static const char *read_back(const struct writer *elf)
{
	static char text[512];
	struct image *img;
	uint64_t bias;
	size_t count;

	text[0] = '\0';
	CHECK(!image_open_memory(elf->data, elf->len, "assembly", &img));
	CHECK(image_bias(img, 0x70002000, 0, &bias));
	CHECK_UINT(0x70002000 - bias, 0x2000 - 0x200);
	struct symtab *symbols = symtab_new(img);
	const struct symtab_entry *entries = symtab_entries(symbols, &count);

	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %x+%x, ", entries[i].name, (unsigned)entries[i].vaddr,
			 (unsigned)entries[i].len);
	symtab_free(symbols);
	image_close(img);
	return text;
}

TEST(ready_to_run_names_methods_their_handlers_and_instances)
{
	uint8_t file[FILE_LEN];
	struct writer elf = { 0 };

	make_assembly(file);
	CHECK(write_elf(file, sizeof(file), &elf));
	CHECK_STR(read_back(&elf), "My.Outer.Run 4000+40, My.Outer.Run 4040+20, My.Outer+Inner.Deep 4060+50, "
				   "My.Outer+Inner.Wide 40c0+40, ");
	writer_deinit(&elf);
}

/* An entry that cannot be read may be in front of any function: only those are named that begin a method which can. */
TEST(ready_to_run_gives_no_method_the_code_behind_one_that_cannot_be_read)
{
	uint8_t file[FILE_LEN];
	struct writer elf = { 0 };

	make_assembly(file);
	file[OFFSET(INSTANCES) + 6] = 0x77; /* a type of no kind that is known */
	CHECK(write_elf(file, sizeof(file), &elf));
	CHECK_STR(read_back(&elf), "My.Outer.Run 4000+40, My.Outer+Inner.Deep 4060+50, ");
	writer_deinit(&elf);
	/* Another assembly's method. */
	make_assembly(file);
	file[OFFSET(INSTANCES) + 5] = 0x50;
	CHECK(write_elf(file, sizeof(file), &elf));
	CHECK_STR(read_back(&elf), "My.Outer.Run 4000+40, My.Outer.Run 4040+20, My.Outer+Inner.Deep 4060+50, ");
	writer_deinit(&elf);
}

TEST(ready_to_run_stops_when_it_is_told_to_and_gives_no_name_that_is_not_right)
{
	static const char all[] = "My.Outer.Run 4000+40, My.Outer.Run 4040+20, My.Outer+Inner.Deep 4060+50, My.Outer+Inner.Wide 40c0+40, ";
	static const char *const symbols[] = { "My.Outer.Run 4000+40, ", "My.Outer.Run 4040+20, ", "My.Outer+Inner.Deep 4060+50, ",
					       "My.Outer+Inner.Wide 40c0+40, " };
	uint8_t file[FILE_LEN];
	size_t time = 0, parts = 0;
	bool whole = false;

	make_assembly(file);
	for (; !whole && time < 100; time++) {
		struct writer elf = { 0 };

		if (write_elf_within(time, file, sizeof(file), &elf)) {
			const char *text = read_back(&elf);
			size_t len = 0;

			for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
				len += strstr(text, symbols[i]) ? strlen(symbols[i]) : 0;
			CHECK_UINT(strlen(text), len);
			whole = strcmp(text, all) == 0;
			parts += !whole;
		}
		writer_deinit(&elf);
	}
	CHECK(whole);
	CHECK(parts > 3);
}

TEST(ready_to_run_refuses_what_is_no_such_assembly)
{
	static const uint16_t changed[] = { 0, 0x80, 0x84, 0x98 + 96 + 14 * 8 + 1, 0x240, OFFSET(HEADER), OFFSET(HEADER) + 16, 0x300 };
	uint8_t file[FILE_LEN];
	struct writer elf = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(changed); i++) {
		make_assembly(file);
		file[changed[i]] ^= 0x10;
		CHECK(!write_elf(file, sizeof(file), &elf));
	}
	make_assembly(file);
	CHECK(!write_elf(file, 0x600, &elf));
	CHECK_UINT(elf.len, 0);
}

TEST(ready_to_run_survives_an_assembly_that_lies)
{
	uint8_t file[FILE_LEN];
	uint64_t seed = 1;

	for (unsigned round = 0; round < 60; round++) {
		struct writer elf = { 0 };

		make_assembly(file);
		for (unsigned i = 0; i < 1 + round % 6; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			uint32_t at = round % 2 ? OFFSET(HEADER) + (seed >> 40) % 0x260 : (seed >> 40) % 0x700;

			file[at] = round % 3 ? (uint8_t)(seed >> 33) : 0xff;
		}
		write_elf(file, sizeof(file), &elf);
		CHECK(elf.len < 1 << 16);
		writer_deinit(&elf);
	}
}
