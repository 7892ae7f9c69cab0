/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task/process_clock.h"

#include "tests/unit/test.h"

#include <sys/wait.h>
#include <unistd.h>

TEST(process_clock_goes_on_while_its_process_runs)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t before = process_clock_ns(pid);

	CHECK(before > 0);
	while (process_clock_ns(pid) == before)
		;
	CHECK(process_clock_ns(pid) > before);
}

TEST(process_clock_of_a_process_that_is_gone_is_nothing)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK_UINT(process_clock_ns((uint32_t)pid), 0);
}
