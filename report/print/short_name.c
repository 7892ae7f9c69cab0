/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_name.c - a name is cut into parts at its outermost level, words and brackets; a shorter form leaves parts out.
 */
#include "report/print/short_name.h"

#include "formats/base/text.h"
#include "formats/base/vec.h"

#include <ctype.h>
#include <string.h>

#define CLASS_LEAST  4    /* characters that say something of a class */
#define NAME_MAX_LEN 4096 /* of longer names not even namespaces are looked for: that takes time by their square */

/* "word" or what a bracket encloses, brackets included. */
struct part {
	const char *text;
	size_t len;
	char bracket; /* the one that opens, 0 for words */
};

struct parts {
	VEC(struct part) list;
};

/* ---- reading ---- */

static bool is_operator_sign(char c)
{
	return c && strchr("+-*/%^&|!=<>~,", c);
}

/* How many characters of @name at @at are an operator's name: "operator()", "operator<<=". 0: none is there. */
static size_t operator_len(const char *name, size_t at)
{
	static const char *const signs[] = { "()", "[]", "<=>", "->*" };
	const char *sign = name + at + strlen("operator");
	size_t len = 0;

	if (strncmp(name + at, "operator", strlen("operator")) != 0)
		return 0;
	if (at && (isalnum((unsigned char)name[at - 1]) || strchr("_$", name[at - 1])))
		return 0;
	while (*sign == ' ')
		sign++;
	for (size_t i = 0; i < ARRAY_LEN(signs) && !len; i++)
		if (strncmp(sign, signs[i], strlen(signs[i])) == 0)
			len = strlen(signs[i]);
	if (!len && is_operator_sign(*sign))
		len = 1 + (is_operator_sign(sign[1]) && (sign[1] == sign[0] || sign[1] == '=' || sign[1] == '>'));
	if (len == 2 && sign[0] == sign[1] && sign[2] == '=')
		len++; /* <<= */
	return len ? (size_t)(sign - (name + at)) + len : 0;
}

/* The end of the bracket that opens at @at, or of the name if it never closes. */
static size_t closing(const char *name, size_t at)
{
	unsigned depth = 0;

	for (size_t i = at; name[i]; i++) {
		size_t skip = operator_len(name, i);

		if (name[i] == '>' && i && name[i - 1] == '-')
			continue;
		if (skip)
			i += skip - 1;
		else if (strchr("(<[{", name[i]))
			depth++;
		else if (strchr(")>]}", name[i]) && --depth == 0)
			return i + 1;
	}
	return strlen(name);
}

static void add_part(struct parts *parts, const char *text, size_t len, char bracket)
{
	if (len)
		vec_push(&parts->list, ((struct part){ text, len, bracket }));
}

static void split(struct parts *parts, const char *name)
{
	size_t from = 0, at = 0;

	parts->list.len = 0;
	while (name[at]) {
		size_t skip = operator_len(name, at);

		if (skip) {
			at += skip;
		} else if (strchr("(<[{", name[at])) {
			size_t end = closing(name, at);

			add_part(parts, name + from, at - from, 0);
			add_part(parts, name + at, end - at, name[at]);
			from = at = end;
		} else {
			at++;
		}
	}
	add_part(parts, name + from, at - from, 0);
}

static const char *join(struct arena *arena, const struct parts *parts)
{
	size_t len = 0;

	for (size_t i = 0; i < parts->list.len; i++)
		len += parts->list.items[i].len;

	char *text = arena_alloc(arena, len + 1), *end = text;

	for (size_t i = 0; i < parts->list.len; i++)
		end = mempcpy(end, parts->list.items[i].text, parts->list.items[i].len);
	*end = 0;
	return text;
}

/* ---- steps ---- */

static bool part_is(const struct part *part, const char *text)
{
	return part->len == strlen(text) && memcmp(part->text, text, part->len) == 0;
}

/* "step (parse.c)": what tells functions of one name apart (same_names.h); never behind a space otherwise. */
static bool is_place(const struct parts *parts, size_t i)
{
	const struct part *before = i ? &parts->list.items[i - 1] : NULL;

	return before && i + 1 == parts->list.len && before->len &&
	       before->text[before->len - 1] == ' ';
}

/* "(anonymous namespace)" and a parenthesis at the beginning are names. */
static bool is_arguments(const struct parts *parts, size_t i)
{
	const struct part *part = &parts->list.items[i];

	return part->bracket == '(' && i > 0 && !is_place(parts, i) && !part_is(part, "(anonymous namespace)");
}

/* Rust's "<T as Trait>" is a name at the beginning, and after "::". */
static bool is_template(const struct parts *parts, size_t i)
{
	const struct part *before = i ? &parts->list.items[i - 1] : NULL;

	if (!before || parts->list.items[i].bracket != '<')
		return false;
	return before->text[before->len - 1] != ' ' &&
	       (before->len < 2 || memcmp(before->text + before->len - 2, "::", 2) != 0);
}

