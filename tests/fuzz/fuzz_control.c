/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_control.c - commands for a running recorder, in pieces as a pipe gives them: whatever comes, each line is one
 * command or one error, and what is cut anywhere is read as if it was not.
 */
#include "tests/fuzz/fuzz.h"

#include "record/sample/control.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What became of the lines: commands by verb, errors. */
struct outcome {
	size_t commands[CONTROL_EVLIST + 1], errors;
};

static void take_lines(struct control *c, struct outcome *outcome)
{
	struct control_command command;
	struct err *err = NULL;

	while (control_next(c, &command, &err)) {
		CHECK(err || command.verb <= CONTROL_EVLIST);
		if (err)
			outcome->errors++;
		else
			outcome->commands[command.verb]++;
		if (!err && command.event)
			CHECK(strlen(command.event) < CONTROL_LINE_MAX);
		control_answer(c, err);
		err_free(err);
		err = NULL;
	}
}

static struct outcome run(const uint8_t *data, size_t len, size_t piece)
{
	struct control c = { .answer_fd = -1 };
	struct outcome outcome = { 0 };
	int ends[2];

	CHECK(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
	c.command_fd = ends[0];
	for (size_t done = 0; done < len; done += piece) {
		size_t part = len - done < piece ? len - done : piece;

		CHECK(write(ends[1], data + done, part) == (ssize_t)part);
		for (int left; !ioctl(ends[0], FIONREAD, &left) && left;) {
			control_read(&c);
			take_lines(&c, &outcome);
		}
	}
	close(ends[0]);
	close(ends[1]);
	return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += data[i] == '\n';

	struct outcome whole = run(data, len, 4096), cut = run(data, len, 7);
	size_t sum = whole.errors;

	for (size_t i = 0; i <= CONTROL_EVLIST; i++)
		sum += whole.commands[i];
	CHECK(sum <= lines);
	CHECK(memcmp(&whole, &cut, sizeof(whole)) == 0);
	return 0;
}
