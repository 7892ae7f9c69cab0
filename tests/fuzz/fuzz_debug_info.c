/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_debug_info.c - symbols and debug information of any ELF file: every answer is well-formed and the
 * same when asked again.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/debug/info.h"
#include "symbolize/elf/symtab.h"

#include <string.h>

static void check_address(struct debug_info *info, uint64_t vaddr)
{
	struct debug_frame frames[DEBUG_INFO_FRAMES_MAX], again[DEBUG_INFO_FRAMES_MAX];
	size_t count = debug_info_find(info, vaddr, frames);
	const char *file;
	uint32_t line;

	CHECK(count <= DEBUG_INFO_FRAMES_MAX);
	for (size_t i = 0; i < count; i++) {
		CHECK(!frames[i].name || strlen(frames[i].name) < 65536);
		CHECK(!frames[i].file || strlen(frames[i].file) < 3 * 65536);
	}
	CHECK(debug_info_find(info, vaddr, again) == count);
	CHECK(!count || again[0].line == frames[0].line);
	if (debug_info_line(info, vaddr, &file, &line))
		CHECK(count && file == frames[0].file && line == frames[0].line);
}

static void check_debug_info(struct image *img)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);
	struct debug_info *info = debug_info_new(img);

	for (size_t i = 0; info && i < count && i < 4; i++) {
		for (uint64_t pos = 0; pos < 512; pos += 3)
			check_address(info, segments[i].vaddr + pos);
	}
	debug_info_free(info);
}

static void check_symbols(struct image *img)
{
	size_t count;
	struct symtab *tab = symtab_new(img);
	const struct symtab_entry *entries = symtab_entries(tab, &count);

	for (size_t i = 0; i < count; i++) {
		CHECK(entries[i].name[0]);
		CHECK(symtab_end(tab, &entries[i]) > entries[i].vaddr);
		CHECK(!i || entries[i].vaddr > entries[i - 1].vaddr);
		CHECK(symtab_find(tab, entries[i].vaddr) == &entries[i]);
	}
	symtab_free(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct image *img;
	struct err *err = image_open_memory(data, len, "fuzz", &img);

	if (err) {
		err_free(err);
		return 0;
	}
	check_symbols(img);
	check_debug_info(img);
	image_close(img);
	return 0;
}
