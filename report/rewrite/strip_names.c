/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strip_names.c - each kind of block and event by what is a name in it.
 */
#include "report/rewrite/strip_names.h"

#include "symbolize/debug/line_table.h"
#include "symbolize/elf/bundle_names.h"
#include "symbolize/name/jit_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void strip_names_deinit(struct strip_names *names)
{
	for (size_t i = 0; i < names->bytes.len; i++)
		writer_deinit(&names->bytes.items[i]);
	vec_deinit(&names->bytes);
	vec_deinit(&names->images);
	vec_deinit(&names->lines);
	vec_deinit(&names->ksyms);
	vec_deinit(&names->jit_maps);
	vec_deinit(&names->notes);
	vec_deinit(&names->frames);
	pseudonyms_deinit(&names->pseudonyms);
}

static struct writer *new_bytes(struct strip_names *names)
{
	vec_push(&names->bytes, ((struct writer){ 0 }));
	return &names->bytes.items[names->bytes.len - 1];
}

static const char *function(struct strip_names *names, const char *name)
{
	return pseudonym_of_function(&names->pseudonyms, name);
}

/* The kernel's own: everybody's, and known by its build ID. */
static bool is_kernels(const char *path)
{
	return strcmp(path, "[vdso]") == 0 || strcmp(path, "[kernel]") == 0;
}

static const char *new_symbol(void *context, const char *name)
{
	return function(context, name);
}

/* ---- what travels along ---------------------------------------------------------------------------- */

static void add_image(struct strip_names *names, struct recording_image image, struct diag *diag)
{
	if (is_kernels(image.path)) {
		vec_push(&names->images, image);
		return;
	}
	if (!image.partial)
		return;
	image.path = pseudonym_of_path(&names->pseudonyms, image.path);
	pseudonym_build_id(&names->pseudonyms, image.build_id, image.build_id_len);

	struct bundle_names as = {
		.symbol = new_symbol,
		.context = names,
		.build_id = image.build_id,
		.build_id_len = image.build_id_len,
	};
	struct writer *bytes = new_bytes(names);
	struct err *err = bundle_rename(image.elf, image.elf_len, &as, bytes);

	if (err) {
		diag_err(diag, err_wrap(err, "an embedded file is left out"));
		return;
	}
	image.elf = bytes->data;
	image.elf_len = bytes->len;
	vec_push(&names->images, image);
}

static void rename_lines(struct strip_names *names, const struct line_table *table,
			 struct writer *out)
{
	struct line_table_maker *maker = line_table_maker_new();
	struct pseudonyms *p = &names->pseudonyms;
	struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];
	uint64_t begin, end;

	for (size_t i = 0; line_table_range(table, i, &begin, &end); i++) {
		size_t count = line_table_find(table, begin, frames);

		for (size_t at = 0; at < count; at++) {
			frames[at].linkage_name = function(names, frames[at].linkage_name);
			frames[at].name = function(names, frames[at].name);
			frames[at].file = pseudonym_of(p, PSEUDONYM_FILE, frames[at].file);
			frames[at].decl_file = pseudonym_of(p, PSEUDONYM_FILE, frames[at].decl_file);
		}
		line_table_maker_add(maker, begin, end, frames, count);
	}
	line_table_maker_finish(maker, out);
	line_table_maker_free(maker);
}

static void add_lines(struct strip_names *names, struct recording_lines lines, struct diag *diag)
{
	struct line_table *table;

	if (is_kernels(lines.path)) {
		vec_push(&names->lines, lines);
		return;
	}
	struct err *err = line_table_new(lines.table, lines.table_len, &table);

	if (err) {
		diag_err(diag, err_wrap(err, "a table of lines is left out"));
		return;
	}
	struct writer *bytes = new_bytes(names);

	rename_lines(names, table, bytes);
	line_table_free(table);
	lines.path = pseudonym_of_path(&names->pseudonyms, lines.path);
	pseudonym_build_id(&names->pseudonyms, lines.build_id, lines.build_id_len);
	lines.table = bytes->data;
	lines.table_len = bytes->len;
	vec_push(&names->lines, lines);
}

static void add_ksym(struct strip_names *names, struct recording_ksym sym)
{
	if (*sym.module) {
		sym.name = function(names, sym.name);
		sym.module = pseudonym_of_module(&names->pseudonyms, sym.module);
	}
	vec_push(&names->ksyms, sym);
}

/* Code that was made at run time is left out: what it holds is not known. */
static void add_jit_map(struct strip_names *names, struct recording_jit_map map)
{
	struct jit_map *old = jit_map_new_dumped(map.text, map.len, map.dump, map.dump_len);
	struct writer *bytes = new_bytes(names);
	size_t count;
	const struct jit_symbol *symbols = jit_map_symbols(old, &count);

	for (size_t i = 0; i < count; i++) {
		char numbers[40];
		const char *name = *symbols[i].name ? function(names, symbols[i].name) : NULL;

		if (!name)
			continue;
		snprintf(numbers, sizeof(numbers), "%" PRIx64 " %" PRIx64 " ", symbols[i].start,
			 symbols[i].len);
		writer_bytes(bytes, numbers, strlen(numbers));
		writer_bytes(bytes, name, strlen(name));
		writer_u8(bytes, '\n');
	}
	jit_map_free(old);
	map.text = (const char *)bytes->data;
	map.len = bytes->len;
	map.dump = NULL;
	map.dump_len = 0;
	if (map.len)
		vec_push(&names->jit_maps, map);
}

