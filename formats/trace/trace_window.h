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

#include "formats/event.h"
#include "formats/trace/trace_chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_window;

/* @chunks, which takes what is used up, must outlive the window. */
struct trace_window *trace_window_new(struct trace_chunks *chunks);

/* All that was held must have been let go. */
void trace_window_free(struct trace_window *win);

/* Add the next block of the file, which is the window's from now on. */
void trace_window_add(struct trace_window *win, struct trace_chunk *chunk);

/* May another block be added? If not, events have to be taken first. */
bool trace_window_has_room(const struct trace_window *win);

/*
 * Time of the oldest event; false if there is none. What trace_window_take() gave becomes
 * invalid, unless its chunk is held.
 */
bool trace_window_oldest(struct trace_window *win, uint64_t *ret_time_ns);

/* Take the oldest event, of *@ret_chunk; there must be one. */
const struct event *trace_window_take(struct trace_window *win, struct trace_chunk **ret_chunk);

/* Let go of a chunk once, whose holds were counted up before. */
void trace_window_let_go(struct trace_window *win, struct trace_chunk *chunk);

/* How many were taken that were older than one taken before. */
uint64_t trace_window_late(const struct trace_window *win);

#endif
