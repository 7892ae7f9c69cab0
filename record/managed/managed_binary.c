/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_binary.c - symbol tables are read directly, because the names that are wanted are few and known, and some are
 * of thread-local variables, which tables of functions and variables by address have no place for.
 */
#include "record/managed/managed_binary.h"

#include "formats/base/page_guard.h"
#include "formats/base/path_fd.h"
#include "formats/base/reader.h"
#include "symbolize/elf/image.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SYMBOL_LEN	24 /* of an Elf64_Sym */
#define SYMBOL_TYPE_TLS 6

#define NUMBER_TEXT_(number) #number
#define NUMBER_TEXT(number)  NUMBER_TEXT_(number)

struct managed_file {
	const struct managed_runtime *runtime;
	uint64_t device, inode;
	bool usable;
	struct image *image; /* for the bias of other mappings */
	struct managed_binary binary;
	char path[];
};

/* ---- symbols --------------------------------------------------------------------------------------- */

struct symbol {
	uint32_t name;
	uint8_t type;
	uint16_t section;
	uint64_t value, len;
};

static struct symbol read_symbol(struct reader *r)
{
	struct symbol s = { 0 };

	s.name = reader_u32(r, "symbol name");
	s.type = reader_u8(r, "symbol type") & 15;
	reader_skip(r, 1, "symbol visibility");
	s.section = reader_u16(r, "symbol section");
	s.value = reader_u64(r, "symbol value");
	s.len = reader_u64(r, "symbol length");
	return s;
}

static void take_variable(struct image *image, const struct symbol *s, struct managed_symbol *ret)
{
	size_t len;
	const uint8_t *bytes = s->type == SYMBOL_TYPE_TLS ? NULL : image_bytes_at(image, s->value, &len);

	*ret = (struct managed_symbol){ .vaddr = s->value, .found = true };
	if (bytes && len >= sizeof(ret->word))
		memcpy(&ret->word, bytes, sizeof(ret->word));
}

/* Is @name, in @room bytes, that of the function, or of a part of it that the compiler put elsewhere? */
static bool is_part(const char *name, size_t room, const char *function)
{
	size_t len = strlen(function);

	return room > len && strncmp(name, function, len) == 0 && (!name[len] || name[len] == '.');
}

static void take_loop(struct managed_binary *binary, const struct symbol *s)
{
	for (size_t i = 0; i < binary->nloops; i++) {
		if (binary->loops[i].vaddr == s->value)
			return;
	}
	if (binary->nloops < EVENT_MANAGED_LOOPS && s->len)
		binary->loops[binary->nloops++] =
			(struct event_managed_loop){ s->value, s->len };
}

/* The file may be written to meanwhile: a name that ended within its @room when it was looked at need not do so any more. */
static void take_symbol(struct managed_file *file, struct image *image, const struct symbol *s,
			const char *name, size_t room)
{
	const struct managed_runtime *runtime = file->runtime;

	for (size_t i = 0; runtime->symbols[i] && i < MANAGED_SYMBOLS_MAX; i++) {
		if (!file->binary.symbols[i].found && strncmp(name, runtime->symbols[i], room) == 0)
			take_variable(image, s, &file->binary.symbols[i]);
	}
	for (size_t i = 0; runtime->loops[i]; i++) {
		if (is_part(name, room, runtime->loops[i]))
			take_loop(&file->binary, s);
	}
}

static void read_symbols(struct managed_file *file, struct image *image, const char *table,
			 const char *strings)
{
	struct image_section symbols, names;
	struct reader r;

	if (!image_section(image, table, &symbols) || !image_section(image, strings, &names) ||
	    !names.len || names.data[names.len - 1])
		return;
	reader_init(&r, symbols.data, symbols.len, /* big_endian= */ false);
	while (reader_left(&r) >= SYMBOL_LEN) {
		struct symbol s = read_symbol(&r);

		if (s.section && s.name < names.len)
			take_symbol(file, image, &s, (const char *)names.data + s.name, names.len - s.name);
	}
}

static void read_banner(struct managed_file *file, struct image *image)
{
	const char *banner = file->runtime->banner;
	struct image_section section;
	const uint8_t *found = NULL;

	if (banner && image_section(image, ".rodata", &section))
		found = memmem(section.data, section.len, banner, strlen(banner));
	if (!found)
		return;
	found += strlen(banner);
	size_t len = MIN((size_t)(section.data + section.len - found), sizeof(file->binary.banner) - 1);

	memcpy(file->binary.banner, found, len);
	file->binary.banner[strnlen((const char *)found, len)] = '\0';
}

/* ---- files ----------------------------------------------------------------------------------------- */

/*
 * Only a regular file, and only the one that is mapped: what a hostile process puts at its path must not hold us, and links
 * below its root must not lead to a file that only we may read.
 */
