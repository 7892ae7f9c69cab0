/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_files.c - the files behind a module, opened on first need.
 *
 * There may be three: the image embedded in the trace, the binary itself, and its separate debug file.
 * Each is looked for at most once. An embedded image is trusted for what it is: the recorder took it from
 * the very file that was mapped. The others must have the recorded build ID; where none was recorded, the
 * embedded image's counts, and where there is no such either the file at the path is taken with a note.
 */
#include "symbolize/module/module_parts.h"

#include "symbolize/elf/vdso.h"

#include <string.h>

static struct entry *entry_of(struct module *mod)
{
	return (struct entry *)mod;
}

static bool has_file(const struct module *mod)
{
	return mod->kind == MODULE_FILE || mod->kind == MODULE_VDSO;
}

/* The embedded image with this build ID; without one, the only image from this path. */
static const struct recording_image *find_recorded(const struct recording *rec,
						   const struct module *mod)
{
	const struct recording_image *by_path = NULL;
	size_t npaths = 0;

	for (size_t i = 0; i < rec->nimages; i++) {
		const struct recording_image *image = &rec->images[i];

		if (debugfile_same_id(image->build_id, image->build_id_len, mod->build_id,
				      mod->build_id_len))
			return image;
		if (strcmp(image->path, mod->path) == 0 &&
		    (!image->build_id_len || !mod->build_id_len)) {
			by_path = image;
			npaths++;
		}
	}
	return npaths == 1 ? by_path : NULL;
}

/* The vdso of this machine serves when it is the one that was recorded. */
static struct image *open_own_vdso(const struct module *mod)
{
	struct image *img;
	size_t id_len, len;
	const uint8_t *bytes = vdso_own(&len);

	if (mod->kind != MODULE_VDSO || !bytes || !mod->build_id_len)
		return NULL;
	struct err *err = image_open_memory(bytes, len, "[vdso]", &img);

	if (err) {
		err_free(err);
		return NULL;
	}
	const uint8_t *id = image_build_id(img, &id_len);

	if (debugfile_same_id(id, id_len, mod->build_id, mod->build_id_len))
		return img;
	image_close(img);
	return NULL;
}

static struct image *embedded(struct module_table *table, struct entry *e)
{
	struct source *src = &e->embedded;

	if (src->tried || !has_file(&e->mod))
		return src->image;
	src->tried = true;
	e->recorded = find_recorded(table->rec, &e->mod);
	if (!e->recorded) {
		src->image = open_own_vdso(&e->mod);
		return src->image;
	}
	struct err *err =
		image_open_memory(e->recorded->elf, e->recorded->elf_len, e->mod.path, &src->image);

	if (err)
		diag_err(table->diag, err_wrap(err, "embedded in the trace"));
	return src->image;
}

/* What a file has to be; the embedded image may know the build ID that the mapping did not. */
static struct debugfile_wanted wanted_file(struct module_table *table, struct entry *e)
{
	struct debugfile_wanted wanted = {
		.path = e->mod.path,
		.build_id = e->mod.build_id,
		.build_id_len = e->mod.build_id_len,
		.deleted = e->mod.deleted,
	};

	if (!wanted.build_id_len && embedded(table, e))
		wanted.build_id = image_build_id(e->embedded.image, &wanted.build_id_len);
	return wanted;
}

static struct image *binary(struct module_table *table, struct entry *e)
{
	struct source *src = &e->binary;

	if (src->tried || e->mod.kind != MODULE_FILE)
		return src->image;
	src->tried = true;
	struct debugfile_wanted wanted = wanted_file(table, e);

	src->result =
		debugfile_binary(table->search, &wanted, &table->arena, &src->image, &src->found);
	return src->image;
}

static bool has_separate(const struct module *mod)
{
	return mod->kind == MODULE_FILE || mod->kind == MODULE_KERNEL ||
	       mod->kind == MODULE_KERNEL_MODULE;
}

