/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_import.c - nothing is walked or named any more; what is left to do is to filter.
 */
#include "report/session_import.h"

#include "report/stats.h"

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
				     .sample = { .event = row->event } };

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

		if (!passes(s, &row))
			continue;
		stats_add(&s->matched, &row);
		p->samples.items[kept++] = row;
	}
	p->samples.len = kept;
	return NULL;
}
