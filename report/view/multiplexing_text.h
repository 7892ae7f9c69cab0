/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiplexing_text.h - how much of its time an event had a counter (formats/event_multiplexing.h) as cells of tables.
 */
#ifndef REPORT_MULTIPLEXING_TEXT_H
#define REPORT_MULTIPLEXING_TEXT_H

#include "formats/base/arena.h"
#include "formats/event_multiplexing.h"

/* "100 %", "17.3 %", "never", "" if it was not on. */
const char *multiplexing_text_share(const struct event_multiplexing *m, struct arena *arena);

/* "1,234", "not counted", "impossible", "" if it was not on; for programs a plain number, or "". */
const char *multiplexing_text_value(const struct event_multiplexing *m, struct arena *arena);
const char *multiplexing_text_value_data(const struct event_multiplexing *m, struct arena *arena);

#endif
