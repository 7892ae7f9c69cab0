/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready_to_run.h - a .NET assembly that was compiled ahead, as the ELF file that a trace embeds of it: symbols of the methods that a recording
 * touched, at their addresses relative to the image (docs/design/coreclr/botr/readytorun-format.md of dotnet/runtime).
 *
 *	header ─► runtime functions: begin, end of each
 *	     └──► entry points: method ─► its first function; methods of generic types, by signature
 *
 * The file is hostile: it is read by way of a view, each of its offsets is held against its length, and it is read for so long.
 */
#ifndef RECORD_EMBED_READY_TO_RUN_H
#define RECORD_EMBED_READY_TO_RUN_H

#include "formats/base/map.h"
#include "formats/base/writer.h"

#include <stdbool.h>

/*
 * Append to @out, which is empty, the ELF file for those of @offsets (keys; in the file) that lie in methods; *@ret_symbols says how many
 * methods those are. False if the file at @fd is no assembly for x86-64 that was compiled ahead.
 */
bool ready_to_run_write(int fd, const struct map *offsets, struct writer *out, uint64_t *ret_symbols);

#endif
