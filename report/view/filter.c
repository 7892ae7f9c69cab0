/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - conditions are checked as early as they can be: time and numbers before unwinding, names of threads with
 * them, names of functions and modules last.
 */
#include "report/view/filter.h"

#include "formats/base/text.h"
#include "report/load/derive/derive.h"
#include "report/view/lookup.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_NAME_LEN 15 /* bytes of a thread's name that the kernel keeps */

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
			return err_remedy(err_new(ERR_USAGE, "'%s' is not a list of numbers", value),
					  "it takes numbers and ranges, such as 0-3,8");
		vec_push(&numbers->ranges, range);
	}
	return NULL;
}

/* Where a window is divided: at the comma, or between two shares as in "10%-20%". */
static char *divide(char *window)
{
	char *comma = strchr(window, ',');
	char *dash = strstr(window, "%-");

	return comma ? comma : dash ? dash + 1 : NULL;
}

/* "10%/2", as in perf: the second tenth. */
static bool parse_slice(const char *text, struct filter_window *ret)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *slash = strstr(text, "%/");
	uint64_t number;

	if (!slash || !text_parse_u64(slash + 2, &number) || !number || number > 10000)
		return false;
	if (!time_arg_parse(arena_printf(&arena, "%.*s", (int)(slash + 1 - text), text), &ret->to) ||
	    ret->to.kind != TIME_ARG_PERCENT)
		return false;
	ret->from = ret->to;
	ret->from.value *= (double)(number - 1);
	ret->to.value *= (double)number;
	return ret->to.value <= 100.0001;
}

static bool parse_ends(const char *text, struct filter_window *ret)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char *from = arena_strdup(&arena, text);
	char *to = divide(from);

	if (!to)
		return parse_slice(text, ret);
	*to++ = 0;
	return time_arg_parse(from, &ret->from) && time_arg_parse(to, &ret->to) && (ret->from.kind || ret->to.kind);
}

/* Is the space at @space that between a date and its time? */
static bool is_in_date(const char *text, const char *space)
{
	const char *date = space - strlen("2026-11-21");

	return date >= text && date[4] == '-' && date[7] == '-';
}

/* The end of the first of several windows: a space, as in perf; a comma, where none divides a window. */
static char *end_of_window(char *text)
{
	if (strstr(text, "%-") || strstr(text, "%/"))
		return text + strcspn(text, ", ");
	for (char *space = text; (space = strchr(space, ' ')); space++)
		if (!is_in_date(text, space))
			return space;
	return text + strlen(text);
}

static bool is_backwards(const struct filter_window *window)
{
	return window->from.kind == window->to.kind && window->from.kind != TIME_ARG_TIME_OF_DAY &&
	       !window->from.has_offset && !window->to.has_offset && window->from.value >= window->to.value;
}

static struct err *add_window(struct filter *filter, const char *text)
{
	struct filter_window window = { 0 };

	if (!parse_ends(text, &window))
		return err_remedy(err_new(ERR_USAGE, "'%s' is not a time window", text),
				  "it takes FROM,TO in seconds, per cent or wall-clock time: 1.5,3 or 500ms, or 20%%,40%% or "
				  "14:03:20,14:03:25; several with spaces between");
	if (is_backwards(&window))
		return err_new(ERR_USAGE, "'%s' ends before it begins", text);
	if (filter->nwindows == FILTER_WINDOWS_MAX)
		return err_new(ERR_USAGE, "more than %d windows", FILTER_WINDOWS_MAX);
	filter->wanted[filter->nwindows++] = window;
	return NULL;
}

struct err *filter_parse_window(void *field, const char *value)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct filter *filter = (struct filter *)((char *)field - offsetof(struct filter, window));
	char *rest = arena_strdup(&arena, value);
	struct err *err = NULL;

	filter->window = value;
	filter->nwindows = 0;
	do {
		char *end = end_of_window(rest), *window = rest;

		rest = *end ? end + 1 + strspn(end + 1, " ") : NULL;
		*end = 0;
		err = add_window(filter, window);
	} while (rest && !err);
	return err;
}

