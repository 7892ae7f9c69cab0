/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - conditions are asked as early as they can be: time and numbers before unwinding, names of threads with
 * them, names of functions and modules last.
 */
#include "report/filter.h"

#include "formats/base/text.h"
#include "report/lookup.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e9

/* ---- options ---- */

static bool parse_range(char *word, struct filter_range *ret)
{
	char *dash = strchr(word, '-');

	if (dash)
		*dash = 0;
	if (!text_parse_u64(word, &ret->first))
		return false;
	ret->last = ret->first;
	return !dash || (text_parse_u64(dash + 1, &ret->last) && ret->first <= ret->last);
}

/* "0-3,8"; given again it adds. */
static struct err *parse_numbers(void *field, const char *value)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct filter_numbers *numbers = field;
	char *rest = arena_strdup(&arena, value);

	while (rest) {
		struct filter_range range = { 0 };

		if (!parse_range(strsep(&rest, ","), &range))
			return err_remedy(err_new(ERR_USAGE, "'%s' is no list of numbers", value),
					  "it takes numbers and ranges, such as 0-3,8");
		vec_push(&numbers->ranges, range);
	}
	return NULL;
}

/* "1.5", "500ms", "20%", or nothing. */
static bool parse_moment(const char *text, struct filter_moment *ret)
{
	char *end;

	*ret = (struct filter_moment){ 0 };
	if (!*text)
		return true;
	if (strspn(text, "0123456789.") == 0)
		return false;
	errno = 0;
	ret->value = strtod(text, &end);
	ret->given = true;
	ret->percent = strcmp(end, "%") == 0;
	if (strcmp(end, "ms") == 0)
		ret->value /= 1000;
	else if (*end && strcmp(end, "s") != 0 && !ret->percent)
		return false;
	return errno == 0 && isfinite(ret->value) &&
	       ret->value <= (ret->percent ? 100 : SECONDS_MAX);
}

/* The field is filter.from, with filter.to right behind it. */
static struct err *parse_window(void *field, const char *value)
{
	struct filter *filter = (struct filter *)((char *)field - offsetof(struct filter, from));
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char *from = arena_strdup(&arena, value);
	char *to = strchr(from, ',');

	if (to)
		*to++ = 0;
	if (!to || !parse_moment(from, &filter->from) || !parse_moment(to, &filter->to) ||
	    (!filter->from.given && !filter->to.given))
		return err_remedy(
			err_new(ERR_USAGE, "'%s' is no window of time", value),
			"it takes FROM,TO in seconds or per cent: 1.5,3 or 500ms, or 20%%,40%%");
	if (filter->from.given && filter->to.given && filter->from.percent == filter->to.percent &&
	    filter->from.value >= filter->to.value)
		return err_new(ERR_USAGE, "'%s' ends before it begins", value);
	return NULL;
}

const struct opt filter_opts[] = {
	OPT_LIST(struct filter, comms, "comm", 0, "NAME",
		 "only threads or processes of this name (glob)"),
	OPT_PARSE(struct filter, pids, "pid", 'p', "PID,..", "only these processes", parse_numbers),
	OPT_PARSE(struct filter, tids, "tid", 't', "TID,..", "only these threads", parse_numbers),
	OPT_PARSE(struct filter, cpus, "cpu", 'C', "CPU,..", "only these CPUs: 0-3,8",
		  parse_numbers),
	OPT_LIST(struct filter, modules, "module", 0, "NAME",
		 "only samples whose leaf is in this module (glob)"),
	OPT_LIST(struct filter, symbols, "symbol", 0, "NAME",
		 "only samples whose leaf is this function (glob)"),
	OPT_LIST(struct filter, events, "event", 'e', "NAME",
		 "this event (glob) instead of the first"),
	OPT_PARSE(struct filter, from, "time", 0, "FROM,TO",
		  "only this window, in seconds or per cent: 1.5,3 or 20%,40%", parse_window),
	OPT_END,
};

