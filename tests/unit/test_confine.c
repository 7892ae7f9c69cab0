/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_confine.c - what the recorder and the processes that read for it may still do, tried out by processes that gave the rest up.
 */
#include "record/system/confine.h"

#include "formats/base/compiler.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool refuses(long result)
{
	return result == -1 && errno == EPERM;
}

/* Each of them asks for something harmless, that would be done, or fail for another reason than EPERM. */
static long run_program(void)
{
	char *none[] = { NULL };

	return execve("/nowhere/at/all", none, none);
}

static long trace(void)
{
	return ptrace(PTRACE_PEEKDATA, 0x7fffffff, 0, 0);
}

static long write_memory(void)
{
	return process_vm_writev(getpid(), NULL, 0, NULL, 0, 0);
}

static long mount_nothing(void)
{
	return mount("none", "/nowhere/at/all", "tmpfs", 0, NULL);
}

static long leave_namespace(void)
{
	return unshare(CLONE_FS);
}

static long be_another(void)
{
	return setuid(getuid());
}

static long make_device(void)
{
	return mknod("/nowhere/at/all", S_IFIFO, 0);
}

static long change_mode(void)
{
	return fchmodat(AT_FDCWD, "/nowhere/at/all", 0777, 0);
}

static long load_module(void)
{
	return syscall(SYS_init_module, NULL, 0UL, "");
}

static long open_by_handle(void)
{
	return syscall(SYS_open_by_handle_at, -1, NULL, 0);
}

static long (*const refused[])(void) = {
	run_program, trace, write_memory, mount_nothing, leave_namespace, be_another, make_device, change_mode, load_module, open_by_handle,
};

/* Files, memory of processes to read, processes of its own. */
static bool reads(void)
{
	char byte = 0, from = 'x';
	struct iovec to_part = { &byte, 1 }, from_part = { &from, 1 };
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && read(fd, &byte, 1) == 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return ok && process_vm_readv(getpid(), &to_part, 1, &from_part, 1, 0) == 1 && byte == 'x' && pid > 0 &&
	       waitpid(pid, NULL, 0) == pid;
}

static bool writes(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	close(fd);
	unlink(path);
	return true;
}

enum verdict { CONFINED, NO_FILTER, ALLOWED = 10 /* + which one */, CANNOT_READ = 50, CAN_GAIN, CAN_WRITE, CANNOT_WRITE };

/* In a process of its own. */
static int try_all(void (*confine)(void), bool file_reader)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/test_confine.%d", getpid());
	confine();
	if (!reads())
		return CANNOT_READ;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return CAN_GAIN;
	if (!writes(path))
		return CANNOT_WRITE;
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		return NO_FILTER;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
#ifdef __SANITIZE_ADDRESS__
		if (refused[i] == trace)
			continue;
#endif
		errno = 0;
		if (!refuses(refused[i]()))
			return ALLOWED + (int)i;
	}
	if (!file_reader)
		return CONFINED;
	confine_file_reader();
	return syscall(SYS_landlock_create_ruleset, NULL, 0UL, 1U) > 0 && writes(path) ? CAN_WRITE : CONFINED;
}

static int verdict_of(void (*confine)(void), bool file_reader)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(try_all(confine, file_reader));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(confined_processes_read_and_do_nothing_else)
{
	if (getenv("EMULATOR"))
		SKIP("the emulator has filters of its own, or none");

	int recorder = verdict_of(confine_recorder, false);

	if (recorder == NO_FILTER)
		SKIP("the kernel has no seccomp");
	CHECK_INT(recorder, CONFINED);
	CHECK_INT(verdict_of(confine_foreign_reader, false), CONFINED);
	CHECK_INT(verdict_of(confine_reader, true), CONFINED);
}
