/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the summary that is printed at the end of a recording.
 */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "record/recorder.h"

#include <stdio.h>

/* Fallbacks taken, before sampling starts. */
void summary_print_notes(const struct recorder *s, FILE *out);

/* Samples, losses with their remedy, size; with more detail if @verbose. */
void summary_print(const struct recorder *s, FILE *out, bool verbose);

#endif
