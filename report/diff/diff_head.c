/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_head.c - facts first, then what two of them against each other mean.
 */
#include "report/diff/diff_head.h"

#include "formats/base/columns.h"
#include "formats/base/text.h"
#include "formats/event_multiplexing.h"
#include "report/diff/diff_table.h"
#include "report/info/facts_text.h"
#include "report/print/number.h"
#include "report/view/trust.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- what a comparison could have found ---- */

/* Of several recordings, what the one that shows least could have shown. */

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

/* ---- the head ---- */

#define LOST_TOLERABLE 0.01 /* of the samples */
#define GAP_TOLERABLE  0.05 /* by which shares of unnamed samples or broken stacks may differ */
#define LENGTH_RATIO   1.25 /* recordings and loads that differ by more are not alike */
#define COMMAND_MAX    50   /* bytes */
#define SAMPLES_WANTED 200  /* fewer see only large changes */

struct facts {
	const struct diff_input *in;
	const struct profile_facts *of;
	const struct profile_value_type *event;
	struct trust trust;
	double lost, broken, unnamed; /* shares */
	double load;                  /* weight a second, 0 if not known */
	uint64_t duration_ns;
	const char *unit;
};

static double share_of(double part, double rest)
{
	return part + rest > 0 ? part / (part + rest) : 0;
}

static struct facts facts_of(const struct diff_head *head, uint32_t side)
{
	const struct diff_input *in = &head->inputs[side];
	const struct diff_side *of = &head->diff->sides[side];
	const struct profile *merged = head->diff->merge->profile;
	struct facts f = { .in = in, .of = in->facts };

	f.event = &merged->types.items[side];
	f.unit = profile_text(merged, f.event->unit);
	f.duration_ns = of->duration_ns;
	trust_judge(&f.trust, in->profile, in->facts);
	f.lost = share_of((double)f.trust.lost, (double)f.trust.samples);
	f.broken = share_of((double)f.trust.broken, (double)f.trust.complete);
	f.unnamed = trust_unnamed(&f.trust);
	if (of->duration_ns)
		f.load = (double)of->whole.weight / (double)of->duration_ns;
	return f;
}

static const char *event_name(const struct diff_head *head, const struct facts *f)
{
	return profile_text(head->diff->merge->profile, f->event->name);
}

/* ---- facts ---- */

/* Enough to know it again; columns stand side by side. */
static const char *command_text(const struct diff_head *head, const struct facts *f)
{
	const char *text = text_escape(head->arena, f->of->cmdline);
	size_t len = 0;

	while (text[len] && len < COMMAND_MAX)
		len += MAX(text_char_len(text + len), 1);
	return text[len] ? arena_printf(head->arena, "%.*s..", (int)len, text) : text;
}

static const char *machine_text(const struct diff_head *head, const struct facts *f)
{
	if (!*f->of->hostname && !*f->of->cpu_model)
		return "";
	return arena_printf(head->arena, "%s, %" PRIu32 " CPUs, %s", f->of->hostname,
			    f->of->ncpus, f->of->cpu_model);
}

static const char *event_text(const struct diff_head *head, const struct facts *f)
{
	const char *name = event_name(head, f);

	if (!f->event->rate)
		return name;
	return arena_printf(head->arena, f->event->is_freq ? "%s, %s a second" : "%s, one of %s",
			    name, number_count(head->arena, f->event->rate));
}

static const char *load_text(const struct diff_head *head, const struct facts *f)
{
	if (f->load <= 0)
		return "";
	if (strcmp(f->unit, "ns") == 0)
		return arena_printf(head->arena, "%.2f CPUs", f->load);
	return arena_printf(head->arena, "%s a second",
			    number_weight(head->arena, (uint64_t)(f->load * 1e9), f->unit));
}

enum fact { FILE_NAME, COMMAND, MACHINE, BEGAN, DURATION, EVENT, SAMPLES, WEIGHT, LOAD, MISSING, FACTS };

static const char *const fact_titles[FACTS] = {
	"file",  "command", "machine", "began", "duration",
	"event", "samples", "weight",  "load",  "missing",
};

static const char *fact_text(const struct diff_head *head, const struct facts *f, uint32_t side,
			     enum fact fact)
{
	const struct profile_sum *whole = &head->diff->sides[side].whole;
	const char *window = f->of->filter;