/* What stands behind arguments: " const", " &", " noexcept". */
static void drop_qualifier(struct part *part)
{
	static const char *const words[] = { " const", " volatile", " &&", " &", " noexcept" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t len = strlen(words[i]);

		if (part->len < len || memcmp(part->text, words[i], len) != 0 ||
		    (part->len > len && part->text[len] != ' '))
			continue;
		part->text += len;
		part->len -= len;
		return;
	}
}

/* Does @text, @len long, end in "operator", so that the blank behind it is the name's: "operator bool"? */
static bool ends_in_operator(const char *text, size_t len)
{
	const size_t word = strlen("operator");

	return len >= word && memcmp(text + len - word, "operator", word) == 0;
}

/* "std::enable_if<...>::type f": a blank at the outermost level ends the return type. */
static void drop_return_type(struct parts *parts)
{
	for (size_t i = parts->list.len; i-- > 0;) {
		struct part *part = &parts->list.items[i];

		for (size_t at = part->bracket ? 0 : part->len; at-- > 0;) {
			if (part->text[at] != ' ' || at + 1 == part->len ||
			    strchr(" [", part->text[at + 1]) || ends_in_operator(part->text, at))
				continue;
			part->text += at + 1;
			part->len -= at + 1;
			memmove(parts->list.items, part,
				(parts->list.len - i) * sizeof(*part));
			parts->list.len -= i;
			return;
		}
	}
}

static const char *without_arguments(struct arena *arena, const char *name, struct parts *parts)
{
	size_t kept = 0;

	split(parts, name);

	size_t all = parts->list.len;
	struct part *list = parts->list.items;

	for (size_t i = 0; i < all; i++) {
		if (is_arguments(parts, i))
			continue;
		list[kept] = list[i];
		if (kept && !list[kept].bracket && i && kept < i)
			drop_qualifier(&list[kept]);
		kept++;
	}
	parts->list.len = kept;
	if (kept < all)
		drop_return_type(parts);
	return join(arena, parts);
}

static const char *without_templates(struct arena *arena, const char *name, struct parts *parts,
				     bool utf8)
{
	const char *mark = utf8 ? "<\xe2\x80\xa6>" : "<..>";

	split(parts, name);
	for (size_t i = parts->list.len; i-- > 0;)
		if (is_template(parts, i))
			parts->list.items[i] = (struct part){ mark, strlen(mark), '<' };
	return join(arena, parts);
}

/* Without the first "word::"; NULL if there is none, or nothing behind it. */
static const char *without_namespace(struct arena *arena, const char *name, struct parts *parts)
{
	split(parts, name);
	for (size_t i = 0; i < parts->list.len; i++) {
		const struct part *part = &parts->list.items[i];
		const char *colons = part->bracket ? NULL : memmem(part->text, part->len, "::", 2);

		if (colons)
			return colons[2] ? arena_strdup(arena, colons + 2) : NULL;
	}
	return NULL;
}

/* "ShardedIn…::sumAll" of @name, "ShardedIndex<…>::sumAll", and @function, its end; @function if there is no room. */
static const char *with_part_of_class(struct arena *arena, const char *name, const char *function,
				      size_t columns, bool utf8)
{
	const char *mark = utf8 ? "\xe2\x80\xa6" : "..";
	size_t taken = text_width(function) + strlen("::") + text_width(mark);
	size_t room = columns > taken ? columns - taken : 0;
	size_t len = 0;

	for (size_t width = 0; width < room && (isalnum((unsigned char)name[len]) || name[len] == '_'); width++)
		len++;
	if (len < CLASS_LEAST || isdigit((unsigned char)*name))
		return function;
	return arena_printf(arena, "%.*s%s::%s", (int)len, name, mark, function);
}

const char *short_name(struct arena *arena, const char *name, size_t columns, bool utf8)
{
	struct parts parts = { 0 };
	const char *shorter = name;
	bool dropped = false;

	if (text_width(name) > columns)
		shorter = without_arguments(arena, name, &parts);
	if (text_width(shorter) > columns)
		shorter = without_templates(arena, shorter, &parts, utf8);
	while (shorter && text_width(shorter) > columns && strlen(shorter) <= NAME_MAX_LEN) {
		name = shorter;
		shorter = without_namespace(arena, name, &parts);
		dropped = true;
	}
	if (dropped && shorter && *shorter && !without_namespace(arena, shorter, &parts))
		shorter = with_part_of_class(arena, name, shorter, columns, utf8);
	vec_deinit(&parts.list);
	return shorter && *shorter ? shorter : name;
}
