/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - feed files to a fuzz target without a fuzzer: replay FILE...
 *
 * Each input ends where a page without access begins, so that a read past its end dies here too. The name
 * of the input at work is on stderr when that happens.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *current;

static void tell(int signal_number)
{
	static const char text[] = "\ndied on ";
	size_t len = strlen(current);

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDERR_FILENO, current, len) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static bool replay(const char *path)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	size_t len = (size_t)st.st_size, room = (len + page - 1) / page * page;
	char *base =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED || mprotect(base + room, page, PROT_NONE) < 0 ||
	    (len && read(fd, base + room - len, len) != (ssize_t)len)) {
		close(fd);
		return false;
	}
	close(fd);
	LLVMFuzzerTestOneInput((const uint8_t *)base + room - len, len);
	munmap(base, room + page);
	return true;
}

int main(int argc, char **argv)
{
	signal(SIGSEGV, tell);
	signal(SIGBUS, tell);
	signal(SIGABRT, tell);
	for (int i = 1; i < argc; i++) {
		current = argv[i];
		if (!replay(argv[i])) {
			fprintf(stderr, "cannot read '%s'\n", argv[i]);
			return 1;
		}
	}
	return 0;
}
