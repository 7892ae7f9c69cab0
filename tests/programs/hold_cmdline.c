/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_cmdline.c - the command line of this process lies in a mapping of FILE: who reads it waits for that file.
 *
 *	hold_cmdline FILE SECONDS
 *
 * 77: the kernel does not let it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
	char *page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (page == MAP_FAILED || prctl(PR_SET_MM, PR_SET_MM_ARG_START, page, 0, 0) != 0 ||
	    prctl(PR_SET_MM, PR_SET_MM_ARG_END, page + 4096, 0, 0) != 0)
		return 77;
	puts("ready");
	fflush(stdout);
	sleep((unsigned)atoi(argv[2]));
	return 0;
}
