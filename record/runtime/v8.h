/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8.h - what V8, the JavaScript engine of Node.js, knows of addresses in its code: which functions were compiled there or inlined, and at
 * which lines; and of the bytecode that its interpreter executes. Read from outside.
 *
 *	pc ─► page ─► instruction stream ─► Code ─► source positions, inlined functions ─► SharedFunctionInfo ─► name, script, line
 *	bytecode ─► BytecodeArray ─► source positions
 *	                   └─ - - ─► SharedFunctionInfo, learnt from a function that has it
 *
 * Its garbage collector moves functions often, code and bytecode hardly ever. Nothing that its memory says is believed: a pointer leads to
 * a bounded read, a type and a length are checked, a chain is followed for so many steps.
 */
#ifndef RUNTIME_V8_H
#define RUNTIME_V8_H

#include "formats/base/writer.h"
#include "record/runtime/v8_layout.h"

struct v8;

/* @layout must outlive it; @inner_pid goes into the dump. The process is @age_ns old; 0: not known. */
struct v8 *v8_new(const struct v8_layout *layout, uint32_t inner_pid, uint64_t age_ns);
void v8_free(struct v8 *v);

/* Bytes of memory that it holds, about. */
size_t v8_held(const struct v8 *v);

enum v8_use {
	V8_CALLER, /* a return address, or looks like one */
	V8_LEAF,   /* was executed */
};

/*
 * Append to @out, the records of a dump (formats/perf/jitdump.h), what is known of address @ip, and what that needs and is not there
 * yet. False if it lies in no code that could be read.
 */
bool v8_look(struct v8 *v, struct managed_view *view, uint64_t ip, enum v8_use use, struct writer *out);

/*
 * Bytecode that @function, a closure, executes: the tagged pointer of its BytecodeArray and an offset, as a frame of the interpreter has
 * them. If @offset is 0 the two are only learnt to belong together. @feedback is
 * the tagged pointer of its FeedbackVector, 0 if that is not known: it stays where a closure that is made for each call is gone at once.
 */
struct v8_bytecode_at {
	uint64_t array, function, feedback;
	uint32_t offset;
};

/* The same for the sum of @at->array and @at->offset. */
bool v8_look_bytecode(struct v8 *v, struct managed_view *view, const struct v8_bytecode_at *at, struct writer *out);

/*
 * Compare all code and bytecode that is known with what is there now, as far as @view lets it; what is gone goes into @out. True if it has
 * come to the end: what is left was there when the first of these calls began.
 */
bool v8_compare(struct v8 *v, struct managed_view *view, struct writer *out);

/* Look whether garbage was collected: what is read afterwards is known to have been there since then. Cheap. */
void v8_watch(struct v8 *v, struct managed_view *view);

/* Until when all that is known, and not said to be gone, was there. */
uint64_t v8_checked_ns(const struct v8 *v);

/* The process has ended: append to @out that what was looked at after that was there until then, and for @more_ns. */
void v8_end(struct v8 *v, uint64_t more_ns, struct writer *out);

#endif
