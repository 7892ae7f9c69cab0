/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - collects the code addresses of a recording, and at its end embeds in the trace what another machine needs to
 * unwind and name them: unwind rows, symbols and code near these addresses, kernel symbols and code, lines of perf
 * maps.
 *
 * While recording it receives side-band events and addresses, in any order that the rings give them:
 *
 *	attach_event(a, &ev);                             each side-band event, also synthesised ones
 *
 *	struct attach_front *f = attach_front(a, 0);           one for each reader of rings
 *	attach_begin(f, pid);                                  once a sample
 *	attach_address(f, sample_ip, ATTACH_LEAF);             user ip of the sample
 *	attach_address(f, user_ip, ATTACH_INTERRUPTED);        user ip of a sample of the kernel
 *	attach_address(f, word, ATTACH_CALLER);                chain, kept stack words and registers
 *	attach_kernel_address(f, sample_ip, ATTACH_LEAF);      kernel ips
 *
 *	attach_round(a);                                  after each drain of all rings
 *
 * Repeating an address costs a few nanoseconds, so callers need not filter. A file is opened, through its process, in the
 * round in which its first address is seen, and its descriptor is kept; nothing else is read before attach_write(). Allocates when something new is added, amortised. Fronts may be used by one thread
 * each while nothing else is called; otherwise not thread-safe.
 */
#ifndef RECORD_ATTACH_H
#define RECORD_ATTACH_H

#include "formats/base/diag.h"
#include "formats/event.h"
#include "formats/process/process_table.h"
#include "formats/trace/trace_writer.h"
#include "record/embed/attach_report.h"
#include "record/runtime/runtime_reader.h"

#include <stdint.h>

enum attach_use {
	ATTACH_CALLER, /* may be a return address */
	ATTACH_INTERRUPTED, /* the next instruction when the kernel was entered */
	ATTACH_LEAF, /* was executed when the sample was taken: its function's code is embedded for annotate */
};

struct attach;
struct attach_front;
struct foreign_reader;
struct priority;

struct attach *attach_new(enum attach_bundle bundle);

/* Ask sampled Java virtual machines for their perf maps when the recording ends (jvm_perfmap.h). */
void attach_ask_jvms(struct attach *a);
void attach_free(struct attach *a);

/* Let @reader, which must outlive @a, open mapped files; otherwise the caller does and may block. */
void attach_read_by(struct attach *a, struct foreign_reader *reader);

/* Give the thread that reads short-lived data the priority of @first, which must outlive @a; otherwise an ordinary one. */
void attach_run_as(struct attach *a, const struct priority *first);

/* Other limits than EMBED_TIME_NS and EMBED_LEN. */
void attach_limit(struct attach *a, const struct embed_limits *limits);

/* A signal ended the recording: nothing is read of others' files and memory after @end_ns (CLOCK_MONOTONIC). */
void attach_end_by(struct attach *a, uint64_t end_ns);

/* The range of the kernel's own code; without it none of it is embedded. */
void attach_kernel_text(struct attach *a, uint64_t begin, uint64_t end);

/* Processes and their mappings, for pruning; lasts as long as @a and changes with attach_event() and attach_round(). */
const struct process_table *attach_processes(const struct attach *a);

/* A process that runs already, with so many threads. */
void attach_existing_process(struct attach *a, uint32_t pid, uint32_t nthreads);

/*
 * Track processes and mappings by a side-band event, before it goes into the trace. If @ev maps a readable file and has no build ID,
 * it gets that in place of device and inode. A new file with code is kept open, since it may be deleted before it is sampled. True if
 * the last thread of a process ended.
 */
bool attach_event(struct attach *a, struct event *ev);
/* The number of new files, at their mapping. */
uint64_t attach_news(const struct attach *a);

/* Grows with new code of JITs, and new addresses in it: its memory should be read soon. */
uint64_t attach_jit_news(const struct attach *a);

/* Front number @number, made if it is new. It is the attach's and lasts as long. */
struct attach_front *attach_front(struct attach *a, size_t number);

/* Counts the front's resets: after one, addresses must be passed again. */
uint64_t attach_forgotten(const struct attach_front *f);

/* The next addresses belong to this process, known or not. */
void attach_begin(struct attach_front *f, uint32_t pid);

void attach_address(struct attach_front *f, uint64_t ip, enum attach_use use);
/* @bytecode is interpreted by the process. */
void attach_bytecode(struct attach_front *f, struct runtime_bytecode bytecode);
void attach_kernel_address(struct attach_front *f, uint64_t ip, enum attach_use use);

/*
 * Take over interpreters that were found since: their samples keep the interpreter's words. True if one will be found very soon: samples
 * are then better left for the next pass, if the rings have room.
 */
bool attach_begin_samples(struct attach *a);

/*
 * All rings have been drained once more. Look up the addresses of the fronts, and again those without a known mapping; forget
 * processes, programs before an exec, and replaced mappings that ended two rounds ago.
 */
void attach_round(struct attach *a);

/*
 * Write images, kernel symbols and perf maps for all addresses so far, while processes still
 * live if possible. It can be called for several files. Files and memory of other
 * processes are read by a child (embed_child.h), which limits the time to that of attach_limit(), and less if SIGINT or SIGTERM,
 * which must be blocked, is pending. Failures are reported in @notes, one line each, for recording.notes.
 * ERR_SYSTEM: the trace cannot be written.
 */
MUST_USE struct err *attach_write(struct attach *a, struct trace_writer *w, struct diag *notes,
				  struct attach_report *ret);

/* Forget which addresses were seen, for a file that has a beginning of its own; processes and mappings stay. */
void attach_forget(struct attach *a);

#endif
