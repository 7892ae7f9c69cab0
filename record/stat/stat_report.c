/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_report.c - a value is never shown where nothing was counted: the words that stand there instead are
 * "not counted" and "not supported".
 */
#include "record/stat/stat_report.h"

#include "formats/base/text.h"
#include "record/event/event_group.h"
#include "record/stat/stat_metric.h"

#include <inttypes.h>
#include <string.h>

#define VALUE_WIDTH 18
#define NAME_WIDTH  28
#define FULL_SHARE  0.995 /* nothing to be said about sharing from here on */

static const char *const place_titles[] = { "", "CPU", "core", "socket", "thread" };

static bool is_time(const struct event_desc *desc)
{
	return strcmp(desc->unit, "ns") == 0;
}

static double scale_of(const struct event_desc *desc)
{
	return desc->scale > 0 ? desc->scale : 1;
}

static const char *unit_of(const struct event_desc *desc)
{
	return desc->scale_unit && *desc->scale_unit ? desc->scale_unit : desc->unit;
}

static const char *state_name(enum stat_state state)
{
	static const char *const names[] = { "counted", "not counted", "impossible", "not supported" };

	return names[state];
}

/* "1,234,567" */
static const char *grouped(struct arena *arena, double value)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%.0f", value);
	char *text = arena_alloc(arena, sizeof(digits) * 2);
	size_t at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = 0;
	return text;
}

static const char *value_text(struct arena *arena, const struct event_desc *desc, double value)
{
	if (is_time(desc))
		return arena_printf(arena, "%.2f ms", value / 1e6);
	if (scale_of(desc) != 1)
		return arena_printf(arena, "%.2f %s", value * scale_of(desc), unit_of(desc));
	return grouped(arena, value);
}

/* "2.31 a cycle"; "" if there is nothing to compare it with. */
static const char *remark(const struct stat_report *r, const struct stat_row *row,
			  struct arena *arena)
{
	struct stat_metric metric;

	if (!stat_metric_of(r->table, row, r->elapsed_s, &metric))
		return "";
	return arena_printf(arena, "%s%.*f %s", metric.apart ? "about " : "", metric.value < 10 ? 2 : 1,
			    metric.value, metric.unit);
}

/* ---- text ---- */

static void text_row(const struct stat_report *r, const struct stat_row *row, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_desc *desc = &r->list->items[row->event];
	bool counted = row->state == STAT_COUNTED;
	const char *value = counted ? value_text(&arena, desc, stat_row_mean(row))
				    : state_name(row->state);
	const char *notes = counted ? remark(r, row, &arena) : "";

	if (at_s >= 0)
		fprintf(r->out, "%10.3f s  ", at_s);
	if (r->table->by != STAT_BY_ALL)
		fprintf(r->out, "%s %-6s ", place_titles[r->table->by],
			text_escape(&arena, row->place));
	if (counted && stat_row_share(row) < FULL_SHARE)
		notes = arena_printf(&arena, "%s%scounted %.0f %% of the time, scaled up", notes,
				     *notes ? ", " : "", 100 * stat_row_share(row));
	if (counted && row->runs > 1)
		notes = arena_printf(&arena, "+- %.2f %%%s%s", stat_row_spread(row),
				     *notes ? ", " : "", notes);
	fprintf(r->out, "%*s  %-*s", VALUE_WIDTH, value, *notes ? NAME_WIDTH : 0,
		text_escape(&arena, desc->name));
	fprintf(r->out, "%s%s\n", *notes ? "  " : "", notes);
}

/* ---- for programs ---- */

