/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_binary.c - files of interpreters are limited in number, and that is said.
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

TEST(managed_files_say_when_there_are_too_many)
{
	CLEANUP(managed_files_deinit) struct managed_files files = { 0 };
	const char *why = NULL;
	uint64_t bias;

	for (unsigned i = 0; i <= MANAGED_FILES_MAX; i++) {
		char path[64];
		struct managed_place place = { .pid = (uint32_t)getpid(), .path = path };

		snprintf(path, sizeof(path), "/nowhere/%u/python3", i);
		CHECK(!why);
		CHECK(!managed_files_get(&files, &managed_python, &place, &bias, &why));
	}
	CHECK(why && strstr(why, "64"));
}

static const char *const own_symbols[] = { "main", NULL };
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
