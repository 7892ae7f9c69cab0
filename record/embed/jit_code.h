/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_code.h - the bytes of JIT code at recorded addresses: from the jitdump of the process (formats/perf/jitdump.h), or from
 * its memory if it lives and a perf map describes it.
 *
 * The result is a jitdump, which is embedded. Memory is read when the recording ends: code that was replaced meanwhile appears
 * as it is then, under the perf map's name. For a process that has ended, pages copied while it ran are used
 * (code_pages.h).
 */
#ifndef RECORD_JIT_CODE_H
#define RECORD_JIT_CODE_H

#include "formats/base/writer.h"
#include "record/embed/perf_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_CODE_MAX (16U << 20) /* bytes of one process that are kept */

/*
 * Append to @out the records of the dump at @data that are of code with one of the ascending @addresses, its header
 * before them; nothing if there are none or it is no dump. False if there was more than JIT_CODE_MAX.
 */
bool jit_code_filter(const void *data, size_t len, const uint64_t *addresses, size_t count,
		     struct writer *out);

/* The same of the file @fd. What lies behind the end of a file that is cut short meanwhile is zeros: no dump. */
bool jit_code_from_dump(int fd, const struct perf_map *map, struct writer *out);

/*
 * What is, or was, in the memory of @map's process where @text, lines of its perf map, says that code is; nothing if it is gone.
 * @machine: EM_*. False as above.
 */
bool jit_code_from_memory(const struct perf_map *map, uint16_t machine, const char *text,
			  size_t len, struct writer *out);

/* The memory of @map's process around sampled addresses that no symbol, map or runtime describes. */
void jit_code_from_pages(const struct perf_map *map, uint16_t machine, struct writer *out);

#endif