static struct image *separate(struct module_table *table, struct entry *e)
{
	struct source *src = &e->separate;

	if (src->tried || !has_separate(&e->mod))
		return src->image;
	src->tried = true;
	struct debugfile_wanted wanted = wanted_file(table, e);

	if (e->mod.kind != MODULE_FILE) {
		const char *release = table->rec->os_release ? table->rec->os_release : "";

		src->result = (e->mod.kind == MODULE_KERNEL ? debugfile_kernel
							    : debugfile_kernel_module)(
			table->search, &wanted, release, &table->arena, &src->image, &src->found);
		return src->image;
	}
	struct image *own = binary(table, e);

	if (own && !wanted.build_id_len)
		wanted.build_id = image_build_id(own, &wanted.build_id_len);
	src->result = debugfile_separate(table->search, &wanted, own, &table->arena, &src->image,
					 &src->found);
	return src->image;
}

static enum module_status status_of(enum debugfile_result result)
{
	static const enum module_status statuses[] = {
		[DEBUGFILE_FOUND] = MODULE_READY,     [DEBUGFILE_UNVERIFIED] = MODULE_READY,
		[DEBUGFILE_MISSING] = MODULE_MISSING, [DEBUGFILE_MISMATCH] = MODULE_MISMATCH,
		[DEBUGFILE_BROKEN] = MODULE_BROKEN,   [DEBUGFILE_32_BIT] = MODULE_32_BIT,
	};

	return statuses[result];
}

/* Said once per module, when its file was needed and is not to be had. */
static void warn_unusable(struct module_table *table, const struct entry *e)
{
	if (e->binary.result == DEBUGFILE_MISMATCH)
		diag_warn(table->diag, "'%s' is not the file that was recorded: not used",
			  e->binary.found);
	else if (e->binary.result == DEBUGFILE_BROKEN && (e->mod.has_code || !e->mod.has_data))
		diag_warn(table->diag, "'%s' is not usable ELF", e->binary.found);
	else if (e->binary.result == DEBUGFILE_32_BIT)
		diag_warn(table->diag, "'%s' is of a 32-bit program: it is not read, nor are its stacks followed",
			  e->binary.found);
}

static void warn_defect(struct module_table *table, struct image *img)
{
	const char *defect = img ? image_defect(img) : NULL;

	if (defect)
		diag_warn(table->diag, "'%s' is damaged: %s", image_path(img), defect);
}

static void take_defect(struct image *img, struct image *other)
{
	const char *defect = img && other ? image_defect(other) : NULL;

	if (defect)
		image_note_defect(img, "%s", defect);
}

void module_take_defects(struct module *mod, struct module *other)
{
	mod->rows_from_file |= other->rows_from_file;
	take_defect(entry_of(mod)->embedded.image, entry_of(other)->embedded.image);
	take_defect(entry_of(mod)->binary.image, entry_of(other)->binary.image);
}

void module_table_warn_defects(struct module_table *table)
{
	for (size_t i = 0; i < table->entries.len; i++) {
		const struct entry *e = table->entries.items[i];

		warn_defect(table, e->embedded.image);
		warn_defect(table, e->binary.image);
		warn_defect(table, e->separate.image);
		if (e->mod.rows_from_file)
			diag_warn(table->diag,
				  "the trace lacks unwind rows of '%s': they were read from the file here, "
				  "which has the same build ID",
				  e->mod.path);
	}
}

struct image *module_image(struct module_table *table, struct module *mod)
{
	struct entry *e = entry_of(mod);
	struct image *img;

	if (!has_file(mod)) {
		e->status = MODULE_NO_FILE;
		return NULL;
	}
	img = embedded(table, e);
	if (!img)
		img = binary(table, e);
	if (e->status == MODULE_NOT_TRIED) {
		e->status = img ? MODULE_READY : status_of(e->binary.result);
		if (!img && e->mod.kind == MODULE_VDSO)
			e->status = MODULE_MISSING;
		if (!e->embedded.image)
			warn_unusable(table, e);
	}
	return img;
}

