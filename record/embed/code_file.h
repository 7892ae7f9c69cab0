/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_file.h - the files that recorded code came from, and where in them it lay.
 *
 * A file is opened when an address in it is first seen, by the surest way there is:
 *
 *	/proc/PID/map_files/START-END   the very file, even if deleted or in a container (needs privilege)
 *	/proc/PID/root/PATH             in the process's own root
 *	/proc/ANCESTOR/root/PATH        for processes that are gone
 *	PATH                            as we see it
 *
 * All but the first only if device and inode, or else the build ID, are those of the mapping.
 */
#ifndef RECORD_CODE_FILE_H
#define RECORD_CODE_FILE_H

#include "formats/base/arena.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stdint.h>

struct code_file {
	struct code_file *next_same_hash;
	const char *path;                   /* without " (deleted)" */
	uint64_t device, inode, generation; /* 0 if not known */
	uint8_t build_id_len;               /* as the mapping said */
	uint8_t build_id[20];
	uint8_t own_id_len; /* as read from the file */
	uint8_t own_id[20];
	uint64_t changed_ns, checked_ns; /* the file's change time when it was read; when that was last looked at */
	bool replaced;                   /* another content has its identity now */
	bool deleted, is_vdso;
	int fd;             /* -1: not open */
	bool wanted;        /* something was seen in it, perhaps in an earlier volume */
	uint32_t nattempts; /* to open it */
	struct map offsets; /* in the file -> samples taken there */
	bool merged;        /* offsets are with another file of the same content (attach_image.c) */
};

/* Zeroed, with @max_open set, is ready. */
struct code_files {
	struct arena arena;
	VEC(struct code_file *) items; /* in order of appearance */
	struct map by_hash;            /* of identity -> index + 1 */
	size_t nopen, max_open;
	VEC(struct code_file *) foreseen; /* the oldest first; they may be wanted by now */
};

/* The file of @map, an executable mapping of a file or the vdso. */
struct code_file *code_files_get(struct code_files *files, const struct event_mmap *map);

/* The process, and those it descends from, nearest first; 0 ends the list early. */
#define CODE_FILE_LINEAGE 8

/* A mapping of the file in a process, through which it may be opened. */
struct code_place {
	const uint32_t *lineage; /* CODE_FILE_LINEAGE numbers */
	uint64_t start, end;
};

/*
 * An address at @offset of @file was seen, by @leaves samples as their own; opens the file if it is not open yet
 * and may be. True if the offset is new.
 */
bool code_files_touch(struct code_files *files, struct code_file *file, uint64_t offset,
		      uint64_t leaves, const struct code_place *place);

/*
 * The file of @map, which was mapped at @place a moment ago, with its build ID read, which is put into @map if that has none. A
 * file that is new is opened, as it may be gone when something is seen in it, and one that changed is another. @keep: code
 * may be seen in it, and it stays open as one that may be wanted; *@ret_new: the file is new.
 */
struct code_file *code_files_identify(struct code_files *files, struct event_mmap *map,
				      const struct code_place *place, bool keep, bool *ret_new);

/* Put the build ID of what is mapped at @place into @map, whose path tells of no file, if it has one. */
void code_files_query(struct event_mmap *map, const struct code_place *place);

/* Open @file through the mapping at @place, though nothing was seen in it; false if it cannot be had. */
bool code_files_hold(struct code_files *files, struct code_file *file,
		     const struct code_place *place);

/*
 * @file was mapped at @place a moment ago and is new: open it, for it may be gone when something is seen in it. Of
 * those in which nothing is, the latest CODE_FILES_FORESEEN stay open, while there are descriptors to spare.
 */
#define CODE_FILES_FORESEEN 64
void code_files_foresee(struct code_files *files, struct code_file *file,
			const struct code_place *place);

/* Nothing was seen in it. */
void code_file_forget(struct code_file *file);

/* One more attempt, by its path, at the end; false if it cannot be had. */
bool code_files_open(struct code_files *files, struct code_file *file);

void code_files_deinit(struct code_files *files);

#endif
