/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_folded.c - collapsed stacks (formats/profile/folded.h), as preport folded writes them without options.
 */
#include "formats/profile/folded.h"
#include "report/export/export_format.h"

static struct err *write_folded(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	const struct folded_options options = { .event = facts->first_type };

	return folded_write(p, &options, out);
}

const struct export_format export_folded = {
	.write = write_folded,
};
