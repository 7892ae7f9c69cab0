/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - gathers which code a recording touched, and at its end embeds in the trace what is needed to
 * make sense of it elsewhere: unwind rows, symbols and code near the addresses that were seen, kernel
 * symbols and code, lines of perf maps.
 *
 * While recording it receives side-band events and addresses, in any order that the rings give them:
 *
 *	attach_event(a, &ev);                             each event of the side-band, synthesised ones too
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
 * Telling an address again costs a few nanoseconds, so callers need not remember. A file is opened in the round
 * in which an address in it was first seen, through the process while it lives, and its descriptor kept; nothing else
 * is read before attach_write(). Allocates when something new is added, amortised. Fronts may be used by one thread
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
	ATTACH_INTERRUPTED, /* would have been executed next, had the kernel not come in between */
	ATTACH_LEAF, /* was executed when the sample was taken: its function's code is embedded for annotate */
};

struct attach;
struct attach_front;
struct foreign_reader;
struct priority;

struct attach *attach_new(enum attach_bundle bundle);

/* Have Java virtual machines that were sampled write their perf maps when the recording ends (jvm_perfmap.h). */
void attach_ask_jvms(struct attach *a);
void attach_free(struct attach *a);

/* Have files that are mapped opened by @reader, which must outlive @a; otherwise the caller waits for them. */
void attach_read_by(struct attach *a, struct foreign_reader *reader);

/* A thread that reads what soon is gone has the place in line for a CPU that @first has, which must outlive @a; otherwise any. */
void attach_run_as(struct attach *a, const struct priority *first);

/* Other limits than EMBED_TIME_NS and EMBED_LEN. */
void attach_limit(struct attach *a, const struct embed_limits *limits);

/* Where the kernel's own code is; without it none of that is embedded. */
void attach_kernel_text(struct attach *a, uint64_t begin, uint64_t end);

/* Of which process each mapping is, for pruning; it lasts as long as @a and changes with attach_event() and attach_round(). */
const struct process_table *attach_processes(const struct attach *a);

/* A process that runs already, with so many threads. */
void attach_existing_process(struct attach *a, uint32_t pid, uint32_t nthreads);

/*
 * A side-band event, before it goes into the trace: processes and mappings are followed. The build ID of a mapped file is put
 * into @ev, in place of device and inode, if it has none and the file can be read; a file of code that is new is held open, for it
 * may be gone when it is sampled. True if the last thread of a process ended.
 */
bool attach_event(struct attach *a, struct event *ev);
/* How many files were new to it when they were mapped. */
uint64_t attach_news(const struct attach *a);

/* Grows as code is made at run time, or such code is seen that was not seen before: its memory is best looked at soon. */
uint64_t attach_jit_news(const struct attach *a);

/* Front number @number, made if it is new. It is the attach's and lasts as long. */
struct attach_front *attach_front(struct attach *a, size_t number);

/* How often the front has forgotten which addresses it was given: then they are to be given once more. */
uint64_t attach_forgotten(const struct attach_front *f);

/* What comes next was seen in this process, known or not. */
void attach_begin(struct attach_front *f, uint32_t pid);

void attach_address(struct attach_front *f, uint64_t ip, enum attach_use use);
/* @bytecode is interpreted by the process. */
void attach_bytecode(struct attach_front *f, struct runtime_bytecode bytecode);
void attach_kernel_address(struct attach_front *f, uint64_t ip, enum attach_use use);

/*
 * Of the samples that come now is kept what interpreters execute that were found meanwhile. True if one will be found at once: samples are better
 * taken with the next pass, where there is room for them.
 */
bool attach_begin_samples(struct attach *a);

/*
 * All rings have been drained once more. What the fronts received is looked up; addresses whose mapping was not known yet are looked up again,
 * and what ended two rounds ago is forgotten: processes, programs before an exec, mappings that others replaced.
 */
void attach_round(struct attach *a);

/*
 * Write images, kernel symbols and perf maps for all addresses so far, while processes still
 * live if possible. It can be called for several files. Files and memory of others are
 * read by a child (embed_child.h), so that no more time passes than attach_limit() allows, and less if SIGINT or SIGTERM,
 * which must be blocked, is pending. What could not be read is reported in @notes, one line each, for recording.notes.
 * ERR_SYSTEM: the trace cannot be written.
 */
MUST_USE struct err *attach_write(struct attach *a, struct trace_writer *w, struct diag *notes,
				  struct attach_report *ret);

/* Forget which addresses were seen, for a file that has a beginning of its own; processes and mappings stay. */
void attach_forget(struct attach *a);

#endif
