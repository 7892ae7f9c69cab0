/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_import.c - nothing is walked or named any more; what is left to do is to filter.
 */
#include "report/load/session_import.h"

#include "report/view/stats.h"

#include <string.h>

void session_import_profile(struct session *s, struct profile *profile)
{
	struct module *unknown = module_table_unknown(s->modules);

	profile_free(s->profile);
	s->profile = profile;
	s->imported = true;
	for (size_t i = 0; i < profile->modules.len; i++)
		vec_push(&s->session_modules, unknown);
	for (size_t i = 0; i < profile->samples.len; i++)
		s->stream.samples += profile->samples.items[i].count;
}

static bool passes(const struct session *s, const struct profile_sample *row)
{
	const struct profile *p = s->profile;
	const struct profile_thread *thread = &p->threads.items[row->thread];
	const struct event event = { .kind = EVENT_SAMPLE,
				     .pid = thread->pid,
				     .tid = thread->tid,
				     .cpu = row->cpu,
				     .time_ns = s->filter->from_ns,
				     .sample = { .event = row->type } };

	return filter_passes_event(s->filter, &event) &&
	       filter_passes_names(s->filter, profile_text(p, thread->comm),
				   profile_text(p, thread->process)) &&
	       filter_passes_stack(s->filter, p, row->stack);
}

struct err *session_import_load(struct session *s, struct filter *filter)
{
	struct profile *p = s->profile;
	struct err *err = filter_bind(filter, s->recording);
	size_t kept = 0;

	if (err)
		return err;
	if (filter->window)
		return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' has no times, so no --time=%s",
					  s->args->input, filter->window),
				  "only traces have them");
	s->filter = filter;
	for (size_t i = 0; i < p->samples.len; i++) {
		struct profile_sample row = p->samples.items[i];

		if (!passes(s, &row) || !session_reshape(s, row.stack, &row.stack))
			continue;
		stats_add(&s->matched, &row);
		p->samples.items[kept++] = row;
	}
	p->samples.len = kept;
	return NULL;
}

/* ---- what is in it ---- */

static bool has_lines(const struct profile *p)
{
	for (size_t i = 0; i < p->lines.len; i++)
		if (p->lines.items[i].line)
			return true;
	return false;
}

static bool has_addresses(const struct profile *p)
{
	for (size_t i = 0; i < p->locations.len; i++)
		if (p->locations.items[i].has_vaddr)
			return true;
	return false;
}

static bool has_threads(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->threads.items[p->samples.items[i].thread].tid != PROFILE_NONE)
			return true;
	return false;
}

static bool has_cpus(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->samples.items[i].cpu != UINT32_MAX)
			return true;
	return false;
}

static const struct need {
	enum view_by by;
	bool (*is_met)(const struct profile *p);
	const char *what;
} needs[] = {
	{ VIEW_LINE, has_lines, "source lines" },
	{ VIEW_ADDRESS, has_addresses, "addresses" },
	{ VIEW_THREAD, has_threads, "threads" },
	{ VIEW_CPU, has_cpus, "CPUs" },
};

struct err *session_import_answers(const struct session *s, const struct view_levels *levels)
{
	for (unsigned i = 0; s->imported && i < levels->len; i++)
		for (size_t n = 0; n < ARRAY_LEN(needs); n++)
			if (needs[n].by == levels->items[i].by && !needs[n].is_met(s->profile))
				return err_remedy(
					err_new(ERR_UNSUPPORTED,
						"'%s' holds stacks with their sums, but no %s",
						s->args->input, needs[n].what),
					"take the trace itself, or another level, such as --by=leaf");
	return NULL;
}
