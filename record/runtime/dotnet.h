/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dotnet.h - finds the methods of addresses in .NET's compiled code, by reading the runtime's memory.
 *
 *	pc ─► range map ─► range ─► code heap ─► nibble map ─► code header ─► MethodDesc ─► its chunk ─► MethodTable ─► Module
 *	                                                                        └── token ──────── name ◄── metadata ◄──┘
 *
 * Code never moves; code of unloadable assemblies and dynamic methods is freed. The memory is untrusted: reads are bounded and chains are
 * followed for a limited number of steps. A method is accepted only if its chunk leads to a type whose number in the metadata
 * is that of the type with this method. So a version with other structures gives no names rather than wrong ones.
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

/* Approximate memory use in bytes. */
size_t dotnet_held(const struct dotnet *d);

/*
 * Append the code at @ip to @out, a jitdump (formats/perf/jitdump.h), unless it was written before. @is_leaf: it was executed; otherwise it
 * may be a return address. False if no readable code contains it.
 */
bool dotnet_look(struct dotnet *d, struct managed_view *view, uint64_t ip, bool is_leaf, struct writer *out);

/*
 * Compare all known code with memory, within the limits of @view; code that is gone is written to @out. True when complete: the remaining
 * code was there when the first of these calls began.
 */
bool dotnet_compare(struct dotnet *d, struct managed_view *view, struct writer *out);

#endif
