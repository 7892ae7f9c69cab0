/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_argument.c - detects a system call by what x86-64 does to registers on entry: the instruction puts the return address
 * into rcx, and the kernel -ENOSYS into the place of rax until there is a result (arch/x86/entry/entry_64.S). Nothing else
 * does both. On aarch64 registers do not tell a system call from a page fault.
 */
#include "record/sample/syscall_argument.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { X86_RAX = 0, X86_RCX = 2, X86_RDI = 5 }; /* System V ABI, AMD64 supplement 1.0, figure 3.36 */

uint64_t syscall_argument(const struct arch *arch, const struct event_regs *regs)
{
	const uint64_t needed = 1ull << X86_RAX | 1ull << X86_RCX | 1ull << X86_RDI | 1ull << arch->ip;

	if (arch != &arch_x86_64 || !regs || (regs->mask & needed) != needed ||
	    regs->values[X86_RCX] != regs->values[arch->ip] ||
	    regs->values[X86_RAX] != (uint64_t)(int64_t)-ENOSYS)
		return 0;
	return regs->values[X86_RDI] + 1;
}

uint64_t syscall_argument_parse(const char *text)
{
	const char *space = strchr(text, ' ');

	/* "-1" is none; "running" may be any. */
	if (!isdigit((unsigned char)*text) || !space)
		return 0;
	return strtoull(space + 1, NULL, 16) + 1;
}