/* "1ms", "250us", "2s"; without a unit milliseconds, as bcc has none at all. */
static struct err *parse_wait(void *field, const char *value)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e6 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 } };
	char *end;
	double number = strtod(value, &end);

	for (size_t i = 0; i < ARRAY_LEN(units) && end != value; i++) {
		if (strcmp(end, units[i].name) != 0 || !(number >= 0) || number * units[i].ns > 1e18)
			continue;
		*(uint64_t *)field = (uint64_t)(number * units[i].ns);
		return NULL;
	}
	return err_new(ERR_USAGE, "'%s' is not a length of a wait like 1ms, 250us or 2s", value);
}

static void deinit(void *filter)
{
	filter_deinit(filter);
}

const struct opt filter_opts[] = {
	OPT_LIFE(NULL, deinit),
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
	OPT_PARSE(struct filter, window, "time", 0, "FROM,TO",
		  "only this window, in seconds, per cent or wall-clock time: 1.5,3 or 20%,40%; several with spaces between",
		  filter_parse_window),
	OPT_LIST(struct filter, wheres, "where", 0, "CONDITION",
		 "only samples whose fields or labels match: 'bytes_req > 4096', 'url ~ /cart*'"),
	OPT_PARSE(struct filter, min_wait_ns, "min-wait", 0, "TIME",
		  "only waits of at least this length: 1ms, 250us", parse_wait),
	OPT_PARSE(struct filter, max_wait_ns, "max-wait", 0, "TIME",
		  "only waits of at most this length", parse_wait),
	OPT_GROUP(struct filter, reshape, reshape_opts),
	OPT_END,
};

static void unbind_conditions(struct filter *filter)
{
	for (size_t i = 0; i < filter->bound.len; i++)
		where_free(filter->bound.items[i]);
	filter->bound.len = 0;
}

void filter_unbind(struct filter *filter)
{
	vec_deinit(&filter->event_passes);
	unbind_conditions(filter);
	vec_deinit(&filter->bound);
	vec_deinit(&filter->late);
}

void filter_deinit(struct filter *filter)
{
	opt_list_deinit(&filter->comms);
	opt_list_deinit(&filter->modules);
	opt_list_deinit(&filter->symbols);
	opt_list_deinit(&filter->events);
	reshape_args_deinit(&filter->reshape);
	vec_deinit(&filter->pids.ranges);
	vec_deinit(&filter->tids.ranges);
	vec_deinit(&filter->cpus.ranges);
	opt_list_deinit(&filter->wheres);
	filter_unbind(filter);
}

bool filter_is_empty(const struct filter *filter)
{
	return !filter->comms.len && !filter->modules.len && !filter->symbols.len &&
	       !filter->events.len && !filter->pids.ranges.len && !filter->tids.ranges.len &&
	       !filter->cpus.ranges.len && !filter->window && !filter->wheres.len && !filter->min_wait_ns &&
	       !filter->max_wait_ns && !reshape_is_given(&filter->reshape);
}

/* ---- binding ---- */

/* As fnmatch(3) has it; case matters. */
static bool matches(const char *glob, const char *text)
{
	return strcmp(glob, text) == 0 || fnmatch(glob, text, 0) == 0;
}

/* "cycles:u" is also what is meant by "cycles"; a tracepoint's "sched:" is no modifier. */
static bool matches_event(const char *glob, const char *name)
{
	const char *modifiers = strrchr(name, ':');
	size_t len = strlen(glob);

	if (matches(glob, name))
		return true;
	return modifiers && modifiers[1 + strspn(modifiers + 1, "ukhpPGHDSIWeb")] == 0 &&
	       len == (size_t)(modifiers - name) && strncmp(glob, name, len) == 0;
}

