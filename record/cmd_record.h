/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_record.h - what precord does when no command is named: record.
 */
#ifndef RECORD_CMD_RECORD_H
#define RECORD_CMD_RECORD_H

#include "formats/base/command.h"

extern const struct command cmd_record;

#endif
