/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_command.h - what to type instead of those of perf's commands that precord and preport do not have.
 */
#ifndef FORMATS_PERF_COMMAND_H
#define FORMATS_PERF_COMMAND_H

/*
 * Words that do what perf does with @word behind @command, "" for none, for a line "type ...": of "script record" "record".
 * NULL: perf has no such words, or both programs have them.
 */
const char *perf_command_instead(const char *command, const char *word);

#endif
