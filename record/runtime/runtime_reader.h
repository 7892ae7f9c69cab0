/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_reader.h - looks up JIT code of sampled processes in the memory of their runtimes (hotspot.h, v8.h, dotnet.h).
 *
 * The recorder queues addresses of JIT code; a thread of this module looks them up within milliseconds, because such code may be
 * freed again. So neither samples nor the end of the recording wait for a process whose memory is slow to read. Each
 * look is limited in time, and all together to a share of a CPU; addresses beyond that are counted.
 *
 * A process that has no such runtime costs one look at its mappings.
 */
#ifndef RUNTIME_READER_H
#define RUNTIME_READER_H

#include "record/runtime/runtime_news.h"
#include "record/runtime/runtime_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime_reader;

struct priority;

/* The thread starts with the first address. It has the priority of @first, which must outlive it; NULL: ordinary priority. */
struct runtime_reader *runtime_reader_new(const struct priority *first);

/* Waits at most a second; memory that a hung thread may use is leaked. */
void runtime_reader_free(struct runtime_reader *r);

/* May the file at @path have a supported interpreter, by its name? */
bool runtime_reader_wants_file(const char *path);

/* Process @pid executes the file at @path: if that has a supported interpreter, start looking for it. Cheap. */
void runtime_reader_tell_file(struct runtime_reader *r, uint32_t pid, const char *path);

/* Process @pid makes code, and its runtime can report its interpreter before the first sample in it. Likewise. */
void runtime_reader_tell_code(struct runtime_reader *r, uint32_t pid);

/* Address @ip of process @pid was seen, executed (@leaf) or as what may be a return address. Never waits for the process. */
void runtime_reader_tell(struct runtime_reader *r, uint32_t pid, uint64_t ip, bool leaf);

/* Function @bytecode was interpreted. Likewise. */
void runtime_reader_tell_bytecode(struct runtime_reader *r, uint32_t pid, struct runtime_bytecode bytecode);

/* One that was found since the last call; false if there are no more. Cheap. */
bool runtime_reader_interpreter(struct runtime_reader *r, struct runtime_interpreter *ret);

/* The next code found to be gone: addresses in it must be looked up again. False if there is no more. Cheap. */
bool runtime_reader_gone(struct runtime_reader *r, struct runtime_gone *ret);

/* Start a comparison of known code with memory, unless one was done recently. Call it while samples come. */
void runtime_reader_check(struct runtime_reader *r);

/* Process @pid has ended or called exec; its jitdump stays. */
void runtime_reader_end(struct runtime_reader *r, uint32_t pid);

/*
 * Finish all lookups, for at most a second, and not beyond @end_ns (CLOCK_MONOTONIC) or SIGINT or SIGTERM, which must be blocked; then pause until
 * runtime_reader_resume(). Failures are reported in @notes, and their counts reset. False if the thread hangs: then there are no results.
 */
bool runtime_reader_pause(struct runtime_reader *r, uint64_t end_ns, struct diag *notes);
void runtime_reader_resume(struct runtime_reader *r);

/* While it pauses: the dump of process @pid (formats/perf/jitdump.h), NULL if there is none. Valid until it resumes. */
const void *runtime_reader_dump(const struct runtime_reader *r, uint32_t pid, size_t *ret_len);

/* Discard the results, unless the thread hangs, and resume. */
void runtime_reader_forget(struct runtime_reader *r);

#endif
