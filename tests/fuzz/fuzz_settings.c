/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_settings.c - configuration files: each line is a setting with its number or the one error, and each option that comes
 * of it is one that the table names.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/base/settings.h"
#include "report/setting_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN_MAX 65536 /* larger files are not read */

static int file_of(const uint8_t *data, size_t len)
{
	int fd = memfd_create("settings", MFD_CLOEXEC);
	char path[64];

	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len && fchmod(fd, 0600) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("PRECORD_CONFIG", path, 1);
	return fd;
}

static void check_option(struct settings *settings, const struct setting *setting)
{
	const char *option = NULL;
	struct err *err = settings_option(settings, setting_names, setting, &option);

	CHECK(!err || err_kind(err) == ERR_USAGE);
	CHECK(!option || (strncmp(option, "--", 2) == 0 && option[2]));
	err_free(err);
	unsetenv("PREPORT_PAGER");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct settings settings = { 0 };
	int fd = file_of(data, len);
	struct err *err = settings_read(&settings);
	unsigned line = 0;

	CHECK(!err || err_kind(err) == ERR_USAGE);
	CHECK(settings.files.len == 1 && (len <= LEN_MAX) == !settings.files.items[0].why_not);
	for (size_t i = 0; i < settings.list.len; i++) {
		const struct setting *setting = &settings.list.items[i];

		CHECK(setting->line > line && *setting->name && !strpbrk(setting->name, "=\n") &&
		      !strchr(setting->value, '\n'));
		line = setting->line;
		check_option(&settings, setting);
	}
	err_free(err);
	settings_deinit(&settings);
	close(fd);
	return 0;
}
