/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_writer.c - in protobuf a message stands behind its length: each is collected until it ends.
 */
#include "report/export/otlp_writer.h"

#include <inttypes.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static struct writer *level(struct otlp_writer *w)
{
	return &w->levels[w->depth];
}

static void put_key(struct otlp_writer *w, unsigned number, unsigned wire)
{
	writer_uleb(level(w), (uint64_t)number << 3 | wire);
}

static void put_bytes(struct otlp_writer *w, unsigned number, const void *data, size_t len)
{
	put_key(w, number, WIRE_BYTES);
	writer_uleb(level(w), len);
	writer_bytes(level(w), data, len);
}

void otlp_writer_init(struct otlp_writer *w, bool is_json, FILE *out)
{
	*w = (struct otlp_writer){ .is_json = is_json, .out = out };
	json_init(&w->json, out);
	if (is_json)
		json_open(&w->json, NULL, '{');
}

void otlp_writer_finish(struct otlp_writer *w)
{
	if (w->is_json) {
		json_close(&w->json, '}');
		fputc('\n', w->out);
	}
	if (w->levels[0].len)
		fwrite(w->levels[0].data, 1, w->levels[0].len, w->out);
	for (unsigned i = 0; i < OTLP_DEPTH_MAX; i++)
		writer_deinit(&w->levels[i]);
}

void otlp_begin(struct otlp_writer *w, unsigned number, const char *name)
{
	if (w->is_json) {
		json_open(&w->json, name, '{');
		return;
	}
	w->depth++;
	w->numbers[w->depth] = number;
	writer_reset(level(w));
}

void otlp_end(struct otlp_writer *w)
{
	const struct writer *done = level(w);

	if (w->is_json) {
		json_close(&w->json, '}');
		return;
	}
	w->depth--;
	put_bytes(w, w->numbers[w->depth + 1], done->data, done->len);
}

void otlp_list(struct otlp_writer *w, const char *name)
{
	if (w->is_json)
		json_open(&w->json, name, '[');
}

void otlp_list_end(struct otlp_writer *w)
{
	if (w->is_json)
		json_close(&w->json, ']');
}

static void put_varint(struct otlp_writer *w, unsigned number, int64_t value)
{
	put_key(w, number, WIRE_VARINT);
	writer_uleb(level(w), (uint64_t)value);
}

void otlp_int(struct otlp_writer *w, unsigned number, const char *name, int32_t value)
{
	if (name && !value)
		return;
	if (w->is_json)
		json_int(&w->json, name, value);
	else
		put_varint(w, number, value);
}

void otlp_int64(struct otlp_writer *w, unsigned number, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	if (w->is_json)
		json_string(&w->json, name, text);
	else
		put_varint(w, number, value);
}

void otlp_fixed64(struct otlp_writer *w, unsigned number, const char *name, uint64_t value)
{
	char text[24];

	if (name && !value)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, value);
	if (w->is_json) {
		json_string(&w->json, name, text);
		return;
	}
	put_key(w, number, WIRE_FIXED64);
	writer_u64(level(w), value);
}

void otlp_text(struct otlp_writer *w, unsigned number, const char *name, const char *text)
{
	if (name && !*text)
		return;
	if (w->is_json)
		json_string(&w->json, name, text);
	else
		put_bytes(w, number, text, strlen(text));
}
