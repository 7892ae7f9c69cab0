/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stable_names.c - endings first, one after another until none fits; then what may stand anywhere in a name.
 */
#include "report/diff/stable_names.h"

#include "formats/base/path.h"
#include "formats/profile/clone_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define RUST_HASH 16 /* hexadecimal digits behind "::h" */
#define CRATE_HASH 6 /* at least as many are in the brackets of a crate */

static bool is_suffix(const char *text, size_t len, const char *suffix)
{
	return strlen(suffix) == len && memcmp(text, suffix, len) == 0;
}

static bool all_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return len > 0;
}

static size_t without_hash(const char *name, size_t len)
{
	size_t from = len - RUST_HASH;

	if (len > RUST_HASH + 3 && memcmp(name + from - 3, "::h", 3) == 0 &&
	    all_hex(name + from, RUST_HASH))
		return from - 3;
	return len;
}

/* "@GLIBC_2.14" and "@@GLIBC_2.14". */
static size_t without_version(const char *name, size_t len)
{
	const char *at = memchr(name, '@', len);

	if (!at || at == name || is_suffix(at, len - (size_t)(at - name), "@plt"))
		return len;
	if (at[1] != '@' && !isupper((unsigned char)at[1]))
		return len;
	for (const char *p = at; p < name + len; p++)
		if (*p == '(' || *p == ' ' || *p == ':')
			return len;
	return (size_t)(at - name);
}

static size_t without_endings(const char *name)
{
	size_t len = strlen(name), before;

	do {
		before = len;
		len = clone_name_cut(name, len);
		len = without_hash(name, len);
		len = without_version(name, len);
	} while (len < before);
	return len;
}

/* How many digits stand at @text, if what follows is @end. */
static size_t digits_before(const char *text, const char *limit, char end)
{
	size_t len = 0;

	while (text + len < limit && isdigit((unsigned char)text[len]))
		len++;
	return len && text + len < limit && text[len] == end ? len : 0;
}

static size_t hex_before(const char *text, const char *limit, char end)
{
	size_t len = 0;

	while (text + len < limit && isxdigit((unsigned char)text[len]))
		len++;
	return len >= CRATE_HASH && text + len < limit && text[len] == end ? len : 0;
}

/* The number at @p of a function that has no name of its own: how many characters. */
static size_t number_part(const char *start, const char *p, const char *end)
{
	size_t len;

	if (*p == '#') /* {lambda(int)#2} */
		return (len = digits_before(p + 1, end, '}')) ? len + 1 : 0;
	if (p - start >= 2 && p[-1] == '_' && p[-2] == '$')
		for (len = 0; p + len < end && isdigit((unsigned char)p[len]);)
			len++;
	else
		len = 0;
	return len;
}

/* The hash of a Rust crate at @p. */
static size_t crate_part(const char *start, const char *p, const char *end)
{
	size_t len;

	if (*p != '[' || p == start || !(isalnum((unsigned char)p[-1]) || p[-1] == '_'))
		return 0;
	return (len = hex_before(p + 1, end, ']')) ? len + 2 : 0;
}

/* "[prog+0x1234]": nothing is known but where it lies in this build. */
static const char *without_address(struct arena *arena, const char *name)
{
	const char *plus = strrchr(name, '+');
	size_t len = strlen(name);

	if (*name != '[' || !plus || name[len - 1] != ']' || plus[1] != '0' || plus[2] != 'x')
		return name;
	return arena_printf(arena, "%.*s]", (int)(plus - name), name);
}

static const char *without_parts(struct arena *arena, const char *name, bool numbers)
{
	const char *end = name + without_endings(name);
	char *copy = arena_alloc(arena, (size_t)(end - name) + 1), *to = copy;

	for (const char *p = name; p < end;) {
		size_t skipped = crate_part(name, p, end);

		if (!skipped && numbers)
			skipped = number_part(name, p, end);
		if (skipped)
			p += skipped;
		else
			*to++ = *p++;
	}
	*to = 0;
	if (to - copy == (long)strlen(name))
		return without_address(arena, name);
	return copy;
}

const char *stable_names_function(struct arena *arena, const char *name)
{
	return without_parts(arena, name, /* numbers= */ true);
}

const char *stable_names_numbered(struct arena *arena, const char *name)
{
	return without_parts(arena, name, /* numbers= */ false);
}

/* ---- modules ---- */

/* Does "1.2", "1.2.3" or the like begin here and go on to @end? */
static bool is_version(const char *text, const char *end)
{
	if (text == end || !isdigit((unsigned char)*text))
		return false;
	for (; text < end; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._-+~", *text))
			return false;
	return true;
}

/* The end of "libfoo" in "libfoo-1.2", between @name and @end. */
static const char *without_dash(const char *name, const char *end)
{
	for (const char *p = name + 1; p < end; p++) {
		bool word_size = end - p == 3 && (memcmp(p, "-64", 3) == 0 || memcmp(p, "-32", 3) == 0);

		if (*p == '-' && !word_size && is_version(p + 1, end))
			return p;
	}
	return end;
}

const char *stable_names_module(struct arena *arena, const char *name)
{
	static const char deleted[] = " (deleted)";
	const char *base = *name == '[' ? name : path_last_part(name);
	size_t len = strlen(base), deleted_len = sizeof(deleted) - 1;

	if (len > deleted_len && strcmp(base + len - deleted_len, deleted) == 0)
		base = arena_printf(arena, "%.*s", (int)(len - deleted_len), base);
	if (strncmp(base, "[jit ", 5) == 0)
		return "[jit]";
	if (strncmp(base, "perf-", 5) == 0 && digits_before(base + 5, base + len, '.') &&
	    strcmp(strchr(base, '.'), ".map") == 0)
		return "perf.map";

	const char *so = strstr(base, ".so");

	if (!so || so == base || (so[3] && (so[3] != '.' || !is_version(so + 4, so + strlen(so)))))
		return base;
	return arena_printf(arena, "%.*s.so", (int)(without_dash(base, so) - base), base);
}
