/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr_chunk.c - constants are found but not decoded: most are never needed.
 *
 * The layout is that of jdk.jfr.internal's and HotSpot's writers: no specification exists.
 */
#include "formats/profile/import/jfr_chunk.h"

#include "formats/base/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_METADATA	0
#define TYPE_CHECKPOINT 1
#define DEEPEST		32 /* structs in structs, elements in elements */
#define CLASSES_MAX	100000

/* How strings are written. */
enum { STRING_NULL, STRING_EMPTY, STRING_CONSTANT, STRING_UTF8, STRING_CHARS, STRING_LATIN1 };

static struct reader reader_at(const struct jfr_chunk *chunk, size_t from, size_t to)
{
	struct reader r;

	reader_init(&r, chunk->data + from, to - from, /* big_endian= */ true);
	r.offset = chunk->offset + from;
	return r;
}

/* ---- numbers and texts ---- */

/* LEB128, but the ninth byte has eight bits and is the last. */
static uint64_t long_leb(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 56; shift += 7) {
		uint8_t byte = reader_u8(r, "a number");

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return value | (uint64_t)reader_u8(r, "a number") << 56;
}

static inline uint64_t leb(struct reader *r)
{
	size_t left = reader_left(r);
	const uint8_t *pos = r->pos;

	if (r->failed || left < 2)
		return long_leb(r);
	if (!(pos[0] & 0x80)) {
		r->pos++;
		r->offset++;
		return pos[0];
	}
	if (pos[1] & 0x80)
		return long_leb(r);
	r->pos += 2;
	r->offset += 2;
	return (uint64_t)(pos[0] & 0x7f) | (uint64_t)pos[1] << 7;
}

static inline uint32_t int_of(const struct jfr_chunk *chunk, struct reader *r)
{
	return (uint32_t)(chunk->compressed ? leb(r) : reader_u32(r, "a number of 4 bytes"));
}

static inline uint64_t long_of(const struct jfr_chunk *chunk, struct reader *r)
{
	return chunk->compressed ? leb(r) : reader_u64(r, "a number of 8 bytes");
}

uint64_t jfr_integer(const struct jfr_chunk *chunk, struct reader *r, enum jfr_basic basic)
{
	if (basic == JFR_BYTE)
		return reader_u8(r, "a byte");
	if (chunk->compressed)
		return leb(r);
	if (basic == JFR_SHORT)
		return reader_u16(r, "a number of 2 bytes");
	return basic == JFR_INT ? int_of(chunk, r) : long_of(chunk, r);
}

/* Pass over @len numbers; eight at once while they are of one byte each, as the letters of most strings are. */
static void skip_lebs(struct reader *r, uint32_t len)
{
	const uint64_t more = 0x8080808080808080;
	uint64_t bytes;

	while (len >= sizeof(bytes) && reader_left(r) >= sizeof(bytes)) {
		memcpy(&bytes, r->pos, sizeof(bytes));
		if (bytes & more)
			break;
		reader_skip(r, sizeof(bytes), "a string");
		len -= (uint32_t)sizeof(bytes);
	}
	for (; len && !r->failed; len--)
		leb(r);
}

/* A string of @len UTF-16 units, made UTF-8 if @arena is there, else passed over. */
static struct jfr_text chars_of(const struct jfr_chunk *chunk, struct reader *r, uint32_t len, struct arena *arena)
{
	struct jfr_text text = { "", 0 };
	struct writer made = { 0 };

	if (len > reader_left(r))
		reader_fail(r, "a string");
	if (!arena && chunk->compressed) {
		skip_lebs(r, len);
		return text;
	}
	for (uint32_t i = 0; i < len && !r->failed; i++) {
		uint64_t c = chunk->compressed ? leb(r) : reader_u16(r, "a string");

		if (arena)
			writer_utf8(&made, c < 0xd800 || c >= 0xe000 ? (uint32_t)c & 0xffff : 0xfffd);
	}
	if (made.len && !r->failed) {
		text.len = made.len;
		text.data = arena_memdup(arena, (const char *)made.data, made.len);
	}
	writer_deinit(&made);
	return text;
}

