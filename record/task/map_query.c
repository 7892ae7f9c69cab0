/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_query.c - PROCMAP_QUERY of linux/fs.h, which headers older than 6.11 lack.
 */
#include "record/task/map_query.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* As in Documentation/filesystems/proc.rst and include/uapi/linux/fs.h. */
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor;
	uint32_t name_size, build_id_size; /* room for them; then their length */
	uint64_t name_addr, build_id_addr;
};

#define QUERY_IOCTL       _IOWR('f', 17, struct query)
#define QUERY_EXECUTABLE  0x04
#define QUERY_OR_NEXT     0x10
#define QUERY_FILE_BACKED 0x20

bool map_query_build_id(int maps_fd, struct event_mmap *map)
{
	uint8_t id[sizeof(map->build_id)];
	struct query query = {
		.size = sizeof(query),
		.flags = QUERY_FILE_BACKED,
		.addr = map->start,
		.build_id_size = sizeof(id),
		.build_id_addr = (uintptr_t)id,
	};

	if (ioctl(maps_fd, QUERY_IOCTL, &query) < 0)
		return false;
	if (query.start != map->start || query.offset != map->file_offset ||
	    query.inode != map->inode || !query.build_id_size || query.build_id_size > sizeof(id))
		return false;
	memcpy(map->build_id, id, query.build_id_size);
	map->build_id_len = (uint8_t)query.build_id_size;
	map->device = map->inode = map->generation = 0;
	return true;
}

enum map_query_result map_query_next_code(int maps_fd, uint64_t addr, struct map_query_code *ret)
{
	struct query query = {
		.size = sizeof(query),
		.flags = QUERY_EXECUTABLE | QUERY_OR_NEXT,
		.addr = addr,
		.name_size = sizeof(ret->path),
		.name_addr = (uintptr_t)ret->path,
	};

	if (ioctl(maps_fd, QUERY_IOCTL, &query) < 0)
		return errno == ENOENT || errno == ESRCH ? MAP_QUERY_NONE : MAP_QUERY_UNKNOWN;
	if (query.end <= addr || query.name_size > sizeof(ret->path))
		return MAP_QUERY_UNKNOWN;
	if (!query.name_size)
		ret->path[0] = '\0';
	ret->path[sizeof(ret->path) - 1] = '\0';
	ret->start = query.start;
	ret->end = query.end;
	ret->offset = query.inode ? query.offset : 0;
	ret->device = makedev(query.dev_major, query.dev_minor);
	ret->inode = query.inode;
	return MAP_QUERY_FOUND;
}

static int open_maps(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool map_query_bounds(uint32_t pid, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end)
{
	struct query query = { .size = sizeof(query), .addr = addr };
	int fd = open_maps(pid);
	bool found = fd >= 0 && ioctl(fd, QUERY_IOCTL, &query) == 0;

	if (fd >= 0)
		close(fd);
	if (!found)
		return false;
	*ret_start = query.start;
	*ret_end = query.end;
	return true;
}

bool map_query_process(uint32_t pid, struct event_mmap *map)
{
	int fd = open_maps(pid);

	if (fd < 0)
		return false;
	bool found = map_query_build_id(fd, map);

	close(fd);
	return found;
}
