/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - shell completion, generated from the option tables.
 */
#ifndef BASE_COMPLETION_H
#define BASE_COMPLETION_H

#include "formats/base/command.h"

#include <stdio.h>

/*
 * Print the script that completes @program's commands, options, choices and file names in @shell.
 *
 * ERR_USAGE: @shell is neither "bash" nor "zsh".
 */
MUST_USE struct err *completion_print(const struct program *program, const char *shell, FILE *out);

#endif
