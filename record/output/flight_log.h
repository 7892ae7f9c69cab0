/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_log.h - the last blocks of a recording, in memory.
 *
 *	chapter 1                chapter 2                ...  chapter n, still growing
 *	| process snapshot | blocks |   | process snapshot | blocks |        | process snapshot | blocks
 *
 * Each chapter begins with the processes and mappings of that time, so a file can begin with any of them; the snapshots of
 * later chapters are omitted. When the memory is full the oldest chapter is dropped. Not thread-safe.
 */
#ifndef RECORD_FLIGHT_LOG_H
#define RECORD_FLIGHT_LOG_H

#include "formats/recording.h"
#include "formats/trace/trace_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flight_log;

/* Keep about @max_len bytes. */
struct flight_log *flight_log_new(uint64_t max_len);
void flight_log_free(struct flight_log *log);

/* A writer whose blocks go to the log. It lives as long as the log. */
struct trace_sink flight_log_sink(struct flight_log *log);

/*
 * A chapter begins at @start_ns, when the counts were @counts (copied; NULL: all 0): its process snapshot follows, until
 * flight_log_snapshot_ends(). Drops the oldest chapters if there is no room.
 */
void flight_log_begin_chapter(struct flight_log *log, uint64_t start_ns,
			      const struct recording_count *counts, size_t ncounts);
void flight_log_snapshot_ends(struct flight_log *log);

/* Is the last chapter long enough to begin a new one? */
bool flight_log_chapter_is_full(const struct flight_log *log);

/* The start of the oldest chapter, and the counts then. */
uint64_t flight_log_start(const struct flight_log *log, const struct recording_count **ret_counts);

/* Bytes in memory. */
uint64_t flight_log_len(const struct flight_log *log);

/* Append all blocks to @w, whose header is written. ERR_SYSTEM: it cannot be written. */
MUST_USE struct err *flight_log_write(const struct flight_log *log, struct trace_writer *w);

#endif
