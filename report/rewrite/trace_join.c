/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_join.c - events one file after the other; what stands beside them is united.
 */
#include "report/rewrite/trace_join.h"

#include "formats/base/compiler.h"
#include "formats/base/vec.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct join {
	VEC(struct event_source *) sources; /* open while their recordings are looked at */
	VEC(struct recording_count) counts;
	VEC(struct recording_image) images;
	VEC(struct recording_lines) lines;
	VEC(struct recording_ksym) ksyms;
	VEC(struct recording_jit_map) jit_maps;
	bool differ; /* images of one file */
	struct recording as;
	struct arena arena; /* of its notes */
};

static void add_count(struct join *j, const struct recording_count *add)
{
	for (size_t i = 0; i < j->counts.len; i++) {
		struct recording_count *have = &j->counts.items[i];

		if (have->event != add->event || have->cpu != add->cpu)
			continue;
		have->samples += add->samples;
		have->lost_kernel += add->lost_kernel;
		have->lost_recorder += add->lost_recorder;
		have->stacks_shortened += add->stacks_shortened;
		have->stacks_cut += add->stacks_cut;
		have->throttled += add->throttled;
		have->missed += add->missed;
		have->enabled_ns += add->enabled_ns;
		have->running_ns += add->running_ns;
		have->value += add->value;
		return;
	}
	vec_push(&j->counts, *add);
}

static void add_image(struct join *j, const struct recording_image *add)
{
	for (size_t i = 0; i < j->images.len; i++) {
		struct recording_image *have = &j->images.items[i];

		if (strcmp(have->path, add->path) != 0 || have->build_id_len != add->build_id_len ||
		    memcmp(have->build_id, add->build_id, add->build_id_len) != 0)
			continue;
		j->differ |= have->elf_len != add->elf_len || memcmp(have->elf, add->elf, add->elf_len) != 0;
		if (have->partial && (!add->partial || add->elf_len > have->elf_len))
			*have = *add;
		return;
	}
	vec_push(&j->images, *add);
}

/* The last one of a process knows most. */
static void add_jit_map(struct join *j, const struct recording_jit_map *add)
{
	for (size_t i = 0; i < j->jit_maps.len; i++) {
		if (j->jit_maps.items[i].pid == add->pid) {
			j->jit_maps.items[i] = *add;
			return;
		}
	}
	vec_push(&j->jit_maps, *add);
}

static int compare_ksyms(const struct recording_ksym *a, const struct recording_ksym *b)
{
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_ksym_items(const void *a, const void *b)
{
	return compare_ksyms(a, b);
}

static void unite_ksyms(struct join *j)
{
	size_t kept = 0;

	if (!j->ksyms.len)
		return;
	qsort(j->ksyms.items, j->ksyms.len, sizeof(*j->ksyms.items), compare_ksym_items);
	for (size_t i = 0; i < j->ksyms.len; i++)
		if (!kept || compare_ksyms(&j->ksyms.items[kept - 1], &j->ksyms.items[i]) != 0)
			j->ksyms.items[kept++] = j->ksyms.items[i];
	j->ksyms.len = kept;
}

static void add_recording(struct join *j, const struct recording *rec)
{
	for (size_t i = 0; i < rec->ncounts; i++)
		add_count(j, &rec->counts[i]);
	for (size_t i = 0; i < rec->nimages; i++)
		add_image(j, &rec->images[i]);
	for (size_t i = 0; i < rec->nlines; i++)
		vec_push(&j->lines, rec->lines[i]);
	for (size_t i = 0; i < rec->nksyms; i++)
		vec_push(&j->ksyms, rec->ksyms[i]);
	for (size_t i = 0; i < rec->njit_maps; i++)
		add_jit_map(j, &rec->jit_maps[i]);
}

/* What the whole begins with is the first's, what it ends with the last's. */
static void settle(struct join *j)
{
	const struct recording *last = event_source_recording(j->sources.items[j->sources.len - 1]);

	unite_ksyms(j);
	j->as = *event_source_recording(j->sources.items[0]);
	j->as.end_ns = last->end_ns;
	j->as.complete = last->complete;
	j->as.exit_status = last->exit_status;
	j->as.kernel_code = last->kernel_code;
	j->as.counts = j->counts.items;
	j->as.ncounts = j->counts.len;
	j->as.images = j->images.items;
	j->as.nimages = j->images.len;
	j->as.lines = j->lines.items;
	j->as.nlines = j->lines.len;
	j->as.ksyms = j->ksyms.items;
	j->as.nksyms = j->ksyms.len;
	j->as.jit_maps = j->jit_maps.items;
	j->as.njit_maps = j->jit_maps.len;
	j->as.notes = last->notes;
	j->as.nnotes = last->nnotes;
	if (!j->differ)
		return;
	j->as.notes = ARENA_ARRAY(&j->arena, struct recording_note, last->nnotes + 1);
	for (size_t i = 0; i < last->nnotes; i++)
		j->as.notes[i] = last->notes[i];
	j->as.notes[j->as.nnotes++] = (struct recording_note){
		.subject = "",
		.text = "joined from intervals: of some binaries only a part is embedded, other machines may lack names",
	};
}

static struct err *write_events(struct event_source *source, struct trace_rewrite *rw)
{
	struct event ev;

	while (event_source_next(source, &ev)) {
		struct err *err = trace_rewrite_event(rw, &ev);

		if (err)
			return err;
	}
	return event_source_finish(source);
}

static struct err *write_all(struct join *j, int fd)
{
	struct trace_rewrite *rw;
	struct err *err = trace_rewrite_begin(fd, &j->as, &rw);

	if (err)
		return err;
	for (size_t i = 0; i < j->sources.len && !err; i++)
		err = write_events(j->sources.items[i], rw);
	if (!err)
		err = trace_rewrite_end(rw, &j->as);
	trace_rewrite_free(rw);
	return err;
}

static struct err *write_file(struct join *j, const char *output)
{
	int fd = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct err *err;

	if (fd < 0 && errno == EEXIST)
		return err_new(ERR_USAGE, "'%s' is there already", output);
	if (fd < 0)
		return err_system(errno, "cannot create '%s'", output);
	err = write_all(j, fd);
	if (close(fd) < 0 && !err)
		err = err_system(errno, "cannot write '%s'", output);
	if (err)
		unlink(output);
	return err;
}

struct err *trace_join(const char *const *paths, size_t count, const char *output)
{
	struct join j = { .differ = false };
	struct err *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		struct event_source *source;

		err = trace_reader_open(paths[i], &source);
		if (err)
			break;
		vec_push(&j.sources, source);
		add_recording(&j, event_source_recording(source));
	}
	if (!err && !count)
		err = err_new(ERR_USAGE, "there is nothing to join yet");
	if (!err) {
		settle(&j);
		err = write_file(&j, output);
	}
	for (size_t i = 0; i < j.sources.len; i++)
		event_source_close(j.sources.items[i]);
	arena_deinit(&j.arena);
	vec_deinit(&j.sources);
	vec_deinit(&j.counts);
	vec_deinit(&j.images);
	vec_deinit(&j.lines);
	vec_deinit(&j.ksyms);
	vec_deinit(&j.jit_maps);
	return err;
}
