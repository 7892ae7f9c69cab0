/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_block.h - the frame around each block of a trace file: precord-trace(5), "BLOCKS".
 *
 *	| skippable frame: the block's head, 76 bytes | zstd frame: the content |
 *
 * Heads carry a mark and a CRC of their own, so that a reader that lost its way finds the next
 * one.
 */
#ifndef FORMATS_TRACE_BLOCK_H
#define FORMATS_TRACE_BLOCK_H

#include "formats/base/err.h"
#include "formats/base/reader.h"
#include "formats/base/writer.h"

#include <stddef.h>
#include <stdint.h>

#define TRACE_MAJOR        1
#define TRACE_MINOR        0

#define TRACE_SKIPPABLE    0x184D2A5Cu /* one of the sixteen magics of skippable frames */
#define TRACE_MARK         "PRECTRC\n"
#define TRACE_MARK_LEN     8
#define TRACE_HEAD_LEN     76   /* as this version writes it */
#define TRACE_HEAD_LEN_MAX 1024 /* that any version may write */
#define TRACE_CONTENT_MAX  (256u << 20)
#define TRACE_EVENTS_MAX   (64u << 20) /* content of an events block */
#define TRACE_PACKED_MIN   9           /* no zstd frame is shorter */
#define TRACE_RATIO_MAX    40000       /* zstd packs a block of 128 KiB into no less than 4 bytes */
#define TRACE_STREAM_MAX   4095

enum trace_block_kind {
	TRACE_HEADER = 1,
	TRACE_EVENTS,
	TRACE_IMAGE,
	TRACE_KSYMS,
	TRACE_JIT_MAP,
	TRACE_END,
	TRACE_INDEX,
	TRACE_LINES,
	TRACE_KERNEL_CODE,
};

struct trace_block {
	uint8_t major, minor;
	uint8_t kind;               /* enum trace_block_kind, or one of a newer minor version */
	uint8_t flags;              /* none yet: written as 0, not looked at */
	uint32_t stream;            /* of events blocks: which of the header's streams */
	uint64_t sequence;          /* 0 for the first block of the file, then one more each */
	uint64_t content_len;       /* decompressed */
	uint64_t packed_len;        /* of the zstd frame */
	uint64_t first_ns, last_ns; /* of events blocks: oldest and newest event */
	uint64_t watermark_ns;      /* no later block of this stream has an older event */
	uint32_t head_len;          /* as found in the file; not used by trace_block_put() */
};

/* Append the head of @block. */
void trace_block_put(struct writer *w, const struct trace_block *block);

/*
 * Read a head; on success @r stands behind it. The lengths in it are plausible, no more.
 *
 * ERR_CORRUPT: there is no intact head here, or it announces what cannot be.
 * ERR_UNSUPPORTED: it is one of another major version.
 */
MUST_USE struct err *trace_block_parse(struct reader *r, struct trace_block *ret);

/* "header", "events", "image", "ksyms", "jit-map", "end", "index", "lines", "kernel-code", "unknown". */
const char *trace_block_kind_name(uint8_t kind);

/* CRC-32 as in IEEE 802.3 and gzip. */
uint32_t trace_block_crc(const void *data, size_t len);

#endif
