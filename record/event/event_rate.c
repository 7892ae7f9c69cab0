/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_rate.c - a rate that the kernel would not grant is refused here, where the limit can be named,
 * instead of being lowered quietly.
 */
#include "record/event/event_rate.h"

#include "formats/base/text.h"
#include "record/system/text_file.h"

#include <inttypes.h>
#include <string.h>

#define LIMIT_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

uint64_t event_rate_limit(void)
{
	uint64_t limit;

	return text_file_u64(LIMIT_FILE, &limit) && limit ? limit : UINT64_MAX;
}

/* A whole number with at most one of k, M, G behind it, powers of 1000. */
static bool parse_count(const char *text, uint64_t *ret)
{
	static const char units[] = "kMG";
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	size_t len = strlen(text);
	uint64_t value, factor = 1;
	const char *unit = len ? strchr(units, text[len - 1]) : NULL;

	if (unit) {
		for (const char *u = units; u <= unit; u++)
			factor *= 1000;
		text = arena_memdup(&arena, text, len - 1);
	}
	if (!text_parse_u64(text, &value) || value > UINT64_MAX / factor)
		return false;
	*ret = value * factor;
	return true;
}

struct err *event_rate_parse_freq(void *field, const char *text)
{
	struct event_rate *rate = field;
	uint64_t limit = event_rate_limit();
	uint64_t value = limit;

	if (strcmp(text, "max") == 0) {
		if (limit == UINT64_MAX)
			return err_new(ERR_UNSUPPORTED, "'" LIMIT_FILE "' does not have the limit");
	} else if (!parse_count(text, &value) || !value) {
		return err_new(ERR_USAGE, "it must be a number of samples a second, or max");
	}
	if (value > limit) {
		struct err *err = err_new(
			ERR_USAGE, "the kernel's limit is %" PRIu64 " samples a second", limit);

		return err_remedy(err, "raise the limit with: echo %" PRIu64 " > " LIMIT_FILE,
				  value);
	}
	*rate = (struct event_rate){ .kind = EVENT_RATE_FREQ, .value = value };
	return NULL;
}

struct err *event_rate_parse_period(void *field, const char *text)
{
	struct event_rate *rate = field;
	uint64_t value;

	if (!parse_count(text, &value) || !value || value > INT64_MAX)
		return err_new(ERR_USAGE, "it must be a number of events between samples");
	*rate = (struct event_rate){ .kind = EVENT_RATE_PERIOD, .value = value };
	return NULL;
}
