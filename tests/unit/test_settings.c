/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_settings.c - lines of configuration files, and files that are not to be trusted.
 */
#include "formats/base/settings.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct setting_name names[] = {
	{ "color", SETTING_VALUE, NULL, "" },
	{ "levels", SETTING_VALUE, "default-by", "" },
	{ "inline", SETTING_NO, NULL, "" },
	{ "idle", SETTING_YES, NULL, "" },
	{ 0 },
};

static const char *file_of(const char *text)
{
	const char *path = test_path("config");
	FILE *out = fopen(path, "w");

	fputs(text, out);
	fclose(out);
	chmod(path, 0644);
	setenv("PRECORD_CONFIG", path, 1);
	return path;
}

/* The option that line @i of what was read stands for; "-": none. */
static const char *option(struct settings *settings, size_t i)
{
	const char *ret = NULL;
	struct err *err = settings_option(settings, names, &settings->list.items[i], &ret);

	CHECK(!err);
	return ret ? ret : "-";
}

TEST(settings_are_options_that_come_first)
{
	struct settings settings = { 0 };

	file_of("# how I like it\n\n  color =  never \nlevels=module,leaf\ninline = no\ninline = yes\nidle = yes\nidle = no");
	CHECK(!settings_read(&settings));
	CHECK_UINT(settings.list.len, 6);
	CHECK_UINT(settings.list.items[0].line, 3);
	CHECK_STR(option(&settings, 0), "--color=never");
	CHECK_STR(option(&settings, 1), "--default-by=module,leaf");
	CHECK_STR(option(&settings, 2), "--no-inline");
	CHECK_STR(option(&settings, 3), "-");
	CHECK_STR(option(&settings, 4), "--idle");
	CHECK_STR(option(&settings, 5), "-");
	settings_deinit(&settings);
}

static void check_refused(const char *text)
{
	struct settings settings = { 0 };
	const char *ret;

	file_of(text);
	struct err *err = settings_read(&settings);

	if (!err)
		err = settings_option(&settings, names, &settings.list.items[0], &ret);
	CHECK(err && err_kind(err) == ERR_USAGE && strstr(err_message(err), "config:1: "));
	err_free(err);
	settings_deinit(&settings);
}

TEST(settings_say_which_line_is_wrong)
{
	check_refused("color never\n");
	check_refused("= never\n");
	check_refused("colour = never\n");
	check_refused("idle = perhaps\n");
}

TEST(settings_with_a_zero_in_them_are_refused_whole)
{
	struct settings settings = { 0 };
	FILE *out = fopen(file_of(""), "w");

	fwrite("color = never\0idle = yes\n", 1, 25, out);
	fclose(out);

	struct err *err = settings_read(&settings);

	CHECK(err && err_kind(err) == ERR_USAGE && strstr(err_message(err), "byte 13 is 0"));
	CHECK_UINT(settings.list.len, 0);
	err_free(err);
	settings_deinit(&settings);
}

static void check_distrusted(const char *path)
{
	struct settings settings = { 0 };

	CHECK(!settings_read(&settings));
	CHECK_UINT(settings.list.len, 0);
	CHECK_UINT(settings.files.len, 1);
	CHECK(settings.files.items[0].why_not != NULL);
	CHECK_STR(settings.files.items[0].path, path);
	settings_deinit(&settings);
}

TEST(settings_that_others_can_write_are_left_out)
{
	const char *path = file_of("color = never\n");

	chmod(path, 0646);
	check_distrusted(path);
	setenv("PRECORD_CONFIG", "/dev/null", 1);
	check_distrusted("/dev/null");
	setenv("PRECORD_CONFIG", "/nonexistent/config", 1);
	check_distrusted("/nonexistent/config");
}
