/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_jit.h - collects sampled JIT code and embeds its description: names from perf maps; names, lines and bytes from
 * jitdumps; bytes from memory if there are only names.
 */
#ifndef RECORD_ATTACH_JIT_H
#define RECORD_ATTACH_JIT_H

#include "formats/base/map.h"
#include "formats/process/process_table.h"
#include "record/embed/attach_report.h"
#include "record/embed/code_file.h"
#include "record/embed/code_pages.h"
#include "record/embed/embed_child.h"
#include "record/runtime/runtime_reader.h"

/* Zeroed is empty. */
struct attach_jit {
	struct map maps;  /* pid -> struct perf_map * */
	struct map jvms;  /* pid of a process that has mapped a Java virtual machine, and has made no code yet */
	uint64_t asked_ns; /* when the last of them was asked where its interpreter is, */
	bool awaited;	   /* and has not answered */
	uint32_t awaited_pid, unanswered_pid; /* that one, and the first that never did */
	uint64_t unanswered; /* so many did not while samples waited */
	struct map dumps; /* pid -> the struct code_file * that its JIT writes, which is referred to */
	struct foreign_reader *reader;   /* opens their /tmp; NULL: we do. Set by the caller */
	const struct priority *first;    /* priority of the runtime reader's thread. Set by the caller */
	struct runtime_reader *runtimes; /* NULL until there is such code */
	bool runtimes_read; /* by attach_jit_gather() */
	bool ask_jvms; /* for their perf maps, at the end */
	uint64_t news; /* new code, or new addresses in it: only grows */
	size_t naddresses;
	uint64_t left_out; /* addresses for which there was no room */
};

/* Limits on what is kept. */
#define ATTACH_JIT_PROCESSES_MAX 4096
#define ATTACH_JIT_ADDRESSES_MAX (1U << 19)

/* An address in anonymous executable memory of process @pid, in mapping @area: @executed, or else a possible return address. */
void attach_jit_touch(struct attach_jit *jit, uint32_t pid, uint64_t ip, bool executed, struct code_area area);

/* Process @pid executes the file at @path. */
void attach_jit_file(struct attach_jit *jit, uint32_t pid, const char *path);

/* It maps, executable, the file at @path; NULL: memory for code. A Java virtual machine is looked at as soon as it makes code. */
void attach_jit_map(struct attach_jit *jit, uint32_t pid, const char *path);

/* Will a virtual machine's interpreter be known very soon? Its samples may be held back for that. */
bool attach_jit_awaits(const struct attach_jit *jit);

/* @bytecode is interpreted by process @pid. */
void attach_jit_bytecode(struct attach_jit *jit, uint32_t pid, struct runtime_bytecode bytecode);

/* An interpreter that was found since the last call; false if there are no more. */
bool attach_jit_interpreter(struct attach_jit *jit, struct runtime_interpreter *ret);

/* A round is done. Processes whose code was replaced count as changed: their addresses must be passed again. */
void attach_jit_round(struct attach_jit *jit, struct process_table *processes);

/* Process @pid maps its JIT's dump, @file of @files, at @place. */
void attach_jit_dump(struct attach_jit *jit, uint32_t pid, struct code_files *files,
		     struct code_file *file, const struct code_place *place);
void attach_jit_fork(struct attach_jit *jit, uint32_t pid, uint32_t parent_pid);
void attach_jit_exec(struct attach_jit *jit, uint32_t pid);
/* It has ended; forget it except for its sampled addresses. */
void attach_jit_exit(struct attach_jit *jit, uint32_t pid);

/* Append the descriptors that attach_jit_write() needs, besides those of files. */
void attach_jit_fds(const struct attach_jit *jit, struct embed_fds *fds);

/* Before the child is forked: finish reading runtimes (runtime_reader.h) and pause until attach_jit_go_on(). */
void attach_jit_gather(struct attach_jit *jit, uint64_t end_ns, struct diag *notes);
void attach_jit_go_on(struct attach_jit *jit);

/* In @child: one block for each process, in order. ERR_SYSTEM: the recorder has closed the pipe. */
MUST_USE struct err *attach_jit_write(struct attach_jit *jit, struct embed_child *child,
				      struct trace_writer *w, struct diag *notes,
				      struct attach_report *report);

/* Forget addresses; keep which dump belongs to which process. */
void attach_jit_forget(struct attach_jit *jit);
void attach_jit_deinit(struct attach_jit *jit);

#endif
