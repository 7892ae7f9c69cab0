/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_methods.c - from a method to its names.
 *
 *	Method ─► ConstMethod ─► ConstantPool ─► its class ─► Symbol
 *	            name index ─────► slot ─────► Symbol
 *	            bytecode, and behind it the line table
 */
#include "record/runtime/hotspot_methods.h"

#include "formats/base/compiler.h"
#include "formats/perf/jitdump.h"

#include <stdio.h>
#include <string.h>

#define MARKS_MAX  16
#define MARK_WORDS 4

#define LINES_LEN_MAX 16384
#define CONST_LEN_MAX (1U << 20)
#define LINES_TRIES   4
#define HAS_LINES     1	  /* of ConstMethod's flags */
#define LINES_ESCAPE  0xff

void hotspot_methods_deinit(struct hotspot_methods *methods)
{
	for (size_t i = 0; i < methods->items.len; i++) {
		free(methods->items.items[i].lines);
		free(methods->items.items[i].name);
	}
	vec_deinit(&methods->items);
	map_deinit(&methods->by_address);
}

uint32_t hotspot_unsigned5(const uint8_t *data, size_t len, size_t *pos, unsigned jdk)
{
	uint32_t excluded = jdk >= 20 ? 1 : 0, sum = 0;

	for (unsigned i = 0; i < 5 && *pos < len; i++) {
		uint8_t byte = data[(*pos)++];

		sum += (uint32_t)(byte - excluded) << 6 * i;
		if (byte < 192)
			break;
	}
	return sum;
}

/* ---- names ----------------------------------------------------------------------------------------- */

