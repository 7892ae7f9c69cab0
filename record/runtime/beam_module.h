/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beam_module.h - functions and lines of one module, as the Erlang VM registers them with GDB's JIT interface.
 *
 * The format is that of OTP 25 and later (erts/emulator/beam/jit/beam_jit_metadata.cpp):
 *
 *	module     u32 1, pad; u64 base of the code; u32 number of ranges, length of the code; u16 length of the name; name; 6 bytes; then
 *	  range    u32 start, end (from the base), number of lines; u16 length of the name; name; 2 bytes; then
 *	    line   u32 offset (from the base), line; u16 length of the file's name; name; 2 bytes
 *
 * Names end with a NUL, which their length counts. All of it is untrusted.
 */
#ifndef RUNTIME_BEAM_MODULE_H
#define RUNTIME_BEAM_MODULE_H

#include "formats/base/writer.h"
#include "record/managed/managed_view.h"

#define BEAM_MODULE_LEN_MAX (1U << 20)

struct beam_module;

struct beam_module_head {
	uint64_t base;
	uint32_t code_len;
};

/* Is what lies at @addr, @len bytes, a module? */
bool beam_module_read_head(struct managed_view *view, uint64_t addr, uint64_t len, struct beam_module_head *ret);

/* NULL if it cannot be read. */
struct beam_module *beam_module_read(struct managed_view *view, uint64_t addr, uint64_t len);
void beam_module_free(struct beam_module *module);

/* Where it goes, and how many functions have a number so far. */
struct beam_module_writing {
	struct writer *out;
	uint32_t nfunctions;
};

/*
 * Append records of @ip to @w->out, a jitdump (formats/perf/jitdump.h): its function, frame and line. @is_leaf: it was executed; otherwise it
 * is a return address. False if it is in none of the module's functions.
 */
bool beam_module_look(struct beam_module *module, uint64_t ip, bool is_leaf, struct beam_module_writing *w);

#endif
