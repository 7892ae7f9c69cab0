/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_words.h - what shells offer for precord's options: events of this machine, ratios, processes, users.
 */
#ifndef RECORD_COMPLETION_WORDS_H
#define RECORD_COMPLETION_WORDS_H

#include "formats/base/command.h"

extern const struct word_use completion_word_uses[];

/* Shape of program.print_words: "events", "ratios", "processes", "users". */
MUST_USE struct err *completion_words_print(const char *kind, const char *input);

#endif
