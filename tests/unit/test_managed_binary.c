/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_binary.c - files of interpreters are limited in number, and that is said.
 */
#include "record/managed/managed_binary.h"

#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>
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
