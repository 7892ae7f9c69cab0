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

/* By their numbers, or by names that are not their processes'. */
static bool has_threads(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_thread *thread = &p->threads.items[p->samples.items[i].thread];

		if (thread->tid != PROFILE_NONE || (thread->comm && thread->comm != thread->process))
			return true;
	}
	return false;
}

static bool has_cpus(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->samples.items[i].cpu != UINT32_MAX)
			return true;
	return false;
}

static bool has_pids(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->threads.items[p->samples.items[i].thread].pid != PROFILE_NONE)
			return true;
	return false;
}

static bool has_program_names(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->threads.items[p->samples.items[i].thread].process)
			return true;
	return false;
}

static bool has_processes(const struct profile *p)
{
	return has_program_names(p) || has_pids(p);
}

static bool has_thread_names(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->threads.items[p->samples.items[i].thread].comm)
			return true;
	return false;
}

static bool has_modules(const struct profile *p)
{
	for (size_t i = 0; i < p->locations.len; i++)
		if (p->locations.items[i].module != PROFILE_NONE)
			return true;
	return false;
}

/* Otherwise stacks are user code for all that is known, or its authors left the kernel's frames out. */
static bool has_kernel_frames(const struct profile *p)
{
	for (size_t i = 0; i < p->locations.len; i++)
		if (p->locations.items[i].kind == PROFILE_FRAME_KERNEL)
			return true;
	return false;
}

/* Without any, a sample may be of a thread that ran, that waited, or of memory. */
static bool has_states(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->samples.items[i].state != PROFILE_STATE_NONE)
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
	{ VIEW_PROCESS, has_processes, "processes" },
	{ VIEW_PROGRAM, has_program_names, "names of processes" },
	{ VIEW_COMM, has_thread_names, "names of threads" },
	{ VIEW_MODULE, has_modules, "modules" },
	{ VIEW_ENTRY, has_kernel_frames, "frames of the kernel" },
	{ VIEW_SYSCALL, has_kernel_frames, "frames of the kernel" },
	{ VIEW_STATE, has_states, "states of threads" },
	{ VIEW_WAIT, has_states, "states of threads" },
	{ VIEW_WAKER, has_states, "states of threads" },
	{ VIEW_LOCK, has_states, "states of threads" },
	{ VIEW_FILE, has_states, "states of threads" },
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
				return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' has no %s, so --by=%s cannot group samples",
							  input, needs[n].what, view_level_name(levels, i)),
						  "'preport info' lists what a profile holds; --by=leaf always works");
	return NULL;
}
