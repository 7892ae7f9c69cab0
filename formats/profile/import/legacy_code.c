/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legacy_code.c - mappings are few, so that they are searched one by one, once for each address.
 */
#include "formats/profile/import/legacy_code.h"

#include <inttypes.h>
#include <stdio.h>

#define MAPPINGS_MAX 65536 /* the kernel allows a process as many; others are left out */

bool legacy_code_is_mapped(struct json_text line)
{
	return memmem(line.data, line.len, "MAPPED_LIBRARIES:", 17) ||
	       memmem(line.data, line.len, "--- Memory map: ---", 19);
}

/* The next word, blanks in front passed over; empty at the end. */
static struct json_text next_word(struct json_text *text)
{
	size_t len = 0;

	*text = import_trim(*text);
	while (len < text->len && text->data[len] != ' ' && text->data[len] != '\t')
		len++;

	struct json_text word = { text->data, len };

	text->data += len;
	text->len -= len;
	return word;
}

/* "/src/a.go:12" */
static void split_place(struct json_text place, struct legacy_symbol *symbol, struct profile *p)
{
	const char *colon = place.len ? memrchr(place.data, ':', place.len) : NULL;
	uint64_t line;

	if (!colon)
		return;
	if (!import_number((struct json_text){ colon + 1, place.len - (size_t)(colon + 1 - place.data) }, &line))
		return;
	symbol->line = (uint32_t)MIN(line, UINT32_MAX);
	symbol->file = import_text(p, (struct json_text){ place.data, (size_t)(colon - place.data) });
}

static void put_symbol(struct legacy_code *code, uint64_t addr, const struct legacy_symbol *symbol)
{
	uint64_t *known = map_get(&code->symbol_of, addr);
	uint32_t number = (uint32_t)code->symbols.len;

	if (known && addr == code->last_addr && code->last_open) {
		uint64_t at = *known;

		while (code->symbols.items[at].next)
			at = code->symbols.items[at].next - 1;
		code->symbols.items[at].next = number + 1;
	} else if (known) {
		code->last_open = false;
		return;
	} else {
		*map_put(&code->symbol_of, addr, NULL) = number;
		code->last_open = true;
	}
	code->last_addr = addr;
	vec_push(&code->symbols, *symbol);
}

void legacy_code_add_symbol(struct legacy_code *code, struct json_text line)
{
	struct legacy_symbol symbol = { 0 };
	struct json_text word, name;
	const char *plus;
	uint64_t addr;

	line.data++; /* '#' */
	line.len--;
	word = next_word(&line);
	if (!import_hex(word, &addr)) {
		code->last_open = false;
		return;
	}
	/* Functions of Go may have blanks in their names, "func(...)": a tab ends them. */
	line = import_trim(line);
	name = import_trim(import_take(&line, '\t'));
	plus = name.len ? memrchr(name.data, '+', name.len) : NULL;
	if (plus && plus > name.data)
		name.len = (size_t)(plus - name.data);
	if (!name.len)
		return;
	symbol.name = import_text(code->p, name);
	split_place(import_trim(line), &symbol, code->p);
	put_symbol(code, addr, &symbol);
}

void legacy_code_add_java(struct legacy_code *code, uint64_t addr, struct json_text text)
{
	struct legacy_symbol symbol = { 0 };
	const char *open = text.len && text.data[text.len - 1] == ')' ? memrchr(text.data, '(', text.len) : NULL;
	struct json_text name = text, place = { "", 0 };

	if (open && open > text.data) {
		place = (struct json_text){ open + 1, text.len - (size_t)(open + 2 - text.data) };
		name = import_trim((struct json_text){ text.data, (size_t)(open - text.data) });
	}
	if (!name.len)
		return;
	symbol.name = import_text(code->p, name);
	split_place(place, &symbol, code->p);
	code->last_open = false;
	put_symbol(code, addr, &symbol);
}

/* ---- mappings ---- */

/* "0x400000-0x500000:" or with a blank instead of the '-' */
static bool take_range(struct json_text *line, struct import_mapping *ret)
{
	struct json_text word = next_word(line), start;

	if (word.len && word.data[word.len - 1] == ':')
		word.len--;
	start = import_take(&word, '-');
	if (!word.len)
		word = next_word(line);
	return import_hex(start, &ret->start) && import_hex(word, &ret->end) && ret->start < ret->end;
}

static bool is_permissions(struct json_text word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!memchr("-rwxps", word.data[i], 6))
			return false;
	return word.len >= 3 && word.len <= 5;
}

