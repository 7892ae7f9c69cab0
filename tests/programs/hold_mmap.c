/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_mmap.c - preloaded: whoever maps the file whose name ends with $HOLD_FILE waits for ever, as for a FUSE file whose
 * server never answers; with $HOLD_DEADLY it dies instead. The same of whoever reads the file whose name ends with $HOLD_READ, or
 * asks it by ioctl(2), as for a process whose mappings are locked.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_held(int fd, const char *variable)
{
	const char *end = getenv(variable);
	char link[64], path[4096];
	ssize_t len;

	if (fd < 0 || !end)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return 0;
	path[len] = '\0';
	return strlen(path) >= strlen(end) && !strcmp(path + strlen(path) - strlen(end), end);
}

static void hold(void)
{
	if (getenv("HOLD_DEADLY"))
		raise(SIGKILL);
	for (;;)
		pause();
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "mmap");
	if (is_held(fd, "HOLD_FILE"))
		hold();
	return real(addr, len, prot, flags, fd, offset);
}

ssize_t read(int fd, void *to, size_t len)
{
	static ssize_t (*real)(int, void *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "read");
	if (is_held(fd, "HOLD_READ"))
		hold();
	return real(fd, to, len);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, void *);
	va_list args;
	void *what;

	va_start(args, request);
	what = va_arg(args, void *);
	va_end(args);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	if (is_held(fd, "HOLD_READ"))
		hold();
	return real(fd, request, what);
}