	switch (fact) {
	case FILE_NAME:
		return arena_printf(head->arena, "%s%s%s", f->of->input, *window ? " " : "",
				    window);
	case COMMAND:
		return command_text(head, f);
	case MACHINE:
		return machine_text(head, f);
	case BEGAN:
		return facts_text_began(f->of, "%Y-%m-%d %H:%M:%S UTC", head->arena);
	case DURATION:
		return f->duration_ns ? number_time(head->arena, f->duration_ns) : "";
	case EVENT:
		return event_text(head, f);
	case SAMPLES:
		return number_count(head->arena, whole->count);
	case WEIGHT:
		return number_weight(head->arena, whole->weight, f->unit);
	case LOAD:
		return load_text(head, f);
	default:
		return trust_line(&f->trust, head->arena);
	}
}

/* ---- warnings ---- */

static void warn(struct diff_head *head, const char *text)
{
	vec_push(&head->warnings, text);
}

static bool differ(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b) != 0;
}

static double ratio(double a, double b)
{
	return a > 0 && b > 0 ? fmax(a, b) / fmin(a, b) : 1;
}

/* What is wrong with one recording by itself. */
static void judge_alone(struct diff_head *head, const struct facts *f, uint32_t side)
{
	const struct diff_side *of = &head->diff->sides[side];
	const char *label = head->labels[side];

	if (f->lost > LOST_TOLERABLE)
		warn(head, arena_printf(head->arena, "%s lost %s of its samples", label,
					number_share(head->arena, f->lost)));
	if (f->in->counted < EVENT_MULTIPLEXING_WHOLE)
		warn(head, arena_printf(head->arena, "%s counted only %s of the time", label,
					number_share(head->arena, f->in->counted)));
	if (!f->of->complete)
		warn(head, arena_printf(head->arena, "%s is not whole", label));
	if (of->whole.count < SAMPLES_WANTED)
		warn(head, arena_printf(head->arena,
					"%s has only %s: small changes cannot be seen", label,
					number_of(head->arena, of->whole.count, "sample")));
	if (!of->has_times)
		warn(head,
		     arena_printf(head->arena,
				  "%s has no times: its samples are treated as independent, so intervals are too narrow",
				  label));
}

static void judge_machines(struct diff_head *head, const struct facts *a, const struct facts *b,
			   const char *labels)
{
	struct arena *arena = head->arena;

	if (differ(a->of->cpu_model, b->of->cpu_model))
		warn(head, arena_printf(arena, "%s ran on different processors: %s; %s", labels,
					a->of->cpu_model, b->of->cpu_model));
	else if (differ(a->of->hostname, b->of->hostname))
		warn(head, arena_printf(arena, "%s ran on different machines: %s and %s", labels,
					a->of->hostname, b->of->hostname));
	else if (differ(a->of->os_release, b->of->os_release))
		warn(head, arena_printf(arena, "%s ran under different kernels: %s and %s", labels,
					a->of->os_release, b->of->os_release));
}

static void judge_amounts(struct diff_head *head, const struct facts *a, const struct facts *b,
			  const char *labels)
{
	enum diff_scale scale = head->diff->options.scale;
	struct arena *arena = head->arena;

	if (scale == DIFF_NONE && ratio((double)a->duration_ns, (double)b->duration_ns) > LENGTH_RATIO)
		warn(head, arena_printf(arena,
					"%s lasted %s and %s: if the work was not the same, "
					"--scale=time or share compares better",
					labels, number_time(arena, a->duration_ns),
					number_time(arena, b->duration_ns)));
	if (scale != DIFF_NONE && ratio(a->load, b->load) > LENGTH_RATIO)
		warn(head, arena_printf(arena, "the load differs: %s and %s",
					load_text(head, a), load_text(head, b)));
}

static void judge_pair(struct diff_head *head, const struct facts *a, const struct facts *b,
		       const char *labels)
{
	struct arena *arena = head->arena;

	if (strcmp(event_name(head, a), event_name(head, b)) != 0)
		warn(head, arena_printf(arena,
					"%s count different events, %s and %s: what changed may be the "
					"event",
					labels, event_name(head, a), event_name(head, b)));
	if (strcmp(a->of->input, b->of->input) == 0 &&
	    strcmp(a->of->filter, b->of->filter) == 0)
		warn(head, arena_printf(arena, "%s are the same samples", labels));
	judge_machines(head, a, b, labels);
	judge_amounts(head, a, b, labels);
	if (fabs(a->unnamed - b->unnamed) > GAP_TOLERABLE)
		warn(head, arena_printf(arena,
					"names are missing for %s and %s of the samples: rows in [...] "
					"are functions that have names on the other side",
					number_share(arena, a->unnamed),
					number_share(arena, b->unnamed)));
	if (fabs(a->broken - b->broken) > GAP_TOLERABLE &&
	    (head->diff->options.by == VIEW_TOTAL || head->diff->options.by == VIEW_CALLER))
		warn(head, arena_printf(arena,
					"%s and %s of the stacks are broken: callers are missing on one "
					"side only",
					number_share(arena, a->broken),
					number_share(arena, b->broken)));
}

