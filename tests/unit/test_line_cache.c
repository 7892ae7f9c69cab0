/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_line_cache.c - entries that are whole answer as they were asked; all others are as good as none.
 */
#include "symbolize/name/line_cache.h"

#include "formats/base/memory.h"
#include "symbolize/name/cache_folder.h"
#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t stamp[LINE_CACHE_STAMP_LEN] = "a program and a file";
static const struct debug_frame inner = { .name = "inner", .file = "a.c", .line = 3, .column = 7 };
static const struct debug_frame outer = { .name = "outer", .file = "b.c", .line = 40 };

/* inner in outer at [0x10, 0x20), nothing known at [0x30, 0x31). */
static void make_entry(struct writer *out)
{
	const struct debug_frame frames[] = { inner, outer }, nothing = { 0 };
	struct line_table_maker *maker = line_table_maker_new();

	line_table_maker_add(maker, 0x10, 0x20, frames, 2);
	line_table_maker_add(maker, 0x30, 0x31, &nothing, 1);
	line_cache_pack(maker, stamp, out);
	line_table_maker_free(maker);
}

TEST(line_cache_entry_answers_what_was_asked)
{
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];
	struct writer out = { 0 };

	make_entry(&out);
	struct line_table *table = line_cache_unpack(guarded(out.data, out.len), out.len, stamp);

	CHECK(table);
	CHECK_UINT(line_table_find(table, 0x1f, found), 2);
	CHECK_STR(found[0].name, "inner");
	CHECK_STR(found[1].file, "b.c");
	CHECK_UINT(found[1].line, 40);
	CHECK_UINT(line_table_find(table, 0x20, found), 0);
	CHECK_UINT(line_table_find(table, 0x30, found), 1); /* an answer: nothing is known */
	CHECK(!found[0].name && !found[0].file && !found[0].line);
	line_table_free(table);
	writer_deinit(&out);
}

TEST(line_cache_takes_no_entry_that_is_cut_or_changed)
{
	struct writer out = { 0 };

	make_entry(&out);
	for (size_t len = 0; len < out.len; len++)
		CHECK(!line_cache_unpack(guarded(out.data, len), len, stamp));
	for (size_t i = 0; i < out.len; i++) {
		out.data[i] ^= 0x40;
		CHECK(!line_cache_unpack(guarded(out.data, out.len), out.len, stamp));
		out.data[i] ^= 0x40;
	}
	writer_deinit(&out);
}

TEST(line_cache_takes_no_entry_of_another_program_or_file)
{
	static const uint8_t other[LINE_CACHE_STAMP_LEN] = "another";
	struct writer out = { 0 };

	make_entry(&out);
	CHECK(!line_cache_unpack(out.data, out.len, other));
	writer_deinit(&out);
}

/* ---- from run to run ---- */

static const char *new_folder(void)
{
	static char path[] = "/tmp/precord-test-XXXXXX";

	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	CHECK(mkdtemp(path));
	return path;
}

static size_t count_files(const char *folder)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct cache_file *files;
	size_t count;

	CHECK_OK(cache_folder_list(folder, &arena, &files, &count));
	return count;
}

static void remove_folder(const char *folder)
{
	uint64_t count, len;

	CHECK_OK(cache_folder_clear(folder, &count, &len));
	CHECK_UINT(count_files(folder), 0);
	CHECK(rmdir(folder) == 0);
}

/* A file that is worth an entry: the cache asks for its build ID, length and times. */
static struct image *open_large_file(char *path)
{
	static const uint8_t note[] = { 4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0, 0 };
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	uint8_t *bytes = memory_zeroed(5, 1 << 20);
	struct image *img = NULL;
	int fd = mkstemp(path);

	elf_file_section(&f, (struct elf_file_section){ .name = ".note.gnu.build-id",
							.type = SHT_NOTE,
							.data = note,
							.len = sizeof(note) });
	elf_file_section(&f, (struct elf_file_section){ .name = ".debug_info",
							.type = SHT_PROGBITS,
							.data = bytes,
							.len = 5 << 20 });
	elf_file_finish(&f);
	CHECK(fd >= 0 && write(fd, f.out.data, f.out.len) == (ssize_t)f.out.len);
	close(fd);
	free(bytes);
	CHECK_OK(image_open(path, &img));
	return img;
}

