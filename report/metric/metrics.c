/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - each metric finds its events: a group that has them all comes first, since its counts are of the same
 * moments, whatever else was counted.
 */
#include "report/metric/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODIFIERS    "ukhpPGHISDWe"

const struct opt metrics_opts[] = {
	OPT_LIST(struct metrics_args, wanted, "metric", 0, "NAME,..",
		 "ratios of counts beside each row: ipc, branch-miss-rate, NAME=FORMULA"),
	OPT_LIST(struct metrics_args, files, "metrics", 0, "FILE", "more metrics are defined in FILE"),
	OPT_END,
};

/* ---- names of events ------------------------------------------------------------------------------- */

/* Where the name proper of an event begins and how long it is. */
static const char *stem_of(const char *recorded, size_t *ret_len)
{
	const char *slash = strchr(recorded, '/'), *last = strrchr(recorded, '/');
	const char *colon;

	if (slash && last != slash && !memchr(slash, '=', (size_t)(last - slash))) {
		*ret_len = (size_t)(last - slash) - 1;
		return slash + 1;
	}
	colon = strrchr(recorded, ':');
	*ret_len = strlen(recorded);
	if (colon && colon[1] && !colon[1 + strspn(colon + 1, MODIFIERS)])
		*ret_len = (size_t)(colon - recorded);
	return recorded;
}

static const char *alias_of(const char *name)
{
	static const char *const aliases[][2] = { { "cycles", "cpu-cycles" },
						  { "branches", "branch-instructions" } };

	for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
		if (strcmp(name, aliases[i][0]) == 0)
			return aliases[i][1];
		if (strcmp(name, aliases[i][1]) == 0)
			return aliases[i][0];
	}
	return NULL;
}

static bool is_stem(const char *stem, size_t len, const char *name)
{
	return name && strlen(name) == len && strncmp(stem, name, len) == 0;
}

bool metrics_event_matches(const char *recorded, const char *name)
{
	size_t len;
	const char *stem = stem_of(recorded, &len);

	return strcmp(recorded, name) == 0 || is_stem(stem, len, name) ||
	       is_stem(stem, len, alias_of(name));
}

/* ---- which events ---------------------------------------------------------------------------------- */

static bool same_levels(const struct recording_event *a, const struct recording_event *b)
{
	return a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel;
}

/* Only groups whose members are read with the leader's samples have some that do not sample themselves. */
static bool is_read_group(const struct recording *rec, uint32_t leader)
{
	for (size_t i = 0; i < rec->nevents; i++)
		if (rec->events[i].leader == leader && !rec->events[i].samples)
			return true;
	return false;
}

/* Every term from the group of @leader; false and nothing changes if one is missing. */
static bool bind_to_group(struct measures *m, const struct recording *rec, uint32_t leader)
{
	uint32_t found[MEASURES_TERMS_MAX];

	if (!is_read_group(rec, leader))
		return false;
	for (unsigned t = 0; t < m->nterms; t++) {
		found[t] = RECORDING_NO_EVENT;
		for (uint32_t i = 0; i < rec->nevents && found[t] == RECORDING_NO_EVENT; i++)
			if (rec->events[i].leader == leader &&
			    metrics_event_matches(rec->events[i].name, m->names[t]))
				found[t] = i;
		if (found[t] == RECORDING_NO_EVENT ||
		    !same_levels(&rec->events[found[t]], &rec->events[found[0]]))
			return false;
	}
	for (unsigned t = 0; t < m->nterms; t++)
		m->term_of[found[t]] = t + 1;
	return true;
}

static bool bind_to_groups(struct measures *m, const struct recording *rec)
{
	bool any = false;

	m->method = MEASURES_GROUP;
	for (uint32_t i = 0; i < rec->nevents; i++)
		if (rec->events[i].leader == i)
			any |= bind_to_group(m, rec, i);
	return any;
}

/* One sampling event for each term. */
static bool bind_apart(struct measures *m, const struct recording *rec)
{
	const struct recording_event *first = NULL;

	m->method = MEASURES_APART;
	for (unsigned t = 0; t < m->nterms; t++) {
		bool found = false;

		for (uint32_t i = 0; i < rec->nevents; i++) {
			const struct recording_event *event = &rec->events[i];

			if (!event->samples || m->term_of[i] ||
			    !metrics_event_matches(event->name, m->names[t]) ||
			    (first && !same_levels(first, event)))
				continue;
			m->term_of[i] = t + 1;
			first = event;
			found = true;
		}
		if (!found)
			return false;
	}
	return true;
}

