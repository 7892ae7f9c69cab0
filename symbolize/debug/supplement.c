/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supplement.c - two ways to name the file and to say which one is meant.
 *
 *	.gnu_debugaltlink   path, NUL, build ID
 *	.debug_sup          version 5 (2 bytes), 0, path, NUL, length of the checksum, checksum; the supplementary file
 *			    has a section of that name as well, with 1 and the same checksum (DWARF 5, 7.3.6)
 */
#include "symbolize/debug/supplement.h"

#include "formats/base/arena.h"
#include "formats/base/reader.h"

#include <string.h>

#define DEBUG_ROOT   "/usr/lib/debug"
#define CHECKSUM_MAX 64

struct link {
	const char *path;
	const uint8_t *id; /* build ID or checksum */
	size_t id_len;
	bool by_checksum;
};

static bool read_gnu(const struct image_section *section, struct link *ret)
{
	struct reader r;

	reader_init(&r, section->data, section->len, /* big_endian= */ false);
	ret->path = reader_string(&r, "supplementary file");
	ret->id_len = reader_left(&r);
	ret->id = reader_bytes(&r, ret->id_len, "build ID");
	return !r.failed && *ret->path && ret->id_len && ret->id_len <= IMAGE_BUILD_ID_MAX;
}

static bool read_sup(const struct image_section *section, bool *ret_is_supplementary,
		     struct link *ret)
{
	struct reader r;

	reader_init(&r, section->data, section->len, /* big_endian= */ false);
	uint16_t version = reader_u16(&r, "version");
	uint8_t is_supplementary = reader_u8(&r, "kind of file");

	ret->path = reader_string(&r, "supplementary file");
	uint64_t len = reader_uleb(&r, "checksum length");

	ret->by_checksum = true;
	ret->id_len = (size_t)MIN(len, CHECKSUM_MAX + 1);
	ret->id = reader_bytes(&r, ret->id_len, "checksum");
	*ret_is_supplementary = is_supplementary == 1;
	return !r.failed && version == 5 && is_supplementary <= 1 && ret->id_len &&
	       ret->id_len <= CHECKSUM_MAX;
}

static bool read_link(struct image *img, struct link *ret)
{
	struct image_section section;
	bool is_supplementary;

	*ret = (struct link){ 0 };
	if (image_section(img, ".gnu_debugaltlink", &section))
		return read_gnu(&section, ret);
	return image_section(img, ".debug_sup", &section) &&
	       read_sup(&section, &is_supplementary, ret) && !is_supplementary && *ret->path;
}

/* What of @img must equal the link's id. */
static bool matches(struct image *img, const struct link *link)
{
	struct link own = { 0 };
	struct image_section section;
	bool is_supplementary;

	if (!link->by_checksum)
		own.id = image_build_id(img, &own.id_len);
	else if (!image_section(img, ".debug_sup", &section) ||
		 !read_sup(&section, &is_supplementary, &own) || !is_supplementary)
		return false;
	return own.id_len == link->id_len && !memcmp(own.id, link->id, own.id_len);
}

static struct image *open_matching(const char *path, const struct link *link)
{
	struct image *img = NULL;
	struct err *err = image_open(path, &img);

	err_free(err);
	if (img && !matches(img, link)) {
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

	image_build_id_hex(link.id, MIN(link.id_len, IMAGE_BUILD_ID_MAX), hex);
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

bool debug_supplement_is_linked(struct image *img)
{
	struct link link;

	return image_has_section(img, ".gnu_debugaltlink") || read_link(img, &link);
}
