/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.h - the names of recorded addresses from a JIT's /tmp/perf-PID.map.
 *
 * The process is looked at when its first address is seen, so that the file is found in its own mount
 * namespace, under its own number, and later even when it is gone. A map is rejected if it belongs to another user
 * than the process, if it is not a regular file on the file system of /tmp (in a user namespace anything may be mounted
 * there, for example a file that only root may read), or if it is older than the process.
 */
#ifndef RECORD_PERF_MAP_H
#define RECORD_PERF_MAP_H

#include "formats/base/map.h"
#include "formats/base/writer.h"
#include "record/embed/code_pages.h"
#include "record/task/foreign_reader.h"
#include "record/task/task_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct perf_map {
	uint32_t pid;
	uint32_t inner_pid; /* its number in its own namespace */
	uid_t uid;
	bool known; /* @inner_pid and @uid are the process's */
	uint64_t begun_ns; /* of the clock of files; 0: not known */
	uint64_t begin_ns; /* as process_begin_ns() says: another one with its number has another */
	int tmp_fd; /* its /tmp, -1 if it could not be opened */
	struct task_memory memory; /* its memory, as long as it lives; not open likewise */
	struct map addresses; /* -> how each was used, as bits */
	struct code_pages pages; /* of code, as it was when an address in them was first seen */
};

/*
 * Look at process @pid; always gives a map. @keep_open: its /tmp and memory may be held by descriptors. @reader looks for its /tmp, which
 * may lie on a file system that never answers; NULL: we do.
 */
struct perf_map *perf_map_new(uint32_t pid, bool keep_open, struct foreign_reader *reader);
void perf_map_free(struct perf_map *map);

enum perf_map_news {
	PERF_MAP_KNOWN,
	PERF_MAP_NEW_USE, /* it was seen, but not as one that is executed, or never as a return address */
	PERF_MAP_NEW,
};

/* An address in the process's anonymous executable memory was seen, @executed or as what may be a return address. */
enum perf_map_news perf_map_touch(struct perf_map *map, uint64_t ip, bool executed, struct code_area area);

/* The code in [@start, @end) was replaced: addresses there count as new, but keep their names at the end. */
void perf_map_replaced(struct perf_map *map, uint64_t start, uint64_t end);

enum perf_map_result {
	PERF_MAP_READ,
	PERF_MAP_CUT,     /* read, but not to its end: see perf_map_filter() */
	PERF_MAP_NONE,    /* there is no file */
	PERF_MAP_FOREIGN, /* there is one of another user, on a file system of its own, or behind a link */
	PERF_MAP_STALE,   /* it is older than the process: of one that had its number before */
};

/*
 * Append to @out the lines, as they are, whose code holds an address that was touched; of *@left bytes that may be read,
 * subtract what was.
 */
enum perf_map_result perf_map_read(const struct perf_map *map, uint64_t *left, struct writer *out);

/* The addresses that were touched, ascending; the caller's to free(). */
uint64_t *perf_map_addresses(const struct perf_map *map, size_t *ret_count);

/* Lies any of the ascending @addresses in the @len bytes from @start on? */
bool perf_map_hits(const uint64_t *addresses, size_t count, uint64_t start, uint64_t len);

/* Cut a line, with its end, into numbers; where its name begins, NULL if it is no line of a perf map. */
const char *perf_map_line(const char *line, uint64_t *ret_start, uint64_t *ret_len);

/*
 * The lines of @file that hold one of the ascending @addresses, for perf_map_read() and tests. False if it was left
 * before its end: after *@left bytes, from which what was read is subtracted, after 16 MiB that are kept, or at a byte 0,
 * which no text has: a sparse file of any length costs nothing.
 */
bool perf_map_filter(FILE *file, const uint64_t *addresses, size_t count, uint64_t *left,
		     struct writer *out);

#endif
