/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns_text.h - the turns of an event at the counters (formats/event_turns.h) as cells of tables.
 */
#ifndef REPORT_TURNS_TEXT_H
#define REPORT_TURNS_TEXT_H

#include "formats/base/arena.h"
#include "formats/event_turns.h"

/* "100 %", "17.3 %", "never", "" if it was not on. */
const char *turns_text_share(const struct event_turns *turns, struct arena *arena);

/* "1,234", "not counted", "impossible", "" if it was not on; for programs a plain number, or "". */
const char *turns_text_value(const struct event_turns *turns, struct arena *arena);
const char *turns_text_value_data(const struct event_turns *turns, struct arena *arena);

#endif
