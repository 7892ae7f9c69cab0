/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_functions.h - names, files and lines of the functions of one V8.
 *
 * A function is known by its SharedFunctionInfo (@shared, a tagged pointer), which all its closures have in common. Each gets a
 * number and is written to the jitdump (formats/perf/jitdump.h). The garbage collector may move it and put another one at its
 * address, which has another name or script; that is detected.
 */
#ifndef RUNTIME_V8_FUNCTIONS_H
#define RUNTIME_V8_FUNCTIONS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "record/runtime/v8_object.h"

#define V8_FUNCTIONS_MAX (1U << 16)
#define V8_SCRIPTS_MAX	 (1U << 14)
#define V8_LINES_MAX	 (4U << 20) /* of all scripts together; beyond that there are no lines */
#define V8_NAME_MAX	 512

struct v8_function {
	uint64_t shared, name, script, script_id, text; /* what distinguishes it from another one */
	uint32_t script_number;	       /* V8_NO_SCRIPT: not known */
	uint32_t line; /* where it is defined; 0: not known */
	char *label;
};

#define V8_NO_SCRIPT UINT32_MAX

struct v8_script {
	uint64_t script, source, id;
	char *file;
	uint32_t first_line; /* 0: its text was not read, or in part */
	uint64_t text;	     /* address of what was read of it, */
	uint32_t done;	     /* so many characters, */
	uint16_t last;	     /* of which this is the last */
	VEC(uint32_t) ends; /* positions of the ends of its lines */
	unsigned tries;	    /* to read its text, which may not be there yet, or take too long; */
	uint64_t due_ns;    /* the next one */
};

/* Zeroed is empty. */
struct v8_functions {
	const struct v8_layout *layout;
	struct map by_shared; /* -> index in @items */
	VEC(struct v8_function) items;
	struct map by_script; /* -> index in @scripts */
	VEC(struct v8_script) scripts;
	size_t nlines; /* of all */
};

void v8_functions_deinit(struct v8_functions *fs);

/* Approximate memory use in bytes. */
size_t v8_functions_held(const struct v8_functions *fs);

/* The number of the function @shared, which is written to @out if it is new. False if it cannot be read, or there are too many. */
bool v8_functions_get(struct v8_functions *fs, struct managed_view *view, uint64_t shared, struct writer *out,
		      uint32_t *ret);

/*
 * The source line of @position, in characters from the beginning of the script of function @number; 0 if it is not known, or not yet: then
 * @view has missed something.
 */
uint32_t v8_functions_line(struct v8_functions *fs, struct managed_view *view, uint32_t number, uint32_t position);

#endif
