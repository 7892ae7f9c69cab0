/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_extract.h - one sample of a recording as a trace of its own, without anything that is the application's: what a bug
 * report about unwinding needs and a regression test is made from.
 *
 * It holds registers and stack words that point into code or into the stack itself, the user part of the kernel's chain,
 * the mappings that these point into under the last part of their path, and of each file the unwind rows, symbols and code
 * near these addresses. It holds no other word, no command line, name of a machine, process or thread, no process
 * number, time, kernel address, perf map or tracepoint payload.
 */
#ifndef REPORT_SAMPLE_EXTRACT_H
#define REPORT_SAMPLE_EXTRACT_H

#include "report/load/session.h"

/*
 * Write the sample @ev, the last event that @s handed out, to @path; "-" is standard output.
 * ERR_SYSTEM: it cannot be written.
 */
MUST_USE struct err *sample_extract_write(struct session *s, const struct event *ev, const char *path);

#endif