static struct err *bind_event(struct filter *filter, const struct profile *p, const char *glob)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = glob };
	bool found = derive_want(filter->derived, glob);

	for (size_t i = 0; i < p->types.len; i++) {
		const char *name = profile_text(p, p->types.items[i].name);

		if (p->types.items[i].counts_only)
			continue;
		if (matches_event(glob, name))
			filter->event_passes.items[i] = found = true;
		text_near_offer(&near, name);
	}
	if (found)
		return NULL;

	struct err *err = err_new(ERR_USAGE, "no event '%s' was sampled", glob);
	const char *hint = text_near_hint(&near, &arena);

	if (hint)
		return err_remedy(err, "%s", hint);
	return p->types.len ? err_remedy(err, "there is '%s'; 'precord -e %s' would record it",
					 profile_text(p, p->types.items[0].name), glob)
			    : err;
}

static bool is_wall_clock(const struct time_arg *arg)
{
	return arg->kind == TIME_ARG_TIME_OF_DAY || arg->kind == TIME_ARG_DATE;
}

/* A wall-clock window that misses the recording is most likely meant for another time zone or day. */
static struct err *check_window(const struct filter *filter, const struct filter_window *wanted, const struct derive_window *window,
				const struct profile_facts *facts)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	uint64_t end_ns = facts->has_duration ? facts->start_ns + facts->duration_ns : UINT64_MAX;
	struct err *err = NULL;

	if (!is_wall_clock(&wanted->from) && !is_wall_clock(&wanted->to))
		return NULL;
	if (window->from_ns >= window->to_ns)
		err = err_new(ERR_USAGE, "--time '%s' ends before it begins", filter->window);
	else if (window->to_ns <= facts->start_ns || window->from_ns > end_ns)
		err = err_new(ERR_USAGE, "--time '%s' lies outside the recording", filter->window);
	if (!err)
		return NULL;
	return err_remedy(err, "it began at %s%s%s",
			  time_arg_wall_clock(facts, facts->start_ns, &arena),
			  facts->has_duration ? " and ended at " : "",
			  facts->has_duration ? time_arg_wall_clock(facts, end_ns, &arena) : "");
}

static int by_begin(const void *a, const void *b)
{
	const struct derive_window *x = a, *y = b;

	return COMPARE(x->from_ns, y->from_ns);
}

/* Those that touch become one, so that nothing counts twice. */
static void join_windows(struct filter *filter)
{
	size_t kept = 0;

	qsort(filter->windows, filter->nwindows, sizeof(*filter->windows), by_begin);
	for (size_t i = 1; i < filter->nwindows; i++) {
		struct derive_window *last = &filter->windows[kept], *next = &filter->windows[i];

		if (next->from_ns > last->to_ns)
			filter->windows[++kept] = *next;
		else
			last->to_ns = MAX(last->to_ns, next->to_ns);
	}
	filter->nbound = kept + 1;
	filter->from_ns = filter->windows[0].from_ns;
	filter->to_ns = filter->windows[kept].to_ns;
}

static struct err *bind_windows(struct filter *filter, const struct profile_facts *facts)
{
	filter->nbound = 0;
	filter->from_ns = 0;
	filter->to_ns = UINT64_MAX;
	for (size_t i = 0; i < filter->nwindows; i++) {
		const struct filter_window *wanted = &filter->wanted[i];
		struct derive_window *window = &filter->windows[i];
		struct err *err = time_arg_resolve(&wanted->from, facts, 0, &window->from_ns);

		if (!err)
			err = time_arg_resolve(&wanted->to, facts, UINT64_MAX, &window->to_ns);
		if (!err)
			err = check_window(filter, wanted, window, facts);
		if (err)
			return err;
	}
	if (filter->nwindows)
		join_windows(filter);
	return NULL;
}

/* What the loader learns of waits from their stacks. */
static const char *const late_labels[] = { "lock", "file", "waker" };

struct err *filter_bind_fields(struct filter *filter, const struct recording *rec)
{
	struct err *err = NULL;

