/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_page.c - the page of preport flamegraph compares two sets of samples; the merged profile has one for each recording.
 */
#include "report/diff/diff_page.h"

#include "formats/base/text.h"
#include "report/page/flame_page.h"

/* The page says what was lost: that of both. Machine and duration are those of A; times would be those of two clocks. */
static struct profile_facts facts_of_both(const struct profile_facts *a, const struct profile_facts *b)
{
	struct profile_facts both = *a;

	both.complete &= b->complete;
	both.samples += b->samples;
	both.lost_by_kernel += b->lost_by_kernel;
	both.lost_by_recorder += b->lost_by_recorder;
	both.lost_side_band += b->lost_side_band;
	both.throttled += b->throttled;
	both.cut += b->cut;
	both.shortened += b->shortened;
	return both;
}

struct err *diff_page_write(const struct diff *diff, const struct diff_input *inputs,
			    const char *const *files, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct profile *p = diff->merge->profile;
	double *effects = ARENA_ARRAY(&arena, double, p->functions.len + 1);
	const char *names[2];

	for (uint32_t i = 0; i < p->functions.len; i++)
		effects[i] = diff_function_effect(diff, i, 1);

	for (uint32_t side = 0; side < 2; side++)
		names[side] = arena_printf(&arena, "%c: %s, %s", 'A' + (int)side,
					   profile_text(p, p->types.items[side].name),
					   text_escape(&arena, files[side]));

	struct flame_data_view view = {
		.title = arena_printf(&arena, "%s against %s", text_escape(&arena, files[1]),
				      text_escape(&arena, files[0])),
		.by = "program",
		.event = 0,
		.compare = true,
		.other = 1,
		.names = names,
		.run_noise = diff->options.run_noise,
		.effects = effects,
	};
	struct profile_facts both = facts_of_both(inputs[0].facts, inputs[1].facts);

	return flame_page_write(p, &both, &view, out);
}
