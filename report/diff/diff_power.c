/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_power.c - of several recordings, what the one that shows least could have shown.
 */
#include "report/diff/diff_power.h"

#include "formats/base/columns.h"
#include "formats/base/text.h"
#include "report/diff/diff_table.h"
#include "report/print/number.h"

#include <math.h>

#define RUN_NOISE_LEAST 0.005 /* no pair of runs promises less of the next one */
#define NAME_MAX_LEN	60    /* bytes of a function's name in a sentence */

/* Of rows that stand for many, as shares of side 0. All of it has no share that could grow, but an amount has. */
static const double sizes[] = { 1, 0.2, 0.05, 0.01 };

static struct diff_least worst(struct diff_least a, struct diff_least b)
{
	return a.change > b.change ? a : b;
}

/* Of a row that has @share of side 0, whatever it is compared with. */
static struct diff_least least_of(const struct diff_power *power, double share)
{
	const struct diff *d = power->diff;
	double value = share * (double)d->sides[0].whole.weight * d->sides[0].scale;
	struct diff_least least = { 0 };

	for (uint32_t side = 1; side < d->nsides; side++)
		least = worst(least, diff_least_of_value(d, value, side));
	return least;
}

/* "1.91 points (40 % more work)" */
static const char *least_text(const struct diff_power *power, struct diff_least least,
			      const char *more)
{
	struct arena *arena = power->arena;
	const char *change = diff_table_change(arena, power->diff, least.change) + 1;
	const char *unit = diff_table_unit(arena, power->diff);

	if (!isfinite(least.slower))
		return arena_printf(arena, "%s %s", change, unit);
	return arena_printf(arena, "%s %s (%.0f %%%s)", change, unit,
			    ceil(least.slower * 100), more);
}

void diff_power_print(const struct diff_power *power, const struct terminal *term, FILE *out)
{
	struct arena *arena = power->arena;
	const char *text = "";

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct diff_least least = least_of(power, sizes[i]);
		bool first = !*text;

		if (!isfinite(least.change))
			continue;
		text = arena_printf(arena, "%s%s %.0f %% %s %s", text, first ? "a row of" : ", of",
				    sizes[i] * 100, first ? "that grows by at least" : "by",
				    least_text(power, least, first ? " more work" : ""));
	}
	if (*text)
		text = arena_printf(arena, "detected %2$.0f times out of 10: %1$s; smaller growth can go unnoticed",
				    text, DIFF_POWER * 10);
	else
		text = "these recordings have too few samples to detect growth of any row";
	fputs("= ", out);
	text_put_wrapped(out, text_escape(arena, text), 2, term->columns ? term->columns : SIZE_MAX);
}

/* ---- the end ---- */

/* The row that had to grow least, relative to what it was. */
static const struct diff_row *most_sensitive(const struct diff *d, struct diff_least *ret)
{
	const struct diff_row *best = NULL;

	for (size_t i = 0; i < d->rows.len; i++)
		for (uint32_t side = 1; side < d->nsides; side++) {
			const struct diff_row *row = &d->rows.items[i];
			struct diff_least least;

			if (!row->changes[side].tested)
				continue;
			least = diff_least_of_row(d, row, side);
			if (!isfinite(least.slower) || (best && least.slower >= ret->slower))
				continue;
			best = row;
			*ret = least;
		}
	return best;
}

static const char *short_name(const struct diff_power *power, const struct diff_row *row)
{
	const char *text = text_escape(power->arena, row->key->fields[0] ? row->key->fields[0] : "");
	size_t len = 0;

	while (text[len] && len < NAME_MAX_LEN)
		len += MAX(text_char_len(text + len), 1);
	return arena_printf(power->arena, "'%.*s%s'", (int)len, text, text[len] ? ".." : "");
}

/* Those who compare a program with itself learn how little it varies. */
static void put_run_noise(const struct diff_power *power, FILE *out)
{
	const struct diff *d = power->diff;
	struct diff_noise noise;

	if (d->nsides != 2 || !diff_run_noise(d, 1, &noise))
		return;
	noise.at_most = fmax(noise.at_most, RUN_NOISE_LEAST);
	if (noise.at_most < d->options.run_noise)
		fprintf(out,
			"if nothing changed, runs differ by at most %.1f %%: with --run-noise=%.1f less would be found\n",
			noise.at_most * 100, noise.at_most * 100);
}

/* A sentence, over as many lines as it takes. */
static void put_sentence(const char *text, FILE *out)
{
	unsigned columns = columns_of(out);

	text_put_wrapped(out, text, 0, columns ? columns : SIZE_MAX);
}

void diff_power_conclude(const struct diff_power *power, size_t nsure, FILE *out)
{
	const struct diff *d = power->diff;
	const struct diff_row *row;
	struct diff_least least = { 0 };

	put_sentence(arena_printf(power->arena,
				  "%s of %s compared %s more than noise (chance of a false alarm: below %.0f %%)",
				  nsure ? number_count(power->arena, nsure) : "none",
				  number_count(power->arena, d->tested), nsure > 1 ? "are" : "is", DIFF_ALARM * 100),
		     out);
	if (nsure)
		return;
	row = most_sensitive(d, &least);
	if (row)
		put_sentence(arena_printf(power->arena, "the smallest growth detected %.0f times out of 10: %s, in %s",
					  DIFF_POWER * 10, least_text(power, least, " more work"),
					  short_name(power, row)),
			     out);
	put_run_noise(power, out);
}

/* ---- data ---- */

static void put_number(const struct diff_power *power, struct json *json, const char *key, double value)
{
	json_number(json, key, isfinite(value) ? arena_printf(power->arena, "%.4g", value) : "null");
}

void diff_power_json(const struct diff_power *power, struct json *json)
{
	json_number(json, "power", arena_printf(power->arena, "%g", DIFF_POWER));
	json_open(json, "least", '[');
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct diff_least least = least_of(power, sizes[i]);

		json_open(json, NULL, '{');
		put_number(power, json, "share", sizes[i]);
		put_number(power, json, "change", least.change);
		put_number(power, json, "slower", least.slower);
		json_close(json, '}');
	}
	json_close(json, ']');
}
