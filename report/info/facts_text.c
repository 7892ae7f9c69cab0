/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info/facts_text.h"

#include "formats/base/text.h"

#include <string.h>
#include <time.h>

const char *facts_text_command(const struct profile_facts *facts, struct arena *arena)
{
	if (strcmp(facts->input, "precord.trace") == 0)
		return "preport";
	return arena_printf(arena, "preport -i %s", facts->piped ? "-" : text_shell_word(arena, facts->input));
}

const char *facts_text_began(const struct profile_facts *facts, const char *format, struct arena *arena)
{
	time_t seconds = (time_t)(facts->wall_ns / 1000000000u);
	struct tm tm;
	char text[64];

	if (!facts->has_wall || !gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), format, &tm))
		return "";
	return arena_strdup(arena, text);
}
