/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_page.c - the page of preport flamegraph compares two sets of samples; the merged profile has one for each recording.
 */
#include "report/diff_page.h"

#include "formats/base/text.h"
#include "report/flame_page.h"

struct err *diff_page_write(const struct diff_merge *merge, const struct session *const *sessions,
			    const char *const *files, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct profile *p = merge->profile;
	const char *names[2];

	for (uint32_t side = 0; side < 2; side++)
		names[side] = arena_printf(&arena, "%c: %s, %s", 'A' + (int)side,
					   profile_text(p, p->events.items[side].name),
					   text_escape(&arena, files[side]));

	struct flame_data_view view = {
		.title = arena_printf(&arena, "%s against %s", text_escape(&arena, files[1]),
				      text_escape(&arena, files[0])),
		.by = "program",
		.event = 0,
		.compare = true,
		.other = 1,
		.names = names,
	};
	/* What the page says of the recording is said of A; times would be those of two clocks. */
	struct session both = *sessions[0];

	both.profile = merge->profile;
	both.times.items = NULL;
	both.times.len = both.times.cap = 0;
	return flame_page_write(&both, &view, out);
}
