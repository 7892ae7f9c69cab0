/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_map.c - a copy of the text cut into lines, laid over each other in the order of the file.
 */
#include "symbolize/jit_map.h"

#include "formats/base/vec.h"
#include "symbolize/layers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct jit_map {
	char *text;
	VEC(struct jit_symbol) symbols;
	struct layers *layers;
	size_t skipped;
};

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* Hexadecimal number at *@pos, which moves behind it and the blanks that must follow. */
static bool take_number(const char **pos, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;
	int ndigits = 0;

	if (p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (; digit_value(*p) >= 0; p++, ndigits++) {
		if (value >> 60)
			return false;
		value = value << 4 | (unsigned)digit_value(*p);
	}
	if (!ndigits || (*p != ' ' && *p != '\t'))
		return false;
	while (*p == ' ' || *p == '\t')
		p++;
	*pos = p;
	*ret = value;
	return true;
}

static bool parse_line(const char *line, struct jit_symbol *ret)
{
	while (*line == ' ' || *line == '\t')
		line++;
	if (!take_number(&line, &ret->start) || !take_number(&line, &ret->len))
		return false;
	ret->name = line;
	return *line && ret->len && ret->len <= UINT64_MAX - ret->start;
}

/* Cut the copy of the text into lines and keep those that are symbols. */
static void parse(struct jit_map *map, size_t len)
{
	struct jit_symbol symbol;
	char *end = map->text + len;

	for (char *line = map->text; line < end && map->symbols.len < LAYERS_NONE;) {
		char *eol = memchr(line, '\n', (size_t)(end - line));

		if (!eol)
			eol = end;
		*eol = '\0';
		if (eol > line && eol[-1] == '\r')
			eol[-1] = '\0';
		if (parse_line(line, &symbol))
			vec_push(&map->symbols, symbol);
		else
			map->skipped++;
		line = eol + 1;
	}
}

struct jit_map *jit_map_new(const char *text, size_t len)
{
	struct jit_map *map = memory_zeroed(1, sizeof(*map));

	map->text = memory_alloc(len + 1);
	if (len)
		memcpy(map->text, text, len);
	map->text[len] = '\0';
	parse(map, len);

	VEC(struct layer) ranges = { 0 };

	vec_reserve(&ranges, map->symbols.len);
	for (size_t i = 0; i < map->symbols.len; i++) {
		const struct jit_symbol *sym = &map->symbols.items[i];
		struct layer range = { sym->start, sym->start + sym->len };

		vec_push(&ranges, range);
	}
	map->layers = layers_new(ranges.items, ranges.len);
	vec_deinit(&ranges);
	return map;
}

void jit_map_free(struct jit_map *map)
{
	if (!map)
		return;
	vec_deinit(&map->symbols);
	layers_free(map->layers);
	free(map->text);
	free(map);
}

const struct jit_symbol *jit_map_find(const struct jit_map *map, uint64_t ip)
{
	uint32_t symbol = layers_find(map->layers, ip);

	return symbol == LAYERS_NONE ? NULL : &map->symbols.items[symbol];
}

const struct jit_symbol *jit_map_symbols(const struct jit_map *map, size_t *ret_count)
{
	*ret_count = map->symbols.len;
	return map->symbols.items;
}

size_t jit_map_skipped(const struct jit_map *map)
{
	return map->skipped;
}