/* @text in quotes; what is no plain character is escaped. */
static void put_json(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_csv(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

static const char *number(struct arena *arena, const struct event_desc *desc, double value)
{
	value *= scale_of(desc);
	return arena_printf(arena, scale_of(desc) != 1 ? "%.6f" : "%.0f", value);
}

static void csv_row(const struct stat_report *r, const struct stat_row *row, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_desc *desc = &r->list->items[row->event];
	bool counted = row->state == STAT_COUNTED;

	if (at_s >= 0)
		fprintf(r->out, "%.6f", at_s);
	fputc(',', r->out);
	put_csv(r->out, text_escape(&arena, row->place));
	fputc(',', r->out);
	put_csv(r->out, text_escape(&arena, desc->name));
	fprintf(r->out, ",%s,", counted ? number(&arena, desc, stat_row_mean(row)) : "");
	put_csv(r->out, unit_of(desc));
	if (counted)
		fprintf(r->out, ",%.4f", stat_row_spread(row));
	else
		fputc(',', r->out);
	fprintf(r->out, ",%u,%" PRIu64 ",%" PRIu64 ",%s\r\n", row->runs, row->value.enabled_ns,
		row->value.running_ns, state_name(row->state));
}

/*
 * As perf stat -x writes it: [TIME,][PLACE,]VALUE,UNIT,EVENT[,SPREAD],RUNNING,PERCENT,METRIC,UNIT. A thread's place is its
 * name and number, a CPU's "CPU0".
 */
static void fields_row(const struct stat_report *r, const struct stat_row *row, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	static const char *const places[] = { "", "CPU", "S0-C", "S", "" };
	const struct event_desc *desc = &r->list->items[row->event];
	bool counted = row->state == STAT_COUNTED;
	double value = stat_row_mean(row) * scale_of(desc);
	struct stat_metric metric;
	const char *sep = r->separator;

	if (at_s >= 0)
		fprintf(r->out, "%.9f%s", at_s, sep);
	if (r->table->by != STAT_BY_ALL)
		fprintf(r->out, "%s%s%s", places[r->table->by], text_escape(&arena, row->place), sep);
	if (!counted)
		fprintf(r->out, "<%s>", state_name(row->state));
	else if (is_time(desc))
		fprintf(r->out, "%.2f", value / 1e6);
	else
		fprintf(r->out, "%.*f", scale_of(desc) != 1 ? 2 : 0, value);
	fprintf(r->out, "%s%s%s%s", sep, is_time(desc) ? "msec" : desc->scale_unit ? desc->scale_unit : "",
		sep, text_escape(&arena, desc->name));
	if (row->runs > 1)
		fprintf(r->out, "%s%.2f%%", sep, stat_row_spread(row));
	fprintf(r->out, "%s%" PRIu64 "%s%.2f%s", sep,
		row->runs ? row->value.running_ns / row->runs : 0, sep, 100 * stat_row_share(row), sep);
	if (counted && stat_metric_of(r->table, row, r->elapsed_s, &metric))
		fprintf(r->out, "%.3f%s%s\n", metric.value, sep, metric.unit);
	else
		fprintf(r->out, "%s\n", sep);
}

static void json_row(struct stat_report *r, const struct stat_row *row, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_desc *desc = &r->list->items[row->event];

	fprintf(r->out, "%s\n    {", r->begun ? "," : "");
	r->begun = true;
	if (at_s >= 0)
		fprintf(r->out, "\"time_s\": %.6f, ", at_s);
	if (r->table->by != STAT_BY_ALL) {
		fprintf(r->out, "\"%s\": ", r->table->by == STAT_BY_CPU    ? "cpu"
					    : r->table->by == STAT_BY_CORE   ? "core"
					    : r->table->by == STAT_BY_SOCKET ? "socket"
									     : "thread");
		put_json(r->out, text_escape(&arena, row->place));
		fputs(", ", r->out);
	}
	fputs("\"event\": ", r->out);
	put_json(r->out, text_escape(&arena, desc->name));
	if (row->state == STAT_COUNTED) {
		fprintf(r->out, ", \"value\": %s, \"unit\": ",
			number(&arena, desc, stat_row_mean(row)));
		put_json(r->out, unit_of(desc));
		fprintf(r->out, ", \"spread_percent\": %.4f", stat_row_spread(row));
	}
	fprintf(r->out,
		", \"runs\": %u, \"enabled_ns\": %" PRIu64 ", \"running_ns\": %" PRIu64
		", \"state\": \"%s\"}",
		row->runs, row->value.enabled_ns, row->value.running_ns, state_name(row->state));
}

/* ---- all of it ---- */

void stat_report_begin(struct stat_report *r)
{
	if (r->format == STAT_CSV)
		fputs("time_s,place,event,value,unit,spread_percent,runs,enabled_ns,running_ns,"
		      "state\r\n",
		      r->out);
	if (r->format == STAT_TEXT)
		fprintf(r->out, "counts of %s%s\n\n", r->subject,
			r->runs > 1 ? ", means of all runs" : "");
	if (r->format != STAT_JSON)
		return;
	fputs("{\n  \"subject\": ", r->out);
	put_json(r->out, r->subject);
	fputs(",\n  \"counts\": [", r->out);
}

/* Default events that the machine lacks are listed once, at the end. */
static bool is_shown(const struct stat_report *r, const struct stat_row *row)
{
	return row->state != STAT_NOT_SUPPORTED || !r->is_default;
}

void stat_report_rows(struct stat_report *r, double at_s)
{
	for (size_t i = 0; i < r->table->rows.len; i++) {
		const struct stat_row *row = &r->table->rows.items[i];

		if (!is_shown(r, row))
			continue;
		if (r->format == STAT_FIELDS)
			fields_row(r, row, at_s);
		else if (r->format == STAT_CSV)
			csv_row(r, row, at_s);
		else if (r->format == STAT_JSON)
			json_row(r, row, at_s);
		else
			text_row(r, row, at_s);
	}
	fflush(r->out);
}

/* ": why" of event number @i; NULL if it was not refused. */
static const char *refusal_of(const struct stat_report *r, size_t i)
{
	return r->refusals[i] ? strchr(err_message(r->refusals[i]), ':') : NULL;
}

/* The names of events that were refused for the reason of number @first, if that is the first of them. */
static bool text_refused(const struct stat_report *r, size_t first)
{
	const char *why = refusal_of(r, first);

	for (size_t i = 0; why && i < first; i++) {
		const char *other = refusal_of(r, i);

		if (other && strcmp(other, why) == 0)
			return false;
	}
	for (size_t i = first; why && i < r->list->len; i++) {
		const char *other = refusal_of(r, i);

		if (other && strcmp(other, why) == 0)
			fprintf(r->out, "%s%s", i > first ? ", " : "", r->list->items[i].name);
	}
	return why;
}

static void text_refusals(const struct stat_report *r)
{
	for (size_t i = 0; r->refusals && i < r->list->len; i++) {
		if (!text_refused(r, i))
			continue;
		fprintf(r->out, "%s\n", refusal_of(r, i));
		if (err_hint(r->refusals[i]))
			fprintf(r->out, "  %s\n", err_hint(r->refusals[i]));
	}
}

static void text_never_ran(const struct stat_report *r)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (size_t i = 0; i < r->table->rows.len; i++) {
		const struct stat_row *row = &r->table->rows.items[i];

		if (row->state != STAT_NOT_COUNTED || !row->value.enabled_ns)
			continue;
		fprintf(r->out, "%s: no counter was free for it; %s\n",
			text_escape(&arena, r->list->items[row->event].name),
			event_group_cause(&arena));
		return;
	}
}

static void text_impossible(const struct stat_report *r)
{
	for (size_t i = 0; i < r->table->rows.len; i++) {
		if (r->table->rows.items[i].state != STAT_IMPOSSIBLE)
			continue;
		fprintf(r->out, "impossible: counters gave more than any processor can do; the PMU of this "
				"(virtual) machine is at fault, count fewer events at once\n");
		return;
	}
}

static void text_end(const struct stat_report *r, const struct stat_times *times)
{
	fprintf(r->out, "\n%*.6f s  elapsed", VALUE_WIDTH - 2, times->elapsed_s);
	if (r->runs > 1)
		fprintf(r->out, "  +- %.2f %%", times->elapsed_spread);
	fputc('\n', r->out);
	if (times->has_command)
		fprintf(r->out, "%*.6f s  user\n%*.6f s  system\n", VALUE_WIDTH - 2, times->user_s,
			VALUE_WIDTH - 2, times->system_s);
	text_refusals(r);
	text_never_ran(r);
	text_impossible(r);
}

void stat_report_end(struct stat_report *r, const struct stat_times *times)
{
	if (r->format == STAT_TEXT)
		text_end(r, times);
	if (r->format != STAT_JSON)
		return;
	fprintf(r->out, "\n  ],\n  \"elapsed_s\": %.6f", times->elapsed_s);
	if (times->has_command)
		fprintf(r->out, ",\n  \"user_s\": %.6f,\n  \"system_s\": %.6f", times->user_s,
			times->system_s);
	fputs("\n}\n", r->out);
}
