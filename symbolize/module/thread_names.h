/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_names.h - what runtimes call their threads, of which the kernel only knows the first 15 bytes, or another name (JITDUMP_THREAD).
 *
 * A name is a thread's as long as the kernel calls it what it did when that was read. Where it has several names meanwhile the first one holds:
 * Java's "main" is "DestroyJavaVM" in the end.
 */
#ifndef SYMBOLIZE_THREAD_NAMES_H
#define SYMBOLIZE_THREAD_NAMES_H

#include "formats/recording.h"

struct thread_names;

/* Those of @rec, which must outlive it. */
struct thread_names *thread_names_new(const struct recording *rec);
void thread_names_free(struct thread_names *names);

/* What the runtime calls thread @tid of process @pid while it is @comm to the kernel; @comm if that is not known. */
const char *thread_names_find(const struct thread_names *names, uint32_t pid, uint32_t tid, const char *comm);

#endif
