/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_stackprof_dump.c - stackprof's file as Ruby wrote it (StackProf.run(out: …), 'stackprof FILE'): in the form of Ruby's Marshal,
 * version 4.8. It holds the same as stackprof's JSON, so it becomes that, and import_stackprof.c reads it.
 *
 *	04 08		version
 *	{ N key value…	a hash		[ N value…	an array
 *	: N bytes	a symbol	; N	the symbol of that number
 *	" N bytes	a text		I value N key value…	with its encoding
 *	i N		a number	l sign N 2·N bytes	a large one	f N text	a fraction
 *	0 T F		nil, true, false	@ N	the object of that number, once more
 *
 * N is a number in one to five bytes. Only links to texts and numbers are followed: stackprof writes no others.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"

#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"

#include <inttypes.h>
#include <stdio.h>

#define DEEPEST	  100
#define REPEATED  16 /* times the file that links may repeat */
#define LARGE_MAX 4 /* pairs of bytes that a large number has at most */

struct marshal {
	struct reader r;
	const uint8_t *data;
	VEC(size_t) symbols; /* offsets of their lengths */
	VEC(size_t) objects; /* offsets of their codes */
	struct writer json;
	size_t repeated; /* bytes that links wrote again, also of what was dropped then */
	size_t most;	 /* of them */
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	static const uint8_t head[] = { 4, 8, '{' };

	if (len < sizeof(head) || memcmp(start, head, sizeof(head)) != 0)
		return 0;
	return memmem(start, len, ":\x0cversion", 9) || memmem(start, len, ":\x09mode", 6) ? 92 : 0;
}

/* ---- parts ---- */

/* 0; 1 to 4: so many bytes of it follow, and negative ones of a negative number; else itself, 5 away from 0. */
static int64_t take_number(struct marshal *in)
{
	int8_t first = (int8_t)reader_u8(&in->r, "a number");
	unsigned count = first < 0 ? (unsigned)-first : (unsigned)first;
	uint64_t value = first < 0 ? UINT64_MAX : 0;

	if (count > 4)
		return first < 0 ? first + 5 : first - 5;
	for (unsigned i = 0; i < count; i++) {
		value &= ~((uint64_t)0xff << 8 * i);
		value |= (uint64_t)reader_u8(&in->r, "a number") << 8 * i;
	}
	return (int64_t)value;
}

/* A number of things that take a byte each at least. */
static size_t take_count(struct marshal *in, const char *what)
{
	int64_t count = take_number(in);

	if (count < 0 || (uint64_t)count > reader_left(&in->r)) {
		reader_fail(&in->r, what);
		return 0;
	}
	return (size_t)count;
}

static void put(struct marshal *in, const char *text)
{
	writer_bytes(&in->json, text, strlen(text));
}

static void put_number(struct marshal *in, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put(in, text);
}

static void put_text(struct marshal *in)
{
	size_t len = take_count(in, "a text");
	const uint8_t *text = reader_bytes(&in->r, len, "a text");
	char escaped[8];

	writer_u8(&in->json, '"');
	for (size_t i = 0; text && i < len; i++) {
		if (text[i] < ' ' || text[i] == '"' || text[i] == '\\') {
			snprintf(escaped, sizeof(escaped), "\\u%04x", text[i]);
			put(in, escaped);
		} else {
			writer_u8(&in->json, text[i]);
		}
	}
	writer_u8(&in->json, '"');
}

static void put_large(struct marshal *in)
{
	bool negative = reader_u8(&in->r, "the sign of a number") == '-';
	size_t pairs = take_count(in, "a number");
	uint64_t value = 0;

	if (pairs > LARGE_MAX)
		reader_fail(&in->r, "a number of more than 64 bits");
	for (size_t i = 0; i < pairs && !in->r.failed; i++)
		value |= (uint64_t)reader_u16(&in->r, "a number") << 16 * i;
	if (value > INT64_MAX)
		reader_fail(&in->r, "a number of more than 63 bits");
	put_number(in, negative ? -(int64_t)value : (int64_t)value);
}

static void put_fraction(struct marshal *in)
{
	size_t len = take_count(in, "a fraction");
	const char *text = reader_bytes(&in->r, len, "a fraction");

	if (text && len && strspn(text, "0123456789.e+-") >= len)
		writer_bytes(&in->json, text, len);
	else
		put(in, "null"); /* "nan", "inf" */
}

/* ---- values ---- */

static void put_value(struct marshal *in, unsigned depth);

/* What stands at @offset, once more: no small file becomes a large one that way. */
static void put_again(struct marshal *in, size_t offset, void (*put_it)(struct marshal *in))
{
	struct reader back = in->r;
	size_t before = in->json.len;

	if (in->repeated > in->most) {
		reader_fail(&in->r, "a link to a text that is repeated too often");
		return;
	}
	in->r.pos = in->data + offset;
	in->r.offset = offset;
	put_it(in);
	in->repeated += in->json.len - before;
	if (!in->r.failed)
		in->r = back;
}

static void put_linked(struct marshal *in)
{
	uint8_t code = reader_u8(&in->r, "a link");

	if (code == '"')
		put_text(in);
	else if (code == 'l')
		put_large(in);
	else if (code == 'f')
		put_fraction(in);
	else
		reader_fail(&in->r, "a link to what is neither a text nor a number");
}

static void put_link(struct marshal *in, const size_t *items, size_t count, void (*put_it)(struct marshal *in))
{
	int64_t number = take_number(in);

	if (number < 0 || (uint64_t)number >= count)
		reader_fail(&in->r, "a link to what has not come yet");
	else
		put_again(in, items[number], put_it);
}

static void put_symbol(struct marshal *in)
{
	vec_push(&in->symbols, (size_t)in->r.offset);
	put_text(in);
}

/* Keys of JSON are texts; numbers among them get quotes. */
static void put_key(struct marshal *in)
{
	uint8_t code = in->r.pos < in->r.end ? *in->r.pos : 0;
	bool number = code == 'i' || code == 'l';

	put(in, number ? "\"" : "");
	put_value(in, DEEPEST);
	put(in, number ? "\":" : ":");
}

static void put_hash(struct marshal *in, unsigned depth)
{
	size_t count = take_count(in, "the entries of a hash");

	writer_u8(&in->json, '{');
	for (size_t i = 0; i < count && !in->r.failed; i++) {
		put(in, i ? "," : "");
		put_key(in);
		put_value(in, depth + 1);
	}
	writer_u8(&in->json, '}');
}

static void put_array(struct marshal *in, unsigned depth)
{
	size_t count = take_count(in, "the items of an array");

	writer_u8(&in->json, '[');
	for (size_t i = 0; i < count && !in->r.failed; i++) {
		put(in, i ? "," : "");
		put_value(in, depth + 1);
	}
	writer_u8(&in->json, ']');
}

/* A value with instance variables, of which only the value is wanted. */
static void put_marked(struct marshal *in, unsigned depth)
{
	size_t count, len;

	put_value(in, depth + 1);
	len = in->json.len;
	count = take_count(in, "the marks of a text");
	for (size_t i = 0; i < 2 * count && !in->r.failed; i++)
		put_value(in, depth + 1);
	in->json.len = len;
}

/* Objects that have a number, in order of their codes. */
static void put_object(struct marshal *in, uint8_t code, unsigned depth)
{
	vec_push(&in->objects, (size_t)in->r.offset - 1);
	switch (code) {
	case '"':
		return put_text(in);
	case 'l':
		return put_large(in);
	case 'f':
		return put_fraction(in);
	case '{':
		return put_hash(in, depth);
	case '[':
		return put_array(in, depth);
	default:
		reader_fail(&in->r, "an object of a kind that stackprof does not write");
	}
}

static void put_value(struct marshal *in, unsigned depth)
{
	uint8_t code = reader_u8(&in->r, "a value");

	if (depth > DEEPEST) {
		reader_fail(&in->r, "a value at more than 100 levels");
		return;
	}
	switch (code) {
	case '0':
		return put(in, "null");
	case 'T':
		return put(in, "true");
	case 'F':
		return put(in, "false");
	case 'i':
		return put_number(in, take_number(in));
	case ':':
		return put_symbol(in);
	case ';':
		return put_link(in, in->symbols.items, in->symbols.len, put_text);
	case '@':
		return put_link(in, in->objects.items, in->objects.len, put_linked);
	case 'I':
		return put_marked(in, depth);
	default:
		put_object(in, code, depth);
	}
}

static struct err *read_dump(const struct import_input *input, struct profile *p, struct profile_facts *facts,
			     struct diag *diag)
{
	struct marshal in = { .data = input->data, .most = REPEATED * input->len };
	struct err *err;

	reader_init(&in.r, input->data, input->len, /* big_endian= */ false);
	reader_skip(&in.r, 2, "the version");
	put_value(&in, 0);
	err = reader_check(&in.r);
	if (!err) {
		struct import_input json = { input->name, in.json.data, in.json.len };

		err = import_stackprof.read(&json, p, facts, diag);
	}
	vec_deinit(&in.symbols);
	vec_deinit(&in.objects);
	writer_deinit(&in.json);
	return err;
}

const struct importer import_stackprof_dump = {
	.name = "stackprof-dump",
	.what = "file of stackprof, the Ruby sampler, in Ruby's Marshal",
	.extensions = ".dump",
	.carries = IMPORT_TIMES | IMPORT_LINES,
	.recognise = recognise,
	.read = read_dump,
};
