/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_page.c - the page of preport flamegraph compares two sets of samples; the merged profile has one for each recording.
 */
#include "report/diff/diff_page.h"

#include "formats/base/text.h"
#include "report/page/flame_page.h"

#include <string.h>

/* The page says what was lost: that of both. */
static void add_losses(struct session *both, struct recording *rec, const struct session *other,
		       struct arena *arena)
{
	const struct recording *more = other->recording;
	struct recording_count *counts =
		ARENA_ARRAY(arena, struct recording_count, rec->ncounts + more->ncounts + 1);

	if (rec->ncounts)
		memcpy(counts, rec->counts, rec->ncounts * sizeof(*counts));
	if (more->ncounts)
		memcpy(counts + rec->ncounts, more->counts, more->ncounts * sizeof(*counts));
	rec->counts = counts;
	rec->ncounts += more->ncounts;
	rec->complete &= more->complete;
	both->stream.samples += other->stream.samples;
	both->stream.lost_records += other->stream.lost_records;
	both->stream.lost_samples += other->stream.lost_samples;
	both->stream.dropped_samples += other->stream.dropped_samples;
	both->stream.throttles += other->stream.throttles;
	both->stream.cut += other->stream.cut;
	both->stream.shortened += other->stream.shortened;
}

struct err *diff_page_write(const struct diff *diff, const struct session *const *sessions,
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
	/* Machine and duration are those of A; times would be those of two clocks. */
	struct session both = *sessions[0];
	struct recording recording = *sessions[0]->recording;

	add_losses(&both, &recording, sessions[1], &arena);
	both.recording = &recording;
	both.profile = diff->merge->profile;
	return flame_page_write(&both, &view, out);
}
