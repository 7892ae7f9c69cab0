/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms_text.h - /proc/kallsyms, which the kernel takes 35 ms to write, for recordings of many files.
 *
 * The first time it is read as it is. From the second time on its text is kept and read again, until modules come or go; code
 * that the kernel loads otherwise (BPF) is reported by events.
 */
#ifndef RECORD_KALLSYMS_TEXT_H
#define RECORD_KALLSYMS_TEXT_H

#include "formats/base/writer.h"

#include <stdio.h>

/* Zeroed is empty. */
struct kallsyms_text {
	unsigned times; /* that it was opened */
	struct writer text, modules; /* kept: what it said, and what /proc/modules said then */
};

/* A stream from its beginning, which lasts until the next call; NULL if there is none. */
FILE *kallsyms_text_open(struct kallsyms_text *kallsyms, const char *path, const char *modules_path);
void kallsyms_text_deinit(struct kallsyms_text *kallsyms);

#endif