static void add_note(struct strip_names *names, const char *text)
{
	struct recording_note note = { .subject = "", .text = text };

	vec_push(&names->notes, note);
}

/* Notes put names in quotes; a path needs none. */
static void add_notes(struct strip_names *names, const struct recording *rec)
{
	struct arena *arena = &names->pseudonyms.arena;
	size_t left_out = 0;

	for (size_t i = 0; i < rec->nnotes; i++) {
		if (strpbrk(recording_note_text(&rec->notes[i], arena), "'\"/"))
			left_out++;
		else
			vec_push(&names->notes, rec->notes[i]);
	}
	add_note(names, "names were replaced by preport strip");
	if (left_out)
		add_note(names, arena_printf(arena,
					     "%zu notes of the recorder are left out, since they name something",
					     left_out));
}

void strip_names_recording(struct strip_names *names, struct recording *as, struct diag *diag)
{
	for (size_t i = 0; i < as->nimages; i++)
		add_image(names, as->images[i], diag);
	for (size_t i = 0; i < as->nlines; i++)
		add_lines(names, as->lines[i], diag);
	for (size_t i = 0; i < as->nksyms; i++)
		add_ksym(names, as->ksyms[i]);
	for (size_t i = 0; i < as->njit_maps; i++)
		add_jit_map(names, as->jit_maps[i]);
	add_notes(names, as);
	as->cmdline = "";
	as->images = names->images.items;
	as->nimages = names->images.len;
	as->lines = names->lines.items;
	as->nlines = names->lines.len;
	as->ksyms = names->ksyms.items;
	as->nksyms = names->ksyms.len;
	as->jit_maps = names->jit_maps.items;
	as->njit_maps = names->jit_maps.len;
	as->notes = names->notes.items;
	as->nnotes = names->notes.len;
}

/* ---- events ---------------------------------------------------------------------------------------- */

static void rename_mapping(struct strip_names *names, struct event_mmap *map)
{
	bool kernel = map->flags & EVENT_MMAP_KERNEL;

	if (is_kernels(map->path) || (kernel && strncmp(map->path, "[kernel", 7) == 0) ||
	    (kernel && strncmp(map->path, "[guest.kernel", 13) == 0))
		return;
	map->path = kernel ? pseudonym_of_module(&names->pseudonyms, map->path) :
			     pseudonym_of_path(&names->pseudonyms, map->path);
	pseudonym_build_id(&names->pseudonyms, map->build_id, map->build_id_len);
	map->device = map->inode = map->generation = 0;
}

/* An interpreter's functions are the program's own. */
static void rename_managed(struct strip_names *names, struct event_managed *managed)
{
	struct pseudonyms *p = &names->pseudonyms;

	names->frames.len = 0;
	for (size_t i = 0; i < managed->nframes; i++) {
		struct event_managed_frame frame = managed->frames[i];

		frame.name = function(names, frame.name);
		frame.file = pseudonym_of(p, PSEUDONYM_FILE, frame.file);
		frame.locals = "";
		vec_push(&names->frames, frame);
	}
	managed->frames = names->frames.items;
	managed->module = pseudonym_of_path(p, managed->module);
	managed->nlabels = 0;
}

void strip_names_event(struct strip_names *names, struct event *ev)
{
	struct pseudonyms *p = &names->pseudonyms;

	switch (ev->kind) {
	case EVENT_SAMPLE:
		ev->sample.raw_len = 0;
		break;
	case EVENT_MMAP:
		rename_mapping(names, &ev->mmap);
		break;
	case EVENT_COMM:
		ev->comm.comm = pseudonym_of(p, PSEUDONYM_THREAD, ev->comm.comm);
		break;
	case EVENT_KSYMBOL:
		ev->ksymbol.name = function(names, ev->ksymbol.name);
		break;
	case EVENT_MANAGED:
		rename_managed(names, &ev->managed);
		break;
	case EVENT_CGROUP:
		ev->cgroup.path = pseudonym_of(p, PSEUDONYM_CGROUP, ev->cgroup.path);
		break;
	case EVENT_DESCRIPTOR:
		ev->descriptor.name = "";
		break;
	case EVENT_PROCESS:
		ev->process.cmdline = "";
		if (*ev->process.cgroup)
			ev->process.cgroup = pseudonym_of(p, PSEUDONYM_CGROUP, ev->process.cgroup);
		ev->process.uid = UINT32_MAX;
		break;
	default:
		break;
	}
}
