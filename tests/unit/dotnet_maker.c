/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dotnet_maker.c - the smallest tables in which something can be found; others have rows only to be in the way.
 */
#include "tests/unit/dotnet_maker.h"

#include "formats/base/compiler.h"

#include <string.h>

/* Numbers of text in the order of the tables; a heap that begins with an empty one. */
static const char strings[] = "\0<Module>\0My\0Outer\0Inner\0Run\0Deep\0Wide";
enum { S_MODULE = 1, S_MY = 10, S_OUTER = 13, S_INNER = 19, S_RUN = 25, S_DEEP = 29, S_WIDE = 34 };

static void put(uint8_t *at, uint64_t value, size_t len)
{
	memcpy(at, &value, len);
}

struct text {
	uint8_t *pos;
};

static void add(struct text *t, uint64_t value, size_t len)
{
	memcpy(t->pos, &value, len);
	t->pos += len;
}

static void add_type(struct text *t, uint16_t name, uint16_t space, uint16_t first_method)
{
	add(t, 0, 4);
	add(t, name, 2);
	add(t, space, 2);
	add(t, 0, 2);
	add(t, 1, 2);
	add(t, first_method, 2);
}

static void add_method(struct text *t, uint16_t name)
{
	add(t, 0, 8);
	add(t, name, 2);
	add(t, 0, 4);
}

/* TypeDef, Field, MethodDef, Param, CustomAttribute, NestedClass. */
static void make_tables(struct text *t)
{
	static const uint32_t rows[] = { 3, 2, 3, 1, 2, 1 };

	add(t, 0, 8);
	add(t, 1ULL << 2 | 1ULL << 4 | 1ULL << 6 | 1ULL << 8 | 1ULL << 0xc | 1ULL << 0x29, 8);
	add(t, 0, 8);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		add(t, rows[i], 4);
	add_type(t, S_MODULE, 0, 1);
	add_type(t, S_OUTER, S_MY, 1);
	add_type(t, S_INNER, 0, 2);
	t->pos += 2 * 6;
	add_method(t, S_RUN);
	add_method(t, S_DEEP);
	add_method(t, S_WIDE);
	t->pos += 6 + 2 * 6;
	add(t, 3, 2);
	add(t, 2, 2);
}

/* One section: 0x200 in the file, 0x2000 when it is laid out. */
void dotnet_maker_write(uint8_t *file, uint32_t section_len)
{
	uint8_t *root = file + 0x300;
	struct text tables = { root + 0x60 };

	put(file, 0x5a4d, 2);
	put(file + 0x3c, 0x80, 4);
	put(file + 0x80, 0x4550, 4);
	put(file + 0x86, 1, 2);
	put(file + 0x94, 0xe0, 2);
	put(file + 0x98, 0x10b, 2);
	put(file + 0x98 + 96 + 14 * 8, 0x2000, 4);
	put(file + 0x98 + 0xe0 + 12, 0x2000, 4);
	put(file + 0x98 + 0xe0 + 16, section_len, 4);
	put(file + 0x98 + 0xe0 + 20, 0x200, 4);
	put(file + 0x208, 0x2100, 4);
	put(file + 0x20c, 0x400, 4);
	memcpy(root, "BSJB", 4);
	put(file + 0x30c, 12, 4);
	put(file + 0x31e, 2, 2);
	put(file + 0x320, 0x60, 4);
	put(file + 0x324, 0x200, 4);
	memcpy(root + 0x28, "#~", 2);
	put(file + 0x32c, 0x280, 4);
	put(file + 0x330, sizeof(strings), 4);
	memcpy(root + 0x34, "#Strings", 8);
	make_tables(&tables);
	memcpy(root + 0x280, strings, sizeof(strings));
}
