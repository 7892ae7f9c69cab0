/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supplement.c - the link is a path, a NUL and a build ID.
 */
#include "symbolize/debug/supplement.h"

#include "formats/base/arena.h"
#include "formats/base/reader.h"

#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"

struct link {
	const char *path;
	const uint8_t *id;
	size_t id_len;
};

static bool read_link(struct image *img, struct link *ret)
{
	struct image_section section;
	struct reader r;

	if (!image_section(img, ".gnu_debugaltlink", &section))
		return false;
	reader_init(&r, section.data, section.len, /* big_endian= */ false);
	ret->path = reader_string(&r, "supplementary file");
	ret->id_len = reader_left(&r);
	ret->id = reader_bytes(&r, ret->id_len, "build ID");
	return !r.failed && *ret->path && ret->id_len && ret->id_len <= IMAGE_BUILD_ID_MAX;
}

static struct image *open_matching(const char *path, const struct link *link)
{
	struct image *img = NULL;
	struct err *err = image_open(path, &img);
	size_t len = 0;
	const uint8_t *id = img ? image_build_id(img, &len) : NULL;

	err_free(err);
	if (img && (len != link->id_len || memcmp(id, link->id, len) != 0)) {
		image_close(img);
		img = NULL;
	}
	return img;
}

/* What comes before "/usr/lib/debug" in the image's path, for files below another root. */
static const char *root_of(struct arena *arena, const char *path)
{
	const char *at = strstr(path, DEBUG_ROOT "/");

	return at ? arena_memdup(arena, path, (size_t)(at - path)) : "";
}

struct image *debug_supplement_open(struct image *img)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct link link;

	if (!read_link(img, &link))
		return NULL;
	char hex[2 * IMAGE_BUILD_ID_MAX + 1];
	const char *path = image_path(img);
	const char *root = root_of(&arena, path);
	const char *slash = strrchr(path, '/');

	image_build_id_hex(link.id, link.id_len, hex);
	const char *candidates[] = {
		arena_printf(&arena, "%s" DEBUG_ROOT "/.build-id/%.2s/%s.debug", root, hex,
			     hex + 2),
		link.path[0] == '/'
			? arena_printf(&arena, "%s%s", root, link.path)
			: arena_printf(&arena, "%.*s/%s", slash ? (int)(slash - path) : 1,
				       slash ? path : ".", link.path),
		link.path[0] == '/' ? link.path
				    : arena_printf(&arena, "%s" DEBUG_ROOT "/%s", root, link.path),
	};
	struct image *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(candidates) && !found; i++)
		found = open_matching(candidates[i], &link);
	return found;
}