/* A string in place; what is a constant is left in @ret_constant. Text of other codings than UTF-8 is copied if @arena is there. */
static struct jfr_text string_of(const struct jfr_chunk *chunk, struct reader *r, struct arena *arena,
				 uint64_t *ret_constant)
{
	uint8_t coding = reader_u8(r, "a string's coding");
	struct jfr_text text = { "", 0 };
	uint32_t len;

	switch (coding) {
	case STRING_NULL:
	case STRING_EMPTY:
		return text;
	case STRING_CONSTANT:
		*ret_constant = long_of(chunk, r);
		return text;
	case STRING_UTF8:
	case STRING_LATIN1:
		len = int_of(chunk, r);
		text.data = reader_bytes(r, len, "a string");
		text.len = text.data ? len : 0;
		return text;
	case STRING_CHARS:
		len = int_of(chunk, r);
		return chars_of(chunk, r, len, arena);
	default:
		reader_fail(r, "a string's coding");
		return text;
	}
}

/* ---- values that are passed over ---- */

static void skip_value(const struct jfr_chunk *chunk, struct reader *r, const struct jfr_class *class,
		       unsigned depth);

static void skip_field(const struct jfr_chunk *chunk, struct reader *r, const struct jfr_field *field,
		       unsigned depth)
{
	const struct jfr_class *class = jfr_class_of(chunk, field->type);
	uint32_t count = field->array ? int_of(chunk, r) : 1;

	if (!class) {
		reader_fail(r, "a field of a known class");
		return;
	}
	if (count > reader_left(r) && field->array)
		reader_fail(r, "an array");
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		if (field->constant)
			long_of(chunk, r);
		else
			skip_value(chunk, r, class, depth);
	}
}

static void skip_value(const struct jfr_chunk *chunk, struct reader *r, const struct jfr_class *class,
		       unsigned depth)
{
	uint64_t constant;

	switch (class->basic) {
	case JFR_STRUCT:
		if (depth > DEEPEST || !class->fields.len)
			reader_fail(r, "a value of a class with fields");
		for (size_t i = 0; i < class->fields.len && !r->failed; i++)
			skip_field(chunk, r, &class->fields.items[i], depth + 1);
		break;
	case JFR_FLOAT:
		reader_skip(r, 4, "a float");
		break;
	case JFR_DOUBLE:
		reader_skip(r, 8, "a double");
		break;
	case JFR_STRING:
		string_of(chunk, r, NULL, &constant);
		break;
	default:
		jfr_integer(chunk, r, class->basic);
		break;
	}
}

/* ---- plans ---- */

void jfr_plan_make(struct jfr_plan *plan, const struct jfr_class *class, const char *const *names,
		   uint32_t count)
{
	*plan = (struct jfr_plan){ .class = class };
	for (uint32_t i = 0; class && i < class->fields.len; i++)
		for (uint32_t n = 0; n < count; n++)
			if (strcmp(class->fields.items[i].name, names[n]) == 0) {
				plan->place[i] = (uint8_t)(n + 1);
				plan->last = i + 1;
			}
}

static void constant_text(const struct jfr_chunk *chunk, const struct jfr_class *strings, uint64_t number,
			  struct jfr_value *ret)
{
	struct reader r;
	uint64_t again = 0;

	if (jfr_constant(chunk, strings, number, &r))
		ret->text = string_of(chunk, &r, NULL, &again);
}

static void read_field(const struct jfr_chunk *chunk, const struct jfr_field *field, struct reader *r,
		       struct jfr_value *ret)
{
	const struct jfr_class *class = jfr_class_of(chunk, field->type);
	uint64_t constant = UINT64_MAX;

	*ret = (struct jfr_value){ .is_there = true, .at = *r, .text = { "", 0 } };
	if (!class || field->array || (class->basic == JFR_STRUCT && !field->constant) ||
	    class->basic == JFR_FLOAT || class->basic == JFR_DOUBLE) {
		skip_field(chunk, r, field, 0);
	} else if (class->basic == JFR_STRING && !field->constant) {
		ret->text = string_of(chunk, r, (struct arena *)&chunk->texts, &constant);
		if (constant != UINT64_MAX)
			constant_text(chunk, class, constant, ret);
	} else {
		ret->number = field->constant ? long_of(chunk, r) : jfr_integer(chunk, r, class->basic);
		if (class->basic == JFR_STRING)
			constant_text(chunk, class, ret->number, ret);
	}
}

