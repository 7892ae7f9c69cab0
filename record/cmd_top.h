/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_top.h - precord top: what runs now, on the terminal.
 */
#ifndef RECORD_CMD_TOP_H
#define RECORD_CMD_TOP_H

#include "formats/base/command.h"

extern const struct command cmd_top;

#endif
