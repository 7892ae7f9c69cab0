/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - the machine that is recorded on, for the head of the trace.
 */
#ifndef RECORD_MACHINE_H
#define RECORD_MACHINE_H

#include "formats/recording.h"

/*
 * Fill what the machine tells into @rec: names, kernel, CPUs, memory, where the kernel's text is, the
 * clock pair. What is not to be had stays empty or 0. Strings go to rec->arena.
 */
void machine_describe(struct recording *rec);

#endif
