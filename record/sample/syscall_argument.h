/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_argument.h - the first argument of the system call that a thread was in when it left its CPU: the address of a
 * futex, the number of a descriptor. Taken from the registers before pruning drops it as data.
 */
#ifndef RECORD_SYSCALL_ARGUMENT_H
#define RECORD_SYSCALL_ARGUMENT_H

#include "formats/arch.h"
#include "formats/event.h"

/*
 * As event_sample.addr has it for stacks of waits: the argument of a thread of @arch with the user registers @regs + 1; 0 if
 * they do not show that it is in a system call, since then they are the program's data.
 */
uint64_t syscall_argument(const struct arch *arch, const struct event_regs *regs);

/* The same of /proc/PID/task/TID/syscall: "202 0x7f12 0x80 ...". */
uint64_t syscall_argument_parse(const char *text);

#endif
