/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_log.h - the last blocks of a recording, in memory.
 *
 *	chapter 1                chapter 2                ...  chapter n, still growing
 *	| process snapshot | blocks |   | process snapshot | blocks |        | process snapshot | blocks
 *
 * Each chapter begins with what was there then, so any of them can be the first of a file; the snapshots of
 * those behind it are left out. When the memory is used up, the oldest chapter goes. Not thread-safe.
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

/* Gives blocks to the log. It lives as long as the log. */
struct trace_sink flight_log_sink(struct flight_log *log);

/*
 * A chapter begins at @start_ns, when the counts were @counts (copied; NULL: all 0): its process snapshot comes, until
 * flight_log_snapshot_ends(). Goes before the oldest chapters if there is no room for them any more.
 */
void flight_log_begin_chapter(struct flight_log *log, uint64_t start_ns,
			      const struct recording_count *counts, size_t ncounts);
void flight_log_snapshot_ends(struct flight_log *log);

/* Is the last chapter so long that a new one shall begin? */
bool flight_log_chapter_is_full(const struct flight_log *log);

/* When what is there began, and the counts then. */
uint64_t flight_log_start(const struct flight_log *log, const struct recording_count **ret_counts);

/* Bytes in memory. */
uint64_t flight_log_len(const struct flight_log *log);

/* Append all of it to @w, which has its header. ERR_SYSTEM: it cannot be written. */
MUST_USE struct err *flight_log_write(const struct flight_log *log, struct trace_writer *w);

#endif
