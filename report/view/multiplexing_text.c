/* SPDX-License-Identifier: Apache-2.0 */
#include "report/view/multiplexing_text.h"

#include "report/print/number.h"

const char *multiplexing_text_share(const struct event_multiplexing *m, struct arena *arena)
{
	double share = event_multiplexing_share(m);

	if (!m->known)
		return "";
	if (event_multiplexing_never(m))
		return "never";
	return share < EVENT_MULTIPLEXING_WHOLE ? number_share(arena, share) : "100 %";
}

/* What stands in place of a number; NULL if there is one. */
static const char *no_value(const struct event_multiplexing *m)
{
	if (m->impossible)
		return "impossible";
	if (event_multiplexing_never(m))
		return "not counted";
	return m->known ? NULL : "";
}

const char *multiplexing_text_value(const struct event_multiplexing *m, struct arena *arena)
{
	const char *none = no_value(m);

	return none ? none : number_count(arena, (uint64_t)(m->value + 0.5));
}

const char *multiplexing_text_value_data(const struct event_multiplexing *m, struct arena *arena)
{
	return no_value(m) ? "" : arena_printf(arena, "%.0f", m->value);
}
