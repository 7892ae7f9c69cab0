/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - every command of precord, each from its own record/cmd_<name>.c.
 */
#ifndef RECORD_COMMANDS_H
#define RECORD_COMMANDS_H

#include "formats/base/command.h"

/* The one without a name: record. */
extern const struct command cmd_record;

extern const struct command cmd_dump;
extern const struct command cmd_list;
extern const struct command cmd_stat;
extern const struct command cmd_top;

#endif
