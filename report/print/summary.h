/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - one screen: what was recorded, how far to trust it, what ran, and what to ask next.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "report/load/session.h"
#include "report/print/terminal.h"

/* @s is loaded, with at least the leaves named. Fits the terminal, if it has a size. */
void summary_print(struct session *s, const struct terminal *term, FILE *out);

#endif