void diff_head_init(struct diff_head *head, const struct diff *diff,
		    const struct diff_input *inputs, const char *const *labels,
		    struct arena *arena)
{
	*head = (struct diff_head){
		.diff = diff, .inputs = inputs, .labels = labels, .arena = arena
	};

	struct facts first = facts_of(head, 0);

	for (uint32_t side = 1; side < diff->nsides; side++) {
		struct facts other = facts_of(head, side);

		judge_pair(head, &first, &other,
			   arena_printf(arena, "%s and %s", labels[0], labels[side]));
	}
	for (uint32_t side = 0; side < diff->nsides; side++) {
		struct facts facts = facts_of(head, side);

		judge_alone(head, &facts, side);
	}
}

void diff_head_deinit(struct diff_head *head)
{
	vec_deinit(&head->warnings);
}

/* ---- output ---- */

static void add_columns(const struct diff_head *head, struct table *table)
{
	table_add_column(table, &(struct table_column){ "", NULL, TABLE_LEFT, TABLE_KEEP, false });
	for (uint32_t side = 0; side < head->diff->nsides; side++)
		table_add_column(table, &(struct table_column){ head->labels[side], NULL,
								TABLE_LEFT, TABLE_CUT_END,
								false });
}

static void add_fact(const struct diff_head *head, struct table *table, enum fact fact)
{
	bool any = false;

	for (uint32_t side = 0; side < head->diff->nsides; side++) {
		struct facts f = facts_of(head, side);

		any |= *fact_text(head, &f, side, fact) != 0;
	}
	if (!any)
		return;
	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, fact_titles[fact], NULL);
	for (uint32_t side = 0; side < head->diff->nsides; side++) {
		struct facts f = facts_of(head, side);

		table_add_cell(table, fact_text(head, &f, side, fact), NULL);
	}
}

void diff_head_print(const struct diff_head *head, const struct terminal *term, FILE *out)
{
	struct table table;

	table_init(&table, head->arena);
	add_columns(head, &table);
	for (int fact = 0; fact < FACTS; fact++)
		add_fact(head, &table, (enum fact)fact);
	table_print_text(&table, term, out);
	table_deinit(&table);
	for (size_t i = 0; i < head->warnings.len; i++) {
		fputs("! ", out);
		text_put_wrapped(out, text_escape(head->arena, head->warnings.items[i]), 2,
				 term->columns ? term->columns : SIZE_MAX);
	}
}

void diff_head_json(const struct diff_head *head, struct json *json)
{
	json_open(json, "files", '[');
	for (uint32_t side = 0; side < head->diff->nsides; side++) {
		struct facts f = facts_of(head, side);
		const struct diff_side *of = &head->diff->sides[side];

		json_open(json, NULL, '{');
		json_string(json, "file", f.of->input);
		json_string(json, "filter", f.of->filter);
		json_string(json, "command", f.of->cmdline);
		json_string(json, "host", f.of->hostname);
		json_string(json, "cpu", f.of->cpu_model);
		json_string(json, "kernel", f.of->os_release);
		json_string(json, "event", event_name(head, &f));
		json_string(json, "unit", f.unit);
		json_uint(json, "duration_ns", f.duration_ns);
		json_uint(json, "samples", of->whole.count);
		json_int(json, "weight", of->whole.weight);
		json_number(json, "lost", arena_printf(head->arena, "%.6f", f.lost));
		json_number(json, "broken", arena_printf(head->arena, "%.6f", f.broken));
		json_number(json, "unnamed", arena_printf(head->arena, "%.6f", f.unnamed));
		json_number(json, "scale", arena_printf(head->arena, "%.17g", of->scale));
		json_close(json, '}');
	}
	json_close(json, ']');
	json_open(json, "warnings", '[');
	for (size_t i = 0; i < head->warnings.len; i++)
		json_string(json, NULL, head->warnings.items[i]);
	json_close(json, ']');
}