TEST(line_cache_keeps_as_many_answers_as_are_found)
{
	char path[] = "/tmp/precord-test-XXXXXX";
	CLEANUP(image_closep) struct image *img = open_large_file(path);
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];
	const struct debug_frame frames[] = { inner, outer };
	const uint64_t count = 600000; /* with two functions each more than a million */
	const char *folder = new_folder();
	struct line_cache *cache = line_cache_open(folder, img);

	CHECK(cache);
	for (uint64_t i = 0; i < count; i++)
		line_cache_add(cache, 16 * i, 16 * i + 8, frames, 2);
	CHECK_OK(line_cache_save(cache));
	line_cache_free(cache);
	cache = line_cache_open(folder, img);
	CHECK_UINT(line_cache_find(cache, 16 * (count - 1) + 7, found), 2);
	CHECK_STR(found[1].name, "outer");
	line_cache_free(cache);
	unlink(path);
	remove_folder(folder);
}

TEST(line_cache_says_when_an_entry_would_be_too_large)
{
	char path[] = "/tmp/precord-test-XXXXXX";
	CLEANUP(image_closep) struct image *img = open_large_file(path);
	const char *folder = new_folder();
	struct line_cache *cache = line_cache_open(folder, img);
	const size_t len = 60000, count = 2 * (CACHE_FILE_MAX / len);
	char *names = memory_alloc(count * (len + 1));

	CHECK(cache);
	for (size_t i = 0; i < count; i++) {
		char *name = names + i * (len + 1);
		struct debug_frame frame = { .name = name };

		memset(name, 'x', len);
		snprintf(name + len - 8, 9, "%08zu", i);
		line_cache_add(cache, 16 * i, 16 * i + 8, &frame, 1);
	}
	CHECK_ERR(line_cache_save(cache), ERR_UNSUPPORTED, "is not kept for the next run");
	CHECK_UINT(count_files(folder), 0);
	CHECK_OK(line_cache_save(cache)); /* it was said once */
	line_cache_free(cache);
	free(names);
	unlink(path);
	remove_folder(folder);
}

/* ---- the folder ---- */

TEST(cache_folder_gives_back_what_was_written_last)
{
	const char *folder = new_folder();
	size_t len = 0;

	CHECK(!cache_folder_read(folder, "one", &len));
	CHECK_OK(cache_folder_write(folder, "one", "first", 5));
	CHECK_OK(cache_folder_write(folder, "one", "second", 6));
	uint8_t *data = cache_folder_read(folder, "one", &len);

	CHECK(data && len == 6 && memcmp(data, "second", 6) == 0);
	CHECK_UINT(count_files(folder), 1);
	free(data);
	remove_folder(folder);
}

TEST(cache_folder_reads_no_link_and_no_folder)
{
	const char *folder = new_folder();
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "%s/link", folder);
	CHECK(symlink("/etc/passwd", path) == 0);
	CHECK(!cache_folder_read(folder, "link", &len));
	CHECK(!cache_folder_read(folder, ".", &len));
	CHECK(unlink(path) == 0);
	remove_folder(folder);
}

TEST(cache_folder_says_when_it_cannot_write)
{
	CHECK_ERR(cache_folder_write("/proc/self/nothing", "one", "x", 1), ERR_SYSTEM, "cannot make");
	CHECK_UINT(count_files("/proc/self/nothing"), 0);
}

TEST(cache_folder_removes_what_was_not_used_for_longest)
{
	const char *folder = new_folder();
	char path[64], name[16];
	size_t len;

	for (int i = 0; i < 6; i++) { /* sparse files of 60 MiB; the last used first */
		const struct timespec times[2] = { { .tv_sec = 1000000 - i }, { .tv_sec = 1000000 - i } };

		snprintf(name, sizeof(name), "file%d", i);
		CHECK_OK(cache_folder_write(folder, name, "x", 1));
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		CHECK(truncate(path, 60 << 20) == 0);
		CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
	}
	CHECK_OK(cache_folder_write(folder, "new", "x", 1));
	CHECK_UINT(count_files(folder), 5); /* four of 60 MiB and the new one */
	CHECK(!cache_folder_read(folder, "file4", &len));
	CHECK(!cache_folder_read(folder, "file5", &len));
	remove_folder(folder);
}

/* Four writers and a reader: whatever is read was written by one of them, whole. */
TEST(cache_folder_is_safe_for_several_processes)
{
	const char *folder = new_folder();
	uint8_t bytes[20000];
	size_t len;

	for (int writer = 0; writer < 4; writer++) {
		if (fork())
			continue;
		memset(bytes, 'a' + writer, sizeof(bytes));
		for (int i = 0; i < 50; i++)
			err_free(cache_folder_write(folder, "one", bytes, sizeof(bytes) - (size_t)i));
		_exit(0);
	}
	for (int i = 0; i < 200; i++) {
		uint8_t *data = cache_folder_read(folder, "one", &len);

		CHECK(!data || (len > 19900 && !memcmp(data, data + 1, len - 1)));
		free(data);
	}
	while (wait(NULL) > 0)
		;
	CHECK_UINT(count_files(folder), 1);
	remove_folder(folder);
}
