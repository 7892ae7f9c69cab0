/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - modules by path and build ID, and the files behind them, opened on first need.
 *
 * Three files can stand behind a module: the image embedded in the trace, the binary itself, and its
 * separate debug file. Each is looked for at most once. An embedded image is trusted for what it is: the
 * recorder took it from the very file that was mapped. The others must have the recorded build ID; where
 * none was recorded, the embedded image's counts, and where there is no such either the file at the path
 * is taken with a note.
 */
#include "symbolize/module.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/mapping.h"
#include "symbolize/debugfile.h"
#include "symbolize/elf/vdso.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEVERAL UINT64_MAX

/* A file that is opened once. */
struct source {
	bool tried;
	enum debugfile_result result;
	struct image *image;
	const char *found; /* the file that was there and not taken */
};

struct entry {
	struct module mod; /* first, so that a module is its entry */
	struct entry *next_same_hash;
	const struct recording_image *recorded;
	struct source embedded, binary, separate;
	enum module_status status;
	struct arena *arena; /* the table's */
};

struct module_table {
	const struct recording *rec;
	const struct module_search *search;
	struct diag *diag;
	struct arena arena;
	struct recording nothing; /* where there is no recording */
	VEC(struct entry *) entries;
	struct map by_hash;    /* of path and build ID -> first entry + 1 by id */
	struct map images;     /* by path -> the only embedded one + 1, or SEVERAL */
	struct map by_jit_pid; /* -> id + 1 */
	uint32_t unknown;      /* id + 1 */
};

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL; /* FNV-1a */
	return hash;
}

static void index_images(struct module_table *table)
{
	for (size_t i = 0; i < table->rec->nimages; i++) {
		const char *path = table->rec->images[i].path;
		bool is_new;
		uint64_t *slot =
			map_put(&table->images, hash_bytes(0, path, strlen(path)), &is_new);

		*slot = is_new ? i + 1 : SEVERAL;
	}
}

struct module_table *module_table_new(const struct recording *rec,
				      const struct module_search *search, struct diag *diag)
{
	struct module_table *table = memory_zeroed(1, sizeof(*table));

	table->rec = rec ? rec : &table->nothing;
	table->search = search;
	table->diag = diag;
	index_images(table);
	return table;
}

void module_table_free(struct module_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->entries.len; i++) {
		struct entry *e = table->entries.items[i];

		image_close(e->embedded.image);
		image_close(e->binary.image);
		image_close(e->separate.image);
	}
	vec_deinit(&table->entries);
	map_deinit(&table->by_hash);
	map_deinit(&table->images);
	map_deinit(&table->by_jit_pid);
	arena_deinit(&table->arena);
	free(table);
}

/* ---- finding and adding ---------------------------------------------------------------------------- */

/* Several kernel modules are shown by their bare names, as lsmod does. */
static const char *kernel_module_name(struct arena *arena, const char *file)
{
	const char *end = strstr(file, ".ko");

	if (*file == '[')
		return file;
	return arena_printf(arena, "[%.*s]", end ? (int)(end - file) : (int)strlen(file), file);
}

static const char *name_of(struct arena *arena, enum module_kind kind, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash && slash[1] ? slash + 1 : path;

	if (kind == MODULE_KERNEL)
		return "[kernel]";
	if (kind == MODULE_KERNEL_MODULE)
		return kernel_module_name(arena, file);
	return file;
}

static struct entry *add(struct module_table *table, enum module_kind kind, const char *path,
			 size_t path_len)
{
	struct entry *e = ARENA_NEW(&table->arena, struct entry);

	e->arena = &table->arena;
	e->mod.id = (uint32_t)table->entries.len;
	e->mod.kind = kind;
	e->mod.path = arena_memdup(&table->arena, path, path_len);
	e->mod.name = name_of(&table->arena, kind, e->mod.path);
	vec_push(&table->entries, e);
	return e;
}

/* What tells one module from another. */
struct key {
	enum module_kind kind;
	const char *path;
	size_t path_len;
	bool deleted;
	const uint8_t *build_id;
	size_t build_id_len;
};

static uint64_t key_hash(const struct key *key)
{
	uint64_t hash = hash_bytes(0xcbf29ce484222325ULL + key->kind, key->path, key->path_len);

	return hash_bytes(hash, key->build_id, key->build_id_len);
}

/* With a build ID it does not matter whether the file was gone at the time; without one it does. */
static bool key_is(const struct key *key, const struct entry *e)
{
	const struct module *mod = &e->mod;

	return mod->kind == key->kind && strncmp(mod->path, key->path, key->path_len) == 0 &&
	       !mod->path[key->path_len] && mod->build_id_len == key->build_id_len &&
	       (!key->build_id_len ||
		memcmp(mod->build_id, key->build_id, key->build_id_len) == 0) &&
	       (key->build_id_len || mod->deleted == key->deleted);
}

