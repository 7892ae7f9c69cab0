/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_tables.h - copies of tables of V8's code and bytecode, for later comparison: other code may have its tables at the same addresses.
 *
 *	Code ─► source positions
 *	   └──► deoptimization data ─► positions of inlined calls ─► literals ─► functions
 */
#ifndef RUNTIME_V8_TABLES_H
#define RUNTIME_V8_TABLES_H

#include "record/runtime/v8_functions.h"
#include "record/runtime/v8_positions.h"

/* Bytes; none if they could not be read. */
struct v8_table {
	uint8_t *bytes;
	size_t len;
};

/* What an element of the literals is. */
struct v8_inlined {
	int32_t literal;
	uint32_t function; /* V8_NO_FUNCTION: it could not be read */
};

/* What optimized code has inlined. Zeroed: nothing. */
struct v8_inlinings {
	struct v8_table calls;
	VEC(struct v8_inlined) functions; /* each once */
};

#define V8_NO_FUNCTION UINT32_MAX

/* Element @index of an array that may have fewer; 0 then. */
uint64_t v8_element(struct managed_view *view, uint64_t array, uint32_t index);

/* @len bytes at @addr; nothing if that is too much or cannot be read. *@kept counts the bytes of all tables, which have a limit. */
struct v8_table v8_table_read(struct managed_view *view, uint64_t addr, uint64_t len, size_t *kept);

/* The bytes of a ByteArray. */
struct v8_table v8_table_read_array(struct managed_view *view, uint64_t object, size_t *kept);

/* Does the ByteArray @object hold what @table has? */
bool v8_table_is_in(const struct v8_table *table, struct managed_view *view, uint64_t object);

void v8_table_drop(struct v8_table *table, size_t *kept);

/* Of the deoptimization data @deopt, into @ret, which is zeroed. Functions that are new go into @out. */
void v8_inlinings_read(struct v8_functions *fs, struct managed_view *view, uint64_t deopt, struct writer *out, size_t *kept,
		       struct v8_inlinings *ret);

/* Has @deopt inlined the same functions at the same places? */
bool v8_inlinings_are_in(const struct v8_inlinings *in, struct v8_functions *fs, struct managed_view *view, uint64_t deopt, struct writer *out);

/* The inlined call with this number: where it was called, and what, unless that is the function itself: V8_NO_FUNCTION. False: not known. */
bool v8_inlinings_call(const struct v8_inlinings *in, int32_t number, struct v8_position *ret_caller, uint32_t *ret_function);

void v8_inlinings_drop(struct v8_inlinings *in, size_t *kept);

#endif
