/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_name.h - what the system calls of Linux are called, for each processor.
 */
#ifndef FORMATS_SYSCALL_NAME_H
#define FORMATS_SYSCALL_NAME_H

#include "formats/arch.h"

/* Of call @number of 64-bit programs on @arch; NULL if it is not in the table. */
const char *syscall_name(const struct arch *arch, uint64_t number);

#endif
