/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_delay.c - windows of -D, and lines of --control.
 */
#include "record/sample/control.h"
#include "record/sample/delay.h"
#include "tests/unit/test.h"

#include <string.h>
#include <unistd.h>

#define MS 1000000ULL

TEST(delay_windows_open_and_close_at_their_edges)
{
	CLEANUP(delay_deinit) struct delay delay = { 0 };

	CHECK(!delay_parse(&delay, "10-20,20-30,50-60"));
	CHECK(!delay_is_on(&delay, 0));
	CHECK_UINT(delay_next(&delay, 0), 10 * MS);
	CHECK(delay_is_on(&delay, 10 * MS));
	CHECK_UINT(delay_next(&delay, 10 * MS), 20 * MS);
	CHECK(delay_is_on(&delay, 20 * MS));
	CHECK(!delay_is_on(&delay, 30 * MS));
	CHECK_UINT(delay_next(&delay, 59 * MS), 60 * MS);
	CHECK(!delay_is_on(&delay, 60 * MS));
	CHECK(delay_next(&delay, 60 * MS) == DELAY_NEVER);
}

TEST(delay_is_a_moment_or_never_or_nothing_at_all)
{
	CLEANUP(delay_deinit) struct delay delay = { 0 };

	CHECK(delay_is_on(&delay, 0));
	CHECK(delay_next(&delay, 0) == DELAY_NEVER);
	CHECK(!delay_parse(&delay, "500"));
	CHECK(!delay_is_on(&delay, 499 * MS));
	CHECK(delay_is_on(&delay, 500 * MS));
	CHECK(delay_next(&delay, 500 * MS) == DELAY_NEVER);
	CHECK(!delay_parse(&delay, "-1"));
	CHECK(!delay_is_on(&delay, 500 * MS));
	CHECK(delay_next(&delay, 0) == DELAY_NEVER);
	CHECK(!delay_parse(&delay, "0"));
	CHECK(!delay.given);
}

TEST(delay_refuses_windows_that_overlap_or_are_none)
{
	static const char *const wrong[] = { "",      "x",     "10-",         "-10",   "20-10",
					     "10-10", "10,20", "10-30,20-40", "10-20,", "5s" };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		CLEANUP(delay_deinit) struct delay delay = { 0 };
		CLEANUP(err_freep) struct err *err = delay_parse(&delay, wrong[i]);
		bool trailing_comma = !strcmp(wrong[i], "10-20,");

		CHECK(trailing_comma ? !err : err && err_kind(err) == ERR_USAGE);
	}
}

/* A control whose commands are @text. */
static struct control control_of(const char *text)
{
	struct control c = { .command_fd = -1, .answer_fd = -1 };
	int fds[2];

	CHECK(pipe(fds) == 0);
	CHECK(write(fds[1], text, strlen(text)) == (ssize_t)strlen(text));
	close(fds[1]);
	c.command_fd = fds[0];
	c.owned = true;
	return c;
}

TEST(control_lines_come_whole_however_they_are_cut)
{
	CLEANUP(control_close) struct control c = control_of("enable\ndisable 'cpu-clock'\nfoo\nstop");
	struct control_command command;
	struct err *err = NULL;

	CHECK(control_read(&c));
	CHECK(control_next(&c, &command, &err) && !err);
	CHECK(command.verb == CONTROL_ENABLE && !command.event);
	CHECK(control_next(&c, &command, &err) && !err);
	CHECK(command.verb == CONTROL_DISABLE);
	CHECK_STR(command.event, "cpu-clock");
	CHECK(control_next(&c, &command, &err) && err && err_kind(err) == ERR_USAGE);
	err_free(err);
	CHECK(!control_next(&c, &command, &err)); /* "stop" has no end yet */
	CHECK(!control_read(&c));
}

TEST(control_skips_a_line_that_is_too_long_and_says_so)
{
	char text[2 * CONTROL_LINE_MAX + 8];

	memset(text, 'x', sizeof(text));
	strcpy(text + sizeof(text) - 7, "\nping\n");
	CLEANUP(control_close) struct control c = control_of(text);
	struct control_command command;
	struct err *err = NULL;
	bool refused = false, obeyed = false;

	while (control_read(&c)) {
		while (control_next(&c, &command, &err)) {
			CHECK(!obeyed);
			refused |= err != NULL;
			obeyed |= !err && command.verb == CONTROL_PING;
			err_free(err);
		}
	}
	CHECK(refused && obeyed);
}
