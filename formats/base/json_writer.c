/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_writer.c - JSON has no way to say "some bytes": those that are not UTF-8 are shown as \xNN, as in the tables.
 */
#include "formats/base/json_writer.h"

#include "formats/base/compiler.h"
#include "formats/base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The character of @len bytes at @text, which is valid. */
static uint32_t decode(const char *text, size_t len)
{
	uint32_t c = len == 1 ? (uint8_t)*text : (uint8_t)*text & (0xffu >> (len + 1));

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((uint8_t)text[i] & 0x3f);
	return c;
}

/* Control characters, and marks that hide or turn what is around them. */
static bool is_harmful(struct arena *arena, const char *text, size_t len)
{
	const char *one = arena_memdup(arena, text, len);
	bool harmful = len > 1 && text_escape(arena, one) != one;

	arena_reset(arena);
	return harmful || (len == 1 && ((uint8_t)*text < 0x20 || *text == 0x7f));
}

/* With its quotes. */
static void put_string(FILE *out, const char *text)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	fputc('"', out);
	while (*text) {
		size_t len = text_char_len(text);

		if (len == 0)
			fprintf(out, "\\\\x%02x", (uint8_t)*text);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (is_harmful(&arena, text, len))
			fprintf(out, "\\u%04x", decode(text, len)); /* all are below U+10000 */
		else
			fwrite(text, 1, len, out);
		text += MAX(len, 1);
	}
	fputc('"', out);
}

void json_init(struct json *json, FILE *out)
{
	*json = (struct json){ .out = out };
}

static void new_line(struct json *json)
{
	if (!json->lines || json->depth > 2)
		return;
	fputc('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

static void begin(struct json *json, const char *key)
{
	if (json->depth) {
		if (json->begun[json->depth - 1])
			fputs(json->lines && json->depth <= 2 ? "," : ", ", json->out);
		json->begun[json->depth - 1] = true;
		new_line(json);
	}
	if (key) {
		put_string(json->out, key);
		fputs(": ", json->out);
	}
}

void json_open(struct json *json, const char *key, char bracket)
{
	assert(json->depth < JSON_DEPTH_MAX);
	begin(json, key);
	fputc(bracket, json->out);
	json->begun[json->depth++] = false;
}

void json_close(struct json *json, char bracket)
{
	bool empty = !json->begun[--json->depth];

	if (!empty && json->lines && json->depth < 2)
		new_line(json);
	fputc(bracket, json->out);
	if (json->depth == 0)
		fputc('\n', json->out);
}

void json_string(struct json *json, const char *key, const char *text)
{
	begin(json, key);
	put_string(json->out, text);
}

void json_number(struct json *json, const char *key, const char *text)
{
	begin(json, key);
	fputs(text, json->out);
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_uint_or_null(struct json *json, const char *key, uint32_t value)
{
	if (value == UINT32_MAX)
		json_number(json, key, "null");
	else
		json_uint(json, key, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

struct err *json_pack(struct writer *out, void (*put)(struct json *json, void *context), void *context)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	struct json json;

	if (!stream)
		return err_system(errno, "cannot write JSON");
	json_init(&json, stream);
	put(&json, context);
	if (fclose(stream) != 0) {
		free(text);
		return err_system(ENOMEM, "cannot write JSON");
	}
	writer_u32(out, (uint32_t)len);
	writer_bytes(out, text, len);
	free(text);
	return NULL;
}
