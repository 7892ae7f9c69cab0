/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_debug_package.c - which command a distribution has for the symbols of a stripped file.
 */
#include "tests/unit/test.h"

#include "report/load/debug_package.h"
#include "report/view/view_levels.h"

#include <string.h>

static const char *remedy(struct arena *arena, const char *os_release, const char *path)
{
	const char *name = test_path("os-release");
	FILE *file = fopen(name, "w");

	fputs(os_release, file);
	fclose(file);
	return debug_package_remedy(name, path, arena);
}

TEST(debug_package_names_the_command_of_the_distribution)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(remedy(&arena, "NAME=x\nID=debian\n", "/bin/a b"),
		  "for its symbols: find-dbgsym-packages '/bin/a b' (of debian-goodies), or "
		  "DEBUGINFOD_URLS=https://debuginfod.debian.net");
	CHECK_STR(remedy(&arena, "ID=\"linuxmint\"\nID_LIKE=\"ubuntu debian\"\n", "/bin/ls"),
		  "for its symbols: find-dbgsym-packages /bin/ls (of debian-goodies), or "
		  "DEBUGINFOD_URLS=https://debuginfod.ubuntu.com");
	CHECK_STR(remedy(&arena, "ID=fedora", "/usr/bin/ls"),
		  "for its symbols: dnf debuginfo-install $(rpm -qf /usr/bin/ls), or "
		  "DEBUGINFOD_URLS=https://debuginfod.fedoraproject.org");
	CHECK_STR(remedy(&arena, "ID=arch\n", "/usr/bin/ls"),
		  "for its symbols: DEBUGINFOD_URLS=https://debuginfod.archlinux.org");
	CHECK_STR(remedy(&arena, "ID=opensuse-leap\nID_LIKE='suse opensuse'\n", "/bin/ls"),
		  "for its symbols: zypper install $(rpm -qf --qf '%{NAME}' /bin/ls)-debuginfo, or "
		  "DEBUGINFOD_URLS=https://debuginfod.opensuse.org");
	CHECK_STR(remedy(&arena, "ID=other\n", "/bin/ls"), "install its debug symbols, or set DEBUGINFOD_URLS");
	CHECK_STR(debug_package_remedy("/no/such/file", "/bin/ls", &arena),
		  "install its debug symbols, or set DEBUGINFOD_URLS");
}

/* What completion offers is what the option takes. */
TEST(view_levels_that_are_offered_are_levels)
{
	for (const char *const *name = view_level_names; *name; name++) {
		struct view_levels levels;

		if (strcmp(*name, "event") == 0 || strcmp(*name, "branch") == 0)
			continue;
		CHECK_OK(view_parse_levels(&levels, *name));
		CHECK(levels.items[0].by != VIEW_FIELD);
	}
}
