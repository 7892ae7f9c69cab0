/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task/inner_pid.h"

#include "tests/unit/test.h"

#include <sys/syscall.h>
#include <unistd.h>

TEST(inner_pid_is_the_last_of_the_numbers)
{
	CHECK_UINT(inner_pid_in("Name:\tx\nNSpid:\t4711\t12\t1\nNSpgid:\t7\n", 4711), 1);
	CHECK_UINT(inner_pid_in("Name:\tx\nNSpid:\t4711\n", 4711), 4711);
}

TEST(inner_pid_without_an_answer_is_the_number_outside)
{
	CHECK_UINT(inner_pid_in("", 4711), 4711);
	CHECK_UINT(inner_pid_in("Name:\tx\nNSpid:\t12", 4711), 4711); /* cut */
	CHECK_UINT(inner_tid(0x7ffffffe, 0x7fffffff), 0x7fffffff);
}

TEST(inner_tid_of_a_thread_of_this_namespace_is_its_own)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	CHECK_UINT(inner_tid((uint32_t)getpid(), tid), tid);
}
