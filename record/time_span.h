/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_span.h - a length of time on a command line: "30", "0.5", "1.5s", "200ms", "5m".
 */
#ifndef RECORD_TIME_SPAN_H
#define RECORD_TIME_SPAN_H

#include "formats/base/err.h"

/* Parse @text into nanoseconds, a uint64_t at @field; for opt.parse. ERR_USAGE: not a time above 0. */
MUST_USE struct err *time_span_parse(void *field, const char *value);

#endif
