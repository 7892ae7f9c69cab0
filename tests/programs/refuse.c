/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse.c - "refuse ERRNO[@CPU] PROGRAM [ARG]...": run a program for which perf_event_open(2) fails with ERRNO,
 * as in a container, or under a kernel that lets nobody record; on one CPU only, if that is given.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned errnum = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	const char *at = argc > 2 ? strchr(argv[1], '@') : NULL;
	unsigned cpu = at ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 3),
		/* The third argument; of little-endian words the lower half comes first. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | (at ? BPF_JEQ : BPF_JGE) | BPF_K, cpu, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		fputs("refuse: no filter\n", stderr);
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