void jfr_plan_read(const struct jfr_chunk *chunk, const struct jfr_plan *plan, struct reader *r,
		   struct jfr_value *ret, uint32_t count)
{
	memset(ret, 0, count * sizeof(*ret));
	for (uint32_t i = 0; i < plan->last && !r->failed; i++) {
		const struct jfr_field *field = &plan->class->fields.items[i];

		if (plan->place[i])
			read_field(chunk, field, r, &ret[plan->place[i] - 1]);
		else
			skip_field(chunk, r, field, 0);
	}
}

bool jfr_constant(const struct jfr_chunk *chunk, const struct jfr_class *class, uint64_t number,
		  struct reader *ret)
{
	uint32_t at = class ? import_ids_get(&class->constants, number) : PROFILE_NONE;

	if (at == PROFILE_NONE)
		return false;
	*ret = reader_at(chunk, at, chunk->len);
	return true;
}

/* ---- classes ---- */

struct jfr_class *jfr_class_of(const struct jfr_chunk *chunk, uint64_t id)
{
	uint32_t at = import_ids_get(&chunk->class_ids, id);

	return at == PROFILE_NONE ? NULL : &chunk->classes.items[at];
}

struct jfr_class *jfr_class_named(struct jfr_chunk *chunk, const char *name)
{
	for (size_t i = 0; i < chunk->classes.len; i++)
		if (strcmp(chunk->classes.items[i].name, name) == 0)
			return &chunk->classes.items[i];
	return NULL;
}

static enum jfr_basic basic_of(const char *name)
{
	static const struct {
		const char *name;
		enum jfr_basic basic;
	} basics[] = {
		{ "boolean", JFR_BYTE }, { "byte", JFR_BYTE },	   { "short", JFR_SHORT },
		{ "char", JFR_SHORT },	 { "int", JFR_INT },	   { "long", JFR_LONG },
		{ "float", JFR_FLOAT },	 { "double", JFR_DOUBLE }, { "java.lang.String", JFR_STRING },
	};

	for (size_t i = 0; i < ARRAY_LEN(basics); i++)
		if (strcmp(basics[i].name, name) == 0)
			return basics[i].basic;
	return JFR_STRUCT;
}

/* Names of elements and of their attributes that mean something here. */
enum word { WORD_NOT_READ, WORD_OTHER, WORD_CLASS, WORD_FIELD, WORD_ID, WORD_NAME, WORD_CONSTANT, WORD_DIMENSION, WORDS };

/* One string of the metadata. Most are descriptions for people, so that only those that are asked for are decoded. */
struct metadata_string {
	uint32_t at; /* offset in the chunk */
	uint8_t word;
	const char *text; /* NULL: not decoded yet */
};

/* The metadata event's tree of elements, whose names and attributes are numbers of strings. */
struct metadata {
	struct jfr_chunk *chunk;
	struct reader *r;
	struct metadata_string *strings;
	uint32_t nstrings;
};

/* Of an element: the string of each attribute, by enum word; NULL: it has none. */
struct attributes {
	struct metadata_string *of[WORDS];
};

static struct metadata_string *string_number(struct metadata *m)
{
	static struct metadata_string none = { .word = WORD_OTHER, .text = "" };
	uint32_t number = int_of(m->chunk, m->r);

	if (number < m->nstrings)
		return &m->strings[number];
	reader_fail(m->r, "the number of a string of the metadata");
	return &none;
}

static const char *text_of(struct metadata *m, struct metadata_string *string)
{
	uint64_t constant;

	if (!string)
		return "";
	if (!string->text) {
		struct reader r = reader_at(m->chunk, string->at, m->chunk->len);
		struct jfr_text text = string_of(m->chunk, &r, &m->chunk->arena, &constant);

		string->text = arena_memdup(&m->chunk->arena, text.data, text.len);
	}
	return string->text;
}

