/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_object.h - an ELF file in the memory of a JIT compiler, describing code that it has loaded: sections have their load addresses.
 *
 * A reduced file is written to the jitdump: names, unwind rules and debug information, with code and rules as relocated in memory. Other
 * sections, which hold the program's data, are not read. The file is untrusted.
 */
#ifndef RUNTIME_JIT_OBJECT_H
#define RUNTIME_JIT_OBJECT_H

#include "formats/base/writer.h"
#include "record/managed/managed_view.h"

/* Code that it has loaded: [start, end). */
typedef void jit_object_range_fn(void *context, uint64_t start, uint64_t end);

/* Tell @take of the code of the file at @addr, @len bytes; false if it is none. */
bool jit_object_ranges(struct managed_view *view, uint64_t addr, uint64_t len, jit_object_range_fn *take, void *context);

/* What tells it from another file at the same address: its headers, and names as far as that many are read. False if that cannot be read. */
bool jit_object_cookie(struct managed_view *view, uint64_t addr, uint64_t len, uint64_t *ret);

/* Append the record of the file to @out, of a dump (formats/perf/jitdump.h). False if it cannot be read or is too long. */
bool jit_object_put(struct managed_view *view, uint64_t addr, uint64_t len, struct writer *out);

#endif