static int open_file(const struct managed_place *place)
{
	char link[96];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, place->pid,
		 place->start, place->end);
	int fd = path_fd_take_regular(open(link, O_PATH | O_CLOEXEC), &st);

	if (fd < 0)
		fd = path_fd_take_regular(path_fd_in_root(place->pid, place->path), &st);
	if (fd >= 0 && st.st_ino != place->inode) {
		close(fd);
		return -1;
	}
	return fd;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void read_file(struct managed_file *file, const struct managed_place *place)
{
	/* Its owner may cut it short while it is mapped here. */
	page_guard_stay();
	int fd = open_file(place);
	struct image *image = NULL;
	struct err *err = fd < 0 ? NULL : image_open_fd(fd, place->path, &image);

	err_free(err);
	if (!image)
		return;
	read_symbols(file, image, ".dynsym", ".dynstr");
	read_symbols(file, image, ".symtab", ".strtab");
	read_banner(file, image);
	file->image = image;
	for (size_t i = 0; i < MANAGED_SYMBOLS_MAX; i++)
		file->usable |= file->binary.symbols[i].found;
}

static struct managed_file *new_file(const struct managed_runtime *runtime,
				     const struct managed_place *place)
{
	size_t len = strlen(place->path);
	struct managed_file *file = memory_zeroed(1, sizeof(*file) + len + 1);

	memcpy(file->path, place->path, len);
	file->runtime = runtime;
	file->device = place->device;
	file->inode = place->inode;
	file->binary.path = file->path;
	file->binary.name = last_part(file->path);
	read_file(file, place);
	return file;
}

static struct managed_file *find_file(struct managed_files *files,
				      const struct managed_runtime *runtime,
				      const struct managed_place *place)
{
	for (size_t i = 0; i < files->items.len; i++) {
		struct managed_file *file = files->items.items[i];

		if (file->runtime == runtime && file->inode == place->inode &&
		    file->device == place->device && strcmp(file->path, place->path) == 0)
			return file;
	}
	if (files->items.len >= MANAGED_FILES_MAX)
		return NULL;
	vec_push(&files->items, new_file(runtime, place));
	return files->items.items[files->items.len - 1];
}

const struct managed_binary *managed_files_get(struct managed_files *files,
					       const struct managed_runtime *runtime,
					       const struct managed_place *place,
					       uint64_t *ret_bias, const char **ret_why)
{
	struct managed_file *file = find_file(files, runtime, place);

	if (!file && ret_why)
		*ret_why = "there are more files of interpreters than " NUMBER_TEXT(MANAGED_FILES_MAX);
	if (!file || !file->usable || !image_bias(file->image, place->start, place->offset, ret_bias))
		return NULL;
	return &file->binary;
}

size_t managed_binary_copy(const struct managed_binary *binary, uint64_t vaddr, void *ret, size_t len)
{
	const struct managed_file *file =
		(const void *)((const uint8_t *)binary - offsetof(struct managed_file, binary));
	size_t held = 0;
	const uint8_t *bytes = image_bytes_at(file->image, vaddr, &held);

	held = bytes ? MIN(held, len) : 0;
	if (held)
		memcpy(ret, bytes, held);
	return held;
}

void managed_files_deinit(struct managed_files *files)
{
	for (size_t i = 0; i < files->items.len; i++) {
		image_close(files->items.items[i]->image);
		free(files->items.items[i]);
	}
	vec_deinit(&files->items);
}

/* ---- mappings -------------------------------------------------------------------------------------- */

/* A line of /proc/PID/maps; false if it is no executable mapping of a file. */
static bool parse_line(char *line, struct managed_place *ret)
{
	unsigned major, minor;
	char flags[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &ret->start,
		   &ret->end, flags, &ret->offset, &major, &minor, &ret->inode, &path) < 7 ||
	    !path || flags[2] != 'x' || line[path] != '/')
		return false;
	line[strcspn(line, "\n")] = '\0';
	ret->device = makedev(major, minor);
	ret->path = line + path;
	return true;
}

/* A library goes before the program, which may be a stub that only uses it. */
static bool is_library(const struct managed_place *place)
{
	return strncmp(last_part(place->path), "lib", 3) == 0;
}

bool managed_place_find(uint32_t pid, const struct managed_runtime *runtime, char *path_room,
			struct managed_place *ret)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);

	FILE *maps = fopen(path, "re");

	while (maps && fgets(line, sizeof(line), maps)) {
		struct managed_place place = { .pid = pid };

		if (!parse_line(line, &place) || !runtime->is_file(last_part(place.path)) ||
		    (found && (is_library(ret) || !is_library(&place))))
			continue;
		*ret = place;
		ret->path = memcpy(path_room, place.path, MIN(strlen(place.path) + 1, (size_t)PATH_MAX));
		path_room[PATH_MAX - 1] = '\0';
		found = true;
	}
	if (maps)
		fclose(maps);
	return found;
}
