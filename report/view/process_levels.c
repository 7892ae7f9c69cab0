/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_levels.c - kernel threads execute nothing: as in ps, their name in brackets stands for it.
 */
#include "report/view/process_levels.h"

#include "formats/process/cgroup_name.h"

bool process_level_is(enum view_by by)
{
	return by >= VIEW_CMDLINE && by <= VIEW_USER;
}

static const char *cgroup_part(const char *cgroup, enum view_by by, struct arena *arena)
{
	struct cgroup_name name = cgroup_name_of(cgroup, arena);
	const char *text = by == VIEW_CONTAINER ? name.container : by == VIEW_POD ? name.pod : name.unit;

	if (*text)
		return text;
	return by == VIEW_CONTAINER ? "[no container]" : by == VIEW_POD ? "[no pod]" : "[no unit]";
}

const char *process_level_text(const struct profile *p, enum view_by by, uint32_t thread,
			       struct arena *arena)
{
	const struct profile_thread *of = &p->threads.items[thread];
	const struct profile_process *process = &p->processes.items[of->life];
	const char *cgroup = profile_text(p, process->cgroup), *text;

	switch (by) {
	case VIEW_CMDLINE:
		text = profile_text(p, process->cmdline);
		break;
	case VIEW_EXEC:
		text = profile_text(p, process->program);
		break;
	case VIEW_USER:
		text = profile_text(p, process->user);
		return *text ? text : "[not known]";
	case VIEW_CGROUP:
		return *cgroup ? cgroup : "[not known]";
	default:
		return *cgroup ? cgroup_part(cgroup, by, arena) : "[not known]";
	}
	return *text ? text : arena_printf(arena, "[%s]", profile_text(p, of->process));
}

static uint32_t field_of(const struct profile_process *process, enum view_by by)
{
	return by == VIEW_CMDLINE ? process->cmdline
	       : by == VIEW_EXEC  ? process->program
	       : by == VIEW_USER  ? process->user
				  : process->cgroup;
}

static bool is_known(const struct profile *p, enum view_by by)
{
	for (size_t i = 1; i < p->processes.len; i++) {
		if (field_of(&p->processes.items[i], by))
			return true;
	}
	return false;
}

struct err *process_levels_check(const struct profile *p, const struct view_levels *levels,
				 const char *input)
{
	for (unsigned i = 0; i < levels->len; i++) {
		enum view_by by = levels->items[i].by;

		if (process_level_is(by) && !is_known(p, by))
			return err_remedy(err_new(ERR_UNSUPPORTED,
						  "'%s' does not have the %s of any process", input,
						  view_by_name(by)),
					  "precord records command lines, cgroups and users; or take another "
					  "level, such as --by=process");
	}
	return NULL;
}
