/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dotnet_metadata.c - where a table begins depends on the lengths of all rows before it, which depend on how many rows other tables
 * have. So all columns of all tables up to the last one that is needed are written down here.
 */
#include "record/runtime/dotnet_metadata.h"

#include "formats/base/bisect.h"
#include "formats/base/compiler.h"

#include <stdio.h>
#include <string.h>

#define PE_OFFSET      0x3c
#define PE_SIGNATURE   0x00004550u
#define PE_MAX	       4096 /* from the beginning to the header */
#define PE_PLUS	       0x20b
#define PE_SECTION_LEN 40
#define PE_SECTIONS    96
#define CLI_DIRECTORY  14
#define CLI_LEN	       72
#define ROOT_SIGNATURE 0x424a5342u /* "BSJB" */
#define VERSION_MAX    256
#define STREAMS_MAX    16
#define ROWS_MAX       0xffffffu
#define CLASSES_MAX    8 /* one in the other */
#define TEXT_MAX       255
#define HEAPS_EXTRA    0x40

enum {
	TYPE_REF = 0x01, TYPE_DEF = 0x02, FIELD = 0x04, METHOD = 0x06, PARAM = 0x08, EVENT = 0x14, PROPERTY = 0x17, MODULE_REF = 0x1a,
	ASSEMBLY_REF = 0x23, NESTED_CLASS = 0x29, TABLES = 0x2d,
	/* Columns that are no row of one table: numbers, indexes into heaps, rows of one of several tables. */
	N2 = 0x40, N4, STRING, GUID, BLOB,
	CODED, TYPE_DEF_OR_REF = CODED, HAS_CONSTANT, HAS_ATTRIBUTE, HAS_MARSHAL, HAS_SECURITY, MEMBER_PARENT, HAS_SEMANTICS,
	METHOD_DEF_OR_REF, MEMBER_FORWARDED, IMPLEMENTATION, ATTRIBUTE_TYPE, RESOLUTION_SCOPE,
	END = 0xff
};

#define COLUMNS_MAX 9

static const uint8_t columns[NESTED_CLASS + 1][COLUMNS_MAX + 1] = {
	[0x00] = { N2, STRING, GUID, GUID, GUID, END },
	[TYPE_REF] = { RESOLUTION_SCOPE, STRING, STRING, END },
	[TYPE_DEF] = { N4, STRING, STRING, TYPE_DEF_OR_REF, FIELD, METHOD, END },
	[0x03] = { FIELD, END },
	[FIELD] = { N2, STRING, BLOB, END },
	[0x05] = { METHOD, END },
	[METHOD] = { N4, N2, N2, STRING, BLOB, PARAM, END },
	[0x07] = { PARAM, END },
	[PARAM] = { N2, N2, STRING, END },
	[0x09] = { TYPE_DEF, TYPE_DEF_OR_REF, END },
	[0x0a] = { MEMBER_PARENT, STRING, BLOB, END },
	[0x0b] = { N2, HAS_CONSTANT, BLOB, END },
	[0x0c] = { HAS_ATTRIBUTE, ATTRIBUTE_TYPE, BLOB, END },
	[0x0d] = { HAS_MARSHAL, BLOB, END },
	[0x0e] = { N2, HAS_SECURITY, BLOB, END },
	[0x0f] = { N2, N4, TYPE_DEF, END },
	[0x10] = { N4, FIELD, END },
	[0x11] = { BLOB, END },
	[0x12] = { TYPE_DEF, EVENT, END },
	[0x13] = { EVENT, END },
	[EVENT] = { N2, STRING, TYPE_DEF_OR_REF, END },
	[0x15] = { TYPE_DEF, PROPERTY, END },
	[0x16] = { PROPERTY, END },
	[PROPERTY] = { N2, STRING, BLOB, END },
	[0x18] = { N2, METHOD, HAS_SEMANTICS, END },
	[0x19] = { TYPE_DEF, METHOD_DEF_OR_REF, METHOD_DEF_OR_REF, END },
	[MODULE_REF] = { STRING, END },
	[0x1b] = { BLOB, END },
	[0x1c] = { N2, MEMBER_FORWARDED, STRING, MODULE_REF, END },
	[0x1d] = { N4, FIELD, END },
	[0x1e] = { N4, N4, END },
	[0x1f] = { N4, END },
	[0x20] = { N4, N2, N2, N2, N2, N4, BLOB, STRING, STRING, END },
	[0x21] = { N4, END },
	[0x22] = { N4, N4, N4, END },
	[ASSEMBLY_REF] = { N2, N2, N2, N2, N4, BLOB, STRING, STRING, BLOB, END },
	[0x24] = { N4, ASSEMBLY_REF, END },
	[0x25] = { N4, N4, N4, ASSEMBLY_REF, END },
	[0x26] = { N4, STRING, BLOB, END },
	[0x27] = { N4, N4, STRING, STRING, IMPLEMENTATION, END },
	[0x28] = { N4, N4, STRING, IMPLEMENTATION, END },
	[NESTED_CLASS] = { TYPE_DEF, TYPE_DEF, END },
};

