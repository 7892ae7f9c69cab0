/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_layout.h - offsets of fields in the objects of one build of V8, from its constants for debuggers (v8dbg_*) and, where those
 * are incomplete, by version.
 *
 * Pointers to objects are tagged: 1 more than the address. Offsets count from the address; a word that is a small integer has
 * it in its upper half.
 */
#ifndef RUNTIME_V8_LAYOUT_H
#define RUNTIME_V8_LAYOUT_H

#include "record/managed/managed_binary.h"

#include <stdbool.h>
#include <stdint.h>

#define V8_VERSIONS "10.2, 11.3, 12.4, 13.6 and 14.6"

/* Offsets in bytes, numbers of array elements, numbers of types. */
enum v8_number {
	V8_MAP_TYPE, /* where a map has the type of its objects */
	V8_FUNCTION_SHARED,
	V8_SHARED_DATA,
	V8_SHARED_NAME, /* or scope info */
	V8_SHARED_SCRIPT,
	V8_BYTECODE_DATA,
	V8_SCRIPT_SOURCE,
	V8_SCRIPT_NAME,
	V8_SCRIPT_LINE_ENDS,
	V8_STRING_LENGTH,
	V8_SCOPE_NCONTEXT, /* elements of a ScopeInfo, counted from the word behind its map */
	V8_SCOPE_FIRST,
	V8_DEOPT_INLINED,   /* elements of deoptimization data: how many functions are inlined, */
	V8_DEOPT_LITERALS,  /* the array that has them, */
	V8_DEOPT_SHARED,    /* the function itself, */
	V8_DEOPT_POSITIONS, /* where they were inlined */
	V8_TYPE_MAP,
	V8_TYPE_CODE,
	V8_TYPE_STREAM, /* of what holds instructions */
	V8_TYPE_SHARED,
	V8_TYPE_BYTECODE,
	V8_TYPE_SCRIPT,
	V8_TYPE_SCOPE,
	V8_TYPE_INTERPRETER_DATA,
	V8_TYPE_FIXED_ARRAY,
	V8_KIND_BASELINE, /* of code; Maglev and TurboFan follow */
	V8_NUMBERS
};

/* What depends on the version only; offsets. */
struct v8_version {
	unsigned major, minor;
	uint8_t code_deopt;	/* or the bytecode of baseline code */
	uint8_t code_positions; /* or its table of bytecode offsets */
	uint8_t code_start;	/* has the address of the instructions; 0: they begin at @code_header */
	uint8_t code_header;
	uint8_t code_flags, code_size;
	uint8_t bytecode_positions;
	uint8_t position_flags; /* v8_positions.nflags */
	bool wraps_shared;      /* deoptimization data has a wrapper of the function */
	/* For v8_quiet.h: of a page, where its data is, 0: in itself; of that, its heap; of that, the collections by marking, 0: not known. */
	uint8_t page_data, page_heap;
	uint16_t heap_marked;
};

#define V8_BYTECODES_MAX 256

struct image;

struct v8_layout {
	unsigned major, minor; /* 11, 3 */
	const struct v8_version *version;
	uint16_t at[V8_NUMBERS];
	bool has[V8_NUMBERS];
	uint64_t entry, entry_len;    /* link-time, of the code that interpreted functions run in */
	uint8_t sizes[3 * V8_BYTECODES_MAX]; /* lengths of bytecodes: plain, wide, extra wide; 0 if not known */
	size_t nbytecodes;
};

/* Only to find the mapping of its file. */
extern const struct managed_runtime v8_in_file;

/*
 * Read what the file @image, found for v8_in_file, says; in a foreign reader, where others made the file. False if it is of no use;
 * ret->major and minor are set wherever they are known.
 */
bool v8_layout_read(struct image *image, struct v8_layout *ret);

/* Validate an untrusted @layout and connect it to the table of its version. */
bool v8_layout_check(struct v8_layout *layout);

/* Is the version of @layout, which is not usable, newer than the supported ones? */
bool v8_layout_is_newer(const struct v8_layout *layout);

#endif
