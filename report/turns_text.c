/* SPDX-License-Identifier: Apache-2.0 */
#include "report/turns_text.h"

#include "report/number.h"

const char *turns_text_share(const struct event_turns *turns, struct arena *arena)
{
	double share = event_turns_share(turns);

	if (!turns->known)
		return "";
	if (event_turns_never(turns))
		return "never";
	return share < EVENT_TURNS_WHOLE ? number_share(arena, share) : "100 %";
}

/* What stands in place of a number; NULL if there is one. */
static const char *no_value(const struct event_turns *turns)
{
	if (turns->impossible)
		return "impossible";
	if (event_turns_never(turns))
		return "not counted";
	return turns->known ? NULL : "";
}

const char *turns_text_value(const struct event_turns *turns, struct arena *arena)
{
	const char *none = no_value(turns);

	return none ? none : number_count(arena, (uint64_t)(turns->value + 0.5));
}

const char *turns_text_value_data(const struct event_turns *turns, struct arena *arena)
{
	return no_value(turns) ? "" : arena_printf(arena, "%.0f", turns->value);
}