/* How many low bits say which table, and which those are. */
static const struct {
	uint8_t bits, tables[23];
} coded[] = {
	[TYPE_DEF_OR_REF - CODED] = { 2, { 0x02, 0x01, 0x1b, END } },
	[HAS_CONSTANT - CODED] = { 2, { 0x04, 0x08, 0x17, END } },
	[HAS_ATTRIBUTE - CODED] = { 5, { 0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23,
					 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b, END } },
	[HAS_MARSHAL - CODED] = { 1, { 0x04, 0x08, END } },
	[HAS_SECURITY - CODED] = { 2, { 0x02, 0x06, 0x20, END } },
	[MEMBER_PARENT - CODED] = { 3, { 0x02, 0x01, 0x1a, 0x06, 0x1b, END } },
	[HAS_SEMANTICS - CODED] = { 1, { 0x14, 0x17, END } },
	[METHOD_DEF_OR_REF - CODED] = { 1, { 0x06, 0x0a, END } },
	[MEMBER_FORWARDED - CODED] = { 1, { 0x04, 0x06, END } },
	[IMPLEMENTATION - CODED] = { 2, { 0x26, 0x23, 0x27, END } },
	[ATTRIBUTE_TYPE - CODED] = { 3, { 0x06, 0x0a, END } },
	[RESOLUTION_SCOPE - CODED] = { 2, { 0x00, 0x1a, 0x23, 0x01, END } },
};

/* ---- the tables ------------------------------------------------------------------------------------ */

struct heads {
	uint32_t rows[TABLES];
	uint8_t heaps; /* which of them have long indexes */
};

static uint8_t coded_len(const struct heads *h, uint8_t column)
{
	const uint8_t *table = coded[column - CODED].tables;
	uint32_t most = 0;

	for (; *table != END; table++)
		most = MAX(most, h->rows[*table]);
	return most < 1U << (16 - coded[column - CODED].bits) ? 2 : 4;
}

static uint8_t column_len(const struct heads *h, uint8_t column)
{
	if (column >= CODED)
		return coded_len(h, column);
	if (column == N2 || column == N4)
		return column == N2 ? 2 : 4;
	if (column >= STRING)
		return h->heaps >> (column - STRING) & 1 ? 4 : 2;
	return h->rows[column] < 0x10000 ? 2 : 4;
}

/* Where column @count of a row of @table is; behind the last one, how long a row is. */
static uint8_t column_at(const struct heads *h, unsigned table, unsigned count)
{
	uint8_t at = 0;

	for (unsigned i = 0; i < count && columns[table][i] != END; i++)
		at += column_len(h, columns[table][i]);
	return at;
}

static bool read_rows(struct managed_view *view, uint64_t *addr, uint64_t valid, uint32_t ret[TABLES])
{
	for (unsigned i = 0; i < 64; i++) {
		uint32_t rows = 0;

		if (valid >> i & 1) {
			rows = managed_view_u32(view, *addr);
			*addr += 4;
		}
		if (rows > ROWS_MAX || (rows && i >= TABLES))
			return false;
		if (i < TABLES)
			ret[i] = rows;
	}
	return !view->failed;
}

/* The tables of stream "#~" at @addr. */
static bool read_tables(struct managed_view *view, uint64_t addr, uint32_t len, struct dotnet_metadata *m)
{
	struct dotnet_table *const wanted[] = { [TYPE_DEF] = &m->types, [METHOD] = &m->methods, [NESTED_CLASS] = &m->nested };
	struct heads h = { .heaps = managed_view_u8(view, addr + 6) };
	uint64_t at = addr + 24;

	if (!read_rows(view, &at, managed_view_u64(view, addr + 8), h.rows) || h.heaps & HEAPS_EXTRA)
		return false;
	for (unsigned i = 0; i <= NESTED_CLASS; i++) {
		struct dotnet_table table = { at, h.rows[i], column_at(&h, i, COLUMNS_MAX) };

		at += (uint64_t)table.rows * table.row_len;
		if (at - addr > len)
			return false;
		if (wanted[i])
			*wanted[i] = table;
	}
	m->string_len = column_len(&h, STRING);
	m->type_methods = column_at(&h, TYPE_DEF, 5);
	m->type_methods_len = column_len(&h, METHOD);
	m->nested_len = column_len(&h, TYPE_DEF);
	return true;
}

