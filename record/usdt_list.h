/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usdt_list.h - precord list usdt: the markers of a file, or of all files that a process has mapped as code.
 */
#ifndef RECORD_USDT_LIST_H
#define RECORD_USDT_LIST_H

#include "formats/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Print the markers of @file, if it is not NULL, and of process @pid, if it is not 0, as "usdt:FILE:PROVIDER:NAME ARGUMENTS", or as
 * CSV. None is an error. ERR_SYSTEM: the file or the process cannot be read.
 */
MUST_USE struct err *usdt_list_print(const char *file, uint32_t pid, bool csv);

#endif
