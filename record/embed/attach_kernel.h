/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_kernel.h - embeds names of kernel functions on recorded stacks, and the code of sampled ones.
 */
#ifndef RECORD_ATTACH_KERNEL_H
#define RECORD_ATTACH_KERNEL_H

#include "formats/base/diag.h"
#include "formats/trace/trace_writer.h"
#include "record/embed/attach_report.h"
#include "record/embed/kallsyms_text.h"
#include "record/embed/kernel_symbols.h"

/* Zeroed is empty. */
struct attach_kernel {
	struct kernel_symbols symbols;
	struct kallsyms_text kallsyms;
	uint64_t text, text_end; /* of the kernel itself; 0: not known */
};

void attach_kernel_deinit(struct attach_kernel *kernel);

/* ERR_SYSTEM: the trace cannot be written. */
MUST_USE struct err *attach_kernel_write(struct attach_kernel *kernel, enum attach_bundle bundle,
					 struct trace_writer *w, struct diag *notes,
					 struct attach_report *report);

#endif
