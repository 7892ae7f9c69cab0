/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_syscall_argument.c - registers in a system call, and registers that only look a little like it.
 */
#include "record/sample/syscall_argument.h"
#include "tests/unit/test.h"

#include <errno.h>

TEST(syscall_argument_is_told_from_data)
{
	struct event_regs regs = { .mask = UINT64_MAX >> 47 };

	regs.values[0] = (uint64_t)(int64_t)-ENOSYS;
	regs.values[2] = regs.values[16] = 0x401000;
	regs.values[5] = 0x55d0c8;
	CHECK_UINT(syscall_argument(&arch_x86_64, &regs), 0x55d0c9);
	CHECK_UINT(syscall_argument(&arch_aarch64, &regs), 0);
	CHECK_UINT(syscall_argument(&arch_x86_64, NULL), 0);
	regs.values[2]++; /* a page fault */
	CHECK_UINT(syscall_argument(&arch_x86_64, &regs), 0);
	regs.values[2]--;
	regs.values[0] = 0;
	CHECK_UINT(syscall_argument(&arch_x86_64, &regs), 0);
	regs.values[0] = (uint64_t)(int64_t)-ENOSYS;
	regs.mask &= ~(1ull << 5);
	CHECK_UINT(syscall_argument(&arch_x86_64, &regs), 0);
}

TEST(syscall_argument_is_read_from_proc)
{
	CHECK_UINT(syscall_argument_parse("202 0x7f12 0x80 0x0 0x0 0x0 0x0 0x7ffe00 0x7f1200\n"), 0x7f13);
	CHECK_UINT(syscall_argument_parse("0 0x0 0x7ffe 0x1 0x0 0x0 0x0 0x7ffe00 0x7f1200\n"), 1);
	CHECK_UINT(syscall_argument_parse("-1 0x7ffe00 0x7f1200\n"), 0);
	CHECK_UINT(syscall_argument_parse("running\n"), 0);
	CHECK_UINT(syscall_argument_parse(""), 0);
}
