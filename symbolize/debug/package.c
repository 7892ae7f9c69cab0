/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package.c - .debug_cu_index: a hash table from unit ids to rows, and for each row what part of each
 * section belongs to the unit. The table is searched from front to back: that is quick enough for
 * one look at each unit, and cannot be led astray.
 *
 *	header   version, columns, units, slots: 4 bytes each (version 5: 2 bytes and padding)
 *	ids      8 bytes for each slot
 *	rows     4 bytes for each slot: 1-based, 0 for a free slot
 *	columns  4 bytes for each column: which section
 *	offsets  4 bytes for each unit and column
 *	lengths  likewise
 */
#include "symbolize/debug/package.h"

#include "formats/base/memory.h"

#include <dwarf.h>
#include <stdlib.h>

#define COLUMNS_MAX 16

struct debug_package {
	struct image *image;
	struct debug_source whole;
	struct debug_bytes index;
	uint32_t version, ncolumns, nunits, nslots;
	uint32_t columns[COLUMNS_MAX];
	struct map rows; /* id -> 1-based row */
};

/* Sections by column number, in the GNU version 2 and in version 5. */
static int section_of(uint32_t version, uint32_t column)
{
	static const int8_t old[] = {
		-1, DEBUG_INFO, -1, DEBUG_ABBREV, DEBUG_LINE, -1, DEBUG_STR_OFFSETS, -1, -1
	};
	static const int8_t new[] = { -1, DEBUG_INFO,        -1, DEBUG_ABBREV,  DEBUG_LINE,
				      -1, DEBUG_STR_OFFSETS, -1, DEBUG_RNGLISTS };

	if (column >= ARRAY_LEN(new))
		return -1;
	return version == 2 ? old[column] : new[column];
}

static struct reader index_reader(const struct debug_package *p, uint64_t offset)
{
	struct reader r;

	reader_init(&r, p->index.data, p->index.len, /* big_endian= */ false);
	reader_skip(&r, (size_t)offset, "package index");
	return r;
}

static uint64_t columns_offset(const struct debug_package *p)
{
	return 16 + 12 * (uint64_t)p->nslots;
}

static bool read_index(struct debug_package *p)
{
	struct reader r = index_reader(p, 0);

	p->version =
		reader_u32(&r, "index version") & 0xffff; /* 2 bytes and padding in version 5 */
	p->ncolumns = reader_u32(&r, "index columns");
	p->nunits = reader_u32(&r, "index units");
	p->nslots = reader_u32(&r, "index slots");
	if (r.failed || (p->version != 2 && p->version != 5) || p->ncolumns > COLUMNS_MAX ||
	    p->nslots > reader_left(&r) / 12)
		return false;
	struct reader rows = index_reader(p, 16 + 8 * (uint64_t)p->nslots);

	for (uint32_t i = 0; i < p->nslots; i++) {
		uint64_t id = reader_u64(&r, "unit id");
		uint32_t row = reader_u32(&rows, "row");

		if (row && row <= p->nunits)
			*map_put(&p->rows, id, NULL) = row;
	}
	struct reader columns = index_reader(p, columns_offset(p));

	for (uint32_t i = 0; i < p->ncolumns; i++)
		p->columns[i] = reader_u32(&columns, "column");
	return !columns.failed && !rows.failed;
}

struct debug_package *debug_package_open(const char *path)
{
	struct debug_package *p = memory_zeroed(1, sizeof(*p));
	struct image_section section;
	struct err *err = image_open(path, &p->image);
	bool good = !err && debug_source_init(&p->whole, p->image, ".dwo") &&
		    image_section(p->image, ".debug_cu_index", &section);

	err_free(err);
	if (good)
		p->index = (struct debug_bytes){ section.data, section.len };
	if (good && read_index(p))
		return p;
	debug_package_close(p);
	return NULL;
}

void debug_package_close(struct debug_package *p)
{
	if (!p)
		return;
	debug_source_deinit(&p->whole);
	image_close(p->image);
	map_deinit(&p->rows);
	free(p);
}

/* Cut @bytes down to what the index says; to nothing if that does not fit. */
static void slice(struct debug_bytes *bytes, uint32_t offset, uint32_t len)
{
	bool fits = offset <= bytes->len && len <= bytes->len - offset;

	bytes->data = fits && bytes->data ? bytes->data + offset : NULL;
	bytes->len = fits ? len : 0;
}

bool debug_package_find(struct debug_package *p, uint64_t id, struct debug_source *ret)
{
	const uint64_t *row = map_get(&p->rows, id);

	if (!row)
		return false;
	uint64_t width = 4 * (uint64_t)p->ncolumns;
	uint64_t first = columns_offset(p) + width;
	struct reader offsets = index_reader(p, first + (*row - 1) * width);
	struct reader lens = index_reader(p, first + (p->nunits + *row - 1) * width);

	*ret = (struct debug_source){ .image = p->image };
	for (unsigned i = 0; i < DEBUG_SECTIONS; i++)
		ret->sections[i] = p->whole.sections[i];
	for (uint32_t i = 0; i < p->ncolumns; i++) {
		int section = section_of(p->version, p->columns[i]);
		uint32_t offset = reader_u32(&offsets, "contribution");
		uint32_t len = reader_u32(&lens, "contribution");

		if (section >= 0)
			slice(&ret->sections[section], offset, len);
	}
	debug_source_ready(ret);
	return !lens.failed && !offsets.failed;
}