static enum word word_of(struct metadata *m, struct metadata_string *string)
{
	static const char *const words[WORDS] = { "", "", "class", "field", "id", "name", "constantPool", "dimension" };

	if (string->word == WORD_NOT_READ) {
		string->word = WORD_OTHER;
		for (uint8_t i = WORD_CLASS; i < WORDS; i++)
			if (strcmp(text_of(m, string), words[i]) == 0)
				string->word = i;
	}
	return string->word;
}

static struct attributes read_attributes(struct metadata *m)
{
	struct attributes found = { 0 };
	uint32_t count = int_of(m->chunk, m->r);

	for (uint32_t i = 0; i < count && !m->r->failed; i++) {
		struct metadata_string *key = string_number(m), *value = string_number(m);

		found.of[word_of(m, key)] = value;
	}
	return found;
}

static uint32_t add_class(struct metadata *m, const struct attributes *from)
{
	const char *name = text_of(m, from->of[WORD_NAME]);
	struct jfr_class class = { .id = strtoull(text_of(m, from->of[WORD_ID]), NULL, 10),
				   .name = name,
				   .basic = basic_of(name) };
	uint32_t number = (uint32_t)m->chunk->classes.len;

	if (number >= CLASSES_MAX)
		reader_fail(m->r, "at most 100,000 classes");
	import_ids_put(&m->chunk->class_ids, class.id, number);
	vec_push(&m->chunk->classes, class);
	return number;
}

static void add_field(struct metadata *m, uint32_t class, const struct attributes *from)
{
	struct jfr_class *of = &m->chunk->classes.items[class];
	const char *dimension = text_of(m, from->of[WORD_DIMENSION]);
	struct jfr_field field = { .name = text_of(m, from->of[WORD_NAME]),
				   .type = strtoull(text_of(m, from->of[WORD_CLASS]), NULL, 10),
				   .constant = strcmp(text_of(m, from->of[WORD_CONSTANT]), "true") == 0,
				   .array = *dimension && strcmp(dimension, "0") != 0 };

	if (of->fields.len >= JFR_FIELDS_MAX)
		reader_fail(m->r, "a class of at most 255 fields");
	else
		vec_push(&of->fields, field);
}

/* @class is the one that the element lies in, or PROFILE_NONE. */
static void read_element(struct metadata *m, uint32_t class, unsigned depth)
{
	enum word what = word_of(m, string_number(m));
	struct attributes attributes = read_attributes(m);
	uint32_t inner = PROFILE_NONE, count;

	if (depth > DEEPEST)
		reader_fail(m->r, "metadata of at most 32 levels");
	if (m->r->failed)
		return;
	if (what == WORD_CLASS)
		inner = add_class(m, &attributes);
	else if (what == WORD_FIELD && class != PROFILE_NONE)
		add_field(m, class, &attributes);
	count = int_of(m->chunk, m->r);
	for (uint32_t i = 0; i < count && !m->r->failed; i++)
		read_element(m, inner, depth + 1);
}

static void read_strings(struct metadata *m)
{
	m->nstrings = int_of(m->chunk, m->r);
	if (m->nstrings > reader_left(m->r)) {
		reader_fail(m->r, "the strings of the metadata");
		m->nstrings = 0;
	}
	m->strings = ARENA_ARRAY(&m->chunk->arena, struct metadata_string, m->nstrings + 1);
	for (uint32_t i = 0; i < m->nstrings; i++) {
		uint64_t constant;

		m->strings[i].at = (uint32_t)(m->r->pos - m->chunk->data);
		string_of(m->chunk, m->r, NULL, &constant);
	}
}

static void forget_classes(struct jfr_chunk *chunk)
{
	for (size_t i = 0; i < chunk->classes.len; i++) {
		vec_deinit(&chunk->classes.items[i].fields);
		import_ids_deinit(&chunk->classes.items[i].constants);
	}
	chunk->classes.len = 0;
	import_ids_clear(&chunk->class_ids);
	arena_reset(&chunk->arena);
	chunk->described = NULL;
}

