/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/task/maps_line.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool parse(const char *text, struct maps_line *ret)
{
	static char line[512];

	snprintf(line, sizeof(line), "%s", text);
	return maps_line_parse(line, ret);
}

TEST(maps_line_has_its_fields)
{
	struct maps_line m;

	CHECK(parse("5581f000-5582f0ab r-xp 0001a000 fd:0a 1234567                    /bin/a b\\012 (deleted)\n", &m));
	CHECK_UINT(m.start, 0x5581f000);
	CHECK_UINT(m.end, 0x5582f0ab);
	CHECK(m.reads && !m.writes && m.executes);
	CHECK_UINT(m.offset, 0x1a000);
	CHECK_UINT(m.device, makedev(0xfd, 0xa));
	CHECK_UINT(m.inode, 1234567);
	CHECK_STR(m.path, "/bin/a b\\012 (deleted)");
	CHECK(parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]", &m));
	CHECK_UINT(m.end, 0xffffffffff601000);
	CHECK(m.executes);
	CHECK_STR(m.path, "[vsyscall]");
}

TEST(maps_line_without_a_path)
{
	static const char *const lines[] = { "1000-2000 rw-p 00000000 00:00 0", "1000-2000 rw-p 00000000 00:00 0 \n",
					     "1000-2000 rw-p 00000000 00:00 0\n" };
	struct maps_line m;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CHECK(parse(lines[i], &m));
		CHECK(m.reads && m.writes && !m.executes);
		CHECK_UINT(m.inode, 0);
		CHECK_STR(m.path, "");
	}
}

TEST(maps_line_is_refused_if_it_is_none)
{
	static const char *const lines[] = {
		"", "\n", "1000", "1000-", "-2000 r-xp 0 0:0 0 /a", "1000-2000", "1000-2000 r-x", "1000-2000 r-xp",
		"1000-2000 r-xp 0", "1000-2000 r-xp 0 fd", "1000-2000 r-xp 0 fd:", "1000-2000 r-xp 0 fd:0",
		"1000-2000 r-xp 0 fd:0 ", "1000-2000 r-xp 0 fd:0 a", "1000-2000 r-xp 0 fd:0 1a /a",
		"1000-2000 q-xp 0 fd:0 1 /a", "1000-2000 r-xp  fd:0 1 /a", "100G-2000 r-xp 0 fd:0 1 /a",
		"10000000000000000-2000 r-xp 0 fd:0 1 /a", "1000-2000 r-xp 0 fd:0 99999999999999999999 /a",
	};
	struct maps_line m;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CHECK_STR(parse(lines[i], &m) ? lines[i] : "refused", "refused");
	}
}

/* What the kernel writes of ourselves. */
TEST(maps_line_reads_every_line_of_this_process)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	uint64_t here = (uint64_t)(uintptr_t)parse;
	bool found = false;
	struct maps_line m;

	CHECK(maps);
	while (fgets(line, sizeof(line), maps)) {
		CHECK(maps_line_parse(line, &m));
		CHECK(m.start < m.end);
		found |= m.executes && m.start <= here && here < m.end && m.path[0] == '/';
	}
	fclose(maps);
	CHECK(found);
}
