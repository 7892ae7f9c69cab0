/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugfile.c - candidates in order, the first whose identity is right wins.
 *
 * GDB manual, "Debugging Information in Separate Files", describes the build-ID directories and the debug
 * link. Servers of debuginfod come last (debuginfod.h).
 */
#include "symbolize/module/debugfile.h"

#include "formats/base/arena.h"
#include "formats/base/reader.h"

#include <elf.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* One search: what it is for, and the worst it met on the way. */
struct search {
	const struct module_search *where;
	const struct debugfile_wanted *wanted;
	struct arena *arena;
	enum debugfile_result result; /* FOUND ends it */
	struct image *image;
	const char *found; /* the file that was met and not taken */
	/* Besides build IDs: a debug link's checksum, for files that have none. */
	bool has_crc;
	uint32_t crc;
	bool unverified_is_fine; /* at the very path that was mapped */
};

bool debugfile_same_id(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	return a_len && a_len == b_len && memcmp(a, b, a_len) == 0;
}

static uint32_t crc_of_byte(uint32_t byte)
{
	for (int bit = 0; bit < 8; bit++)
		byte = byte >> 1 ^ (byte & 1 ? 0xedb88320U : 0);
	return byte;
}

uint32_t debugfile_crc32(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint32_t table[256];

	for (uint32_t i = 0; i < ARRAY_LEN(table); i++)
		table[i] = crc_of_byte(i);
	crc = ~crc;
	for (size_t i = 0; i < len; i++)
		crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
	return ~crc;
}

static bool file_crc32(const char *path, uint32_t *ret)
{
	uint8_t buffer[65536];
	uint32_t crc = 0;
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	while ((len = read(fd, buffer, sizeof(buffer))) > 0)
		crc = debugfile_crc32(crc, buffer, (size_t)len);
	close(fd);
	*ret = crc;
	return len == 0;
}

static void reject(struct search *s, const char *path, enum debugfile_result why)
{
	if (s->result == DEBUGFILE_MISMATCH)
		return;
	s->result = why;
	s->found = arena_strdup(s->arena, path);
}

static void take(struct search *s, struct image *img, enum debugfile_result how)
{
	s->image = img;
	s->result = how;
}

/* What is known about whether @img is the file that was recorded. */
static void judge(struct search *s, const char *path, struct image *img)
{
	const struct debugfile_wanted *wanted = s->wanted;
	size_t id_len;
	const uint8_t *id = image_build_id(img, &id_len);
	uint32_t crc;

	if (debugfile_same_id(id, id_len, wanted->build_id, wanted->build_id_len)) {
		take(s, img, DEBUGFILE_FOUND);
		return;
	}
	bool comparable = id_len && wanted->build_id_len;

	if (!comparable && s->has_crc && file_crc32(path, &crc) && crc == s->crc) {
		take(s, img, DEBUGFILE_FOUND);
		return;
	}
	if (!wanted->build_id_len && s->unverified_is_fine && !wanted->deleted) {
		take(s, img, DEBUGFILE_UNVERIFIED);
		return;
	}
	image_close(img);
	reject(s, path, DEBUGFILE_MISMATCH);
}

static bool done(const struct search *s)
{
	return s->image;
}

static bool is_32_bit(const char *path)
{
	unsigned char ident[EI_CLASS + 1] = { 0 };
	FILE *file = fopen(path, "re");
	size_t got = file ? fread(ident, 1, sizeof(ident), file) : 0;

	if (file)
		fclose(file);
	return got == sizeof(ident) && memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32;
}

