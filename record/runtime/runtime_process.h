/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_process.h - finds the runtimes of one process in its mappings, and looks up code addresses in their memory.
 *
 * Results are a jitdump (formats/perf/jitdump.h) and news for the recorder (runtime_news.h). Not thread-safe.
 */
#ifndef RUNTIME_PROCESS_H
#define RUNTIME_PROCESS_H

#include "formats/base/writer.h"
#include "record/managed/managed_binary.h"
#include "record/managed/managed_view.h"
#include "record/runtime/runtime_file.h"
#include "record/runtime/runtime_news.h"

struct runtime_process;

/* What a file says of V8; shared by all processes that run it. */
struct v8_file {
	uint64_t device, inode;
	struct v8_layout layout;
	bool usable;
};

/* A file as mapped from one offset on. */
struct mapped_runtime {
	uint64_t device, inode, offset;
	struct runtime_variables has;
};

/* What is known of files, for all processes. Zeroed but for files.reader. */
struct runtime_files {
	struct managed_files files;
	VEC(struct v8_file *) v8;
	VEC(struct mapped_runtime) mapped;
};

void runtime_files_deinit(struct runtime_files *files);

/*
 * A function that was interpreted: of HotSpot the address of the bytecode and of its method, of V8 tagged pointers to a BytecodeArray and
 * to a closure, and the offset that is executed, or 0 if that is not known; then perhaps one to the FeedbackVector of what executes it.
 */
struct runtime_bytecode {
	uint64_t bytecode, function;
	uint32_t offset;
	uint64_t feedback; /* 0: none */
	uint64_t time_ns;  /* of the sample */
};

/* What is asked of a process: code at an address, or bytecode. */
struct runtime_look {
	uint64_t ip;
	bool leaf;			  /* it was executed; else it may be a return address */
	struct runtime_bytecode bytecode; /* if it has a function, instead of @ip */
};

/* All three outlast it. */
struct runtime_process *runtime_process_new(uint32_t pid, struct runtime_files *files, struct managed_view *view,
					    struct runtime_news *news);
void runtime_process_free(struct runtime_process *p);

/* The program has ended or called exec; its jitdump stays. */
void runtime_process_close(struct runtime_process *p);

/* Look for runtimes, unless that was done often enough. @has_jit: it executes code without a file. How long it took, waiting too. */
uint64_t runtime_process_find(struct runtime_process *p, bool has_jit);
bool runtime_process_has_any(const struct runtime_process *p);

/* Look for its bytecode interpreter, which may not be complete yet. False: its runtime does not need that. */
bool runtime_process_find_interpreter(struct runtime_process *p);

/* It is not known yet. */
bool runtime_process_lacks_interpreter(const struct runtime_process *p);

/*
 * Look up code of a process that has a runtime. If the data is not in memory yet or time runs out, runtime_process_look_again() retries a
 * few times.
 */
void runtime_process_look(struct runtime_process *p, const struct runtime_look *look);

/* The same, but not now. False: there is no room for more. */
bool runtime_process_look_later(struct runtime_process *p, const struct runtime_look *look);

/* Some of what is due. @at_once: of all, as it may be the last time. */
void runtime_process_look_again(struct runtime_process *p, bool at_once);

/* Looks that were put off and not taken since. */
uint64_t runtime_process_unasked(const struct runtime_process *p);

#define RUNTIME_CHECK_NS 25000000ULL /* at least, between comparisons of what is known of a process with what is there */

/*
 * Compare known code with memory, at most every RUNTIME_CHECK_NS unless @at_once. Records of code that is gone are valid until it was last
 * seen.
 */
void runtime_process_check(struct runtime_process *p, bool at_once);

/* What is known of it was there until then; as long as it can be read that is looked at before. */
void runtime_process_put_checked(struct runtime_process *p);

/* Empty until something was asked. */
const struct writer *runtime_process_dump(const struct runtime_process *p);

/* Bytes that it takes. */
size_t runtime_process_held(const struct runtime_process *p);

#endif
