/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_entry.h - samples of the kernel's very first instructions, where the user's registers are not saved yet,
 * and of what a new thread does before it comes to its own code.
 */
#ifndef SYMBOLIZE_KERNEL_ENTRY_H
#define SYMBOLIZE_KERNEL_ENTRY_H

#include "formats/event.h"
#include "formats/recording.h"

/*
 * Are the user's registers and stack in @s those of an earlier entry into the kernel? Only a non-maskable interrupt,
 * a hardware counter's on x86, can sample there; it takes what the last entry left at the top of the
 * task's stack (arch/x86/kernel/perf_regs.c, perf_get_regs_user() says so itself). Needs the kernel's symbols:
 * without them the answer is no.
 */
bool kernel_entry_has_stale_user(const struct recording *rec, const struct event_sample *s);

/* Is the thread on its way out of the kernel for the first time, so that it has called nothing yet? Needs the kernel's symbols, too. */
bool kernel_entry_is_first_exit(const struct recording *rec, const struct event_sample *s);

#endif
