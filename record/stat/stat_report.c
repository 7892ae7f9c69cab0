/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_report.c - a value is never shown where nothing was counted: the words that stand there instead are
 * "not counted" and "not supported".
 */
#include "record/stat/stat_report.h"

#include "formats/base/text.h"
#include "record/event/event_group.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#define VALUE_WIDTH 18
#define NAME_WIDTH  28
#define FULL_SHARE  0.995 /* nothing to be said about sharing from here on */

static const char *const place_titles[] = { "", "CPU", "core", "thread" };

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

/* ---- what a value means beside others ---- */

struct ratio {
	uint32_t type;
	uint64_t config;
	uint32_t base_type;
	uint64_t base_config;
	double factor;
	const char *text; /* with one %.2f */
};

#define HW PERF_TYPE_HARDWARE
#define SW PERF_TYPE_SOFTWARE

static const struct ratio ratios[] = {
	{ HW, PERF_COUNT_HW_INSTRUCTIONS, HW, PERF_COUNT_HW_CPU_CYCLES, 1, "%.2f a cycle" },
	{ HW, PERF_COUNT_HW_CPU_CYCLES, SW, PERF_COUNT_SW_TASK_CLOCK, 1, "%.2f GHz" },
	{ HW, PERF_COUNT_HW_CPU_CYCLES, SW, PERF_COUNT_SW_CPU_CLOCK, 1, "%.2f GHz" },
	{ HW, PERF_COUNT_HW_BRANCH_MISSES, HW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100,
	  "%.2f %% of branches" },
	{ HW, PERF_COUNT_HW_CACHE_MISSES, HW, PERF_COUNT_HW_CACHE_REFERENCES, 100,
	  "%.2f %% of cache references" },
	{ HW, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, HW, PERF_COUNT_HW_CPU_CYCLES, 100,
	  "%.2f %% of cycles" },
	{ HW, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, HW, PERF_COUNT_HW_CPU_CYCLES, 100,
	  "%.2f %% of cycles" },
};

/* Ratios of what was not counted all of the time are marked: the two may have seen different times. */
static const char *remark(const struct stat_report *r, const struct stat_row *row,
			  struct arena *arena)
{
	const struct event_desc *desc = &r->list->items[row->event];

	for (size_t i = 0; i < ARRAY_LEN(ratios); i++) {
		const struct ratio *ratio = &ratios[i];

		if (desc->type != ratio->type || (desc->config & UINT32_MAX) != ratio->config)
			continue;
		const struct stat_row *base =
			stat_table_find(r->table, row, ratio->base_type, ratio->base_config);

		if (!base || stat_row_mean(base) <= 0)
			continue;
		bool apart = desc->leader != r->list->items[base->event].leader &&
			     (stat_row_share(row) < FULL_SHARE || stat_row_share(base) < FULL_SHARE);
		char text[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), ratio->text,
			 ratio->factor * stat_row_mean(row) / stat_row_mean(base));
#pragma GCC diagnostic pop
		return arena_printf(arena, "%s%s", apart ? "about " : "", text);
	}
	return "";
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
					    : r->table->by == STAT_BY_CORE ? "core"
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

/* Of the events that nobody asked for, those that the machine lacks are told of once, at the end. */
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
		if (r->format == STAT_CSV)
			csv_row(r, row, at_s);
		else if (r->format == STAT_JSON)
			json_row(r, row, at_s);
		else
			text_row(r, row, at_s);
	}
	fflush(r->out);
}

static void text_refusals(const struct stat_report *r)
{
	const char *last = "";

	for (size_t i = 0; r->refusals && i < r->list->len; i++) {
		const struct err *err = r->refusals[i];
		const char *why = err ? strchr(err_message(err), ':') : NULL;

		if (!why || strcmp(why, last) == 0)
			continue;
		last = why;
		fprintf(r->out, "%s%s\n", r->list->items[i].name, why);
		if (err_hint(err))
			fprintf(r->out, "  %s\n", err_hint(err));
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
