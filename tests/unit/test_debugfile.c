/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/arena.h"
#include "symbolize/module/debugfile.h"
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t id_a[] = { 0xab, 0xcd, 0xef, 1 };
static const uint8_t id_b[] = { 0xab, 0xcd, 0xef, 2 };

/* Make the folders that lead to @path. */
static void make_folders(const char *path)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = folder + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(folder, 0755);
		*slash = '/';
	}
}

static void write_bytes(const char *path, const void *data, size_t len)
{
	make_folders(path);
	FILE *file = fopen(path, "w");

	CHECK(file && fwrite(data, 1, len, file) == len);
	CHECK_INT(fclose(file), 0);
}

/* An ELF file at @path with build ID @id (NULL: none) and a debug link (NULL: none); returns its CRC. */
static uint32_t write_elf(const char *path, const uint8_t *id, const char *link, uint32_t crc)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	uint8_t note[20] = { 4, 0, 0, 0, 4, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0 };
	uint8_t section[64] = { 0 };

	if (id) {
		memcpy(note + 16, id, 4);
		elf_file_section(&f, (struct elf_file_section){ .name = ".note.gnu.build-id",
								.type = SHT_NOTE,
								.data = note,
								.len = sizeof(note) });
	}
	if (link) {
		size_t at = (strlen(link) + 4) & ~(size_t)3;

		memcpy(section, link, strlen(link));
		for (int i = 0; i < 4; i++)
			section[at + (size_t)i] = (uint8_t)(crc >> 8 * i);
		elf_file_section(&f, (struct elf_file_section){ .name = ".gnu_debuglink",
								.type = SHT_PROGBITS,
								.data = section,
								.len = at + 4 });
	}
	elf_file_finish(&f);
	write_bytes(path, f.out.data, f.out.len);
	return debugfile_crc32(0, f.out.data, f.out.len);
}

struct found {
	enum debugfile_result result;
	char path[PATH_MAX]; /* of what was found or refused; "" for neither */
};

static struct found note_found(enum debugfile_result result, struct image *img, const char *refused)
{
	struct found found = { .result = result };

	if (img)
		snprintf(found.path, sizeof(found.path), "%s", image_path(img));
	else if (refused)
		snprintf(found.path, sizeof(found.path), "%s", refused);
	CHECK(!img == (result != DEBUGFILE_FOUND && result != DEBUGFILE_UNVERIFIED));
	image_close(img);
	return found;
}

static struct found find_binary(const struct module_search *search, struct debugfile_wanted wanted)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct image *img = NULL;
	const char *refused = NULL;
	enum debugfile_result result = debugfile_binary(search, &wanted, &arena, &img, &refused);

	return note_found(result, img, refused);
}

static struct found find_separate(const struct module_search *search,
				  struct debugfile_wanted wanted, const char *binary_path)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct image *binary = NULL, *img = NULL;
	const char *refused = NULL;

	CHECK_OK(image_open(binary_path, &binary));
	enum debugfile_result result =
		debugfile_separate(search, &wanted, binary, &arena, &img, &refused);

	image_close(binary);
	return note_found(result, img, refused);
}

static struct debugfile_wanted wanted_of(const char *path, const uint8_t *id)
{
	return (struct debugfile_wanted){ .path = path,
					  .build_id = id,
					  .build_id_len = id ? 4 : 0 };
}

