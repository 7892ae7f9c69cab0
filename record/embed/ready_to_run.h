/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready_to_run.h - a .NET assembly that was compiled ahead, as the ELF file that a trace embeds of it: symbols of the methods that a recording
 * touched, at their addresses relative to the image (docs/design/coreclr/botr/readytorun-format.md of dotnet/runtime).
 *
 *	header ─► runtime functions: begin, end of each
 *	     └──► entry points: method ─► its first function; methods of generic types, by signature
 *
 * The file is untrusted: each offset is checked against its length, and the caller limits the time.
 */
#ifndef RECORD_EMBED_READY_TO_RUN_H
#define RECORD_EMBED_READY_TO_RUN_H

#include "formats/base/map.h"
#include "formats/base/writer.h"

#include <stdbool.h>

struct ready_to_run_source {
	int fd;
	const struct map *offsets; /* keys: in the file, that were seen */
	bool (*goes_on)(void *context); /* called regularly; once it is false, the methods found by then are the result */
	void *context;
};

/*
 * Append to @out, which is empty, the ELF file for those offsets of @source that lie in methods; *@ret_symbols says how many
 * methods those are. False if the file is no assembly for x86-64 that was compiled ahead.
 */
bool ready_to_run_write(const struct ready_to_run_source *source, struct writer *out, uint64_t *ret_symbols);

#endif