static const char *missing_term(const struct measures *m, const struct recording *rec)
{
	for (unsigned t = 0; t < m->nterms; t++) {
		bool found = false;

		for (uint32_t i = 0; i < rec->nevents; i++)
			found |= metrics_event_matches(rec->events[i].name, m->names[t]);
		if (!found)
			return m->names[t];
	}
	return NULL;
}

/* Cycles lead, so that samples are where time goes. */
static const char *command_for(const struct measures *m, struct arena *arena)
{
	const char *list = "cycles";

	for (unsigned t = 0; t < m->nterms; t++)
		if (strcmp(m->names[t], "cycles") != 0)
			list = arena_printf(arena, "%s,%s", list, m->names[t]);
	return arena_printf(arena, "precord -e '{%s}:S' -- COMMAND", list);
}

static struct err *refuse(struct metrics *owner, const struct metric *metric)
{
	const struct measures *m = &metric->measures;
	const char *missing = missing_term(m, owner->from.recording);
	struct err *err;

	if (missing)
		err = err_new(ERR_UNSUPPORTED, "metric '%s' needs '%s', which '%s' did not count",
			      metric->name, missing, owner->from.input);
	else
		err = err_new(ERR_UNSUPPORTED,
			      "metric '%s': '%s' did not count its events together", metric->name,
			      owner->from.input);
	return err_remedy(err, "record with: %s", command_for(m, &owner->set.arena));
}

static struct err *add_term(void *context, struct metric_expr *name)
{
	struct measures *m = context;

	for (unsigned t = 0; t < m->nterms; t++) {
		if (strcmp(m->names[t], name->name) != 0)
			continue;
		name->term = t;
		return NULL;
	}
	if (m->nterms == MEASURES_TERMS_MAX)
		return err_new(ERR_USAGE, "more than %d events in one metric", MEASURES_TERMS_MAX);
	name->term = m->nterms;
	m->names[m->nterms++] = name->name;
	return NULL;
}

static struct err *bind(struct metrics *owner, struct metric *metric)
{
	const struct recording *rec = owner->from.recording;
	struct measures *m = &metric->measures;
	struct err *err = metric_expr_each_name(metric->expr, add_term, m);

	if (err)
		return err_wrap(err, "metric '%s'", metric->name);
	if (!m->nterms)
		return err_new(ERR_USAGE, "metric '%s' refers to no event", metric->name);
	m->term_of = ARENA_ARRAY(&owner->set.arena, uint32_t, rec->nevents + 1);
	if (bind_to_groups(m, rec))
		return NULL;
	if (bind_apart(m, rec))
		return NULL;
	return refuse(owner, metric);
}

/* ---- what was asked for ---------------------------------------------------------------------------- */

/* The next of a list with commas that may stand in brackets and quotes too; NULL at the end. */
static char *next_wanted(char **rest)
{
	char *start = *rest, *p = start;
	int depth = 0;
	bool quoted = false;

	if (!start)
		return NULL;
	for (; *p && (*p != ',' || depth > 0 || quoted); p++) {
		quoted ^= *p == '\'';
		depth += quoted ? 0 : (*p == '(') - (*p == ')');
	}
	*rest = *p ? p + 1 : NULL;
	*p = 0;
	return start;
}

/* $XDG_CONFIG_HOME/preport/metrics, if there is one. */
static struct err *add_own_file(struct metric_set *set)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	const char *path;

	if (config && *config)
		path = arena_printf(&set->arena, "%s/preport/metrics", config);
	else if (home && *home)
		path = arena_printf(&set->arena, "%s/.config/preport/metrics", home);
	else
		return NULL;
	return access(path, F_OK) == 0 ? metric_set_add_file(set, path) : NULL;
}

static struct err *define(struct metrics *m, const struct metrics_args *args)
{
	const struct recording *rec = m->from.recording;
	struct err *err = metric_set_init(&m->set);
	size_t len;

	for (uint32_t i = 0; i < rec->nevents; i++) {
		const char *stem = stem_of(rec->events[i].name, &len);

		metric_set_add_event(&m->set, arena_memdup(&m->set.arena, stem, len));
	}
	if (!err)
		err = add_own_file(&m->set);
	for (size_t i = 0; i < args->files.len && !err; i++)
		err = metric_set_add_file(&m->set, args->files.items[i]);
	return err;
}

/* "NAME" or "NAME=FORMULA" */
static struct err *want(struct metrics *m, const char *text)
{
	size_t len = strcspn(text, "=% ");
	struct metric metric = { .name = arena_memdup(&m->set.arena, text, len) };

	vec_push(&m->items, metric);
	return strchr(text, '=') ? metric_set_add_definition(&m->set, text) : NULL;
}