	unbind_conditions(filter);
	filter->late.len = 0;
	for (size_t i = 0; i < filter->wheres.len && !err; i++) {
		struct where *where = NULL;

		err = where_new(filter->wheres.items[i], rec, &where);
		if (where) {
			vec_push(&filter->bound, where);
		} else if (where_is_about(filter->wheres.items[i], late_labels, ARRAY_LEN(late_labels))) {
			err_free(err);
			err = NULL;
			vec_push(&filter->late, filter->wheres.items[i]);
		}
	}
	return err;
}

bool filter_has_late(const struct filter *filter)
{
	return filter->late.len;
}

struct err *filter_bind_late(struct filter *filter, const struct profile *p)
{
	struct err *err = NULL;

	unbind_conditions(filter);
	for (size_t i = 0; i < filter->late.len && !err; i++) {
		struct where *where = NULL;

		err = where_new_labels(filter->late.items[i], p, &where);
		if (where)
			vec_push(&filter->bound, where);
	}
	return err;
}

struct err *filter_bind_labels(struct filter *filter, const struct profile *p)
{
	struct err *err = NULL;

	unbind_conditions(filter);
	for (size_t i = 0; i < filter->wheres.len && !err; i++) {
		struct where *where = NULL;

		err = where_new_labels(filter->wheres.items[i], p, &where);
		if (where)
			vec_push(&filter->bound, where);
	}
	return err;
}

/* Are there times of threads on and off the CPU? */
static bool has_wall(const struct profile *p)
{
	if (derive_has_sampled_wall(p))
		return true;
	for (size_t i = 0; i < p->types.len; i++) {
		const char *name = profile_text(p, p->types.items[i].name);

		if (strcmp(name, DERIVE_OFF_CPU) == 0 || strncmp(name, DERIVE_SCHED_SWITCH, strlen(DERIVE_SCHED_SWITCH)) == 0)
			return true;
	}
	return false;
}

struct err *filter_bind(struct filter *filter, const struct profile *p, const struct profile_facts *facts)
{
	struct err *err = bind_windows(filter, facts);

	memset(filter->derived, 0, sizeof(filter->derived));
	if (!filter->events.len && !filter->wheres.len)
		derive_want(filter->derived, NULL);
	if (filter->with_wall && has_wall(p))
		derive_want(filter->derived, DERIVE_WALL);
	if (err || !filter->events.len)
		return err;

	filter->event_passes.len = 0;
	for (size_t i = 0; i < p->types.len; i++)
		vec_push(&filter->event_passes, false);
	for (size_t i = 0; i < filter->events.len && !err; i++)
		err = bind_event(filter, p, filter->events.items[i]);
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

bool filter_passes_task(const struct filter *filter, const struct event *ev)
{
	return has_number(&filter->pids, ev->pid) && has_number(&filter->tids, ev->tid);
}

bool filter_passes_cpu(const struct filter *filter, uint32_t cpu)
{
	return has_number(&filter->cpus, cpu);
}

bool filter_passes_time(const struct filter *filter, uint64_t time_ns)
{
	if (time_ns < filter->from_ns || time_ns >= filter->to_ns)
		return false;
	for (size_t i = 0; i < filter->nbound; i++)
		if (time_ns >= filter->windows[i].from_ns && time_ns < filter->windows[i].to_ns)
			return true;
	return !filter->nbound;
}

bool filter_passes_event(const struct filter *filter, const struct event *ev)
{
	if (!filter_passes_time(filter, ev->time_ns))
		return false;
	if (!filter_passes_cpu(filter, ev->cpu) || !filter_passes_task(filter, ev))
		return false;
	if (ev->kind != EVENT_SAMPLE)
		return true;
	for (size_t i = 0; i < filter->bound.len; i++)
		if (!where_passes(filter->bound.items[i], ev))
			return false;
	return filter_passes_kind(filter, ev->sample.event);
}

/* What is not known is in no list. */
static bool has_known(const struct filter_numbers *numbers, uint32_t number)
{
	return numbers->ranges.len == 0 || (number != PROFILE_NONE && has_number(numbers, number));
}

bool filter_passes_labels(const struct filter *filter, const struct profile *p, uint32_t labels)
{
	for (size_t i = 0; i < filter->bound.len; i++)
		if (!where_passes_labels(filter->bound.items[i], p, labels))
			return false;
	return true;
}

bool filter_passes_row(const struct filter *filter, const struct profile *p, const struct profile_sample *row)
{
	const struct profile_thread *thread = &p->threads.items[row->thread];

	if (!has_known(&filter->pids, thread->pid) || !has_known(&filter->tids, thread->tid) ||
	    !has_known(&filter->cpus, row->cpu) || !filter_passes_kind(filter, row->type))
		return false;
	return filter_passes_labels(filter, p, row->labels) &&
	       filter_passes_names(filter, profile_text(p, thread->comm), profile_text(p, thread->process)) &&
	       filter_passes_stack(filter, p, row->stack);
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
		if (matches(globs->items[i], text))
			return true;
	}
	return false;
}