/* The Symbol at @addr as text; slashes of a class's name become dots. */
static bool read_symbol(struct managed_view *view, const struct hotspot_layout *l, uint64_t addr, char ret[HOTSPOT_SYMBOL_MAX + 1])
{
	size_t len = 0;
	uint16_t full;

	ret[0] = '\0';
	if (!managed_view_copy(view, addr + l->at[SYMBOL_LENGTH], &full, sizeof(full)))
		return false;
	len = MIN((size_t)full, (size_t)HOTSPOT_SYMBOL_MAX);
	if (!len || !managed_view_copy(view, addr + l->at[SYMBOL_BODY], ret, len))
		return false;
	ret[len] = '\0';
	for (char *c = ret; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	return *ret;
}

bool hotspot_pool_symbol(struct managed_view *view, const struct hotspot_layout *l, uint64_t pool, uint16_t index,
			 char ret[HOTSPOT_SYMBOL_MAX + 1])
{
	uint64_t symbol;

	if (!index || index >= managed_view_u32(view, pool + l->at[POOL_LENGTH]))
		return false;
	symbol = managed_view_u64(view, pool + l->pool_size + 8ULL * index) & ~1ULL;
	return symbol && read_symbol(view, l, symbol, ret);
}

/* "java/util/ArrayList" and "ArrayList.java": "java/util/ArrayList.java". Classes made at run time have a number behind "+0x". */
static void make_file(const char *class, const char *source, char ret[HOTSPOT_NAME_MAX])
{
	const char *slash = strrchr(class, '/');
	int package = slash ? (int)(slash + 1 - class) : 0;

	snprintf(ret, HOTSPOT_NAME_MAX, "%.*s%s", package, class, source);
}

static void make_name(char *class, const char *method, char ret[HOTSPOT_NAME_MAX])
{
	char *number = strstr(class, "+0x");

	if (number)
		*number = '\0';
	for (char *c = class; *c; c++)
		*c = *c == '/' ? '.' : *c;
	snprintf(ret, HOTSPOT_NAME_MAX, "%s.%s", class, method);
}

/* A file is not needed. */
static void read_source(struct managed_view *view, const struct hotspot_layout *l, uint64_t pool, uint64_t holder,
			char ret[HOTSPOT_SYMBOL_MAX + 1])
{
	uint16_t index = 0;

	ret[0] = '\0';
	if (l->has[POOL_SOURCE])
		index = managed_view_u16(view, pool + l->at[POOL_SOURCE]);
	else if (l->has[KLASS_SOURCE])
		index = managed_view_u16(view, holder + l->at[KLASS_SOURCE]);
	if (index && !hotspot_pool_symbol(view, l, pool, index, ret))
		ret[0] = '\0';
}

static bool read_names(struct managed_view *view, const struct hotspot_layout *l, uint64_t constant,
		       char name[HOTSPOT_NAME_MAX], char file[HOTSPOT_NAME_MAX])
{
	char class[HOTSPOT_SYMBOL_MAX + 1], method[HOTSPOT_SYMBOL_MAX + 1], source[HOTSPOT_SYMBOL_MAX + 1];
	uint64_t pool = managed_view_u64(view, constant + l->at[CONST_CONSTANTS]);
	uint64_t holder = managed_view_u64(view, pool + l->at[POOL_HOLDER]);
	uint64_t class_name = managed_view_u64(view, holder + l->at[KLASS_NAME]);

	file[0] = '\0';
	if (view->failed || !read_symbol(view, l, class_name, class) ||
	    !hotspot_pool_symbol(view, l, pool, managed_view_u16(view, constant + l->at[CONST_NAME]), method))
		return false;
	read_source(view, l, pool, holder, source);
	if (*source)
		make_file(class, source, file);
	make_name(class, method, name);
	return !view->failed;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static void read_lines(struct managed_view *view, const struct hotspot_layout *l, struct hotspot_method *m)
{
	uint64_t len = 8ULL * managed_view_u32(view, m->constant + l->at[CONST_SIZE]);
	uint64_t begin = l->const_method_size + m->bytecode_len;

	if (!(managed_view_u8(view, m->constant + l->at[CONST_FLAGS]) & HAS_LINES) || len > CONST_LEN_MAX || len <= begin)
		return;
	m->lines_len = (size_t)MIN(len - begin, (uint64_t)LINES_LEN_MAX);
	m->lines = memory_alloc(m->lines_len);
	if (managed_view_try(view, m->constant + begin, m->lines, m->lines_len)) {
		m->lines_tries = LINES_TRIES;
		return;
	}
	free(m->lines);
	m->lines = NULL;
	m->lines_len = 0;
}

/* Where its table was not in memory when the method was read. */
static void read_lines_again(struct hotspot_methods *methods, struct managed_view *view, struct hotspot_method *m)
{
	if (m->lines || m->lines_tries >= LINES_TRIES || methods->lines_len >= HOTSPOT_LINES_MAX)
		return;
	m->lines_tries++;
	read_lines(view, methods->layout, m);
	methods->lines_len += m->lines_len;
}

static int32_t signed5(const struct hotspot_method *m, size_t *pos, unsigned jdk)
{
	uint32_t value = hotspot_unsigned5(m->lines, m->lines_len, pos, jdk);

	return (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
}

uint32_t hotspot_methods_line(const struct hotspot_methods *methods, uint32_t number, uint32_t bci)
{
	const struct hotspot_method *m = &methods->items.items[number];
	uint32_t at = 0, line = 0, best = 0, best_at = 0;
	size_t pos = 0;

	while (pos < m->lines_len && m->lines[pos]) {
		uint8_t byte = m->lines[pos++];

		if (byte == LINES_ESCAPE) {
			at += (uint32_t)signed5(m, &pos, methods->layout->jdk);
			line += (uint32_t)signed5(m, &pos, methods->layout->jdk);
		} else {
			at += byte >> 3;
			line += byte & 7;
		}
		if (at <= bci && (!best || at >= best_at)) {
			best = line;
			best_at = at;
		}
	}
	return best;
}

/* ---- methods --------------------------------------------------------------------------------------- */

static void read_mark(struct managed_view *view, const struct hotspot_layout *l, struct hotspot_method *m)
{
	m->pool = managed_view_u64(view, m->constant + l->at[CONST_CONSTANTS]);
	m->name_index = managed_view_u16(view, m->constant + l->at[CONST_NAME]);
	m->holder = managed_view_u64(view, m->pool + l->at[POOL_HOLDER]);
	m->holder_name = managed_view_u64(view, m->holder + l->at[KLASS_NAME]);
	m->loader = l->has[KLASS_LOADER] ? managed_view_u64(view, m->holder + l->at[KLASS_LOADER]) : 0;
}

static bool add(struct hotspot_methods *methods, struct managed_view *view, uint64_t constant, struct writer *out)
{
	const struct hotspot_layout *l = methods->layout;
	char name[HOTSPOT_NAME_MAX], file[HOTSPOT_NAME_MAX];
	struct hotspot_method m = { .constant = constant };

	if (methods->items.len >= HOTSPOT_METHODS_MAX || !read_names(view, l, constant, name, file))
		return false;
	m.bytecode = constant + l->const_method_size;
	m.bytecode_len = managed_view_u16(view, constant + l->at[CONST_CODE_SIZE]);
	if (methods->lines_len < HOTSPOT_LINES_MAX)
		read_lines(view, l, &m);
	read_mark(view, l, &m);
	if (view->failed) {
		free(m.lines);
		return false;
	}
	methods->lines_len += m.lines_len;
	m.name = memory_strdup(name);
	methods->names_len += strlen(name) + 1;
	jitdump_put_function(out, (uint32_t)methods->items.len, name, file, /* line= */ 0);
	vec_push(&methods->items, m);
	return true;
}

/* The four words that tell a method from others, where they are. */
static void mark_places(const struct hotspot_layout *l, const struct hotspot_method *m, uint64_t ret[MARK_WORDS])
{
	ret[0] = m->constant + l->at[CONST_CONSTANTS];
	ret[1] = m->constant + l->at[CONST_NAME];
	ret[2] = m->pool + l->at[POOL_HOLDER];
	ret[3] = m->holder + l->at[KLASS_NAME];
}

static bool has_mark(const struct hotspot_method *m, const uint64_t words[MARK_WORDS])
{
	return words[0] == m->pool && (uint16_t)words[1] == m->name_index && words[2] == m->holder && words[3] == m->holder_name;
}

static bool is_there(struct managed_view *view, const struct hotspot_layout *l, const struct hotspot_method *m)
{
	uint64_t places[MARK_WORDS], words[MARK_WORDS];

	mark_places(l, m, places);
	for (size_t i = 0; i < MARK_WORDS; i++) {
		if (!managed_view_try(view, places[i], &words[i], sizeof(words[i])))
			return false;
	}
	return has_mark(m, words);
}

void hotspot_methods_retire(const struct hotspot_methods *methods, struct hotspot_method *m, struct writer *out)
{
	size_t begin = out->len;

	if (m->is_known && !m->is_gone)
		jitdump_put_gone(out, m->bytecode, m->bytecode_len);
	jitdump_set_times(out, begin, 0, MAX(methods->seen_ns, 1));
	m->is_gone = true;
}

void hotspot_methods_retire_others(struct hotspot_methods *methods, const struct map *loaders, struct writer *out)
{
	for (size_t i = 0; i < methods->items.len; i++) {
		if (!methods->items.items[i].is_gone && !map_get(loaders, methods->items.items[i].loader))
			hotspot_methods_retire(methods, &methods->items.items[i], out);
	}
}

/* The next methods that matter, with one call. */
static void compare_some(struct hotspot_methods *methods, struct managed_view *view, size_t *pos, struct writer *out)
{
	struct task_memory_piece pieces[MARKS_MAX * MARK_WORDS];
	uint64_t words[MARKS_MAX][MARK_WORDS], places[MARK_WORDS];
	struct hotspot_method *some[MARKS_MAX];
	size_t count = 0;

	for (; *pos < methods->items.len && count < MARKS_MAX; ++*pos) {
		struct hotspot_method *m = &methods->items.items[*pos];

		if (!m->is_known || m->is_gone)
			continue;
		mark_places(methods->layout, m, places);
		for (size_t i = 0; i < MARK_WORDS; i++)
			pieces[count * MARK_WORDS + i] = (struct task_memory_piece){ places[i], &words[count][i], 8, 0 };
		some[count++] = m;
	}
	if (!count)
		return;
	memset(words, 0, sizeof(words));
	view->read(view->context, pieces, count * MARK_WORDS);
	view->reads += (unsigned)count / 4 + 1;
	for (size_t i = 0; i < count; i++) {
		if (has_mark(some[i], words[i]))
			continue;
		hotspot_methods_retire(methods, some[i], out);
	}
}

bool hotspot_methods_compare(struct hotspot_methods *methods, struct managed_view *view, size_t *pos, struct writer *out)
{
	uint8_t byte;

	while (*pos < methods->items.len && !view->failed && view->reads < MANAGED_READS_MAX) {
		compare_some(methods, view, pos, out);
		managed_view_try(view, 0, &byte, 1); /* looks at the time */
	}
	return *pos >= methods->items.len;
}

bool hotspot_methods_get(struct hotspot_methods *methods, struct managed_view *view, uint64_t addr,
			 struct writer *out, uint32_t *ret)
{
	const uint64_t *slot = map_get(&methods->by_address, addr);
	uint64_t constant = managed_view_u64(view, addr + methods->layout->at[METHOD_CONST]);
	struct hotspot_method *known = slot ? &methods->items.items[*slot] : NULL;

	if (view->failed || !constant)
		return false;
	if (known && known->constant == constant && !known->is_gone && is_there(view, methods->layout, known)) {
		read_lines_again(methods, view, known);
		*ret = (uint32_t)*slot;
		return !view->failed;
	}
	if (view->failed)
		return false; /* there was no time to look */
	if (known)
		hotspot_methods_retire(methods, known, out);
	if (!add(methods, view, constant, out))
		return false;
	*ret = (uint32_t)(methods->items.len - 1);
	*map_put(&methods->by_address, addr, NULL) = *ret;
	return true;
}
