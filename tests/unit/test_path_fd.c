/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_path_fd.c - a name in another process's root leads to a file below that root, or nowhere.
 */
#include "formats/base/path_fd.h"

#include "tests/unit/test.h"

#include <stdlib.h>
#include <unistd.h>

TEST(path_fd_in_root_follows_no_links_through_proc)
{
	int fd;

	if (getenv("EMULATOR"))
		SKIP("an emulator may not know openat2()");
	fd = path_fd_in_root((uint32_t)getpid(), "/proc");
	if (fd < 0)
		SKIP("there is no openat2() here");
	close(fd);
	/* Links of the kernel's own, which lead wherever the process has a file. */
	CHECK(path_fd_in_root((uint32_t)getpid(), "/proc/self/exe") < 0);
	CHECK(path_fd_in_root((uint32_t)getpid(), "/proc/self/fd/0") < 0);
	CHECK(path_fd_in_root((uint32_t)getpid(), "/proc/self/root/etc") < 0);
}
