/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_query.h - asks the kernel which file is mapped, by build ID.
 *
 * Since Linux 6.11 an ioctl of /proc/PID/maps reads it from the mapped file itself, even if its path is gone. It opens
 * and allocates nothing.
 */
#ifndef RECORD_MAP_QUERY_H
#define RECORD_MAP_QUERY_H

#include "formats/event.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Put the build ID of what @maps_fd, an open /proc/PID/maps, has at @map->start into @map. It then takes the
 * place of device and inode, as in the kernel's own records, so that both name a file in the same way. False,
 * with @map unchanged: the kernel does not know, the file has none, or another file is mapped by now.
 */
bool map_query_build_id(int maps_fd, struct event_mmap *map);

/* An executable mapping, as a line of the file tells it. */
struct map_query_code {
	uint64_t start, end;
	uint64_t offset;         /* of @start in the file, in bytes */
	uint64_t device, inode;  /* as makedev() makes it; 0 without a file */
	char path[PATH_MAX];     /* nothing in it is escaped; "" if there is none */
};

enum map_query_result {
	MAP_QUERY_FOUND,
	MAP_QUERY_NONE,    /* there is none, or the process is gone */
	MAP_QUERY_UNKNOWN, /* the kernel cannot be asked, or has no room for the path: read the file */
};

/*
 * The executable mapping of @maps_fd, an open /proc/PID/maps, that holds @addr, or else the first one above. This
 * takes a fifth of the time of reading the text of all mappings. It does not report [vsyscall].
 */
enum map_query_result map_query_next_code(int maps_fd, uint64_t addr, struct map_query_code *ret);

/* Where the mapping of process @pid begins and ends that holds @addr. */
bool map_query_bounds(uint32_t pid, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end);

/* The same as map_query_build_id() of process @pid. */
bool map_query_process(uint32_t pid, struct event_mmap *map);

#endif
