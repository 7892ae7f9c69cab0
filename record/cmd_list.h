/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_list.h - "precord list [GLOB]": the events that this machine can sample.
 */
#ifndef RECORD_CMD_LIST_H
#define RECORD_CMD_LIST_H

#include "formats/base/command.h"

extern const struct command cmd_list;

#endif
