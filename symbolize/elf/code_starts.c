/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_starts.c - a pass over the bytes that takes any that look like "call" or "lea" of an address in the code. Bytes in the
 * middle of an instruction may look so, too; few of their targets stand where a function may begin.
 */
#include "symbolize/elf/code_starts.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define CODE_LEN_MAX	 (16u << 20)
#define FUNCTION_LEN_MAX (64u << 10) /* from its beginning to an address in it */
#define CALL_LEN	 5	     /* e8 and a distance */
#define LEA_LEN		 7	     /* 48 or 4c, 8d, register and "rip", distance */

struct code_starts {
	const struct symtab *symbols;
	VEC(uint64_t) starts; /* ascending */
};

struct code {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr;
};

static int32_t distance_at(const uint8_t *bytes)
{
	struct reader r;

	reader_init(&r, bytes, 4, /* big_endian= */ false);
	return (int32_t)reader_u32(&r, "distance");
}

/*
 * How code ends that does not run into what follows, and what compilers fill up with. The last byte that a number stands for
 * may be any.
 */
static const struct {
	uint8_t len, bytes[6], any; /* @any bytes more */
} ends[] = {
	{ 1, { 0xc3 }, 0 },			  /* ret */
	{ 1, { 0xcc }, 0 },			  /* int3 */
	{ 1, { 0xf4 }, 0 },			  /* hlt */
	{ 1, { 0x90 }, 0 },			  /* nop, of any length */
	{ 3, { 0x0f, 0x1f, 0x00 }, 0 },
	{ 4, { 0x0f, 0x1f, 0x40, 0x00 }, 0 },
	{ 5, { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 0 },
	{ 3, { 0x0f, 0x1f, 0x80 }, 4 },
	{ 4, { 0x0f, 0x1f, 0x84, 0x00 }, 4 },
	{ 1, { 0xe9 }, 4 },			  /* jmp */
	{ 1, { 0xeb }, 1 },
	{ 2, { 0x0f, 0x0b }, 0 },		  /* ud2 */
};

/* May a function begin at @offset? */
static bool is_behind_end(const struct code *code, size_t offset)
{
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t len = (size_t)ends[i].len + ends[i].any;

		if (offset >= len && memcmp(code->bytes + offset - len, ends[i].bytes, ends[i].len) == 0)
			return true;
	}
	return !offset;
}

static void add_target(struct code_starts *s, const struct code *code, size_t end, int32_t distance)
{
	uint64_t offset = end + (uint64_t)(int64_t)distance;

	if (offset < code->len && is_behind_end(code, (size_t)offset))
		vec_push(&s->starts, code->vaddr + offset);
}

static void scan(struct code_starts *s, const struct code *code)
{
	const uint8_t *p = code->bytes;

	for (size_t i = 0; i + LEA_LEN <= code->len; i++) {
		if (p[i] == 0xe8)
			add_target(s, code, i + CALL_LEN, distance_at(p + i + 1));
		else if ((p[i] & 0xfb) == 0x48 && p[i + 1] == 0x8d && (p[i + 2] & 0xc7) == 0x05)
			add_target(s, code, i + LEA_LEN, distance_at(p + i + 3));
	}
}

/* A table is about a sixth as long as the code; what C's start files bring along is none. */
#define TABLE_RATE 64

uint64_t code_starts_cost(const struct image *img)
{
	uint64_t table = image_section_stored_len(img, ".eh_frame"), len = 0;
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count && image_arch(img) == &arch_x86_64; i++) {
		if (segments[i].exec)
			len += MIN(segments[i].file_len, CODE_LEN_MAX);
	}
	if (table > len / TABLE_RATE || image_has_section(img, ".debug_frame"))
		return 0;
	return MIN(len, CODE_LEN_MAX);
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void scan_image(struct code_starts *s, struct image *img)
{
	size_t count, left = (size_t)code_starts_cost(img);
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count && left; i++) {
		struct code code = { .vaddr = segments[i].vaddr };

		if (segments[i].exec)
			code.bytes = image_bytes_at(img, code.vaddr, &code.len);
		code.len = code.bytes ? MIN(code.len, left) : 0;
		left -= code.len;
		scan(s, &code);
	}
	vec_sort(&s->starts, ascending);
}

static void read_section(struct code_starts *s, const struct image_section *section)
{
	struct reader r;
	uint64_t last = 0;

	reader_init(&r, section->data, section->len, /* big_endian= */ false);
	while (reader_left(&r)) {
		last += reader_uleb(&r, "beginning");
		if (r.failed)
			return;
		vec_push(&s->starts, last);
	}
	vec_sort(&s->starts, ascending); /* sums may have wrapped around */
}

struct code_starts *code_starts_new(struct image *img, const struct symtab *symbols)
{
	struct code_starts *s = memory_zeroed(1, sizeof(*s));
	struct image_section section;

	s->symbols = symbols;
	if (image_section(img, CODE_STARTS_SECTION, &section))
		read_section(s, &section);
	else
		scan_image(s, img);
	return s;
}

void code_starts_free(struct code_starts *s)
{
	if (!s)
		return;
	vec_deinit(&s->starts);
	free(s);
}

/* Does a symbol begin above @start, at @vaddr or below? */
static bool is_named_between(const struct symtab *symbols, uint64_t start, uint64_t vaddr)
{
	size_t low = 0, high;
	const struct symtab_entry *entries = symtab_entries(symbols, &high);
	size_t count = high;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (entries[mid].vaddr <= start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < count && entries[low].vaddr <= vaddr;
}

uint64_t code_starts_find(const struct code_starts *s, uint64_t vaddr)
{
	size_t low = 0, high = s->starts.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->starts.items[mid] <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	uint64_t start = s->starts.items[low - 1];

	if (vaddr - start >= FUNCTION_LEN_MAX || symtab_find(s->symbols, start) ||
	    is_named_between(s->symbols, start, vaddr))
		return 0;
	return start;
}
