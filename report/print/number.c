/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c - three significant digits where a unit is chosen, all digits where things are counted.
 */
#include "report/print/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *number_count(struct arena *arena, uint64_t count)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *text = arena_alloc(arena, (size_t)len * 2);
	char *out = text;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	return text;
}

/* Three significant digits of @value, which is at least 0. */
static const char *three_digits(struct arena *arena, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	return arena_printf(arena, "%.*f%s%s", decimals, value, *unit ? " " : "", unit);
}

const char *number_time(struct arena *arena, uint64_t time_ns)
{
	double ns = (double)time_ns;

	if (time_ns == 0)
		return "0 s";
	if (time_ns < 1000)
		return arena_printf(arena, "%" PRIu64 " ns", time_ns);
	if (ns < 999.5e3)
		return three_digits(arena, ns / 1e3, "us");
	if (ns < 999.5e6)
		return three_digits(arena, ns / 1e6, "ms");
	return three_digits(arena, ns / 1e9, "s");
}

const char *number_weight(struct arena *arena, int64_t weight, const char *unit)
{
	if (weight < 0 && weight != INT64_MIN)
		return arena_printf(arena, "-%s", number_weight(arena, -weight, unit));

	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	double value = (double)weight;
	size_t prefix = 0;

	if (strcmp(unit, "ns") == 0)
		return number_time(arena, (uint64_t)weight);
	if (weight < 1000)
		return arena_printf(arena, "%" PRId64, weight);
	for (; value >= 999.5 && prefix + 1 < ARRAY_LEN(prefixes); prefix++)
		value /= 1000;
	return three_digits(arena, value, prefixes[prefix]);
}

/* What @event counts, without the modifiers: "cycles" of "cycles:u". */
static const char *counted(struct arena *arena, const char *event)
{
	size_t len = strcspn(event, ":"), modifiers = strspn(event + len, ":ukhGHpPSDeW");
	size_t word = strspn(event, "abcdefghijklmnopqrstuvwxyzL123456789-");

	if (!len || word != len || event[len - 1] != 's' || event[len + modifiers])
		return "events";
	return arena_printf(arena, "%.*s", (int)len, event);
}

const char *number_time_title(const char *event)
{
	/* Ours, and what Go's and Java's profiles call them. */
	static const char *const waits[] = { "off-cpu", "idle", "delay", "park", "wait", "lock", "kernel-lock", "sleep" };

	for (size_t i = 0; i < ARRAY_LEN(waits); i++)
		if (strcmp(event, waits[i]) == 0)
			return "waiting";
	if (strncmp(event, "cpu", 3) == 0 || strncmp(event, "task-clock", 10) == 0)
		return "CPU time";
	return "time";
}

const char *number_weight_title(const char *event, const char *unit)
{
	return strcmp(unit, "ns") == 0 ? number_time_title(event) : unit;
}

const char *number_counted(const char *event)
{
	if (strcmp(event, "off-cpu") == 0 || strcmp(event, "kernel-lock") == 0)
		return "wait";
	if (strcmp(event, "block-io") == 0)
		return "request";
	if (strcmp(event, "syscalls") == 0)
		return "call";
	return strcmp(event, "wall") == 0 ? "span" : "sample";
}

static const char *amount(struct arena *arena, int64_t weight, const char *event, const char *unit)
{
	const char *number = number_weight(arena, weight, unit);

	if (strcmp(unit, "ns") == 0)
		return arena_printf(arena, "%s of %s", number, number_time_title(event));
	if (strcmp(event, "samples") == 0 || !*unit)
		return arena_printf(arena, "together %s", number);
	if (strcmp(unit, "events") == 0)
		unit = counted(arena, event);
	return arena_printf(arena, "%s %s", number, unit);
}

const char *number_share(struct arena *arena, double share)
{
	double percent = share * 100;

	if (percent > 0 && percent < 0.05)
		return "<0.1 %";
	if (percent < 100 && percent >= 99.95)
		return ">99.9 %";
	return arena_printf(arena, "%.1f %%", percent);
}

const char *number_interval(struct arena *arena, const struct stats_share *share)
{
	if (share->uncounted)
		return "-";
	if (share->exact)
		return "exact";
	return arena_printf(arena, "%.1f-%.1f", share->low * 100, share->high * 100);
}

const char *number_bound(struct arena *arena, const struct stats_share *share, double bound)
{
	return share->uncounted ? "" : arena_printf(arena, "%.6f", bound);
}

const char *number_samples(struct arena *arena, const struct profile_sum *sum)
{
	return profile_is_counted(sum) ? number_count(arena, sum->count) : "-";
}

const char *number_samples_data(struct arena *arena, const struct profile_sum *sum)
{
	return profile_is_counted(sum) ? arena_printf(arena, "%" PRIu64, sum->count) : "";
}

const char *number_of(struct arena *arena, uint64_t count, const char *noun)
{
	return arena_printf(arena, "%s %s%s", number_count(arena, count), noun,
			    count == 1 ? "" : "s");
}

const char *number_extent(struct arena *arena, const struct profile_sum *sum, const char *noun, const char *unit)
{
	const char *weight;

	if (profile_is_counted(sum))
		return number_of(arena, sum->count, noun);
	weight = number_weight(arena, sum->weight, unit);
	return *unit && strcmp(unit, "ns") != 0 ? arena_printf(arena, "%s %s", weight, unit) : weight;
}

const char *number_sum(struct arena *arena, const struct profile_sum *sum, const char *of,
		       const char *event, const char *unit)
{
	const char *samples = number_of(arena, sum->count, number_counted(event));

	if (!profile_is_counted(sum)) {
		const char *text = amount(arena, sum->weight, event, unit);

		if (*of && strcmp(unit, "ns") == 0) /* "of time of wall" */
			return arena_printf(arena, "%s (%s)", text, event);
		return arena_printf(arena, "%s%s", text, of);
	}
	if (sum->weight == (int64_t)sum->count && strcmp(event, "samples") == 0)
		return arena_printf(arena, "%s%s", samples, of);
	return arena_printf(arena, "%s%s, %s", samples, of,
			    amount(arena, sum->weight, event, unit));
}
