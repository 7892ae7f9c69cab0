/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_map_query.c - what the kernel says of this program, against what its own file says.
 */
#include "tests/unit/test.h"

#include "record/task/map_query.h"
#include "record/task/maps_line.h"
#include "record/task/proc_scan.h"
#include "symbolize/elf/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

/* Executable, without a file, among others, and with a name that the text escapes. */
static void map_code(void *ret[2])
{
	int fd = memfd_create("a b\nc", MFD_CLOEXEC);

	CHECK(fd >= 0 && ftruncate(fd, 3 * 4096) == 0);
	ret[0] = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ret[1] = mmap(NULL, 2 * 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 4096);
	CHECK(mprotect((char *)ret[0] + 4096, 4096, PROT_READ | PROT_EXEC) == 0);
	close(fd);
}

TEST(map_query_tells_of_code_what_the_text_does)
{
	FILE *text = fopen("/proc/self/maps", "re");
	static struct map_query_code code;
	uint64_t addr = 0;
	char line[PATH_MAX + 256];
	void *own[2];

	if (map_query_next_code(fileno(text), 0, &code) == MAP_QUERY_UNKNOWN) {
		fclose(text);
		SKIP("the kernel does not tell (Linux 6.11)");
	}
	fclose(text);
	map_code(own);
	text = fopen("/proc/self/maps", "re");
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool named = false;

	while (fgets(line, sizeof(line), text)) {
		struct maps_line map;

		if (!maps_line_parse(line, &map) || !map.executes || strcmp(map.path, "[vsyscall]") == 0)
			continue;
		CHECK_INT(map_query_next_code(fd, addr, &code), MAP_QUERY_FOUND);
		CHECK_UINT(code.start, map.start);
		CHECK_UINT(code.end, map.end);
		CHECK_UINT(code.offset, map.offset);
		CHECK_UINT(code.device, map.device);
		CHECK_UINT(code.inode, map.inode);
		named |= strcmp(code.path, "/memfd:a b\nc (deleted)") == 0;
		if (!strchr(map.path, '\\'))
			CHECK_STR(code.path, map.path);
		addr = code.end;
	}
	CHECK(named);
	CHECK_INT(map_query_next_code(fd, addr, &code), MAP_QUERY_NONE);
	CHECK_INT(map_query_next_code(-1, 0, &code), MAP_QUERY_UNKNOWN);
	close(fd);
	fclose(text);
	munmap(own[0], 3 * 4096);
	munmap(own[1], 2 * 4096);
}
