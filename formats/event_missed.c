/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_missed.c - a period that is changed while it runs may end early, so that a few samples are always missing
 * (1 to 2 % in measurements); only more than that is reported.
 */
#include "formats/event_missed.h"

#define MISSED_MIN   30
#define MISSED_SHARE 4 /* at least a fourth of the samples that should be there */

bool event_missed_of(const struct recording *rec, uint32_t event, struct event_missed *ret)
{
	struct event_missed sum = { .everywhere = true };

	for (size_t i = 0; i < rec->ncounts; i++) {
		const struct recording_count *count = &rec->counts[i];
		uint64_t came = count->samples + count->lost_kernel + count->lost_recorder;

		if (count->event != event || !(came || count->missed))
			continue;
		if (count->missed < MISSED_MIN || count->missed < came / (MISSED_SHARE - 1)) {
			sum.everywhere = false;
			continue;
		}
		if (!sum.ncpus++)
			sum.cpu = count->cpu;
		sum.came += came;
		sum.implied += came + count->missed;
	}
	*ret = sum;
	return sum.ncpus;
}
