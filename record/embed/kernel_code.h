/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_code.h - the running kernel's code of the functions that were sampled, for preport annotate.
 *
 * Read from /proc/kcore when a recording ends, so it is the code that ran, with alternatives, static calls and keys patched
 * and ftrace's calls replaced by nops. Functions only (kernel_symbols.h says how far they reach), never data: the
 * kernel's own lie between _text and _etext, since the memory of its initialisation has been reused.
 */
#ifndef RECORD_KERNEL_CODE_H
#define RECORD_KERNEL_CODE_H

#include "formats/base/writer.h"
#include "formats/recording.h"
#include "record/embed/kernel_symbols.h"

/* What is wanted. */
struct kernel_code_source {
	const char *kcore;        /* path: KCORE_PATH */
	uint16_t machine;         /* EM_* */
	uint64_t text, text_end;  /* of the kernel itself; 0: not known, and none of its own code is read */
	const struct kernel_function *functions;
	size_t count;
	bool callers; /* code of functions in which no sample was taken, too */
	uint64_t max_len; /* bytes of code at most: those with the most samples first */
};

#define KERNEL_CODE_MAX (4U << 20)

/*
 * Fill @ret but for its time; its ELF file is in @elf, which is empty and must last as long. The status is RECORDING_CODE_UNKNOWN if
 * nothing is wanted.
 */
void kernel_code_read(const struct kernel_code_source *src, struct writer *elf,
		      struct recording_kernel_code *ret);

#endif
