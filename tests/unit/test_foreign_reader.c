/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_foreign_reader.c - requests that are not answered.
 */
#include "record/task/foreign_reader.h"

#include "tests/unit/test.h"

#include <unistd.h>

static void never(const void *request, void *answer, int *ret_fd)
{
	(void)request;
	(void)answer;
	(void)ret_fd;
	for (;;)
		pause();
}

static void soon(const void *request, void *answer, int *ret_fd)
{
	(void)ret_fd;
	*(uint32_t *)answer = *(const uint32_t *)request + 1;
}

TEST(foreign_reader_does_not_count_what_is_asked_once_more)
{
	struct foreign_reader *f = foreign_reader_new(FOREIGN_DRAIN);
	CLEANUP(diag_deinit) struct diag notes = { 0 };
	uint32_t number = 41, answer = 0;
	struct foreign_job job = { .run = never, .name = "all", .request = &number, .request_len = sizeof(number),
				   .answer_len = sizeof(answer), .can_ask_again = true };
	int fd;

	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_LATE);
	foreign_reader_note(f, &notes);
	CHECK(!notes.entries);
	job.run = soon;
	job.can_ask_again = false;
	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_DONE);
	CHECK_UINT(answer, 42);
	foreign_reader_free(f);
}
