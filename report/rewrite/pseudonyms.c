/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pseudonyms.c - a table of names for each kind, whose numbers are what the pseudonyms count by.
 */
#include "report/rewrite/pseudonyms.h"

#include "formats/process/mapping.h"
#include "symbolize/elf/image.h"
#include "symbolize/unwind/unwind.h"

#include <inttypes.h>
#include <string.h>

#define PLT_SUFFIX "@plt"

void pseudonyms_deinit(struct pseudonyms *p)
{
	for (size_t i = 0; i < PSEUDONYM_KINDS; i++) {
		strtab_deinit(&p->names[i]);
		vec_deinit(&p->texts[i]);
	}
	arena_deinit(&p->arena);
}

static uint32_t number_of(struct pseudonyms *p, enum pseudonym_kind kind, const char *name)
{
	strtab_add(&p->names[kind], ""); /* number 0 */
	return strtab_add(&p->names[kind], name);
}

const char *pseudonym_of(struct pseudonyms *p, enum pseudonym_kind kind, const char *name)
{
	static const char *const words[PSEUDONYM_KINDS] = {
		[PSEUDONYM_THREAD] = "thread",	   [PSEUDONYM_FILE] = "file",
		[PSEUDONYM_FUNCTION] = "function", [PSEUDONYM_KERNEL_MODULE] = "module",
		[PSEUDONYM_CGROUP] = "cgroup",	   [PSEUDONYM_BUILD_ID] = "id",
	};

	if (!name || !*name)
		return name;
	uint32_t number = number_of(p, kind, name);

	while (p->texts[kind].len <= number) {
		const char *text = arena_printf(&p->arena, "%s%zu", words[kind], p->texts[kind].len);

		vec_push(&p->texts[kind], text);
	}
	return p->texts[kind].items[number];
}

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The beginning of @path that is the kernel's own and says what kind of mapping it is; all of it if no name follows. */
static size_t kernel_part(const char *path)
{
	static const char *const named[] = {
		"[anon:", "[anon_shmem:", "/memfd:", "/dev/shm/", "/SYSV", "/dmabuf:",
	};

	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		if (starts_with(path, named[i]))
			return strlen(named[i]);
	}
	if (path[0] == '[' || starts_with(path, "//") || starts_with(path, "anon_inode:") ||
	    starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage"))
		return strlen(path);
	return path[0] == '/';
}

const char *pseudonym_of_path(struct pseudonyms *p, const char *path)
{
	bool deleted;
	size_t len = mapping_path_len(path, &deleted);
	size_t own = MIN(kernel_part(path), len);

	if (own == len)
		return path;
	const char *name = arena_memdup(&p->arena, path + own, len - own);

	return arena_printf(&p->arena, "%.*s%s%s%s", (int)own, path,
			    pseudonym_of(p, PSEUDONYM_FILE, name), path[0] == '[' ? "]" : "",
			    deleted ? " (deleted)" : "");
}

const char *pseudonym_of_module(struct pseudonyms *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	bool bracket = *file == '[';
	const char *ko = strstr(file, ".ko");
	size_t len = bracket ? strcspn(file + 1, "]") : ko ? (size_t)(ko - file) : strlen(file);
	const char *name = arena_memdup(&p->arena, file + bracket, len);

	/* Not modules, but what the kernel calls code that it makes itself. */
	if (!*path || strcmp(name, "bpf") == 0 || starts_with(name, "__builtin__"))
		return path;
	name = pseudonym_of(p, PSEUDONYM_KERNEL_MODULE, name);
	return arena_printf(&p->arena, "%s%s%s", bracket ? "[" : slash ? "/" : "", name,
			    bracket ? "]" : ko ? ".ko" : "");
}

const char *pseudonym_of_function(struct pseudonyms *p, const char *name)
{
	size_t len = name ? strlen(name) : 0, suffix = strlen(PLT_SUFFIX);

	if (name && unwind_is_start_name(name))
		return name;
	if (len <= suffix || strcmp(name + len - suffix, PLT_SUFFIX) != 0)
		return pseudonym_of(p, PSEUDONYM_FUNCTION, name);
	const char *target = arena_memdup(&p->arena, name, len - suffix);

	return arena_printf(&p->arena, "%s" PLT_SUFFIX, pseudonym_of_function(p, target));
}

void pseudonym_build_id(struct pseudonyms *p, uint8_t *id, size_t len)
{
	char hex[2 * IMAGE_BUILD_ID_MAX + 1];

	if (!len || len > IMAGE_BUILD_ID_MAX)
		return;
	image_build_id_hex(id, len, hex);
	uint32_t number = number_of(p, PSEUDONYM_BUILD_ID, hex);

	for (size_t i = 0; i < len; i++) {
		size_t shift = 8 * (len - 1 - i);

		id[i] = shift < 32 ? (uint8_t)(number >> shift) : 0;
	}
}
