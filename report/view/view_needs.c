/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_needs.c - one row of the profile that has the thing is enough.
 */
#include "report/view/view_needs.h"

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

bool view_needs_are_met(const struct profile *p, enum view_by by)
{
	for (size_t n = 0; n < ARRAY_LEN(needs); n++)
		if (needs[n].by == by)
			return needs[n].is_met(p);
	return true;
}

struct err *view_needs_check(const struct profile *p, const struct view_levels *levels,
			     const char *input)
{
	for (unsigned i = 0; i < levels->len; i++)
		for (size_t n = 0; n < ARRAY_LEN(needs); n++)
			if (needs[n].by == levels->items[i].by && !needs[n].is_met(p))
				return err_remedy(
					err_new(ERR_UNSUPPORTED,
						"'%s' holds stacks with their sums, but no %s",
						input, needs[n].what),
					"take the trace itself, or another level, such as --by=leaf");
	return NULL;
}