static void forget_constants(struct jfr_chunk *chunk)
{
	for (size_t i = 0; i < chunk->classes.len; i++)
		import_ids_clear(&chunk->classes.items[i].constants);
}

/* Metadata that are the same bytes in the same coding describe the same classes, as they do in nearly every chunk of a file. */
static bool describes_same(const struct jfr_chunk *chunk, const struct reader *r, bool was_compressed)
{
	return chunk->described && chunk->compressed == was_compressed && reader_left(r) == chunk->described_len &&
	       memcmp(r->pos, chunk->described, chunk->described_len) == 0;
}

static struct err *read_metadata(struct jfr_chunk *chunk, bool was_compressed)
{
	size_t pos = chunk->metadata;
	uint64_t type;
	struct reader r;
	struct metadata m = { .chunk = chunk, .r = &r };
	struct err *err;

	if (!chunk->metadata)
		return err_new(ERR_CORRUPT, "the chunk at offset %" PRIu64 " has no metadata", chunk->offset);
	jfr_event_next(chunk, &pos, &type, &r);
	long_of(chunk, &r); /* start, duration, id */
	long_of(chunk, &r);
	long_of(chunk, &r);
	chunk->same_classes = describes_same(chunk, &r, was_compressed);
	if (chunk->same_classes) {
		forget_constants(chunk);
		return NULL;
	}
	forget_classes(chunk);

	const uint8_t *described = r.pos;

	chunk->described_len = reader_left(&r);
	read_strings(&m);
	read_element(&m, PROFILE_NONE, 0);
	err = reader_check(&r);
	if (!err)
		chunk->described = described;
	return err;
}

/* ---- constants ---- */

static void read_pool(struct jfr_chunk *chunk, struct reader *r)
{
	struct jfr_class *class = jfr_class_of(chunk, long_of(chunk, r));
	uint32_t count = int_of(chunk, r);

	if (!class) {
		reader_fail(r, "constants of a known class");
		return;
	}
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		uint64_t number = long_of(chunk, r);
		uint32_t at = (uint32_t)(r->pos - chunk->data);

		skip_value(chunk, r, class, 0);
		if (!r->failed)
			import_ids_put(&class->constants, number, at);
	}
}

static struct err *read_checkpoint(struct jfr_chunk *chunk, size_t pos)
{
	uint64_t type;
	uint32_t pools;
	struct reader r;

	jfr_event_next(chunk, &pos, &type, &r);
	long_of(chunk, &r); /* start, duration, distance to the checkpoint before */
	long_of(chunk, &r);
	long_of(chunk, &r);
	reader_u8(&r, "a checkpoint's type");
	pools = int_of(chunk, &r);
	for (uint32_t i = 0; i < pools && !r.failed; i++)
		read_pool(chunk, &r);
	return reader_check(&r);
}

/* ---- the chunk ---- */

bool jfr_event_next(const struct jfr_chunk *chunk, size_t *pos, uint64_t *ret_type, struct reader *ret)
{
	struct reader r;
	uint32_t len;

	if (*pos >= chunk->len)
		return false;
	r = reader_at(chunk, *pos, chunk->len);
	len = int_of(chunk, &r);
	if (r.failed || len > chunk->len - *pos || len < (size_t)(r.pos - (chunk->data + *pos)) + 1)
		return false;
	r.end = chunk->data + *pos + len;
	*pos += len;
	*ret_type = long_of(chunk, &r);
	*ret = r;
	return true;
}

/* Where the types and constants are; what stands behind damage is left out. */
static void find_parts(struct jfr_chunk *chunk)
{
	size_t pos = jfr_first_event(), at = pos;
	struct reader r;
	uint64_t type;

	while (jfr_event_next(chunk, &pos, &type, &r)) {
		if (type == TYPE_METADATA)
			chunk->metadata = (uint32_t)at;
		else if (type == TYPE_CHECKPOINT)
			vec_push(&chunk->checkpoints, (uint32_t)at);
		at = pos;
	}
	if (at != chunk->len)
		chunk->finished = false;
	chunk->len = at;
}