static struct err *find_wanted(struct metrics *m, const struct metrics_args *args)
{
	struct err *err = NULL;

	for (size_t i = 0; i < args->wanted.len && !err; i++) {
		char *rest = arena_strdup(&m->set.arena, args->wanted.items[i]);
		char *text;

		while (!err && (text = next_wanted(&rest)) != NULL)
			err = want(m, text);
	}
	if (!err)
		err = metric_set_check(&m->set);
	for (size_t i = 0; i < m->items.len && !err; i++) {
		struct metric *metric = &m->items.items[i];

		err = metric_set_find(&m->set, metric->name, &metric->def);
		if (err)
			return err;
		metric->expr = metric_expr_copy(metric->def->expr, &m->set.arena);
		err = bind(m, metric);
	}
	return err;
}

/* ---- opening ---- */

/* When all are there: they do not move any more. */
static void count_all(struct metrics *m)
{
	for (size_t i = 0; i < m->items.len; i++) {
		vec_push(&m->measures, &m->items.items[i].measures);
		counting_add(m->from.counting, &m->items.items[i].measures);
	}
}

struct err *metrics_open(struct metrics *m, const struct metrics_args *args, const struct metrics_source *from)
{
	struct err *err;

	*m = (struct metrics){ .from = *from };
	if (!args->wanted.len)
		return args->files.len ? err_new(ERR_USAGE, "--metrics goes with --metric") : NULL;
	if (!from->recording)
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "'%s' is a profile and holds no events, which --metric needs", from->input),
				  "name a recording of precord or perf");
	err = define(m, args);
	if (!err)
		err = find_wanted(m, args);
	count_all(m);
	return err;
}

struct err *metrics_open_available(struct metrics *m, const char *const *names, const struct metrics_source *from)
{
	struct metrics_args none = { 0 };
	struct err *err;

	*m = (struct metrics){ .from = *from };
	err = define(m, &none);
	if (!err)
		err = metric_set_check(&m->set);
	for (; *names && !err; names++) {
		struct metric metric = { .name = *names };
		CLEANUP(err_freep) struct err *missing = NULL;

		err = metric_set_find(&m->set, metric.name, &metric.def);
		if (err)
			break;
		metric.expr = metric_expr_copy(metric.def->expr, &m->set.arena);
		missing = bind(m, &metric);
		if (!missing)
			vec_push(&m->items, metric);
	}
	count_all(m);
	return err;
}

void metrics_close(struct metrics *m)
{
	for (size_t i = 0; i < m->items.len; i++)
		measures_deinit(&m->items.items[i].measures);
	vec_deinit(&m->items);
	vec_deinit(&m->measures);
	metric_set_deinit(&m->set);
	*m = (struct metrics){ 0 };
}

/* ---- as text --------------------------------------------------------------------------------------- */

const char *metrics_text(const struct metric *metric, const struct measure_value *value,
			 struct arena *arena)
{
	if (!value->known)
		return "-";
	if (metric->def->percent)
		return arena_printf(arena, "%.1f %%", 100 * value->value);
	return arena_printf(arena, "%.2f", value->value);
}

/* What would print as "-0.00" is 0. */
static double not_minus_zero(double value)
{
	return value > -0.005 && value < 0 ? 0 : value;
}

const char *metrics_range(const struct metric *metric, const struct measure_value *value,
			  struct arena *arena)
{
	double scale = metric->def->percent ? 100 : 1;

	if (!value->known)
		return value->n ? arena_printf(arena, "n = %" PRIu64, value->n) : "";
	/* Nothing was counted, so nothing is known of how it varies: no "-0.00". */
	if (value->value == 0 && value->high <= 0)
		return "";
	return arena_printf(arena, metric->def->percent ? "%.1f-%.1f" : "%.2f-%.2f",
			    not_minus_zero(scale * value->low), not_minus_zero(scale * value->high));
}

static bool has_method(const struct metrics *m, enum measures_method method)
{
	for (size_t i = 0; i < m->items.len; i++)
		if (m->items.items[i].measures.method == method)
			return true;
	return false;
}

const char *metrics_note(const struct metrics *m, unsigned number, struct arena *arena)
{
	bool group = has_method(m, MEASURES_GROUP), apart = has_method(m, MEASURES_APART);

	if (number == 0 && group)
		return counting_note(m->from.counting, arena);
	if (number == (group ? 1 : 0) && apart)
		return "* not counted together: from samples that each event took on its own";
	if (number == (unsigned)group + apart && m->items.len)
		return arena_printf(arena, "- fewer than %d samples say nothing", MEASURES_LEAST);
	return NULL;
}
