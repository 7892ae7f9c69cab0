// SPDX-License-Identifier: Apache-2.0
/*
 * without_pmu.c - run a command as on a machine that has no hardware counters.
 *
 * Usage: without_pmu COMMAND...
 *
 * Each perf_event_open() of the command and of its descendants asks here first (seccomp(2), user notification):
 * the generic hardware and cache events and raw ones get ENOENT, which is what Linux says without a PMU; all else
 * goes on to the kernel. Static programs, other people's programs and sanitizers are no exception, as they would
 * be to a preloaded library. That sysfs shows no PMU is for the caller to arrange (tests/fresh/run).
 * The exit status is the command's; 125 if it could not be run.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define COULD_NOT_RUN 125

/* What parent and child tell each other: the listener's descriptor, as the child knows it. */
struct handshake {
	_Atomic int listener; /* -1: not yet, -2: it could not be had */
	_Atomic int taken;
};

static int listen_to_self(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

__attribute__((noreturn)) static void run(struct handshake *shared, char **command)
{
	int listener = listen_to_self();

	if (listener < 0) {
		perror("without_pmu: seccomp");
		shared->listener = -2;
		_exit(COULD_NOT_RUN);
	}
	shared->listener = listener;
	while (!shared->taken)
		usleep(1000);
	close(listener);
	execvp(command[0], command);
	perror(command[0]);
	_exit(COULD_NOT_RUN);
}

/* True for an event that only a hardware PMU counts. What cannot be read is the kernel's to refuse. */
static bool needs_pmu(const struct seccomp_notif *request)
{
	uint32_t type = UINT32_MAX;
	struct iovec here = { &type, sizeof(type) };
	struct iovec there = { (void *)(uintptr_t)request->data.args[0], sizeof(type) };

	if (process_vm_readv((pid_t)request->pid, &here, 1, &there, 1, 0) != sizeof(type))
		return false;
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

static void answer(int listener)
{
	struct seccomp_notif request = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return; /* the caller was killed meanwhile */

	struct seccomp_notif_resp response = { .id = request.id };

	if (needs_pmu(&request))
		response.error = -ENOENT;
	else
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Answer until the command ends; what outlives it gets ENOSYS from then on. */
static int serve(int listener, int pidfd, pid_t pid)
{
	struct pollfd polled[] = { { .fd = listener, .events = POLLIN }, { .fd = pidfd, .events = POLLIN } };
	int status = 0;

	for (;;) {
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return COULD_NOT_RUN;
		if (polled[0].revents & POLLIN)
			answer(listener);
		else if (polled[1].revents)
			break;
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct handshake *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (argc < 2 || shared == MAP_FAILED) {
		fprintf(stderr, "usage: without_pmu COMMAND...\n");
		return COULD_NOT_RUN;
	}
	shared->listener = -1;

	pid_t pid = fork();

	if (pid == 0)
		run(shared, argv + 1);
	while (pid > 0 && shared->listener == -1)
		usleep(1000);
	if (pid < 0 || shared->listener < 0)
		return COULD_NOT_RUN;

	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int listener = (int)syscall(SYS_pidfd_getfd, pidfd, shared->listener, 0);

	if (listener < 0) {
		perror("without_pmu: pidfd_getfd");
		kill(pid, SIGKILL);
		return COULD_NOT_RUN;
	}
	shared->taken = 1;
	return serve(listener, pidfd, pid);
}
