/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - one screen: what was recorded, how far to trust it, what ran, and what to ask next.
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "formats/profile/facts.h"
#include "report/load/remarks.h"
#include "report/print/terminal.h"

struct summary_input {
	const struct profile *profile; /* at least the leaves are named */
	const struct profile_facts *facts;
	const struct remarks *remarks;

	/* Is there code to show at @vaddr of module @module of the profile? NULL: nowhere. */
	bool (*has_code)(void *context, uint32_t module, uint64_t vaddr);
	void *context;
};

/* Fits the terminal, if it has a size. */
void summary_show(const struct summary_input *input, const struct terminal *term, FILE *out);

#endif
