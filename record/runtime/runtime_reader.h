/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_reader.h - asks the runtimes of sampled processes, in their memory, what their compiled code is (hotspot.h, v8.h, dotnet.h).
 *
 * The recorder tells of addresses in code that was made at run time, and goes on; a thread of this module's own looks them up
 * within milliseconds, because such code is freed again. So neither samples nor the end of the recording wait for a
 * process that makes reading its memory slow. Each look has a limit of time, all together a share of a CPU; what is beyond is
 * counted.
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

/* The thread starts with the first address. It has the place in line for a CPU that @first has, which must outlive it; NULL: any. */
struct runtime_reader *runtime_reader_new(const struct priority *first);

/* Waits for a second at most; what then still hangs is left alone, with all that it may use. */
void runtime_reader_free(struct runtime_reader *r);

/* Process @pid executes the file at @path: if that has an interpreter whose frames are of use, it is looked for now. Cheap. */
void runtime_reader_tell_file(struct runtime_reader *r, uint32_t pid, const char *path);

/* Process @pid makes code, and has a runtime that can be asked where its interpreter is before that is met. Likewise. */
void runtime_reader_tell_code(struct runtime_reader *r, uint32_t pid);

/* Address @ip of process @pid was seen, executed (@leaf) or as what may be a return address. Never waits for the process. */
void runtime_reader_tell(struct runtime_reader *r, uint32_t pid, uint64_t ip, bool leaf);

/* Function @bytecode was interpreted. Likewise. */
void runtime_reader_tell_bytecode(struct runtime_reader *r, uint32_t pid, struct runtime_bytecode bytecode);

/* One that was found since the last call; false if there are no more. Cheap. */
bool runtime_reader_interpreter(struct runtime_reader *r, struct runtime_interpreter *ret);

/* Some that was found since the last call: addresses in it must be looked up again. False if there is no more. Cheap. */
bool runtime_reader_gone(struct runtime_reader *r, struct runtime_gone *ret);

/* Have what is known compared with what is there, unless that was done just now. To be called while samples come. */
void runtime_reader_check(struct runtime_reader *r);

/* Process @pid has ended, or runs another program; what was read of it stays. */
void runtime_reader_end(struct runtime_reader *r, uint32_t pid);

/*
 * All addresses are looked up, or a second has passed; then nothing more is looked up until runtime_reader_resume(). What
 * could not be read is reported in @notes, and counted anew from then on. False if the thread hangs: there is nothing to be had from it.
 */
bool runtime_reader_pause(struct runtime_reader *r, struct diag *notes);
void runtime_reader_resume(struct runtime_reader *r);

/* While it pauses: the dump of process @pid (formats/perf/jitdump.h), NULL if there is none. Valid until it resumes. */
const void *runtime_reader_dump(const struct runtime_reader *r, uint32_t pid, size_t *ret_len);

/* Forget what was read, unless the thread hangs. It does not pause any more then. */
void runtime_reader_forget(struct runtime_reader *r);

#endif
