/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_table.c - modules by path and build ID. Their files are in module_files.c.
 */
#include "symbolize/module/module_parts.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/process/mapping.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEVERAL UINT64_MAX

static void index_images(struct module_table *table)
{
	for (size_t i = 0; i < table->rec->nimages; i++) {
		const char *path = table->rec->images[i].path;
		bool is_new;
		uint64_t *slot =
			map_put(&table->images, map_hash_bytes(0, path, strlen(path)), &is_new);

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
	image_close(table->running);
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
	uint64_t hash = map_hash_bytes(0xcbf29ce484222325ULL + key->kind, key->path, key->path_len);

	return map_hash_bytes(hash, key->build_id, key->build_id_len);
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
	const uint64_t *slot = map_get(&table->images, map_hash_bytes(0, key->path, key->path_len));
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

void module_table_jit_dump(struct module_table *table, uint32_t pid, const char *path)
{
	bool deleted;
	size_t len = mapping_path_len(path, &deleted);
	struct module *mod = module_table_jit(table, pid);

	if (!mod->dump_path || strncmp(mod->dump_path, path, len) != 0 || mod->dump_path[len])
		mod->dump_path = arena_memdup(&table->arena, path, len);
}

const char *module_dump_file(const struct module_table *table, const struct module *mod)
{
	if (!mod->dump_path || !table->search || !table->search->symfs)
		return mod->dump_path;
	return arena_printf(((const struct entry *)mod)->arena, "%s%s", table->search->symfs,
			    mod->dump_path);
}

struct module *module_table_unknown(struct module_table *table)
{
	if (!table->unknown)
		table->unknown =
			add(table, MODULE_UNKNOWN, "[unknown]", strlen("[unknown]"))->mod.id + 1;
	return &table->entries.items[table->unknown - 1]->mod;
}

struct module *module_table_guest(struct module_table *table, enum event_mode mode)
{
	return module_table_file(table, MODULE_GUEST, mode == EVENT_MODE_GUEST_KERNEL ? "[guest kernel]" : "[guest user]",
				 NULL, 0);
}

void module_table_prepare(struct module_table *table)
{
	module_table_unknown(table);
	module_table_guest(table, EVENT_MODE_GUEST_KERNEL);
	module_table_guest(table, EVENT_MODE_GUEST_USER);
}

size_t module_table_len(const struct module_table *table)
{
	return table->entries.len;
}

struct module *module_table_get(const struct module_table *table, uint32_t id)
{
	return &table->entries.items[id]->mod;
}

struct diag *module_table_diag(const struct module_table *table)
{
	return table->diag;
}

const struct recording *module_table_recording(const struct module_table *table)
{
	return table->rec;
}
