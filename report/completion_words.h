/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_words.h - what shells offer for preport's options: levels, metrics, and what the trace at hand holds.
 */
#ifndef REPORT_COMPLETION_WORDS_H
#define REPORT_COMPLETION_WORDS_H

#include "formats/base/command.h"

extern const struct word_use completion_word_uses[];

/* Shape of program.print_words: "levels", "metrics", "functions", "modules", "comms", "processes", "events". */
MUST_USE struct err *completion_words_print(const char *kind, const char *input);

#endif
