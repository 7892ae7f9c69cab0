/* SPDX-License-Identifier: Apache-2.0 */
#include "report/view/extras_text.h"

#include "report/view/memory_source.h"

#include <inttypes.h>

void extras_put_branches(FILE *out, const struct event_branch *branches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct event_branch *branch = &branches[i];
		struct event_branch_facts facts = event_branch_facts(branch);

		fprintf(out, " 0x%" PRIx64 "/0x%" PRIx64 "/%c/%c/%c/%" PRIu32, branch->from,
			branch->to, facts.mispredicted ? 'M' : facts.known ? 'P' : '-',
			facts.in_transaction ? 'X' : '-',
			facts.aborted ? 'A' : '-', facts.cycles);
	}
}

void extras_put_data(FILE *out, const struct event_sample *sample)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *level = memory_source_level(&arena, sample->data_src);
	const char *tlb = memory_source_tlb(&arena, sample->data_src);
	const char *rest = memory_source_rest(&arena, sample->data_src);

	if (!sample->addr && !sample->weight && !memory_source_known(sample->data_src))
		return;
	fputs("data", out);
	if (sample->addr)
		fprintf(out, " 0x%" PRIx64, sample->addr);
	fprintf(out, "%s%s%s%s%s%s", *level ? " " : "", level, *tlb ? ", TLB " : "", tlb,
		*rest ? ", " : "", rest);
	if (sample->weight)
		fprintf(out, ", weight %" PRIu64, sample->weight);
}
