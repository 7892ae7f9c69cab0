/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extras_text.h - what the hardware reported with a sample, as lines of text: branches as perf script -F brstack prints them, data
 * addresses, sources and weights.
 */
#ifndef REPORT_EXTRAS_TEXT_H
#define REPORT_EXTRAS_TEXT_H

#include "formats/event.h"

#include <stdio.h>

/*
 * " 0x401136/0x401120/P/-/-/13" for each branch, newest first: from, to, M mispredicted or P predicted or - not known, X in a transaction,
 * A aborted it, cycles since the branch before.
 */
void extras_put_branches(FILE *out, const struct event_branch *branches, size_t count);

/* "data 0x7f12 load, L1 hit, TLB hit L1, weight 5"; nothing if nothing was reported. */
void extras_put_data(FILE *out, const struct event_sample *sample);

#endif