/* ---- the file -------------------------------------------------------------------------------------- */

bool dotnet_pe_open(struct managed_view *view, uint64_t base, uint32_t len, struct dotnet_pe *ret)
{
	uint32_t header = managed_view_u32(view, base + PE_OFFSET);
	uint64_t pe = base + header, optional = pe + 24;

	if (managed_view_u16(view, base) != 0x5a4d || header > PE_MAX || managed_view_u32(view, pe) != PE_SIGNATURE)
		return false;
	*ret = (struct dotnet_pe){ .base = base, .len = len };
	ret->machine = managed_view_u16(view, pe + 4);
	ret->nsections = managed_view_u16(view, pe + 6);
	ret->sections = optional + managed_view_u16(view, pe + 20);
	ret->cli = managed_view_u32(view, optional + (managed_view_u16(view, optional) == PE_PLUS ? 112 : 96) + 8 * CLI_DIRECTORY);
	return !view->failed && ret->cli && ret->nsections <= PE_SECTIONS;
}

struct dotnet_pe_section dotnet_pe_section_at(struct managed_view *view, const struct dotnet_pe *pe, uint16_t index)
{
	uint64_t at = pe->sections + (uint64_t)index * PE_SECTION_LEN;
	struct dotnet_pe_section section = { .vaddr = managed_view_u32(view, at + 12) };

	section.len = managed_view_u32(view, at + 16);
	section.offset = managed_view_u32(view, at + 20);
	return section;
}

uint64_t dotnet_pe_addr(struct managed_view *view, const struct dotnet_pe *pe, uint32_t at, uint32_t need)
{
	uint64_t offset = pe->is_laid_out ? at : UINT64_MAX;

	for (uint16_t i = 0; !pe->is_laid_out && i < pe->nsections; i++) {
		struct dotnet_pe_section section = dotnet_pe_section_at(view, pe, i);

		if (at - section.vaddr < section.len) {
			offset = (uint64_t)section.offset + (at - section.vaddr);
			break;
		}
	}
	return offset <= pe->len && need <= pe->len - offset ? pe->base + offset : 0;
}

/* The metadata's root; 0 if it is not where it should be, as the file is laid out. */
static uint64_t find_root(struct managed_view *view, const struct dotnet_pe *pe, uint32_t *ret_len)
{
	uint64_t cli = dotnet_pe_addr(view, pe, pe->cli, CLI_LEN), root;
	uint32_t at[2], signature;

	if (!cli || !managed_view_try(view, cli + 8, at, sizeof(at)) || at[1] < 20)
		return 0;
	root = dotnet_pe_addr(view, pe, at[0], at[1]);
	*ret_len = at[1];
	return root && managed_view_try(view, root, &signature, sizeof(signature)) && signature == ROOT_SIGNATURE ? root : 0;
}

/* Streams "#~" and "#Strings" of the metadata at @root. */
static bool read_streams(struct managed_view *view, uint64_t root, uint32_t len, struct dotnet_metadata *m)
{
	uint32_t version = managed_view_u32(view, root + 12);
	uint64_t at = root + 16 + version;
	unsigned count = version <= VERSION_MAX ? managed_view_u16(view, at + 2) : 0;
	bool has_tables = false;

	at += 4;
	for (unsigned i = 0; i < count && i < STREAMS_MAX && !view->failed; i++) {
		uint32_t offset = managed_view_u32(view, at), stream_len = managed_view_u32(view, at + 4);
		char name[13] = "";

		if (!dotnet_metadata_text(view, at + 8, at + 8 + sizeof(name), name, sizeof(name)) || offset > len ||
		    stream_len > len - offset)
			return false;
		if (strcmp(name, "#~") == 0)
			has_tables = read_tables(view, root + offset, stream_len, m);
		if (strcmp(name, "#Strings") == 0) {
			m->strings = root + offset;
			m->strings_len = stream_len;
		}
		at += 8 + (strlen(name) / 4 + 1) * 4;
	}
	return has_tables && m->strings && !view->failed;
}

