/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_place.h - opens the file behind a mapping of a process, by the most reliable way available:
 *
 *	/proc/PID/map_files/START-END   the very file, even if deleted or in a container (needs privilege)
 *	/proc/PID/root/PATH             in the process's own root
 *	/proc/ANCESTOR/root/PATH        for processes that are gone
 *	PATH                            as we see it
 *
 * All but the first only if device and inode, or else the build ID, match the mapping. Any of them may block for ever, so a
 * foreign_reader does it.
 */
#ifndef RECORD_CODE_PLACE_H
#define RECORD_CODE_PLACE_H

#include "formats/event.h"
#include "formats/process/process_table.h"
#include "record/task/foreign_reader.h"

#include <stdbool.h>
#include <stdint.h>

/* A mapping of the file in a process, through which it may be opened. */
struct code_place {
	const uint32_t *lineage; /* PROCESS_LINEAGE numbers */
	uint64_t start, end;
	uint64_t file_offset; /* of @start */
};

/* What is known of the file; lengths of 0 are not known. */
struct code_wish {
	const char *path;
	uint64_t inode;
	uint8_t build_id_len, own_id_len; /* as the mapping said, and as it was read before */
	uint8_t build_id[20], own_id[20];
};

struct code_found {
	uint8_t id_len; /* build ID; of a file that cannot be opened, as the kernel knows it */
	uint8_t id[20];
	uint64_t changed_ns; /* its change time */
	uint32_t owner; /* user who can make it slow to read */
};

enum code_result {
	CODE_FOUND,   /* *@ret_fd is the file, for path_fd_reopen() */
	CODE_MISSING, /* it cannot be opened */
	CODE_LATE,    /* no answer in time */
	CODE_REFUSED, /* not tried: too many timeouts */
};

enum code_result code_place_open(struct foreign_reader *reader, const struct code_place *place,
				 const struct code_wish *wish, struct code_found *ret, int *ret_fd);

/* The build ID of what is mapped at @place, whatever its path tells, into @map, if it has one. */
void code_place_query(struct foreign_reader *reader, const struct code_place *place,
		      struct event_mmap *map);

/* The file by its path as we see it, if it is the wished one: opened with O_PATH; -1 if not. May wait for ever. */
int code_place_open_path(const struct code_wish *wish);

#endif
