/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_map_query.c - what the kernel says of this program, against what its own file says.
 */
#include "tests/unit/test.h"

#include "record/task/map_query.h"
#include "record/task/proc_scan.h"
#include "symbolize/elf/image.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The mapping of this very code. */
static struct err *keep_own_code(void *context, const struct event *ev)
{
	struct event_mmap *own = context;
	uint64_t here = (uintptr_t)keep_own_code;

	if (ev->kind == EVENT_MMAP && here >= ev->mmap.start && here < ev->mmap.end)
		*own = ev->mmap;
	return NULL;
}

static void no_process(void *context, uint32_t pid, uint32_t nthreads)
{
	(void)context;
	(void)pid;
	(void)nthreads;
}

TEST(map_query_knows_the_build_id_of_what_is_mapped)
{
	size_t stuck = 0;
	struct event_mmap own = { 0 };
	const struct proc_visitor visitor = { .event = keep_own_code,
						      .process = no_process,
						      .context = &own };
	struct image *img;
	size_t len;

	CHECK_OK(proc_scan_process(getpid(), &visitor, &stuck));
	if (!own.build_id_len)
		SKIP("the kernel does not tell (Linux 6.11), or this program has no build ID");
	CHECK_UINT(own.device, 0);
	CHECK_UINT(own.inode, 0);
	CHECK_OK(image_open("/proc/self/exe", &img));
	const uint8_t *id = image_build_id(img, &len);

	CHECK_UINT(own.build_id_len, len);
	CHECK(memcmp(own.build_id, id, len) == 0);
	image_close(img);
}

/* Of all processes; those that map the same are asked for once. */
struct own_maps {
	uint32_t child;
	struct event_mmap mine, its;
};

static struct err *keep_both(void *context, const struct event *ev)
{
	struct own_maps *maps = context;

	if (ev->pid == (uint32_t)getpid())
		return keep_own_code(&maps->mine, ev);
	return ev->pid == maps->child ? keep_own_code(&maps->its, ev) : NULL;
}

TEST(map_query_gives_each_process_the_build_id_of_what_it_maps)
{
	struct own_maps maps = { 0 };
	const struct proc_visitor visitor = { .event = keep_both, .process = no_process, .context = &maps };
	size_t stuck = 0;
	int fds[2];
	char byte;

	CHECK_INT(pipe(fds), 0);
	pid_t child = fork();

	if (child == 0) {
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) > 0);
	}
	maps.child = (uint32_t)child;
	CHECK_OK(proc_scan_all(&visitor, &stuck));
	close(fds[0]);
	close(fds[1]);
	waitpid(child, NULL, 0);
	if (!maps.mine.build_id_len)
		SKIP("the kernel does not tell (Linux 6.11), or this program has no build ID");
	CHECK_UINT(maps.its.build_id_len, maps.mine.build_id_len);
	CHECK(memcmp(maps.its.build_id, maps.mine.build_id, maps.mine.build_id_len) == 0);
	CHECK_UINT(maps.its.device | maps.its.inode, 0);
	CHECK_UINT(maps.its.start, maps.mine.start);
}

TEST(map_query_leaves_alone_what_it_does_not_know)
{
	struct event_mmap map = { .start = 4096, .end = 8192, .inode = 7 };
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	CHECK(maps >= 0);
	CHECK(!map_query_build_id(maps, &map)); /* nothing is there */
	CHECK(!map_query_build_id(-1, &map));
	CHECK_UINT(map.inode, 7);
	CHECK_UINT(map.build_id_len, 0);
	close(maps);
}
