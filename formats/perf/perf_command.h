/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_command.h - what to type instead of those of perf's commands that precord and preport do not have.
 */
#ifndef FORMATS_PERF_COMMAND_H
#define FORMATS_PERF_COMMAND_H

/* Words that do what perf's command @word does, for a line "type ..."; NULL: it is none, or both programs have it. */
const char *perf_command_instead(const char *word);

#endif
