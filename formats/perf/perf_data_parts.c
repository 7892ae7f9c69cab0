/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_parts.c - one stream for each file, and a look at all of them each time that one has got ahead.
 */
#include "formats/perf/perf_data_parts.h"

#include "formats/base/arena.h"
#include "formats/base/text.h"
#include "formats/base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "data."

/* How far one file may get ahead of the others before they are looked at again. */
#define AHEAD_NS 1000000

struct part {
	char name[sizeof(PREFIX) + 20]; /* "" for the first, which is called as the whole */
	struct trace_file file;
	struct perf_data_stream *stream;
	uint64_t end; /* of what is read of it */
	uint64_t youngest_ns;
	bool ended;
};

struct perf_data_parts {
	VEC(struct part *) items;
	struct part *current;
	uint64_t until_ns; /* the others are to be looked at once @current is past this */
};

static struct part *add_part(struct perf_data_parts *parts, const struct trace_file *file, uint64_t start, uint64_t end)
{
	struct part *part = memory_zeroed(1, sizeof(*part));

	part->file = *file;
	part->end = end;
	part->stream = perf_data_stream_new(&part->file, start, end, part->name);
	vec_push(&parts->items, part);
	return part;
}

struct perf_data_parts *perf_data_parts_new(const struct trace_file *first, uint64_t start, uint64_t end)
{
	struct perf_data_parts *parts = memory_zeroed(1, sizeof(*parts));

	parts->current = add_part(parts, first, start, end);
	parts->until_ns = UINT64_MAX;
	return parts;
}

void perf_data_parts_free(struct perf_data_parts *parts)
{
	if (!parts)
		return;
	for (size_t i = 0; i < parts->items.len; i++) {
		perf_data_stream_free(parts->items.items[i]->stream);
		if (i) /* the first is the caller's */
			trace_file_close(&parts->items.items[i]->file);
		free(parts->items.items[i]);
	}
	vec_deinit(&parts->items);
	free(parts);
}

/* ---- the folder ---- */

/* The number of "data.NUMBER". */
static bool is_part(const char *name, uint64_t *ret)
{
	size_t len = strlen(PREFIX);

	return strncmp(name, PREFIX, len) == 0 && text_parse_u64(name + len, ret) && *ret < UINT32_MAX;
}

static struct err *add_file(struct perf_data_parts *parts, const char *folder, uint64_t number)
{
	char path[PATH_MAX];
	struct trace_file file;
	struct err *err;

	if (snprintf(path, sizeof(path), "%s/" PREFIX "%" PRIu64, folder, number) >= (int)sizeof(path))
		return err_system(ENAMETOOLONG, "cannot read the files in '%s'", folder);
	err = trace_file_open(path, &file);
	if (err)
		return err;
	snprintf(add_part(parts, &file, 0, file.len)->name, sizeof(parts->current->name), PREFIX "%" PRIu64, number);
	parts->until_ns = 0;
	return NULL;
}

/* Which numbers below @number are not there, behind @text, those up to @next told. */
static const char *tell_gap(const char *text, uint64_t next, uint64_t number, struct arena *arena)
{
	const char *before = text ? arena_printf(arena, "%s, ", text) : "";

	if (next == number)
		return text;
	if (number - next == 1)
		return arena_printf(arena, "%s" PREFIX "%" PRIu64, before, next);
	return arena_printf(arena, "%s" PREFIX "%" PRIu64 " to " PREFIX "%" PRIu64, before, next, number - 1);
}

struct err *perf_data_parts_add(struct perf_data_parts *parts, const char *folder, struct arena *arena,
				const char **ret_missing)
{
	VEC(uint64_t) numbers = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct err *err = NULL;
	const char *missing = NULL;
	uint64_t number, next = 0;

	if (!dir)
		return err_system(errno, "cannot read '%s'", folder);
	while ((entry = readdir(dir)))
		if (is_part(entry->d_name, &number))
			vec_push(&numbers, number);
	closedir(dir);
	vec_sort(&numbers, vec_u64_ascending);
	for (size_t i = 0; i < numbers.len && !err; i++) {
		err = add_file(parts, folder, numbers.items[i]);
		missing = tell_gap(missing, next, numbers.items[i], arena);
		next = numbers.items[i] + 1;
	}
	vec_deinit(&numbers);
	if (!err)
		*ret_missing = missing;
	return err;
}

size_t perf_data_parts_added(const struct perf_data_parts *parts)
{
	return parts->items.len - 1;
}

/* ---- reading ---- */

static void choose(struct perf_data_parts *parts)
{
	struct part *first = NULL;
	uint64_t others_ns = UINT64_MAX;

	for (size_t i = 0; i < parts->items.len; i++) {
		struct part *part = parts->items.items[i];

		if (part->ended)
			continue;
		if (!first || part->youngest_ns < first->youngest_ns) {
			others_ns = first ? first->youngest_ns : UINT64_MAX;
			first = part;
		} else {
			others_ns = MIN(others_ns, part->youngest_ns);
		}
	}
	parts->current = first;
	parts->until_ns = others_ns < UINT64_MAX - AHEAD_NS ? others_ns + AHEAD_NS : UINT64_MAX;
}

struct err *perf_data_parts_next(struct perf_data_parts *parts, struct perf_data_record *ret, bool *ret_more)
{
	for (;;) {
		struct part *part = parts->current;
		struct err *err;

		if (!part || part->ended || part->youngest_ns > parts->until_ns) {
			choose(parts);
			part = parts->current;
		}
		*ret_more = part;
		if (!part)
			return NULL;
		err = perf_data_stream_next(part->stream, ret, ret_more);
		part->ended = err || !*ret_more;
		if (!err && *ret_more)
			return NULL;
		*ret_more = true;
		if (err)
			return *part->name ? err_wrap(err, "in '%s'", part->name) : err;
	}
}

void perf_data_parts_at(struct perf_data_parts *parts, uint64_t time_ns)
{
	parts->current->youngest_ns = MAX(parts->current->youngest_ns, time_ns);
}

uint64_t perf_data_parts_offset(const struct perf_data_parts *parts)
{
	return parts->current ? perf_data_stream_offset(parts->current->stream) : 0;
}

size_t perf_data_parts_held(const struct perf_data_parts *parts)
{
	size_t held = 0;

	for (size_t i = 0; i < parts->items.len; i++)
		held += perf_data_stream_held(parts->items.items[i]->stream);
	return held;
}

void perf_data_parts_progress(const struct perf_data_parts *parts, uint64_t *ret_done, uint64_t *ret_len)
{
	*ret_done = *ret_len = 0;
	for (size_t i = 0; i < parts->items.len; i++) {
		*ret_done += perf_data_stream_offset(parts->items.items[i]->stream);
		*ret_len += parts->items.items[i]->end;
	}
}
