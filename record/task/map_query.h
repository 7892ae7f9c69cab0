/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_query.h - which file is really mapped, as the kernel knows it: by build ID.
 *
 * Since Linux 6.11 an ioctl of /proc/PID/maps tells it, from the mapped file itself, whatever has become of
 * its path. It opens nothing and allocates nothing.
 */
#ifndef RECORD_MAP_QUERY_H
#define RECORD_MAP_QUERY_H

#include "formats/event.h"

#include <stdbool.h>

/*
 * Put the build ID of what @maps_fd, an open /proc/PID/maps, has at @map->start into @map. It then takes the
 * place of device and inode, as in the kernel's own records, so that both name a file in the same way. False,
 * with @map unchanged, if the kernel does not know, the file has none, or something else is mapped by now.
 */
bool map_query_build_id(int maps_fd, struct event_mmap *map);

/* Where the mapping of process @pid begins and ends that holds @addr. */
bool map_query_bounds(uint32_t pid, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end);

/* The same as map_query_build_id() of process @pid. */
bool map_query_process(uint32_t pid, struct event_mmap *map);

#endif
