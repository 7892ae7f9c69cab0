/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dotnet.h - what .NET's runtime knows of addresses in code that it compiled: which methods they are. Read from outside.
 *
 *	pc ─► range map ─► range ─► code heap ─► nibble map ─► code header ─► MethodDesc ─► its chunk ─► MethodTable ─► Module
 *	                                                                        └── token ──────── name ◄── metadata ◄──┘
 *
 * Its code is never moved; what belongs to an assembly that can be unloaded, and dynamic methods, are freed. Nothing that its memory says is
 * believed: a pointer leads to a bounded read, a chain is followed for so many steps, and a method is believed where its chunk
 * leads to a type, and the type's number in the metadata is that of the type which has the method there. So a version whose
 * structures are others gives no names, and no wrong ones.
 */
#ifndef RUNTIME_DOTNET_H
#define RUNTIME_DOTNET_H

#include "formats/base/writer.h"
#include "record/managed/managed_view.h"

#define DOTNET_VERSIONS	   "8 and 10"
#define DOTNET_VERSION_MAX 10

struct dotnet;

/* Of a process of this version, with the runtime's variable g_dacTable at @dac_table; NULL if the version is not known. @inner_pid goes into the dump. */
struct dotnet *dotnet_new(unsigned major, uint64_t dac_table, uint32_t inner_pid);
void dotnet_free(struct dotnet *d);

/* Bytes of memory that it holds, about. */
size_t dotnet_held(const struct dotnet *d);

/*
 * Append to @out, the records of a dump (formats/perf/jitdump.h), what is known of the code at @ip, unless that is there. @is_leaf: it was
 * executed; otherwise it is a return address, or looks like one. False if it lies in no code that could be read.
 */
bool dotnet_look(struct dotnet *d, struct managed_view *view, uint64_t ip, bool is_leaf, struct writer *out);

/*
 * Compare all code that is known with what is there now, as far as @view lets it; what is gone goes into @out. True if it has come to the
 * end: what is left was there when the first of these calls began.
 */
bool dotnet_compare(struct dotnet *d, struct managed_view *view, struct writer *out);

#endif
