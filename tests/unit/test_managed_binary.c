/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_binary.c - files of interpreters are limited in number, and that is said; programs are known by what they hold.
 */
#include "record/managed/managed_binary.h"

#include "symbolize/elf/image.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Variables that this program has. */
extern char managed_binary_mark[];
char managed_binary_mark[] = "mark";
extern const char managed_binary_constant[];
const char managed_binary_constant[] = "constant";

static const char *const own_symbols[] = { "managed_binary_mark", NULL };
static const char *const no_loops[] = { NULL };

static bool is_any(const char *name)
{
	return *name;
}

static const struct managed_runtime own_runtime = { .symbols = own_symbols, .loops = no_loops, .is_file = is_any };

/* A copy of this program at @path, and its length. */
static int copy_self(char *path, off_t *ret_len)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = mkstemp(path);
	char block[65536];
	ssize_t got;

	*ret_len = 0;
	while ((got = read(from, block, sizeof(block))) > 0)
		*ret_len += write(to, block, (size_t)got);
	close(from);
	return to;
}

TEST(managed_place_survives_a_file_that_is_cut_short_while_it_is_read)
{
	CLEANUP(managed_files_deinit) struct managed_files files = { 0 };
	char path[] = "/tmp/managed_binary.XXXXXX";
	struct managed_place place = { .pid = (uint32_t)getpid(), .path = path };
	const struct managed_binary *binary;
	struct image *image;
	struct stat st;
	uint64_t bias;
	size_t held;
	off_t len;
	int fd;

	if (getenv("EMULATOR"))
		SKIP("openat2() is not there under an emulator");
	fd = copy_self(path, &len);
	CHECK(fstat(fd, &st) == 0);
	place.inode = st.st_ino;
	binary = managed_files_get(&files, &own_runtime, &place, &bias, NULL);
	image = managed_place_open(&place);
	unlink(path);
	if (!binary || !image) {
		image_close(image);
		close(fd);
		SKIP("this program has no symbols, or there is no openat2()");
	}
	CHECK(binary->symbols[0].found);
	CHECK(ftruncate(fd, 0) == 0);
	const uint8_t *bytes = image_bytes_at(image, binary->symbols[0].vaddr, &held);

	CHECK(bytes && held && !*bytes);
	image_close(image);
	close(fd);
}

static const char *const no_symbols[] = { "there_is_no_such_variable", NULL };

#define MAX_OF_ALL 16

/* Copies of real ones: their user's share is full, the table is not. */
TEST(managed_files_of_one_user_leave_room_for_others)
{
	CLEANUP(managed_files_deinit) struct managed_files files = { .max_of_user = 2 };
	struct managed_runtime all[4];
	struct managed_place place;
	const char *why = NULL;
	char path[4096];
	uint64_t bias;

	if (getenv("EMULATOR"))
		SKIP("what /proc says here is the emulator's");
	CHECK(managed_place_program((uint32_t)getpid(), path, &place));
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		all[i] = (struct managed_runtime){ .symbols = no_symbols, .section = ".rodata", .loops = no_loops, .is_file = is_any };
		const struct managed_binary *binary = managed_files_get(&files, &all[i], &place, &bias, &why);

		if (!i && !binary)
			SKIP("there is no openat2()");
		CHECK(!binary == (i >= 2));
	}
	CHECK(why && strstr(why, "of one user"));
	place.pid = UINT32_MAX; /* of nobody who is there */
	CHECK(!managed_files_get(&files, &all[3], &place, &bias, &why) && files.items.len == 3);
}

/* A user may begin any number of files with an interpreter's name: they take no place from others. */
TEST(managed_files_that_hold_no_interpreter_give_way)
{
	CLEANUP(managed_files_deinit) struct managed_files files = { .max = MAX_OF_ALL, .max_of_user = MAX_OF_ALL + 1 };
	struct managed_runtime all[MAX_OF_ALL + 1];
	struct managed_place place, fake = { .pid = (uint32_t)getpid() };
	const char *why = NULL;
	char path[4096];
	uint64_t bias;

	for (unsigned i = 0; i < 3 * MAX_OF_ALL; i++) {
		snprintf(path, sizeof(path), "/nowhere/%u/python3", i);
		fake.path = path;
		CHECK(!managed_files_get(&files, &managed_python, &fake, &bias, &why));
		CHECK(!why);
	}
	if (getenv("EMULATOR"))
		SKIP("what /proc says here is the emulator's");
	CHECK(managed_place_program((uint32_t)getpid(), path, &place));
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		all[i] = (struct managed_runtime){ .symbols = no_symbols, .section = ".rodata", .loops = no_loops, .is_file = is_any };
		const struct managed_binary *binary = managed_files_get(&files, &all[i], &place, &bias, &why);

		if (!i && !binary)
			SKIP("there is no openat2()");
		CHECK(!binary == (i == MAX_OF_ALL));
	}
	CHECK(why && strstr(why, "1024"));
}

TEST(managed_files_know_a_program_by_its_symbols_or_its_section_and_by_its_banner)
{
	char banner[] = "is made here, so that no file has it";
	const struct managed_runtime other = { .symbols = own_symbols, .loops = no_loops, .is_file = is_any, .banner = banner };
	static const struct managed_runtime none = { .symbols = no_symbols, .loops = no_loops, .is_file = is_any },
					    section = { .symbols = no_symbols, .section = ".rodata", .loops = no_loops, .is_file = is_any },
					    symbol = { .symbols = own_symbols, .loops = no_loops, .is_file = is_any, .banner = "there_is_no_such" };
	static const char *const a_function[] = { "main", NULL };
	static const char *const a_constant[] = { "managed_binary_constant", NULL };
	static const struct managed_runtime function = { .symbols = a_function, .loops = no_loops, .is_file = is_any },
					    constant = { .symbols = a_constant, .loops = no_loops, .is_file = is_any };
	const struct managed_runtime *const all[] = { &none, &other, &symbol, &section, &function, &constant };
	CLEANUP(managed_files_deinit) struct managed_files files = { 0 };
	const struct managed_runtime *found = &none;
	const struct managed_binary *binary;
	struct managed_place place;
	uint64_t bias;
	char path[4096];

	if (getenv("EMULATOR"))
		SKIP("what /proc says here is the emulator's");
	banner[0] ^= 1;
	CHECK(managed_place_program((uint32_t)getpid(), path, &place));
	struct image *image = managed_place_open(&place);

	if (!image)
		SKIP("there is no openat2()");
	image_close(image);
	CHECK(managed_files_which(&files, all, 2, &place, &found));
	CHECK(!found);
	CHECK(managed_files_which(&files, all + 3, 1, &place, &found));
	CHECK(found == &section);
	binary = managed_files_get(&files, &section, &place, &bias, NULL);
	CHECK(binary && binary->symbols[0].found); /* the section's beginning */
	if (!managed_files_get(&files, &own_runtime, &place, &bias, NULL))
		SKIP("this program has no symbols");
	CHECK(managed_files_which(&files, all, 4, &place, &found));
	CHECK(found == &symbol);
	CHECK(managed_files_which(&files, all + 4, 2, &place, &found));
	CHECK(!found); /* what it has varies */
}