/* The kernel proper has one name and its build ID from the header of the recording. */
static struct key make_key(const struct module_table *table, enum module_kind kind,
			   const char *path)
{
	struct key key = { .kind = kind, .path = path };

	if (kind == MODULE_KERNEL) {
		key.path = "[kernel]";
		key.build_id = table->rec->kernel_build_id;
		key.build_id_len = table->rec->kernel_build_id_len;
	}
	key.path_len = mapping_path_len(key.path, &key.deleted);
	return key;
}

/*
 * Mappings from before the recording come without build IDs. What was sampled at their path and embedded is
 * their file, unless that was gone by then.
 */
static void adopt_build_id(const struct module_table *table, struct key *key)
{
	const uint64_t *slot = map_get(&table->images, hash_bytes(0, key->path, key->path_len));
	const struct recording_image *image =
		slot && *slot != SEVERAL ? &table->rec->images[*slot - 1] : NULL;

	if (!image || key->deleted || strncmp(image->path, key->path, key->path_len) != 0 ||
	    image->path[key->path_len])
		return;
	key->build_id = image->build_id;
	key->build_id_len = image->build_id_len;
}

struct module *module_table_file(struct module_table *table, enum module_kind kind,
				 const char *path, const uint8_t *build_id, size_t build_id_len)
{
	struct key key = make_key(table, kind, path);

	if (build_id_len && build_id_len <= IMAGE_BUILD_ID_MAX) {
		key.build_id = build_id;
		key.build_id_len = build_id_len;
	} else if (kind == MODULE_FILE || kind == MODULE_VDSO) {
		adopt_build_id(table, &key);
	}
	uint64_t *slot = map_put(&table->by_hash, key_hash(&key), NULL);
	struct entry *first = *slot ? table->entries.items[*slot - 1] : NULL;

	for (struct entry *e = first; e; e = e->next_same_hash) {
		if (!key_is(&key, e))
			continue;
		e->mod.deleted |= key.deleted;
		return &e->mod;
	}
	struct entry *e = add(table, kind, key.path, key.path_len);

	e->mod.deleted = key.deleted;
	e->mod.build_id_len = (uint8_t)key.build_id_len;
	if (key.build_id_len)
		memcpy(e->mod.build_id, key.build_id, key.build_id_len);
	e->next_same_hash = first;
	*slot = (uint64_t)e->mod.id + 1;
	return &e->mod;
}

struct module *module_table_jit(struct module_table *table, uint32_t pid)
{
	uint64_t *slot = map_put(&table->by_jit_pid, pid, NULL);

	if (!*slot) {
		const char *path = arena_printf(&table->arena, "[jit %" PRIu32 "]", pid);
		struct entry *e = add(table, MODULE_JIT, path, strlen(path));

		e->mod.pid = pid;
		*slot = (uint64_t)e->mod.id + 1;
	}
	return &table->entries.items[*slot - 1]->mod;
}

struct module *module_table_unknown(struct module_table *table)
{
	if (!table->unknown)
		table->unknown =
			add(table, MODULE_UNKNOWN, "[unknown]", strlen("[unknown]"))->mod.id + 1;
	return &table->entries.items[table->unknown - 1]->mod;
}

size_t module_table_len(const struct module_table *table)
{
	return table->entries.len;
}

struct module *module_table_get(const struct module_table *table, uint32_t id)
{
	return &table->entries.items[id]->mod;
}

const struct recording *module_table_recording(const struct module_table *table)
{
	return table->rec;
}

/* ---- the files behind a module --------------------------------------------------------------------- */

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

static struct image *separate(struct module_table *table, struct entry *e)
{
	struct source *src = &e->separate;

	if (src->tried || (e->mod.kind != MODULE_FILE && e->mod.kind != MODULE_KERNEL))
		return src->image;
	src->tried = true;
	struct debugfile_wanted wanted = wanted_file(table, e);

	if (e->mod.kind == MODULE_KERNEL) {
		const char *release = table->rec->os_release;

		src->result = debugfile_kernel(table->search, &wanted, release ? release : "",
					       &table->arena, &src->image, &src->found);
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
		[DEBUGFILE_BROKEN] = MODULE_BROKEN,
	};

	return statuses[result];
}

/* Said once per module, when its file was needed and is not to be had. */
static void warn_unusable(struct module_table *table, const struct entry *e)
{
	if (e->binary.result == DEBUGFILE_MISMATCH)
		diag_warn(table->diag, "'%s' is not the file that was recorded: not used",
			  e->binary.found);
	else if (e->binary.result == DEBUGFILE_BROKEN)
		diag_warn(table->diag, "'%s' is not usable ELF", e->binary.found);
	else if (e->binary.result == DEBUGFILE_UNVERIFIED)
		diag_warn(table->diag, "no build ID was recorded for some binaries: the files at "
				       "their paths are taken on trust");
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

struct image *module_code(struct module_table *table, struct module *mod)
{
	struct entry *e = entry_of(mod);
	struct image *img = embedded(table, e);

	if (img && !(e->recorded && e->recorded->partial))
		return img;
	struct image *own = binary(table, e);

	return own ? own : img;
}

size_t module_name_images(struct module_table *table, struct module *mod, struct image *ret[4])
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