struct image *module_whole_file(struct module_table *table, struct module *mod)
{
	struct entry *e = entry_of(mod);

	if (!has_file(mod) || !embedded(table, e) || !e->recorded || !e->recorded->partial)
		return NULL;
	struct image *img = binary(table, e);

	return e->binary.result == DEBUGFILE_FOUND ? img : NULL;
}

static struct image *running_kernel(struct module_table *table)
{
	const struct recording_kernel_code *code = &table->rec->kernel_code;

	if (table->running_tried || !code->elf_len)
		return table->running;
	table->running_tried = true;
	struct err *err =
		image_open_memory(code->elf, code->elf_len, "[kernel]", &table->running);

	if (err)
		diag_err(table->diag, err_wrap(err, "the kernel's code in the trace"));
	return table->running;
}

struct image *module_code(struct module_table *table, struct module *mod)
{
	if (mod->kind == MODULE_KERNEL || mod->kind == MODULE_KERNEL_MODULE)
		return running_kernel(table);
	struct entry *e = entry_of(mod);
	struct image *img = embedded(table, e);

	if (img && !(e->recorded && e->recorded->partial))
		return img;
	struct image *own = binary(table, e);

	return own ? own : img;
}

size_t module_name_images(struct module_table *table, struct module *mod,
			  struct image *ret[MODULE_NAME_IMAGES_MAX])
{
	struct entry *e = entry_of(mod);
	struct image *sources[] = { separate(table, e), binary(table, e), embedded(table, e) };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		if (sources[i])
			ret[count++] = sources[i];
	}
	return count;
}

bool module_image_is_embedded(const struct module *mod, const struct image *img)
{
	return img == ((const struct entry *)mod)->embedded.image;
}

bool module_is_unverified(const struct module *mod)
{
	return ((const struct entry *)mod)->binary.result == DEBUGFILE_UNVERIFIED;
}

enum module_status module_status(const struct module *mod)
{
	return ((const struct entry *)mod)->status;
}

/* ---- in words -------------------------------------------------------------------------------------- */

static const char *found_note(const struct entry *e)
{
	const char *trust = e->binary.result == DEBUGFILE_UNVERIFIED
				    ? " (unverified: no build ID was recorded)"
				    : "";
	const char *parts[] = {
		e->separate.image ? image_path(e->separate.image) : NULL,
		e->binary.image ? image_path(e->binary.image) : NULL,
		e->embedded.image ? "the trace" : NULL,
	};
	const char *text = "";

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i])
			text = arena_printf(e->arena, "%s%s%s%s", text, *text ? ", " : "from ",
					    parts[i], i == 1 ? trust : "");
	}
	return text;
}

static const char *missing_note(const struct entry *e)
{
	if (!has_file(&e->mod))
		return "";
	switch (e->binary.result) {
	case DEBUGFILE_MISMATCH:
		return arena_printf(e->arena,
				    "'%s' has another build ID; put the right file below --symfs "
				    "or --debug-dir",
				    e->binary.found);
	case DEBUGFILE_BROKEN:
		return arena_printf(e->arena, "'%s' is not usable ELF", e->binary.found);
	case DEBUGFILE_32_BIT:
		return arena_printf(e->arena, "'%s' is of a 32-bit program", e->binary.found);
	default:
		return e->mod.deleted && !e->mod.build_id_len
			       ? "it was deleted while it was recorded and has no build ID to find "
				 "it by"
			       : "no such file here; give the recorded machine's files with "
				 "--symfs";
	}
}

const char *module_files_note(const struct module *mod)
{
	const struct entry *e = (const struct entry *)mod;
	bool found = e->separate.image || e->binary.image || e->embedded.image;

	return found ? found_note(e) : missing_note(e);
}
