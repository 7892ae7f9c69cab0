/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms.c - parsed by hand, since there are 200,000 lines.
 */
#include "formats/perf/kallsyms.h"

#include <string.h>

/* What a letter is worth, and 1 more; 0: it is no digit. */
static const uint8_t digits[256] = {
	['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
	['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

static const char *parse_hex(const char *text, uint64_t *ret)
{
	uint64_t value = 0, digit;

	for (; (digit = digits[(uint8_t)*text]); text++)
		value = (value << 4) + digit - 1;
	*ret = value;
	return text;
}

bool kallsyms_parse(char *text, struct kallsyms_line *ret)
{
	const char *pos = parse_hex(text, &ret->addr);

	if (pos == text || pos[0] != ' ' || !pos[1] || pos[2] != ' ')
		return false;
	ret->type = pos[1];
	ret->name = text + (pos - text) + 3;
	return *ret->name && *ret->name != '\n' && *ret->name != '\t';
}

const char *kallsyms_cut(char *name)
{
	char *end = name + strcspn(name, "\t\n");
	char *module = *end == '\t' && end[1] == '[' ? end + 2 : NULL;

	*end = '\0';
	if (!module)
		return "";
	module[strcspn(module, "]\n")] = '\0';
	return module;
}

uint64_t kallsyms_hash(const char *name)
{
	uint64_t hash = 0;

	for (name += *name == '['; *name && !strchr("]\n", *name); name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3ULL; /* FNV-1a */
	return hash;
}

uint64_t kallsyms_module(const struct kallsyms_line *line)
{
	const char *tab = strchr(line->name, '\t');

	return tab ? kallsyms_hash(tab + 1) : 0;
}

bool kallsyms_is_padding(const struct kallsyms_line *line)
{
	/* Nearly all names are decided by their first letters. */
	return line->name[0] == '$' || (line->name[0] == '_' && strncmp(line->name, "__pfx_", 6) == 0);
}

bool kallsyms_is_function(const struct kallsyms_line *line)
{
	char type = line->type;

	return (type == 't' || type == 'T' || type == 'w' || type == 'W') && !kallsyms_is_padding(line);
}

bool kallsyms_is_better_name(const char *name, const char *than)
{
	size_t under = strspn(name, "_"), than_under = strspn(than, "_");

	if (under != than_under)
		return under < than_under;
	return strcmp(name, than) < 0;
}
