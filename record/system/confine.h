/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - gives up rights that are no longer needed, so that a fault that a hostile program finds in us is worth less.
 *
 * No new privileges (prctl), fewer capabilities, and a filter of system calls that refuses, with EPERM, what neither
 * program ever does: run programs, mount, trace, load code into the kernel, change identities. Where
 * the kernel lacks one of them the others remain. precord(1), SECURITY, says what is left.
 */
#ifndef RECORD_CONFINE_H
#define RECORD_CONFINE_H

#include <stdint.h>

/* The recorder, once its command is forked and its events are open; threads that are started later are confined as well. */
void confine_recorder(void);

/* The one that opens files and looks into processes of others while recording (foreign_reader.h). */
void confine_foreign_reader(void);

/* The child that reads other users' files and memory. */
void confine_reader(void);

/*
 * The same once it only reads files: it may not create, change or remove any (Landlock, Linux 5.13), nor look into other
 * processes, which Landlock refuses as well.
 */
void confine_file_reader(void);

/* What is allocated beyond @more bytes from now on fails, and ends the process. */
void confine_memory(uint64_t more);

#endif