/* Names of runtimes are longer than the kernel's, by which they are found, too. */
bool filter_passes_names(const struct filter *filter, const char *comm, const char *process)
{
	char cut[KERNEL_NAME_LEN + 1];

	if (!filter->comms.len)
		return true;
	snprintf(cut, sizeof(cut), "%s", comm);
	return matches_any(&filter->comms, comm) || matches_any(&filter->comms, cut) || matches_any(&filter->comms, process);
}

bool filter_needs_stacks(const struct filter *filter)
{
	return filter->modules.len || filter->symbols.len;
}

bool filter_passes_stack(const struct filter *filter, const struct profile *p, uint32_t stack)
{
	if (stack == 0)
		return !filter_needs_stacks(filter);
	return filter_passes_location(filter, p, p->stacks.items[stack].location);
}

/* Also without its arguments. */
static bool matches_function(const char *glob, const char *name)
{
	size_t len = lookup_base_len(name);

	return matches(glob, name) || (strlen(glob) == len && strncmp(glob, name, len) == 0);
}

bool filter_passes_location(const struct filter *filter, const struct profile *p, uint32_t location)
{
	bool module_passes = !filter->modules.len, symbol_passes = !filter->symbols.len;
	const struct profile_location *leaf = &p->locations.items[location];

	for (size_t i = 0; i < filter->modules.len && !module_passes; i++)
		module_passes = lookup_matches_module(p, leaf->module, filter->modules.items[i],
						      strlen(filter->modules.items[i]));
	if (!module_passes || symbol_passes || leaf->nlines == 0)
		return module_passes && symbol_passes;

	uint32_t function = p->lines.items[leaf->first_line].function;
	const char *name = profile_text(p, p->functions.items[function].name);

	for (size_t i = 0; i < filter->symbols.len; i++) {
		if (matches_function(filter->symbols.items[i], name))
			return true;
	}
	return false;
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

static const char *describe_wait(struct arena *arena, const char *text, const char *name, uint64_t ns)
{
	return ns ? arena_printf(arena, "%s%s--%s=%gms", text, *text ? " " : "", name, (double)ns / 1e6)
		  : text;
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
	text = describe_list(arena, text, "where", &filter->wheres);
	text = describe_list(arena, text, "focus", &filter->reshape.focus);
	text = describe_list(arena, text, "ignore", &filter->reshape.ignore);
	text = describe_list(arena, text, "hide", &filter->reshape.hide);
	text = describe_list(arena, text, "show", &filter->reshape.show);
	text = describe_list(arena, text, "show-from", &filter->reshape.show_from);
	if (filter->reshape.merge_recursion)
		text = arena_printf(arena, "%s%s--merge-recursion", text, *text ? " " : "");
	if (filter->window)
		text = arena_printf(arena, "%s%s--time=%s", text, *text ? " " : "", filter->window);
	text = describe_wait(arena, text, "min-wait", filter->min_wait_ns);
	text = describe_wait(arena, text, "max-wait", filter->max_wait_ns);
	return text;
}