/* Look at the file at @path, unless the search is over. */
static void try_path(struct search *s, const char *path)
{
	struct image *img;
	struct stat st;

	if (done(s) || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	struct err *err = image_is_packed(path) ? image_open_packed(path, &img) : image_open(path, &img);

	if (err) {
		if (err_kind(err) != ERR_SYSTEM)
			reject(s, path, is_32_bit(path) ? DEBUGFILE_32_BIT : DEBUGFILE_BROKEN);
		err_free(err);
		return;
	}
	judge(s, path, img);
}

/* @root + "/.build-id/xx/yyyy" + @suffix, with and without a further @suffix. */
static void try_build_id(struct search *s, const char *root, const char *dir, const char *suffix)
{
	char hex[2 * IMAGE_BUILD_ID_MAX + 1];

	if (done(s) || s->wanted->build_id_len < 2 || s->wanted->build_id_len > IMAGE_BUILD_ID_MAX)
		return;
	image_build_id_hex(s->wanted->build_id, s->wanted->build_id_len, hex);
	try_path(s, arena_printf(s->arena, "%s%s/.build-id/%.2s/%s%s", root, dir, hex, hex + 2,
				 suffix));
}

/* In the order symfs, --debug-dir, /usr/lib/debug. */
static void try_build_id_dirs(struct search *s, const char *suffix)
{
	if (s->where && s->where->symfs)
		try_build_id(s, s->where->symfs, DEBUG_ROOT, suffix);
	for (size_t i = 0; s->where && s->where->debug_dirs && s->where->debug_dirs[i]; i++)
		try_build_id(s, "", s->where->debug_dirs[i], suffix);
	try_build_id(s, "", DEBUG_ROOT, suffix);
}

/* Where perf record keeps a copy of what it met: ~/.debug/.build-id/xx/yyyy/elf (perf-buildid-cache(1)), or the variable's folder. */
static void try_perf_cache(struct search *s)
{
	const char *folder = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");

	if (folder && *folder)
		try_build_id(s, "", folder, "/elf");
	else if (home && *home)
		try_build_id(s, home, "/.debug", "/elf");
}

static void try_debuginfod(struct search *s, enum debuginfod_kind kind)
{
	char *path;

	if (done(s))
		return;
	path = debuginfod_find(s->where ? s->where->debuginfod : NULL, kind, s->wanted->build_id, s->wanted->build_id_len);
	if (path)
		try_path(s, path);
	free(path);
}

/* ---- the binary ------------------------------------------------------------------------------------ */

static bool is_file_path(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

static enum debugfile_result finish(struct search *s, struct image **ret, const char **ret_found)
{
	if (s->image)
		*ret = s->image;
	else if (s->found)
		*ret_found = s->found;
	return s->result;
}

enum debugfile_result debugfile_binary(const struct module_search *search,
				       const struct debugfile_wanted *wanted, struct arena *arena,
				       struct image **ret, const char **ret_found)
{
	struct search s = { search, wanted, arena, .result = DEBUGFILE_MISSING };

	if (!is_file_path(wanted->path))
		return DEBUGFILE_MISSING;
	s.unverified_is_fine = true;
	if (search && search->symfs)
		try_path(&s, arena_printf(arena, "%s%s", search->symfs, wanted->path));
	try_build_id_dirs(&s, "");
	try_path(&s, wanted->path);
	try_perf_cache(&s);
	try_debuginfod(&s, DEBUGINFOD_EXECUTABLE);
	return finish(&s, ret, ret_found);
}

/* ---- the separate debug file ----------------------------------------------------------------------- */

/* .gnu_debuglink: a name, NUL, padding to 4, the file's CRC-32. */
static const char *read_debug_link(struct image *binary, uint32_t *ret_crc)
{
	struct image_section section;
	struct reader r;

	if (!binary || !image_section(binary, ".gnu_debuglink", &section))
		return NULL;
	reader_init(&r, section.data, section.len, /* big_endian= */ false);
	const char *name = reader_string(&r, "debug link");

	reader_skip(&r, MIN(-r.offset & 3, reader_left(&r)), "padding");
	uint32_t crc = reader_u32(&r, "checksum");
	struct err *err = reader_check(&r);

	if (err || !*name || strchr(name, '/')) {
		err_free(err);
		return NULL;
	}
	*ret_crc = crc;
	return name;
}

/* Beside the binary, in .debug beside it, and below @debug_root, all below @root. */
static void try_link_below(struct search *s, const char *root, const char *name)
{
	const char *path = s->wanted->path;
	int dir_len = (int)(strrchr(path, '/') - path);

	try_path(s, arena_printf(s->arena, "%s%.*s/%s", root, dir_len, path, name));
	try_path(s, arena_printf(s->arena, "%s%.*s/.debug/%s", root, dir_len, path, name));
	try_path(s, arena_printf(s->arena, "%s" DEBUG_ROOT "%.*s/%s", root, dir_len, path, name));
}

static void try_debug_link(struct search *s, struct image *binary)
{
	const char *path = s->wanted->path;
	const char *name = read_debug_link(binary, &s->crc);

	if (!name || !is_file_path(path))
		return;
	s->has_crc = true;
	if (s->where && s->where->symfs)
		try_link_below(s, s->where->symfs, name);
	for (size_t i = 0; s->where && s->where->debug_dirs && s->where->debug_dirs[i]; i++) {
		const char *dir = s->where->debug_dirs[i];

		try_path(s, arena_printf(s->arena, "%s%.*s/%s", dir,
					 (int)(strrchr(path, '/') - path), path, name));
		try_path(s, arena_printf(s->arena, "%s/%s", dir, name));
	}
	try_link_below(s, "", name);
}

enum debugfile_result debugfile_separate(const struct module_search *search,
					 const struct debugfile_wanted *wanted,
					 struct image *binary, struct arena *arena,
					 struct image **ret, const char **ret_found)
{
	struct search s = { search, wanted, arena, .result = DEBUGFILE_MISSING };

	try_build_id_dirs(&s, ".debug");
	if (!done(&s))
		try_debug_link(&s, binary);
	try_debuginfod(&s, DEBUGINFOD_DEBUGINFO);
	return finish(&s, ret, ret_found);
}

/* ---- the kernel ------------------------------------------------------------------------------------ */

/* Where distributions and builders leave it; %s is the release. */
static const char *const kernel_paths[] = {
	DEBUG_ROOT "/boot/vmlinux-%s",
	DEBUG_ROOT "/boot/vmlinux-%s.debug",
	DEBUG_ROOT "/lib/modules/%s/vmlinux",
	DEBUG_ROOT "/lib/modules/%s/vmlinux.debug",
	DEBUG_ROOT "/usr/lib/modules/%s/vmlinux",
	DEBUG_ROOT "/usr/lib/modules/%s/vmlinux.debug",
	"/boot/vmlinux-%s",
	"/lib/modules/%s/vmlinux",
	"/lib/modules/%s/build/vmlinux",
};

/* The pattern with its %s replaced: a table's strings are no format for the compiler to check. */
static const char *with_release(struct arena *arena, const char *root, const char *pattern,
				const char *release)
{
	const char *mark = strstr(pattern, "%s");

	return arena_printf(arena, "%s%.*s%s%s", root, (int)(mark - pattern), pattern, release,
			    mark + 2);
}

enum debugfile_result debugfile_kernel(const struct module_search *search,
				       const struct debugfile_wanted *wanted, const char *release,
				       struct arena *arena, struct image **ret,
				       const char **ret_found)
{
	struct search s = { search, wanted, arena, .result = DEBUGFILE_MISSING };

	if (!wanted->build_id_len)
		return DEBUGFILE_MISSING;
	if (search && search->vmlinux)
		try_path(&s, search->vmlinux);
	try_build_id_dirs(&s, ".debug");
	bool usable = *release && !strchr(release, '/');

	for (size_t i = 0; usable && i < ARRAY_LEN(kernel_paths); i++) {
		if (search && search->symfs)
			try_path(&s, with_release(arena, search->symfs, kernel_paths[i], release));
		try_path(&s, with_release(arena, "", kernel_paths[i], release));
	}
	try_debuginfod(&s, DEBUGINFOD_DEBUGINFO);
	return finish(&s, ret, ret_found);
}

/* Below these, at any depth. */
static const char *const module_folders[] = {
	DEBUG_ROOT "/lib/modules/%s",
	DEBUG_ROOT "/usr/lib/modules/%s",
	"/lib/modules/%s",
};

/* "[nf_tables]" is also called "nf_tables", and its file "nf-tables.ko" or "nf_tables.ko.debug". */
static bool is_module_file(const char *file, const char *module)
{
	static const char *const endings[] = { ".ko", ".ko.debug", ".ko.xz", ".ko.zst", ".ko.gz" };

	if (*module == '[')
		module++;
	for (; *module && *module != ']' && *module != '.'; module++, file++) {
		char dash = *file == '-' ? '_' : *file;

		if (dash != (*module == '-' ? '_' : *module))
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		if (!strcmp(file, endings[i]))
			return true;
	}
	return false;
}

/* A few thousand files; links are not followed, so it ends. */
static void try_folder(struct search *s, char *folder)
{
	const char *slash = strrchr(s->wanted->path, '/');
	const char *module = slash ? slash + 1 : s->wanted->path;
	char *roots[] = { folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);

	for (FTSENT *e; tree && !done(s) && (e = fts_read(tree));) {
		if (e->fts_info != FTS_D && e->fts_info != FTS_DP && is_module_file(e->fts_name, module))
			try_path(s, arena_strdup(s->arena, e->fts_path));
	}
	if (tree)
		fts_close(tree);
}

/* Modules as they are loaded have no debug information: there may be some elsewhere. */
static void try_for_lines(struct search *s)
{
	struct image *plain = s->image;

	if (plain && image_has_section(plain, ".debug_line"))
		return;
	s->image = NULL;
	try_debuginfod(s, DEBUGINFOD_DEBUGINFO);
	if (s->image)
		image_close(plain);
	else if (plain)
		take(s, plain, DEBUGFILE_FOUND);
}

enum debugfile_result debugfile_kernel_module(const struct module_search *search,
					      const struct debugfile_wanted *wanted,
					      const char *release, struct arena *arena,
					      struct image **ret, const char **ret_found)
{
	struct search s = { search, wanted, arena, .result = DEBUGFILE_MISSING };
	bool usable = *release && *release != '.' && !strchr(release, '/');

	if (!wanted->build_id_len)
		return DEBUGFILE_MISSING;
	try_build_id_dirs(&s, ".debug");
	for (size_t i = 0; usable && i < ARRAY_LEN(module_folders) && !done(&s); i++) {
		const char *root = search && search->symfs ? search->symfs : "";

		try_folder(&s, arena_strdup(arena, with_release(arena, root, module_folders[i],
								release)));
		if (*root && !done(&s))
			try_folder(&s, arena_strdup(arena, with_release(arena, "",
									module_folders[i],
									release)));
	}
	try_perf_cache(&s);
	try_for_lines(&s);
	return finish(&s, ret, ret_found);
}
