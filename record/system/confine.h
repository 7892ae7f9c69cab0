/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - drops privileges that are no longer needed, so that exploiting a bug in precord gains less.
 *
 * No new privileges (prctl), fewer capabilities, and a seccomp filter that refuses with EPERM what a recorder never
 * does: run programs, mount, ptrace, load kernel code, change user IDs. If the kernel lacks one of them the others
 * still apply. precord(1), SECURITY, lists the rights that remain.
 */
#ifndef RECORD_CONFINE_H
#define RECORD_CONFINE_H

#include <stdint.h>

/* The recorder, once its command is forked and its events are open; threads that are started later are confined as well. */
void confine_recorder(void);

/* The process that opens other processes' files and memory while recording (foreign_reader.h). */
void confine_foreign_reader(void);

/* The child that reads other users' files and memory. */
void confine_reader(void);

/*
 * The same once it only reads files: it may not create, change or remove any (Landlock, Linux 5.13), nor look into other
 * processes, which Landlock refuses as well.
 */
void confine_file_reader(void);

/* From now on an allocation beyond @more bytes fails and ends the process. */
void confine_memory(uint64_t more);

#endif
