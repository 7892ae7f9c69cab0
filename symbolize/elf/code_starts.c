/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_starts.c - of the targets of calls (code_targets.h), those that no symbol knows; or the few that a bundle kept.
 */
#include "symbolize/elf/code_starts.h"

#include "formats/base/bisect.h"
#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "symbolize/elf/code_targets.h"

#include <stdlib.h>

#define FUNCTION_LEN_MAX (64u << 10) /* from its beginning to an address in it */

struct code_starts {
	const struct symtab *symbols;
	VEC(uint64_t) starts; /* ascending */
};

/* A table is about a sixth as long as the code; what C's start files bring along is none. */
#define TABLE_RATE 64

uint64_t code_starts_cost(const struct image *img)
{
	uint64_t len = code_targets_cost(img);

	if (image_section_stored_len(img, ".eh_frame") > len / TABLE_RATE || image_has_section(img, ".debug_frame"))
		return 0;
	return len;
}

static void scan_image(struct code_starts *s, struct image *img)
{
	size_t count;
	const uint64_t *items = code_targets_list(code_targets_of(img), &count);

	vec_append(&s->starts, items, count);
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
	vec_sort(&s->starts, vec_u64_ascending); /* sums may have wrapped around */
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

/* The first symbol that begins above @start; UINT64_MAX if none does. */
static uint64_t next_symbol(const struct symtab *symbols, uint64_t start)
{
	size_t count;
	const struct symtab_entry *entries = symtab_entries(symbols, &count);
	size_t next = BISECT(count, i, entries[i].vaddr <= start);

	return next < count ? entries[next].vaddr : UINT64_MAX;
}

uint64_t code_starts_find(const struct code_starts *s, uint64_t vaddr)
{
	size_t low = BISECT(s->starts.len, i, s->starts.items[i] <= vaddr);

	if (!low)
		return 0;
	uint64_t start = s->starts.items[low - 1];

	if (vaddr - start >= FUNCTION_LEN_MAX || symtab_find(s->symbols, start) || next_symbol(s->symbols, start) <= vaddr)
		return 0;
	return start;
}

uint64_t code_starts_end(const struct code_starts *s, uint64_t start)
{
	size_t next = BISECT(s->starts.len, i, s->starts.items[i] <= start);
	uint64_t end = MIN(next_symbol(s->symbols, start), start + FUNCTION_LEN_MAX);

	return next < s->starts.len ? MIN(end, s->starts.items[next]) : end;
}
