/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8.h - finds functions, inlined functions and lines of addresses in V8's code (Node.js) and in the bytecode that its interpreter
 * executes, by reading its memory.
 *
 *	pc ─► page ─► instruction stream ─► Code ─► source positions, inlined functions ─► SharedFunctionInfo ─► name, script, line
 *	bytecode ─► BytecodeArray ─► source positions
 *	                   └─ - - ─► SharedFunctionInfo, learnt from a function that has it
 *
 * The garbage collector moves functions often, code and bytecode rarely. The memory is untrusted: reads are bounded, types and lengths are
 * checked, chains are followed for a limited number of steps.
 */
#ifndef RUNTIME_V8_H
#define RUNTIME_V8_H

#include "formats/base/writer.h"
#include "record/runtime/v8_layout.h"

struct v8;

/* @layout must outlive it; @inner_pid goes into the dump. The process is @age_ns old; 0: not known. */
struct v8 *v8_new(const struct v8_layout *layout, uint32_t inner_pid, uint64_t age_ns);
void v8_free(struct v8 *v);

/* Approximate memory use in bytes. */
size_t v8_held(const struct v8 *v);

enum v8_use {
	V8_CALLER, /* a return address, or looks like one */
	V8_LEAF,   /* was executed */
};

/*
 * Append the code at @ip, with the records that it needs, to @out, a jitdump (formats/perf/jitdump.h): nothing if that was done
 * before and it is the same. False if no readable code contains it.
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
 * Compare all known code and bytecode with memory, within the limits of @view; what is gone is written to @out. True when complete: the
 * rest was there when the first of these calls began.
 */
bool v8_compare(struct v8 *v, struct managed_view *view, struct writer *out);

/*
 * Compare some of the code that was looked at in the last 400 ms, with @view, which is new. True if that was the last of it; the next
 * call begins anew.
 */
bool v8_compare_recent(struct v8 *v, struct managed_view *view, struct writer *out);

/* Check for garbage collections; data read later is valid from the last one on. Cheap. */
void v8_watch(struct v8 *v, struct managed_view *view);

/* The time of the last complete comparison: all code that was not reported as gone was there then. */
uint64_t v8_checked_ns(const struct v8 *v);

/* The process has ended: append to @out that what was looked at after that was there until then, and for @more_ns. */
void v8_end(struct v8 *v, uint64_t more_ns, struct writer *out);

#endif
