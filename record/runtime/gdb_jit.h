/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdb_jit.h - code that a program has registered for debuggers: GDB's JIT interface (gdb/jit.h), which LLVM's compilers, Julia,
 * LuaJIT and Erlang's machine have. Read from outside.
 *
 *	__jit_debug_descriptor ─► entry ─► entry ─► …        newest first
 *	                            └─► an ELF file in memory (jit_object.h), or a module of Erlang's (beam_module.h)
 *
 * What a program says there is hostile: the list is followed for so many steps and so long, in pieces; what an entry says of its
 * length is held against what is read.
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
 * Read the list as far as @view lets it, if it has changed; code that is registered no more goes into @out. True if there is more: call it
 * again with a new view.
 */
bool gdb_jit_read_list(struct gdb_jit *jit, struct managed_view *view, struct writer *out);

/*
 * Compare what was read of entries with what is registered now, as far as @view lets it; code of which it is another file goes into @out.
 * True at the end.
 */
bool gdb_jit_compare(struct gdb_jit *jit, struct managed_view *view, struct writer *out);

/*
 * Append to @out, the records of a dump (formats/perf/jitdump.h), what is known of the code at @ip, and what that needs and is not
 * there yet. @is_leaf: it was executed; otherwise it is a return address. False if no entry has it.
 */
bool gdb_jit_look(struct gdb_jit *jit, struct managed_view *view, uint64_t ip, bool is_leaf, struct writer *out);

#endif