/* Behind the permissions: "OFFSET MAJOR:MINOR INODE PATH", or "PATH (@OFFSET) BUILD-ID". */
static struct json_text take_path(struct json_text line, uint64_t *offset, struct json_text *build_id)
{
	struct json_text rest = line, first = next_word(&rest), device = next_word(&rest), path, word;

	*build_id = (struct json_text){ "", 0 };
	if (import_hex(first, offset) && device.len && memchr(device.data, ':', device.len)) {
		next_word(&rest);
		return import_trim(rest);
	}
	*offset = 0;
	path = next_word(&line);
	word = next_word(&line);
	if (import_starts(word, "(@")) {
		import_hex((struct json_text){ word.data + 2, word.len - 2 - (word.data[word.len - 1] == ')') }, offset);
		word = next_word(&line);
	}
	*build_id = word;
	return path;
}

/* "$build" in front of a path. */
static uint32_t path_text(struct legacy_code *code, struct json_text path)
{
	char text[4096];
	size_t name = code->variable.len;

	if (!name || path.len <= name || *path.data != '$' || memcmp(path.data + 1, code->variable.data, name) != 0)
		return import_text(code->p, path);
	snprintf(text, sizeof(text), "%.*s%.*s", (int)MIN(code->value.len, sizeof(text)), code->value.data,
		 (int)MIN(path.len - name - 1, sizeof(text)), path.data + name + 1);
	return profile_string(code->p, text);
}

void legacy_code_add_mapping(struct legacy_code *code, struct json_text line)
{
	struct json_text rest = line, word, build_id;
	struct import_mapping mapping = { 0 };
	struct profile_module mod = { .kind = PROFILE_USER };
	const char *slash;

	if (!take_range(&rest, &mapping)) {
		code->value = line;
		code->variable = import_trim(import_take(&code->value, '='));
		code->value = import_trim(code->value);
		return;
	}
	line = rest;
	word = next_word(&rest);
	if (is_permissions(word)) {
		if (!memchr(word.data, 'x', word.len))
			return;
		line = rest;
	}
	mod.path = path_text(code, take_path(line, &mapping.offset, &build_id));
	mod.build_id = import_text(code->p, build_id);
	if (!mod.path || code->mappings.len >= MAPPINGS_MAX)
		return;
	slash = strrchr(profile_text(code->p, mod.path), '/');
	mod.name = slash && slash[1] ? profile_string(code->p, slash + 1) : mod.path;
	mapping.module = profile_add_module(code->p, &mod);
	vec_push(&code->mappings, mapping);
}

/* ---- addresses ---- */

static const struct import_mapping *mapping_of(const struct legacy_code *code, uint64_t addr)
{
	static const struct import_mapping none = { .module = PROFILE_NONE };

	for (size_t i = 0; i < code->mappings.len; i++)
		if (addr >= code->mappings.items[i].start && addr < code->mappings.items[i].end)
			return &code->mappings.items[i];
	return &none;
}

static void add_line(struct legacy_code *code, uint32_t module, const struct legacy_symbol *symbol)
{
	struct profile_function function = { .name = symbol->name, .module = module, .file = symbol->file };
	struct profile_line line = { profile_add_function(code->p, &function), symbol->file, symbol->line };

	vec_push(&code->lines, line);
}

static uint32_t new_location(struct legacy_code *code, uint64_t addr)
{
	const uint64_t *known = map_get(&code->symbol_of, addr);
	const struct import_mapping *mapping = mapping_of(code, addr);
	uint64_t vaddr = import_link_time(code->p, mapping, addr);
	uint32_t module = mapping->module, location;

	if (!known)
		return import_unnamed(code->p, module, vaddr);
	code->lines.len = 0;
	for (uint64_t at = *known + 1; at; at = code->symbols.items[at - 1].next)
		add_line(code, module, &code->symbols.items[at - 1]);
	if (module == PROFILE_NONE)
		return profile_add_named_location(code->p, PROFILE_FRAME_NATIVE, module, code->lines.items,
						  (uint32_t)code->lines.len);
	location = profile_add_location(code->p, module, vaddr, PROFILE_FRAME_NATIVE);
	if (!code->p->locations.items[location].nlines)
		profile_set_lines(code->p, location, code->lines.items, (uint32_t)code->lines.len);
	return location;
}

uint32_t legacy_code_location(struct legacy_code *code, uint64_t addr)
{
	bool is_new;
	uint64_t *location = map_put(&code->location_of, addr, &is_new);

	if (is_new)
		*location = new_location(code, addr);
	return (uint32_t)*location;
}

void legacy_code_deinit(struct legacy_code *code)
{
	map_deinit(&code->symbol_of);
	map_deinit(&code->location_of);
	vec_deinit(&code->symbols);
	vec_deinit(&code->mappings);
	vec_deinit(&code->lines);
}
