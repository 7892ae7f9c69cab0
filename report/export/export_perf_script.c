/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_perf_script.c - samples as perf script prints them, for the many scripts that read its text:
 *
 *	clang    4711/4712    [001] 12345.678901234:   10101010 cpu-clock:
 *	            55d0 scan (inlined)
 *	            55d0 parse (/usr/bin/clang)
 *
 * Readers take such text apart by blanks and brackets, so what would lead them astray in a name is changed: blanks
 * before a digit in a thread's name, and all in a module's path or an event's name become '_'. A thread without a number has
 * none, as with perf script -F.
 */
#include "formats/base/text.h"
#include "report/export/export_format.h"
#include "report/view/extras_text.h"
#include "report/view/frame_list.h"
#include "report/view/track.h"

#include <ctype.h>
#include <inttypes.h>

struct writer_state {
	const struct profile *p;
	const struct profile_facts *facts;
	FILE *out;
	bool has_pids, has_tids; /* some threads have them */
	struct arena arena;
	struct frame_list list;
};

/* @name with '_' for its first character if that is a blank, and for each that @is_bad says about by what follows. */
static const char *mend(struct arena *arena, const char *name, bool (*is_bad)(char next))
{
	char *copy = arena_strdup(arena, text_escape(arena, name));

	for (char *at = copy; *at; at++)
		if (isspace((unsigned char)*at) && (at == copy || is_bad(at[1])))
			*at = '_';
	return copy;
}

static bool begins_number(char next)
{
	return next == 0 || isdigit((unsigned char)next) || isspace((unsigned char)next);
}

static bool begins_anything(char next)
{
	(void)next;
	return true;
}

static void put_head(struct writer_state *w, const struct profile_time *time,
		     const struct profile_sample *row)
{
	const struct profile_thread *thread = &w->p->threads.items[row->thread];
	const char *event = profile_text(w->p, w->p->types.items[row->type].name);
	const char *comm = mend(&w->arena, profile_text(w->p, thread->comm), begins_number);

	fprintf(w->out, "%s ", *comm ? comm : "_");
	if (thread->pid != PROFILE_NONE && thread->tid != PROFILE_NONE)
		fprintf(w->out, "%7" PRIu32 "/%-7" PRIu32 " ", thread->pid, thread->tid);
	else if (thread->tid != PROFILE_NONE)
		fprintf(w->out, "%7" PRIu32 " ", thread->tid);
	else if (thread->pid != PROFILE_NONE && !w->has_tids)
		fprintf(w->out, "%7" PRIu32 " ", thread->pid);
	if (row->cpu != PROFILE_NONE)
		fprintf(w->out, "[%03" PRIu32 "] ", row->cpu);
	if (w->p->times.len)
		fprintf(w->out, "%5" PRIu64 ".%09" PRIu64 ": ", time->time_ns / 1000000000,
			time->time_ns % 1000000000);
	fprintf(w->out, "%10" PRId64 " %s: \n", time->weight, mend(&w->arena, event, begins_anything));
}

static void put_frame(struct writer_state *w, const struct frame *frame)
{
	const char *name = frame_name(&w->list, frame, w->p, &w->arena);

	if (frame->line == FRAME_REASON) {
		fprintf(w->out, "\t%16x %s ([unknown])\n", 0u, name);
		return;
	}

	const struct profile_location *at =
		&w->p->locations.items[w->p->stacks.items[frame->stack].location];
	const char *path = profile_text(w->p, profile_module(w->p, at->module)->path);

	/* Readers want a word where the address stands. */
	if (at->has_vaddr)
		fprintf(w->out, "\t%16" PRIx64, profile_address(at));
	else
		fprintf(w->out, "\t%16s", "_");
	if (!*path)
		path = "[unknown]";
	fprintf(w->out, " %s (%s)\n", name,
		frame->inlined ? "inlined" : mend(&w->arena, path, begins_anything));
}

/* On a line behind the frames, as perf script -F ip,sym,brstack does. */
static void put_branches(struct writer_state *w, size_t time, size_t *next)
{
	const struct profile_branches *branches = &w->p->branches;

	if (*next == branches->stacks.len || branches->stacks.items[*next].time != time)
		return;

	const struct profile_branch_stack *stack = &branches->stacks.items[(*next)++];

	extras_put_branches(w->out, &branches->all.items[stack->first], stack->count);
	fputc('\n', w->out);
}

/* Where threads have no numbers, which of those in a sample's header are there is not plain: it is stated as -F would name it. */
static void put_fields(struct writer_state *w)
{
	bool lacks = false, has_cpus = false;

	for (size_t i = 0; i < w->p->threads.len; i++) {
		const struct profile_thread *thread = &w->p->threads.items[i];

		w->has_pids |= thread->pid != PROFILE_NONE;
		w->has_tids |= thread->tid != PROFILE_NONE;
		lacks |= thread->tid == PROFILE_NONE;
	}
	for (size_t i = 0; i < w->p->samples.len; i++)
		has_cpus |= w->p->samples.items[i].cpu != PROFILE_NONE;
	if (lacks)
		fprintf(w->out, "# ========\n# fields : comm%s%s%s%s,period,event,ip,sym,dso\n# ========\n#\n",
			w->has_pids ? ",pid" : "", w->has_tids ? ",tid" : "", has_cpus ? ",cpu" : "",
			w->p->times.len ? ",time" : "");
}

static struct err *write_perf_script(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	struct writer_state w = { .p = p, .facts = facts, .out = out };
	size_t branches = 0, ntimes;
	CLEANUP(memory_freep) struct profile_time *times = track_samples(p, &ntimes);

	put_fields(&w);
	for (size_t i = 0; i < ntimes; i++) {
		const struct profile_sample *row = &w.p->samples.items[times[i].row];

		put_head(&w, &times[i], row);
		frame_list_fill(&w.list, w.p, row);
		for (size_t frame = w.list.frames.len; frame--;)
			put_frame(&w, &w.list.frames.items[frame]);
		put_branches(&w, i, &branches);
		fputc('\n', out);
		arena_reset(&w.arena);
	}
	frame_list_deinit(&w.list);
	arena_deinit(&w.arena);
	return NULL;
}

const struct export_format export_perf_script = {
	.missing = "holds no processes' names, build IDs, source files or lines; its addresses are those "
		   "in the module's file",
	.times = true,
	.branches = true,
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_INLINED | IMPORT_TYPES,
	.write = write_perf_script,
};
