/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_window.h - the blocks of events that are decoded at the moment, merged by time.
 *
 * Events come out ordered by time and, where times are equal, by their place in the file. Blocks
 * overlap in time by what the kernel's rings held back, so one or two are open at once; memory is
 * limited all the same, and a file that asks for more gets its events out of order and counted.
 */
#ifndef FORMATS_TRACE_WINDOW_H
#define FORMATS_TRACE_WINDOW_H

#include "formats/base/err.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_window;

/* @rec must outlive the window. */
struct trace_window *trace_window_new(const struct recording *rec);
void trace_window_free(struct trace_window *win);

/*
 * Room for the content of the next block in the file, @len bytes, to be filled in by the caller
 * and then handed over with trace_window_add().
 */
uint8_t *trace_window_room(struct trace_window *win, size_t len);

/* Decode what was put in that room. ERR_CORRUPT: it is not well-formed; nothing was added. */
MUST_USE struct err *trace_window_add(struct trace_window *win, size_t len);

/* May another block be added? If not, events have to be taken first. */
bool trace_window_has_room(const struct trace_window *win);

/*
 * Time of the oldest event; false if there is none. What trace_window_take() gave becomes
 * invalid.
 */
bool trace_window_oldest(struct trace_window *win, uint64_t *ret_time_ns);

/* Take the oldest event; there must be one. */
void trace_window_take(struct trace_window *win, struct event *ret);

/* How many were taken that were older than one taken before. */
uint64_t trace_window_late(const struct trace_window *win);

#endif
