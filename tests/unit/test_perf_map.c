/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/writer.h"
#include "record/embed/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *filtered(const char *text, const uint64_t *addresses, size_t count)
{
	static char kept[4096];
	CLEANUP(writer_deinit) struct writer out = { 0 };
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	uint64_t left = UINT32_MAX;

	CHECK(file);
	CHECK(perf_map_filter(file, addresses, count, &left, &out));
	fclose(file);
	CHECK(out.len < sizeof(kept));
	if (out.len)
		memcpy(kept, out.data, out.len);
	kept[out.len] = '\0';
	return kept;
}

TEST(perf_map_keeps_the_lines_that_hold_an_address)
{
	static const uint64_t addresses[] = { 0x1000, 0x20ff, 0x5000 };

	CHECK_STR(filtered("1000 100 first\n1100 100 second\n2000 100 third one\n2100 10 fourth\n"
			   "0x5000 0x10 with prefix\n",
			   addresses, ARRAY_LEN(addresses)),
		  "1000 100 first\n2000 100 third one\n0x5000 0x10 with prefix\n");
}

TEST(perf_map_keeps_every_use_of_the_same_memory_in_order)
{
	static const uint64_t addresses[] = { 0x1010 };

	CHECK_STR(filtered("1000 100 old\n1000 20 new\n1010 0 sizeless\n", addresses, 1),
		  "1000 100 old\n1000 20 new\n1010 0 sizeless\n");
}

TEST(perf_map_skips_what_is_no_line_of_a_map)
{
	static const uint64_t addresses[] = { 0x1000, UINT64_MAX };

	CHECK_STR(filtered("junk\n\n1000\n1000 10\n1000 10 fine\nffffffffffffff00 1000 wraps\n"
			   "1000 10 still being writ",
			   addresses, ARRAY_LEN(addresses)),
		  "1000 10 fine\nffffffffffffff00 1000 wraps\n");
}

/* This process's own map, where perf looks for it. */
TEST(perf_map_is_found_by_number_and_believed_by_owner)
{
	if (getenv("EMULATOR"))
		SKIP("the emulator has no openat2()");

	CLEANUP(writer_deinit) struct writer out = { 0 };
	uint32_t pid = (uint32_t)getpid();
	struct perf_map *map = perf_map_new(pid, /* keep_open= */ true, NULL);
	uint64_t left = UINT32_MAX;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
	unlink(path);
	CHECK(map->known);
	CHECK_UINT(map->uid, getuid());
	perf_map_touch(map, 0x1004, true, (struct code_area){ 0 });
	CHECK(perf_map_read(map, &left, &out) == PERF_MAP_NONE);
	FILE *file = fopen(path, "w");

	if (!file)
		SKIP("/tmp is not writable");
	fputs("1000 10 compiled\n", file);
	fclose(file);
	CHECK(perf_map_read(map, &left, &out) == PERF_MAP_READ);
	CHECK_UINT(out.len, strlen("1000 10 compiled\n"));
	CHECK_UINT(UINT32_MAX - left, out.len);
	CHECK_INT(utimensat(AT_FDCWD, path, (struct timespec[2]){ { 1000, 0 }, { 1000, 0 } }, 0), 0);
	CHECK(perf_map_read(map, &left, &out) == PERF_MAP_STALE); /* of 1970 */
	CHECK_INT(utimensat(AT_FDCWD, path, NULL, 0), 0);
	CHECK(perf_map_read(map, &left, &out) == PERF_MAP_READ);
	if (getuid() == 0) {
		CHECK_INT(chown(path, 12345, 12345), 0);
		CHECK(perf_map_read(map, &left, &out) == PERF_MAP_FOREIGN);
	}
	unlink(path);
	CHECK_INT(symlink("/proc/self/maps", path), 0); /* links are not followed */
	CHECK(perf_map_read(map, &left, &out) == PERF_MAP_FOREIGN);
	unlink(path);
	perf_map_free(map);
}
