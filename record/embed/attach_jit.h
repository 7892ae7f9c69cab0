/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_jit.h - which code made at run time a recording touched, and what is embedded of it: names from perf maps, names,
 * lines and bytes from the dumps of JITs, bytes from memory where there are only names.
 */
#ifndef RECORD_ATTACH_JIT_H
#define RECORD_ATTACH_JIT_H

#include "formats/base/map.h"
#include "record/embed/attach.h"
#include "record/embed/code_file.h"

/* Zeroed is empty. */
struct attach_jit {
	struct map maps;  /* pid -> struct perf_map * */
	struct map dumps; /* pid -> the struct code_file * that its JIT writes, which is referred to */
	bool ask_jvms; /* for their perf maps, at the end */
	uint64_t news; /* new code, or new addresses in it: only grows */
	size_t naddresses;
	uint64_t left_out; /* addresses for which there was no room */
};

/* What is remembered has limits. */
#define ATTACH_JIT_PROCESSES_MAX 4096
#define ATTACH_JIT_ADDRESSES_MAX (1U << 19)

/* An address in anonymous executable memory of process @pid was seen. */
void attach_jit_touch(struct attach_jit *jit, uint32_t pid, uint64_t ip);

/* Process @pid maps its JIT's dump, @file of @files, at @place. */
void attach_jit_dump(struct attach_jit *jit, uint32_t pid, struct code_files *files,
		     struct code_file *file, const struct code_place *place);
void attach_jit_fork(struct attach_jit *jit, uint32_t pid, uint32_t parent_pid);
void attach_jit_exec(struct attach_jit *jit, uint32_t pid);
/* It has ended and is forgotten, but for what was seen in it. */
void attach_jit_exit(struct attach_jit *jit, uint32_t pid);

/* One block for each process, in their order. ERR_SYSTEM: the trace cannot be written. */
MUST_USE struct err *attach_jit_write(struct attach_jit *jit, struct trace_writer *w,
				      struct diag *notes, struct attach_report *report);

/* Forget addresses; which dump is whose stays. */
void attach_jit_forget(struct attach_jit *jit);
void attach_jit_deinit(struct attach_jit *jit);

#endif
