/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_report.h - how much of the code that was seen is embedded in the trace, within which limits, and what came of it.
 */
#ifndef RECORD_ATTACH_REPORT_H
#define RECORD_ATTACH_REPORT_H

#include "formats/recording.h"

#include <stdint.h>

/* How much travels along (--bundle). */
enum attach_bundle {
	ATTACH_NONE, /* no files: reports need the same binaries; only what nothing can bring back: names of the kernel, JIT, vdso */
	ATTACH_SYMBOLS, /* the default: rows and symbols near addresses, code of sampled functions, kernel, JIT */
	ATTACH_FULL, /* besides, all rows and symbols of every file that was touched, and code of all functions seen */
};

/* What attach_write() did. */
struct attach_report {
	uint64_t time_ns;       /* it took */
	uint64_t files;         /* that addresses fell into */
	uint64_t images;        /* embedded */
	uint64_t image_bytes;   /* before compression */
	uint64_t addresses;     /* distinct, in files */
	uint64_t fdes, symbols; /* embedded */
	uint64_t ksyms, jit_maps;
	struct recording_kernel_code kernel_code; /* without its bytes */
	uint64_t missing; /* files that vanished or cannot be read; named in the notes */
};

/* For everything that attach_write() reads of others; what is beyond is left out and said. */
struct embed_limits {
	uint64_t time_ns;
	uint64_t len; /* bytes that are read, or tried to */
};

#define EMBED_TIME_NS 20000000000ULL
#define EMBED_LEN     (4ULL << 30)

#endif