bool dotnet_metadata_open(struct managed_view *view, uint64_t base, uint32_t len, struct dotnet_metadata *ret)
{
	struct dotnet_metadata m = { .base = base, .len = len };
	uint32_t root_len = 0;
	struct dotnet_pe pe;
	uint64_t root;

	if (!dotnet_pe_open(view, base, len, &pe))
		return false;
	root = find_root(view, &pe, &root_len);
	if (!root) {
		pe.is_laid_out = true;
		root = find_root(view, &pe, &root_len);
	}
	if (!root || !read_streams(view, root, root_len, &m))
		return false;
	*ret = m;
	return true;
}

/* ---- names ----------------------------------------------------------------------------------------- */

bool dotnet_metadata_text(struct managed_view *view, uint64_t addr, uint64_t end, char *ret, size_t room)
{
	size_t len = 0;

	while (len < room - 1 && addr + len < end) {
		size_t part = MIN(room - 1 - len, MANAGED_PAGE_LEN - (size_t)((addr + len) % MANAGED_PAGE_LEN));

		part = (size_t)MIN((uint64_t)part, end - addr - len);
		if (!managed_view_copy(view, addr + len, ret + len, part))
			break;
		size_t got = strnlen(ret + len, part);

		len += got;
		if (got < part)
			break;
	}
	ret[len] = '\0';
	for (char *c = ret; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	return !view->failed && len;
}

/* A number of @len bytes, 2 or 4. */
static uint32_t read_number(struct managed_view *view, uint64_t addr, uint8_t len)
{
	return len == 2 ? managed_view_u16(view, addr) : managed_view_u32(view, addr);
}

static uint64_t row(const struct dotnet_table *table, uint32_t number)
{
	return table->addr + (uint64_t)(number - 1) * table->row_len;
}

/* The text whose index is at @addr; may be empty. */
static bool read_string(struct managed_view *view, const struct dotnet_metadata *m, uint64_t addr, char ret[TEXT_MAX + 1])
{
	uint32_t index = read_number(view, addr, m->string_len);

	ret[0] = '\0';
	if (!view->failed && index && index < m->strings_len)
		dotnet_metadata_text(view, m->strings + index, m->strings + m->strings_len, ret, TEXT_MAX + 1);
	return !view->failed;
}

/* The type that type @number is declared in; 0: in none. The table ascends. */
static uint32_t outer_type(struct managed_view *view, const struct dotnet_metadata *m, uint32_t number)
{
	uint32_t low = 1, high = m->nested.rows;

	while (low <= high && !view->failed) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t at = row(&m->nested, middle);
		uint32_t inner = read_number(view, at, m->nested_len);

		if (inner == number)
			return read_number(view, at + m->nested_len, m->nested_len);
		if (inner < number)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return 0;
}

static uint32_t first_method(struct managed_view *view, const struct dotnet_metadata *m, uint32_t type)
{
	if (type > m->types.rows)
		return m->methods.rows + 1;
	return read_number(view, row(&m->types, type) + m->type_methods, m->type_methods_len);
}

uint32_t dotnet_metadata_type(struct managed_view *view, const struct dotnet_metadata *m, uint32_t method)
{
	uint32_t count = (uint32_t)BISECT(m->types.rows, i, first_method(view, m, (uint32_t)i + 1) <= method);

	return view->failed || method > m->methods.rows ? 0 : count;
}

/* In front of what is in @ret. */
static void prepend(char ret[DOTNET_NAME_MAX], const char *text, char separator)
{
	size_t len = strlen(text), old = strlen(ret);

	if (!len || len + 1 + old >= DOTNET_NAME_MAX)
		return;
	memmove(ret + len + 1, ret, old + 1);
	memcpy(ret, text, len);
	ret[len] = separator;
}

bool dotnet_metadata_name(struct managed_view *view, const struct dotnet_metadata *m, uint32_t type, uint32_t method,
			  char ret[DOTNET_NAME_MAX])
{
	char text[TEXT_MAX + 1];
	char separator = '.';

	ret[0] = '\0';
	if (!type || type > m->types.rows || !method || method > m->methods.rows || first_method(view, m, type) > method ||
	    first_method(view, m, type + 1) <= method || !read_string(view, m, row(&m->methods, method) + 8, text) || !*text)
		return false;
	snprintf(ret, DOTNET_NAME_MAX, "%s", text);
	for (unsigned i = 0; type && type <= m->types.rows && i < CLASSES_MAX; i++) {
		uint64_t at = row(&m->types, type) + 4;

		if (!read_string(view, m, at, text))
			return false;
		prepend(ret, text, separator);
		if (!read_string(view, m, at + m->string_len, text))
			return false;
		prepend(ret, text, '.');
		separator = '+';
		type = outer_type(view, m, type);
	}
	return !view->failed;
}
