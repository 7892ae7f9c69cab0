/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.c - collapsed stacks. A ';' in a name would split it, so it becomes ':', as in stackcollapse-perf.
 */
#include "formats/profile/folded.h"

#include "formats/base/text.h"
#include "formats/stack_stop.h"

#include <errno.h>
#include <inttypes.h>

static const char *clean(struct arena *arena, const char *name)
{
	const char *escaped = text_escape(arena, name);

	if (!strchr(escaped, ';'))
		return escaped;

	char *copy = arena_strdup(arena, escaped);

	for (char *p = copy; *p; p++)
		if (*p == ';')
			*p = ':';
	return copy;
}

/* "" if the profile has neither a name nor a number of it. */
static const char *process_name(const struct profile *p, const struct profile_thread *thread,
				const struct folded_options *options, struct arena *arena)
{
	uint32_t known = thread->process ? thread->process : thread->comm; /* 0 is "" */
	const char *comm = clean(arena, profile_text(p, options->tid && thread->comm ? thread->comm : known));
	bool numbered = options->pid || options->tid || !*comm; /* a number is better than no name */

	if (!*comm)
		comm = thread->pid != PROFILE_NONE ? "pid" : options->tid && thread->tid != PROFILE_NONE ? "tid" : "";
	if (options->tid && thread->pid != PROFILE_NONE && thread->tid != PROFILE_NONE)
		return arena_printf(arena, "%s-%" PRIu32 "/%" PRIu32, comm, thread->pid, thread->tid);
	if (options->tid && thread->tid != PROFILE_NONE)
		return arena_printf(arena, "%s-%" PRIu32, comm, thread->tid);
	if (numbered && thread->pid != PROFILE_NONE)
		return arena_printf(arena, "%s-%" PRIu32, comm, thread->pid);
	return comm;
}

static const char *suffix_of(enum profile_frame_kind kind, bool inlined)
{
	if (kind == PROFILE_FRAME_KERNEL)
		return "_[k]";
	if (inlined)
		return "_[i]";
	return kind == PROFILE_FRAME_JIT ? "_[j]" : "";
}

/* Of a line that has none the function's own. */
static uint32_t line_file(const struct profile *p, const struct profile_line *line)
{
	return line->file ? line->file : p->functions.items[line->function].file;
}

static const char *frame_name(const struct profile *p, const struct profile_location *location,
			      uint32_t i, const struct folded_options *options,
			      struct arena *arena)
{
	const struct profile_line *line = &p->lines.items[location->first_line + i];
	const struct profile_module *mod = profile_module(p, location->module);
	const char *name = clean(arena, profile_text(p, p->functions.items[line->function].name));

	if (options->lines && line->line)
		name = arena_printf(arena, "%s (%s:%" PRIu32 ")", name, clean(arena, profile_text(p, line_file(p, line))), line->line);
	if (options->suffixes) {
		const char *suffix = suffix_of((enum profile_frame_kind)location->kind, i + 1 < location->nlines);

		if (*suffix)
			name = arena_printf(arena, "%s%s", name, suffix);
	}
	if (options->module && *profile_text(p, mod->name))
		name = arena_printf(arena, "%s [%s]", name, clean(arena, profile_text(p, mod->name)));
	return name;
}

/* How many functions are on the stack, inlined ones included. */
static size_t count_frames(const struct profile *p, uint32_t stack)
{
	size_t count = 0;

	for (; stack; stack = p->stacks.items[stack].parent)
		count += p->locations.items[p->stacks.items[stack].location].nlines;
	return count;
}

size_t folded_frames(const struct profile *p, const struct profile_sample *sample,
		     const struct folded_options *options, struct arena *arena,
		     const char ***ret_frames)
{
	const char *stop = sample->stop < STACK_STOPS ? stack_stop_reason(sample->stop) : NULL;
	size_t count = count_frames(p, sample->stack) + 1 + (stop != NULL);
	const char **frames = ARENA_ARRAY(arena, const char *, count);
	size_t at = count;

	frames[0] = process_name(p, &p->threads.items[sample->thread], options, arena);
	if (stop)
		frames[1] = arena_printf(arena, "[%s]", stop);
	for (uint32_t stack = sample->stack; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *location =
			&p->locations.items[p->stacks.items[stack].location];

		for (uint32_t i = 0; i < location->nlines; i++)
			frames[--at] = frame_name(p, location, i, options, arena);
	}
	*ret_frames = frames;
	return count;
}

/* A line's text and what it adds up to. */
struct line {
	const char *text;
	int64_t value;
};

static int compare_lines(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static const char *join(struct arena *arena, const char **frames, size_t count)
{
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += strlen(frames[i]) + 1;

	char *text = arena_alloc(arena, len + 1), *at = text;

	for (size_t i = 0; i < count; i++) {
		at = stpcpy(at, frames[i]);
		*at++ = ';';
	}
	at[-1] = 0;
	return text;
}

/* Sum the samples by their text; the sums are found under the text's number. */
static void add_up(const struct profile *p, const struct folded_options *options,
		   struct strtab *texts, struct line **ret_lines)
{
	CLEANUP(arena_deinit) struct arena scratch = { 0 };
	VEC(struct line) lines = { 0 };

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *sample = &p->samples.items[i];
		const char **frames;

		if (sample->type != options->event)
			continue;
		arena_reset(&scratch);
		size_t count = folded_frames(p, sample, options, &scratch, &frames);
		bool unknown = count > 1 && !*frames[0]; /* the process */
		uint32_t id = strtab_add(texts, join(&scratch, frames + unknown, count - unknown));

		while (lines.len <= id)
			vec_push(&lines, ((struct line){ 0 }));
		lines.items[id].text = strtab_get(texts, id);
		lines.items[id].value += options->samples ? (int64_t)sample->count : sample->weight;
	}
	*ret_lines = lines.items;
}

struct err *folded_write(const struct profile *p, const struct folded_options *options, FILE *out)
{
	CLEANUP(strtab_deinit) struct strtab texts = { 0 };
	CLEANUP(memory_freep) struct line *lines = NULL;

	add_up(p, options, &texts, &lines);
	if (!lines)
		return NULL;
	lines[0].text = ""; /* the strtab's number 0: no stack has that text */
	qsort(lines, texts.len, sizeof(*lines), compare_lines);
	for (uint32_t i = 1; i < texts.len; i++)
		fprintf(out, "%s %" PRId64 "\n", lines[i].text, lines[i].value);
	return ferror(out) ? err_system(errno, "cannot write the stacks") : NULL;
}
