/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdb_jit.h - reads the code that a program has registered with GDB's JIT interface (gdb/jit.h), as programs with LLVM, Julia, LuaJIT and the
 * Erlang VM do.
 *
 *	__jit_debug_descriptor ─► entry ─► entry ─► …        newest first
 *	                            └─► an ELF file in memory (jit_object.h), or a module of Erlang's (beam_module.h)
 *
 * The list is untrusted: it is read in pieces, with limits on steps and time, and lengths are checked.
 */
#ifndef RUNTIME_GDB_JIT_H
#define RUNTIME_GDB_JIT_H

#include "formats/base/writer.h"
#include "record/managed/managed_view.h"

struct gdb_jit;

/* The descriptor is at address @descriptor; @inner_pid goes into the dump. */
struct gdb_jit *gdb_jit_new(uint64_t descriptor, uint32_t inner_pid);
void gdb_jit_free(struct gdb_jit *jit);

/* Bytes of memory that it holds, about. */
size_t gdb_jit_held(const struct gdb_jit *jit);

/*
 * Read the list, if it has changed, within the limits of @view; code that was unregistered is written to @out. True if there is more: call
 * again with a new view.
 */
bool gdb_jit_read_list(struct gdb_jit *jit, struct managed_view *view, struct writer *out);

/*
 * Compare known entries with memory, within the limits of @view; code whose entry has another file now is written to @out as gone. True
 * when complete.
 */
bool gdb_jit_compare(struct gdb_jit *jit, struct managed_view *view, struct writer *out);

/*
 * Append the code at @ip, with the records that it needs, to @out, a jitdump (formats/perf/jitdump.h). @is_leaf: it was executed; otherwise
 * it is a return address. False if no entry has it.
 */
bool gdb_jit_look(struct gdb_jit *jit, struct managed_view *view, uint64_t ip, bool is_leaf, struct writer *out);

#endif
