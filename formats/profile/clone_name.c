/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone_name.c - what gcc, clang and the demanglers write behind a name.
 */
#include "formats/profile/clone_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char *const clone_suffixes[] = {
	".isra",    ".constprop", ".part",       ".cold",  ".lto_priv",
	".llvm",    ".localalias", ".clone",     ".ipa_cp", ".ipa_clone",
	".specialized", ".ltrans_priv", ".fixed", ".unlikely",
};

static bool is_suffix(const char *text, size_t len, const char *suffix)
{
	return strlen(suffix) == len && memcmp(text, suffix, len) == 0;
}

/* Where the last dot of name[0 .. len) is, @len if there is none. */
static size_t last_dot(const char *name, size_t len)
{
	for (size_t i = len; i > 0; i--)
		if (name[i - 1] == '.')
			return i - 1;
	return len;
}

static bool all_digits(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return len > 0;
}

/* The length of @name without one ".isra.0" or ".cold" at its end. */
static size_t without_clone(const char *name, size_t len)
{
	size_t dot = last_dot(name, len), end = len;

	if (dot < len && all_digits(name + dot + 1, len - dot - 1)) {
		end = dot;
		dot = last_dot(name, end);
	}
	if (dot == 0 || dot == end)
		return len;
	for (size_t i = 0; i < sizeof(clone_suffixes) / sizeof(*clone_suffixes); i++)
		if (is_suffix(name + dot, end - dot, clone_suffixes[i]))
			return dot;
	return len;
}

/* The same for " [clone .isra.0]". */
static size_t without_bracket(const char *name, size_t len)
{
	static const char opening[] = " [clone ";
	size_t opening_len = sizeof(opening) - 1;

	if (len <= opening_len || name[len - 1] != ']')
		return len;
	for (size_t i = len - opening_len; i > 0; i--)
		if (memcmp(name + i, opening, opening_len) == 0)
			return i;
		else if (name[i] == ']')
			return len;
	return len;
}

size_t clone_name_cut(const char *name, size_t len)
{
	return without_bracket(name, without_clone(name, len));
}

size_t clone_name_base(const char *name)
{
	size_t len = strlen(name), before;

	do {
		before = len;
		len = clone_name_cut(name, len);
	} while (len < before);
	return len;
}
