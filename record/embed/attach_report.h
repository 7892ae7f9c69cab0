/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_report.h - how much code is embedded in the trace (--bundle), the limits, and the result.
 */
#ifndef RECORD_ATTACH_REPORT_H
#define RECORD_ATTACH_REPORT_H

#include "formats/recording.h"

#include <stdint.h>

/* How much is embedded (--bundle). */
enum attach_bundle {
	ATTACH_NONE, /* no files: reports need the same binaries; only what is lost otherwise: kernel names, JIT code, vdso */
	ATTACH_SYMBOLS, /* the default: rows and symbols near addresses, code of sampled functions, kernel, JIT */
	ATTACH_FULL, /* also all rows and symbols of every sampled file, and code of all functions on stacks */
};

/* The result of attach_write(). */
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

/* Limits on reading other processes' files and memory in attach_write(); what exceeds them is skipped and reported. */
struct embed_limits {
	uint64_t time_ns;
	uint64_t len; /* bytes that are read, or tried to */
	uint64_t end_ns; /* CLOCK_MONOTONIC; nothing is read later, since a signal ended the recording; 0: none did */
};

#define EMBED_TIME_NS 20000000000ULL
#define EMBED_LEN     (4ULL << 30)

#endif
