/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_dump.h - "precord dump -p PID": the stacks of all threads of a process, native and of interpreters, once.
 */
#ifndef RECORD_CMD_DUMP_H
#define RECORD_CMD_DUMP_H

#include "formats/base/command.h"

extern const struct command cmd_dump;

#endif