static struct err *check_version(uint16_t major, uint16_t minor)
{
	if (major == 2)
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED, "it is of version %u.%u of the format; version 2 is read",
				  major, minor),
			  major < 2 ? "Oracle's JDK 7 and 8 wrote it; record with OpenJDK 8u262 or newer"
				    : "it comes from a newer JDK");
}

static struct err *read_header(struct jfr_chunk *chunk, struct reader *r, uint64_t *ret_len)
{
	const char *magic = reader_bytes(r, 4, "the magic of a chunk");
	uint16_t major = reader_u16(r, "the version"), minor;
	uint32_t flags;
	struct err *err;

	if (magic && memcmp(magic, "FLR", 4) != 0)
		return err_new(ERR_CORRUPT, "no chunk begins at offset %" PRIu64, chunk->offset);
	minor = reader_u16(r, "the version");
	err = r->failed ? NULL : check_version(major, minor);
	if (err)
		return err;
	*ret_len = reader_u64(r, "the chunk's length");
	reader_u64(r, "the offset of the last checkpoint");
	reader_u64(r, "the offset of the metadata");
	chunk->start_ns = reader_u64(r, "the start");
	chunk->duration_ns = reader_u64(r, "the duration");
	chunk->start_ticks = reader_u64(r, "the start in ticks");
	chunk->ticks_per_s = reader_u64(r, "ticks a second");
	flags = reader_u32(r, "the flags");
	chunk->compressed = flags & 1;
	if (!r->failed && !chunk->ticks_per_s)
		reader_fail(r, "ticks a second");
	return reader_check(r);
}

/* What is not of the classes. */
static void begin_chunk(struct jfr_chunk *chunk, const uint8_t *data, size_t len, uint64_t offset)
{
	chunk->data = data;
	chunk->len = len;
	chunk->offset = offset;
	chunk->metadata = 0;
	chunk->checkpoints.len = 0;
	chunk->same_classes = false;
	arena_reset(&chunk->texts);
}

struct err *jfr_chunk_open(const uint8_t *file, size_t len, uint64_t offset, struct jfr_chunk *chunk,
			   uint64_t *ret_next)
{
	struct reader r;
	uint64_t chunk_len = 0;
	bool was_compressed = chunk->compressed;
	struct err *err;

	begin_chunk(chunk, file + offset, len - offset, offset);
	r = reader_at(chunk, 0, chunk->len);
	err = read_header(chunk, &r, &chunk_len);
	if (err)
		return err;
	chunk->finished = chunk_len >= JFR_HEADER_LEN && chunk_len <= chunk->len;
	if (chunk->finished)
		chunk->len = (size_t)chunk_len;
	if (chunk->len >= UINT32_MAX)
		return err_new(ERR_UNSUPPORTED, "the chunk at offset %" PRIu64 " is longer than 4 GiB", offset);
	*ret_next = offset + chunk->len;
	find_parts(chunk);
	err = read_metadata(chunk, was_compressed);
	for (size_t i = 0; i < chunk->checkpoints.len && !err; i++)
		err = read_checkpoint(chunk, chunk->checkpoints.items[i]);
	return err;
}

void jfr_chunk_close(struct jfr_chunk *chunk)
{
	forget_classes(chunk);
	vec_deinit(&chunk->classes);
	vec_deinit(&chunk->checkpoints);
	import_ids_deinit(&chunk->class_ids);
	arena_deinit(&chunk->arena);
	arena_deinit(&chunk->texts);
}

uint64_t jfr_span_ns(const struct jfr_chunk *chunk, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / chunk->ticks_per_s;

	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

uint64_t jfr_time_ns(const struct jfr_chunk *chunk, uint64_t ticks)
{
	if (ticks >= chunk->start_ticks)
		return chunk->start_ns + jfr_span_ns(chunk, ticks - chunk->start_ticks);

	uint64_t before = jfr_span_ns(chunk, chunk->start_ticks - ticks);

	return before < chunk->start_ns ? chunk->start_ns - before : 0;
}
