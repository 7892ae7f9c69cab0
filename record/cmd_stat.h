/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_stat.h - "precord stat": how often, not where.
 */
#ifndef RECORD_CMD_STAT_H
#define RECORD_CMD_STAT_H

#include "formats/base/command.h"

extern const struct command cmd_stat;

#endif