void filter_deinit(struct filter *filter)
{
	opt_list_deinit(&filter->comms);
	opt_list_deinit(&filter->modules);
	opt_list_deinit(&filter->symbols);
	opt_list_deinit(&filter->events);
	vec_deinit(&filter->pids.ranges);
	vec_deinit(&filter->tids.ranges);
	vec_deinit(&filter->cpus.ranges);
	vec_deinit(&filter->event_passes);
}

bool filter_is_empty(const struct filter *filter)
{
	return !filter->comms.len && !filter->modules.len && !filter->symbols.len &&
	       !filter->events.len && !filter->pids.ranges.len && !filter->tids.ranges.len &&
	       !filter->cpus.ranges.len && !filter->from.given && !filter->to.given;
}

/* ---- binding ---- */

/* "cycles:u" is also what is meant by "cycles"; a tracepoint's "sched:" is no modifier. */
static bool matches_event(const char *glob, const char *name)
{
	const char *modifiers = strrchr(name, ':');
	size_t len = strlen(glob);

	if (filter_matches(glob, name))
		return true;
	return modifiers && modifiers[1 + strspn(modifiers + 1, "ukhpPGHDSIWeb")] == 0 &&
	       len == (size_t)(modifiers - name) && strncmp(glob, name, len) == 0;
}

static struct err *bind_event(struct filter *filter, const struct recording *rec, const char *glob)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = glob };
	bool found = false;

	for (size_t i = 0; i < rec->nevents; i++) {
		bool matches = rec->events[i].samples && matches_event(glob, rec->events[i].name);

		found |= matches;
		filter->event_passes.items[i] |= matches;
		if (rec->events[i].samples)
			text_near_offer(&near, rec->events[i].name);
	}
	if (found)
		return NULL;

	struct err *err = err_new(ERR_USAGE, "no event '%s' was sampled", glob);
	const char *hint = text_near_hint(&near, &arena);

	if (hint)
		return err_remedy(err, "%s", hint);
	return rec->nevents ? err_remedy(err, "there is '%s'", rec->events[0].name) : err;
}

static struct err *moment_ns(const struct filter_moment *moment, const struct recording *rec,
			     uint64_t otherwise, uint64_t *ret)
{
	double offset_ns = moment->value * 1e9;

	if (!moment->given) {
		*ret = otherwise;
		return NULL;
	}
	if (moment->percent) {
		if (rec->end_ns <= rec->start_ns)
			return err_remedy(
				err_new(ERR_UNSUPPORTED,
					"--time in per cent of a recording without an end"),
				"say it in seconds");
		offset_ns = moment->value / 100 * (double)(rec->end_ns - rec->start_ns);
	}
	*ret = rec->start_ns + (uint64_t)llround(offset_ns);
	return NULL;
}

struct err *filter_bind(struct filter *filter, const struct recording *rec)
{
	struct err *err = moment_ns(&filter->from, rec, 0, &filter->from_ns);

	if (!err)
		err = moment_ns(&filter->to, rec, UINT64_MAX, &filter->to_ns);
	if (err || !filter->events.len)
		return err;

	filter->event_passes.len = 0;
	for (size_t i = 0; i < rec->nevents; i++)
		vec_push(&filter->event_passes, false);
	for (size_t i = 0; i < filter->events.len && !err; i++)
		err = bind_event(filter, rec, filter->events.items[i]);
	return err;
}

/* ---- asking ---- */

static bool has_number(const struct filter_numbers *numbers, uint64_t number)
{
	for (size_t i = 0; i < numbers->ranges.len; i++) {
		const struct filter_range *range = &numbers->ranges.items[i];

		if (range->first <= number && number <= range->last)
			return true;
	}
	return numbers->ranges.len == 0;
}

bool filter_passes_event(const struct filter *filter, const struct event *ev)
{
	if (ev->time_ns < filter->from_ns || ev->time_ns >= filter->to_ns)
		return false;
	if (!has_number(&filter->cpus, ev->cpu) || !has_number(&filter->pids, ev->pid) ||
	    !has_number(&filter->tids, ev->tid))
		return false;
	return ev->kind != EVENT_SAMPLE || filter_passes_kind(filter, ev->sample.event);
}

