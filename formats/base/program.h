/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - a program's main(): from its arguments to one of its commands.
 */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "formats/base/command.h"

/*
 * Find the command that @argv names (its options may stand before and after its name), parse, run, print
 * errors to stderr as "NAME: message" and its remedy as "NAME: remedy". Returns the exit status: what the
 * command said, or 1 or 2 for an error; a failed write to stdout is an error. @failure_status replaces
 * 1 and 2 if it is not 0 (precord uses 125). Besides the commands, the hidden "--completion=bash|zsh" and
 * "--words=KIND [INPUT]" (what print_words() says) and "--options" (one option per line as "COMMAND --name", for the checks; "--perf-options": those of other tools too, with letters) are answered here.
 */
int program_main(const struct program *program, int argc, char **argv, int failure_status);

#endif
