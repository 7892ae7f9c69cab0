/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_tables.c - reads functions together with the table of inlined calls: later another function may be at the same address.
 */
#include "record/runtime/v8_tables.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"

#include <string.h>

#define TABLE_LEN_MAX	(256U << 10)
#define TABLES_KEPT_MAX (64U << 20)
#define CALL_LEN	16
#define LITERAL_AT	8
#define INLINED_MAX	256 /* functions in one piece of code, */
#define CALLS_MAX	1024 /* by so many calls: each is compared with all functions */
#define PIECE_LEN	512

uint64_t v8_element(struct managed_view *view, uint64_t array, uint32_t index)
{
	if (!v8_is_object(array) || index >= v8_small(v8_word(view, array, 8)))
		return 0;
	return v8_word(view, array, V8_ARRAY_DATA + 8ULL * index);
}

struct v8_table v8_table_read(struct managed_view *view, uint64_t addr, uint64_t len, size_t *kept)
{
	struct v8_table t = { 0 };

	if (!len || len > TABLE_LEN_MAX || *kept > TABLES_KEPT_MAX)
		return t;
	t.bytes = memory_alloc((size_t)len);
	if (!managed_view_try(view, addr, t.bytes, (size_t)len)) {
		free(t.bytes);
		return (struct v8_table){ 0 };
	}
	t.len = (size_t)len;
	*kept += t.len;
	return t;
}

static bool array_len(struct managed_view *view, uint64_t object, uint32_t *ret)
{
	uint64_t len;

	if (!v8_is_object(object) || !managed_view_try(view, object - 1 + 8, &len, sizeof(len)))
		return false;
	*ret = v8_small(len);
	return true;
}

struct v8_table v8_table_read_array(struct managed_view *view, uint64_t object, size_t *kept)
{
	uint32_t len;

	if (!array_len(view, object, &len))
		return (struct v8_table){ 0 };
	return v8_table_read(view, object - 1 + V8_ARRAY_DATA, len, kept);
}

bool v8_table_is_in(const struct v8_table *table, struct managed_view *view, uint64_t object)
{
	uint8_t piece[PIECE_LEN];
	uint32_t len;

	if (!table->len)
		return true;
	if (!array_len(view, object, &len) || len != table->len)
		return false;
	for (size_t at = 0, count; at < table->len; at += count) {
		count = MIN(sizeof(piece), table->len - at);
		if (!managed_view_try(view, object - 1 + V8_ARRAY_DATA + at, piece, count) || memcmp(piece, table->bytes + at, count) != 0)
			return false;
	}
	return true;
}

void v8_table_drop(struct v8_table *table, size_t *kept)
{
	*kept -= table->len;
	free(table->bytes);
	*table = (struct v8_table){ 0 };
}

/* What call @number inlines; negative: the function itself. */
static int32_t literal_of(const struct v8_inlinings *in, size_t number)
{
	int32_t literal;

	memcpy(&literal, in->calls.bytes + number * CALL_LEN + LITERAL_AT, sizeof(literal));
	return literal;
}

static const struct v8_inlined *find(const struct v8_inlinings *in, int32_t literal)
{
	for (size_t i = 0; i < in->functions.len; i++) {
		if (in->functions.items[i].literal == literal)
			return &in->functions.items[i];
	}
	return NULL;
}

static uint64_t element_at(const struct v8_functions *fs, struct managed_view *view, uint64_t deopt, enum v8_number which)
{
	return v8_element(view, deopt, fs->layout->at[which]);
}

void v8_inlinings_read(struct v8_functions *fs, struct managed_view *view, uint64_t deopt, struct writer *out, size_t *kept,
		       struct v8_inlinings *ret)
{
	uint64_t literals = element_at(fs, view, deopt, V8_DEOPT_LITERALS);

	ret->calls = v8_table_read_array(view, element_at(fs, view, deopt, V8_DEOPT_POSITIONS), kept);
	for (size_t i = 0; i < MIN(ret->calls.len / CALL_LEN, CALLS_MAX) && ret->functions.len < INLINED_MAX && !view->failed; i++) {
		struct v8_inlined in = { .literal = literal_of(ret, i) };

		if (in.literal < 0 || find(ret, in.literal))
			continue;
		if (!v8_functions_get(fs, view, v8_element(view, literals, (uint32_t)in.literal), out, &in.function))
			in.function = V8_NO_FUNCTION;
		vec_push(&ret->functions, in);
	}
}

bool v8_inlinings_are_in(const struct v8_inlinings *in, struct v8_functions *fs, struct managed_view *view, uint64_t deopt, struct writer *out)
{
	uint64_t literals = element_at(fs, view, deopt, V8_DEOPT_LITERALS);

	for (size_t i = 0; i < in->functions.len; i++) {
		const struct v8_inlined *known = &in->functions.items[i];
		uint32_t now;

		if (known->function == V8_NO_FUNCTION)
			continue;
		if (!v8_functions_get(fs, view, v8_element(view, literals, (uint32_t)known->literal), out, &now) || now != known->function)
			return false;
	}
	return v8_table_is_in(&in->calls, view, element_at(fs, view, deopt, V8_DEOPT_POSITIONS));
}

bool v8_inlinings_call(const struct v8_inlinings *in, int32_t number, struct v8_position *ret_caller, uint32_t *ret_function)
{
	const struct v8_inlined *known;
	uint64_t packed;

	if (number < 0 || (size_t)number >= in->calls.len / CALL_LEN)
		return false;
	memcpy(&packed, in->calls.bytes + (size_t)number * CALL_LEN, sizeof(packed));
	int32_t literal = literal_of(in, (size_t)number);

	known = find(in, literal);
	*ret_function = known ? known->function : V8_NO_FUNCTION;
	return (literal < 0 || *ret_function != V8_NO_FUNCTION) && v8_position_unpack(packed, ret_caller);
}

void v8_inlinings_drop(struct v8_inlinings *in, size_t *kept)
{
	v8_table_drop(&in->calls, kept);
	vec_deinit(&in->functions);
	*in = (struct v8_inlinings){ 0 };
}