bool filter_passes_kind(const struct filter *filter, uint32_t event)
{
	if (!filter->event_passes.len)
		return true;
	return event < filter->event_passes.len && filter->event_passes.items[event];
}

static bool matches_any(const struct opt_list *globs, const char *text)
{
	for (size_t i = 0; i < globs->len; i++) {
		if (filter_matches(globs->items[i], text))
			return true;
	}
	return false;
}

bool filter_passes_names(const struct filter *filter, const char *comm, const char *process)
{
	return !filter->comms.len || matches_any(&filter->comms, comm) ||
	       matches_any(&filter->comms, process);
}

bool filter_needs_stacks(const struct filter *filter)
{
	return filter->modules.len || filter->symbols.len;
}

bool filter_passes_stack(const struct filter *filter, const struct profile *p, uint32_t stack)
{
	bool module_passes = !filter->modules.len, symbol_passes = !filter->symbols.len;
	const struct profile_location *leaf;

	if (stack == 0)
		return module_passes && symbol_passes;
	leaf = &p->locations.items[p->stacks.items[stack].location];
	for (size_t i = 0; i < filter->modules.len && !module_passes; i++)
		module_passes = lookup_matches_module(p, leaf->module, filter->modules.items[i],
						      strlen(filter->modules.items[i]));
	if (!module_passes || symbol_passes || leaf->nlines == 0)
		return module_passes && symbol_passes;

	uint32_t function = p->lines.items[leaf->first_line].function;
	const char *name = profile_text(p, p->functions.items[function].name);

	for (size_t i = 0; i < filter->symbols.len; i++) {
		if (filter_matches_function(filter->symbols.items[i], name))
			return true;
	}
	return false;
}

bool filter_matches(const char *glob, const char *text)
{
	return strcmp(glob, text) == 0 || fnmatch(glob, text, 0) == 0;
}

bool filter_matches_function(const char *glob, const char *name)
{
	size_t len = lookup_base_len(name);

	return filter_matches(glob, name) || (strlen(glob) == len && strncmp(glob, name, len) == 0);
}

/* ---- describing ---- */

static const char *describe_list(struct arena *arena, const char *text, const char *name,
				 const struct opt_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		text = arena_printf(arena, "%s%s--%s=%s", text, *text ? " " : "", name,
				    list->items[i]);
	return text;
}

static const char *describe_numbers(struct arena *arena, const char *text, const char *name,
				    const struct filter_numbers *numbers)
{
	for (size_t i = 0; i < numbers->ranges.len; i++) {
		const struct filter_range *range = &numbers->ranges.items[i];

		if (i == 0)
			text = arena_printf(arena, "%s%s--%s=", text, *text ? " " : "", name);
		text = arena_printf(arena, "%s%s%" PRIu64, text, i ? "," : "", range->first);
		if (range->last != range->first)
			text = arena_printf(arena, "%s-%" PRIu64, text, range->last);
	}
	return text;
}

static const char *describe_moment(struct arena *arena, const struct filter_moment *moment)
{
	if (!moment->given)
		return "";
	return arena_printf(arena, "%g%s", moment->value, moment->percent ? "%" : "");
}

const char *filter_describe(const struct filter *filter, struct arena *arena)
{
	const char *text = "";

	text = describe_list(arena, text, "comm", &filter->comms);
	text = describe_numbers(arena, text, "pid", &filter->pids);
	text = describe_numbers(arena, text, "tid", &filter->tids);
	text = describe_numbers(arena, text, "cpu", &filter->cpus);
	text = describe_list(arena, text, "module", &filter->modules);
	text = describe_list(arena, text, "symbol", &filter->symbols);
	text = describe_list(arena, text, "event", &filter->events);
	if (filter->from.given || filter->to.given)
		text = arena_printf(arena, "%s%s--time=%s,%s", text, *text ? " " : "",
				    describe_moment(arena, &filter->from),
				    describe_moment(arena, &filter->to));
	return text;
}
