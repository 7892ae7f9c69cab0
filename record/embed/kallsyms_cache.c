/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms_cache.c - a file with the boot ID and then the kernel's own lines unchanged; they ascend, so a binary search finds those around
 * an address.
 *
 *	from the first of the functions that begin nearest below (several may begin there) up to the first that begins above
 */
#include "record/embed/kallsyms_cache.h"

#include "formats/base/compiler.h"
#include "formats/base/file_bytes.h"
#include "formats/perf/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME	     "kallsyms"
#define NEW_NAME     "kallsyms.new"
#define TEXT_LEN_MAX (64U << 20)
#define BOOT_ID_LEN  37 /* with the end of its line */

/* Text of whole lines. */
struct lines {
	const char *text;
	size_t len;
};

/* The folder, if no other user can write to it; -1 otherwise. */
static int open_folder(const char *path)
{
	struct stat st;
	int fd;

	if (geteuid() || (mkdir(path, 0700) && errno != EEXIST))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid || st.st_mode & 022)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool read_boot_id(const char *path, struct writer *ret)
{
	CLEANUP(err_freep) struct err *err = file_bytes_read(path, 1 << 20, ret);

	return !err && ret->len == BOOT_ID_LEN;
}

/* The file's text, mapped: it is replaced as a whole, and root's. */
static bool map_lines(int folder, const struct writer *boot_id, struct lines *ret)
{
	int fd = openat(folder, NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_uid && !(st.st_mode & 022) && st.st_size > BOOT_ID_LEN &&
	    st.st_size < TEXT_LEN_MAX)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	*ret = (struct lines){ map, (size_t)st.st_size };
	if (memcmp(map, boot_id->data, BOOT_ID_LEN) == 0 && ret->text[ret->len - 1] == '\n')
		return true;
	munmap(map, ret->len);
	return false;
}

/* The kernel's own lines, up to the first module's; false if they do not ascend or are hidden. */
static bool cut_own(struct writer *text, size_t from)
{
	struct kallsyms_line line;
	uint64_t before = 0;
	size_t pos = from;

	writer_u8(text, 0);
	text->len--;
	while (pos < text->len) {
		char *at = (char *)text->data + pos, *end = strchr(at, '\n');

		if (!end || memchr(at, '\t', (size_t)(end - at)))
			break;
		if (!kallsyms_parse(at, &line) || line.addr < before)
			return false;
		before = line.addr;
		pos += (size_t)(end - at) + 1;
	}
	text->len = pos;
	return before && pos > from;
}

static bool write_all(int fd, const struct writer *text)
{
	size_t done = 0;
	ssize_t got = 1;

	for (; done < text->len && got > 0; done += (size_t)MAX(got, 0))
		got = write(fd, text->data + done, text->len - done);
	return done == text->len;
}

/* Read the kernel's list, and keep it. That of another recorder at the same moment is as good. */
static bool begin(const struct kallsyms_cache *cache, int folder, const struct writer *boot_id)
{
	CLEANUP(writer_deinit) struct writer text = { 0 };

	writer_bytes(&text, boot_id->data, boot_id->len);
	CLEANUP(err_freep) struct err *err = file_bytes_read(cache->kallsyms, TEXT_LEN_MAX, &text);

	if (err || !cut_own(&text, BOOT_ID_LEN))
		return false;
	unlinkat(folder, NEW_NAME, 0);
	int fd = openat(folder, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool written = fd >= 0 && write_all(fd, &text);

	if (fd >= 0)
		close(fd);
	if (!written || renameat(folder, NEW_NAME, folder, NAME)) {
		unlinkat(folder, NEW_NAME, 0);
		return false;
	}
	return true;
}

/* Where the line that @pos lies in begins. */
static size_t line_begin(const struct lines *lines, size_t pos)
{
	const char *before = pos > BOOT_ID_LEN ? memrchr(lines->text + BOOT_ID_LEN, '\n', pos - BOOT_ID_LEN) : NULL;

	return before ? (size_t)(before - lines->text) + 1 : BOOT_ID_LEN;
}

static size_t line_end(const struct lines *lines, size_t pos)
{
	const char *end = memchr(lines->text + pos, '\n', lines->len - pos);

	return end ? (size_t)(end - lines->text) + 1 : lines->len;
}

/* Kept lines were parsed once; the cast is for a parser that can write to names, which this one does not. */
static struct kallsyms_line line_at(const struct lines *lines, size_t pos)
{
	struct kallsyms_line line;

	return kallsyms_parse((char *)(uintptr_t)lines->text + pos, &line) ? line : (struct kallsyms_line){ .name = (char *)(uintptr_t)"" };
}

/* Where the first line begins that is above @addr; the end if none is. */
static size_t first_above(const struct lines *lines, uint64_t addr)
{
	size_t low = BOOT_ID_LEN, high = lines->len;

	while (low < high) {
		size_t middle = line_begin(lines, low + (high - low) / 2);

		if (line_at(lines, middle).addr <= addr)
			low = line_end(lines, middle);
		else
			high = middle;
	}
	return low;
}

/* The first line of those that begin where the function of @addr does; SIZE_MAX if no function is below. */
static size_t first_of_function(const struct lines *lines, size_t above)
{
	uint64_t start = UINT64_MAX;
	size_t pos = above;

	while (pos > BOOT_ID_LEN) {
		size_t before = line_begin(lines, pos - 1);
		const struct kallsyms_line line = line_at(lines, before);

		if (line.addr < start && start != UINT64_MAX)
			break;
		if (kallsyms_is_function(&line))
			start = line.addr;
		pos = before;
	}
	return start == UINT64_MAX ? SIZE_MAX : pos;
}

/* Behind the first function that begins at @pos or later; SIZE_MAX if none does. */
static size_t behind_function(const struct lines *lines, size_t pos)
{
	while (pos < lines->len) {
		const struct kallsyms_line line = line_at(lines, pos);

		pos = line_end(lines, pos);
		if (kallsyms_is_function(&line))
			return pos;
	}
	return SIZE_MAX;
}

static bool take_lines(const struct lines *lines, const uint64_t *addresses, size_t count, struct writer *ret)
{
	size_t done = 0, before = ret->len;

	for (size_t i = 0; i < count; i++) {
		size_t above = first_above(lines, addresses[i]);
		size_t from = first_of_function(lines, above), to = behind_function(lines, above);

		if (from == SIZE_MAX || to == SIZE_MAX) {
			ret->len = before;
			return false;
		}
		from = MAX(from, done);
		if (from < to)
			writer_bytes(ret, lines->text + from, to - from);
		done = MAX(done, to);
	}
	return true;
}

bool kallsyms_cache_lines(const struct kallsyms_cache *cache, const uint64_t *addresses, size_t count, struct writer *ret)
{
	CLEANUP(writer_deinit) struct writer boot_id = { 0 };
	int folder = open_folder(cache->folder);
	struct lines lines;
	bool done = false;

	if (folder < 0)
		return false;
	if (read_boot_id(cache->boot_id, &boot_id) &&
	    (map_lines(folder, &boot_id, &lines) ||
	     (begin(cache, folder, &boot_id) && map_lines(folder, &boot_id, &lines)))) {
		done = take_lines(&lines, addresses, count, ret);
		munmap((void *)(uintptr_t)lines.text, lines.len);
	}
	close(folder);
	return done;
}
