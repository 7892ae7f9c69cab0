/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - names from hostile places made fit for a terminal, and near names for misspelt ones.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * @text with everything that could steer a terminal or hide what it says written as \xNN: control bytes
 * (C0, DEL, C1), invalid UTF-8, and the Unicode marks that turn or join text (U+200B-200F, U+2028-202E,
 * U+2060-2069, U+061C, U+FEFF). A backslash stays. Returns @text itself when there is nothing to do.
 */
const char *text_escape(struct arena *arena, const char *text);

/* The same, printed. */
void text_put_escaped(FILE *out, const char *text);

/*
 * Print @text, breaking lines at blanks before column @width; lines after a break begin at column @indent,
 * as the first is taken to do. Lines that fit stay as they are. A line feed ends it all.
 */
void text_put_wrapped(FILE *out, const char *text, size_t indent, size_t width);

/*
 * Print all lines of @text; those wider than @width go on below their last column, which begins behind two blanks, or below
 * their own beginning where that would leave less than half of the width.
 */
void text_put_lines(FILE *out, const char *text, size_t width);

/* @text as one word of the shell: itself if it is plain, else in single quotes. */
const char *text_shell_word(struct arena *arena, const char *text);

/*
 * The line of a shell for the words of a command: @len bytes at @words, a NUL behind each word and one behind all.
 * If there were more words than those (@cut), "..." stands for them.
 */
const char *text_shell_line(struct arena *arena, const char *words, size_t len, bool cut);

/* Columns that escaped UTF-8 @text takes on a terminal (wcwidth in the C.UTF-8 sense; wide = 2). */
size_t text_width(const char *text);

/* The length in bytes of the valid UTF-8 character at @text, 0 if there is none or at the NUL. */
size_t text_char_len(const char *text);

/* Edits (insert, delete, replace, swap neighbours; case ignored) from @a to @b, of which the first 63 bytes count. */
unsigned text_distance(const char *a, const char *b);

/* Names close enough to what was asked that one of them may have been meant. */
#define TEXT_NEAR_MAX 5

struct text_near {
	const char *wanted;
	const char *names[TEXT_NEAR_MAX]; /* nearest first, ties by name */
	unsigned distance[TEXT_NEAR_MAX];
	unsigned len;
};

/* Offer @name, which must stay valid while @near is in use. Contained strings count as near. */
void text_near_offer(struct text_near *near, const char *name);

/* "did you mean 'a', 'b' or 'c'?", or NULL if nothing was near. */
const char *text_near_hint(const struct text_near *near, struct arena *arena);

bool text_begins(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);

/* Parse a whole decimal number: no sign, no blanks, nothing behind it. False if it is not one. */
bool text_parse_u64(const char *text, uint64_t *ret);

/* Parse "64", "64K", "1M", "2G" (binary units, either case, optional trailing B). */
bool text_parse_size(const char *text, uint64_t *ret);

/* Bytes for people: "416 B", "1.8 KB", "12.4 MB" (powers of 1000). */
const char *text_size(struct arena *arena, uint64_t len);

#endif