TEST(debugfile_checksum_is_that_of_debug_links)
{
	CHECK_UINT(debugfile_crc32(0, "123456789", 9), 0xcbf43926);
	CHECK_UINT(debugfile_crc32(debugfile_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

TEST(debugfile_takes_a_binary_with_the_right_build_id_only)
{
	const char *path = test_path("app");
	struct debugfile_wanted wanted = wanted_of(path, id_a);

	CHECK_UINT(find_binary(NULL, wanted).result, DEBUGFILE_MISSING);
	write_elf(path, id_a, NULL, 0);
	struct found found = find_binary(NULL, wanted);

	CHECK_UINT(found.result, DEBUGFILE_FOUND);
	CHECK_STR(found.path, path);
	write_elf(path, id_b, NULL, 0);
	found = find_binary(NULL, wanted);
	CHECK_UINT(found.result, DEBUGFILE_MISMATCH);
	CHECK_STR(found.path, path);
	write_elf(path, NULL, NULL, 0);
	CHECK_UINT(find_binary(NULL, wanted).result, DEBUGFILE_MISMATCH);
	write_bytes(path, "#!/bin/sh\n", 10);
	CHECK_UINT(find_binary(NULL, wanted).result, DEBUGFILE_BROKEN);
}

TEST(debugfile_says_when_there_was_no_build_id_to_check)
{
	const char *path = test_path("app");
	struct debugfile_wanted wanted = wanted_of(path, NULL);

	write_elf(path, id_a, NULL, 0);
	CHECK_UINT(find_binary(NULL, wanted).result, DEBUGFILE_UNVERIFIED);
	wanted.deleted = true; /* whatever is there now is another file */
	CHECK_UINT(find_binary(NULL, wanted).result, DEBUGFILE_MISMATCH);
	wanted = wanted_of(path, id_a);
	wanted.deleted = true;
	CHECK_UINT(find_binary(NULL, wanted).result, DEBUGFILE_FOUND);
}

TEST(debugfile_opens_regular_files_only)
{
	const char *path = test_path("fifo");

	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_UINT(find_binary(NULL, wanted_of(path, id_a)).result, DEBUGFILE_MISSING);
	CHECK_UINT(find_binary(NULL, wanted_of("/", id_a)).result, DEBUGFILE_MISSING);
	CHECK_UINT(find_binary(NULL, wanted_of("//anon", NULL)).result, DEBUGFILE_MISSING);
	CHECK_UINT(find_binary(NULL, wanted_of("", NULL)).result, DEBUGFILE_MISSING);
}

TEST(debugfile_looks_below_symfs_first)
{
	char root[PATH_MAX], inside[PATH_MAX + 16];

	snprintf(root, sizeof(root), "%s", test_path("root"));
	struct module_search search = { .symfs = root };

	snprintf(inside, sizeof(inside), "%s/opt/app", root);
	write_elf(inside, id_a, NULL, 0);
	struct found found = find_binary(&search, wanted_of("/opt/app", id_a));

	CHECK_UINT(found.result, DEBUGFILE_FOUND);
	CHECK_STR(found.path, inside);
	CHECK_UINT(find_binary(NULL, wanted_of("/opt/app", id_a)).result, DEBUGFILE_MISSING);
}

TEST(debugfile_finds_debug_files_by_build_id)
{
	char binary[PATH_MAX], dir[PATH_MAX], file[PATH_MAX + 64];
	const char *dirs[] = { dir, NULL };
	struct module_search search = { .debug_dirs = dirs };

	snprintf(binary, sizeof(binary), "%s", test_path("app"));
	snprintf(dir, sizeof(dir), "%s", test_path("debug"));
	snprintf(file, sizeof(file), "%s/.build-id/ab/cdef01.debug", dir);
	write_elf(binary, id_a, NULL, 0);
	CHECK_UINT(find_separate(&search, wanted_of(binary, id_a), binary).result,
		   DEBUGFILE_MISSING);
	write_elf(file, id_b, NULL, 0); /* in the right place, of another build */
	CHECK_UINT(find_separate(&search, wanted_of(binary, id_a), binary).result,
		   DEBUGFILE_MISMATCH);
	write_elf(file, id_a, NULL, 0);
	struct found found = find_separate(&search, wanted_of(binary, id_a), binary);

	CHECK_UINT(found.result, DEBUGFILE_FOUND);
	CHECK_STR(found.path, file);
	CHECK_UINT(find_separate(NULL, wanted_of(binary, id_a), binary).result, DEBUGFILE_MISSING);
}

TEST(debugfile_follows_a_debug_link_if_its_checksum_is_right)
{
	static const char *const places[] = { "app.debug", ".debug/app.debug" };
	char binary[PATH_MAX], file[PATH_MAX];

	snprintf(binary, sizeof(binary), "%s", test_path("app"));
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		snprintf(file, sizeof(file), "%s", test_path(places[i]));
		uint32_t crc = write_elf(file, NULL, NULL, 0);

		write_elf(binary, NULL, "app.debug", crc);
		struct found found = find_separate(NULL, wanted_of(binary, NULL), binary);

		CHECK_UINT(found.result, DEBUGFILE_FOUND);
		CHECK_STR(found.path, file);
		write_elf(binary, NULL, "app.debug", crc + 1);
		CHECK_UINT(find_separate(NULL, wanted_of(binary, NULL), binary).result,
			   DEBUGFILE_MISMATCH);

		/* With build IDs on both sides those decide, whatever the checksum says. */
		crc = write_elf(file, id_b, NULL, 0);
		write_elf(binary, id_a, "app.debug", crc);
		CHECK_UINT(find_separate(NULL, wanted_of(binary, id_a), binary).result,
			   DEBUGFILE_MISMATCH);
		unlink(file);
	}
}

TEST(debugfile_ignores_debug_links_that_lead_elsewhere)
{
	static const char *const links[] = { "../app.debug", "/etc/passwd", "" };
	char binary[PATH_MAX], file[PATH_MAX];

	snprintf(binary, sizeof(binary), "%s", test_path("dir/app"));
	snprintf(file, sizeof(file), "%s", test_path("app.debug"));
	uint32_t crc = write_elf(file, NULL, NULL, 0);

	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		write_elf(binary, NULL, links[i], crc);
		CHECK_UINT(find_separate(NULL, wanted_of(binary, NULL), binary).result,
			   DEBUGFILE_MISSING);
	}
}

TEST(debugfile_finds_the_kernel_below_symfs)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char root[PATH_MAX], file[PATH_MAX + 64];
	struct module_search search = { .symfs = root };
	struct debugfile_wanted wanted = wanted_of("[kernel]", id_a);
	const char *refused = NULL;
	struct image *img = NULL;

	snprintf(root, sizeof(root), "%s", test_path("root"));
	snprintf(file, sizeof(file), "%s/usr/lib/debug/boot/vmlinux-6.1.0-test", root);
	write_elf(file, id_a, NULL, 0);
	CHECK_UINT(debugfile_kernel(&search, &wanted, "6.1.0-test", &arena, &img, &refused),
		   DEBUGFILE_FOUND);
	CHECK_STR(image_path(img), file);
	image_close(img);
	img = NULL;
	CHECK_UINT(debugfile_kernel(&search, &wanted, "../6.1.0-test", &arena, &img, &refused),
		   DEBUGFILE_MISSING);
	wanted.build_id_len = 0; /* nothing to check it by */
	CHECK_UINT(debugfile_kernel(&search, &wanted, "6.1.0-test", &arena, &img, &refused),
		   DEBUGFILE_MISSING);
}
