/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail_write.c - "fail_write ERRNO LEN PROGRAM [ARG]...": run a program whose write(2) to files fails with ERRNO once
 * LEN bytes were written, as on a disk that breaks. What the program itself starts is left alone.
 *
 * A filter hands each write to a child that was made before it, which counts and answers.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Is it a file other than the standard ones, into which messages may go? */
static int is_file(unsigned pid, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
	return fd > STDERR_FILENO && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Answer for each write of @pid until nobody is left under the filter. */
static void watch(int listener, unsigned pid, int errnum, unsigned long long left)
{
	struct pollfd poll_fd = { .fd = listener, .events = POLLIN };

	while (poll(&poll_fd, 1, -1) == 1 && poll_fd.revents & POLLIN) {
		struct seccomp_notif asked = { 0 };

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
			continue;
		struct seccomp_notif_resp answer = { .id = asked.id };
		unsigned long long len = asked.data.args[2];

		if (asked.pid != pid || !is_file(pid, (int)asked.data.args[0])) {
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		} else if (len <= left) {
			left -= len;
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		} else {
			left = 0;
			answer.error = -errnum;
		}
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	volatile int *listener = mmap(NULL, sizeof(*listener), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned pid = (unsigned)getpid();

	if (argc < 4 || listener == MAP_FAILED)
		return 77;
	*listener = -1;
	/* The child sees the descriptor, since both have one table until the program is run. */
	long child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (child == 0) {
		while (*listener == -1)
			usleep(1000);
		if (*listener >= 0)
			watch(*listener, pid, atoi(argv[1]), strtoull(argv[2], NULL, 10));
		_exit(0);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			      SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);

	*listener = fd < 0 ? -2 : fd;
	if (child < 0 || fd < 0) {
		fputs("fail_write: no filter\n", stderr);
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 1;
}
