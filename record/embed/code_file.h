/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_file.h - the files of recorded code, and its offsets in them.
 *
 * A file is opened when an address in it is first seen, as code_place.h says. The descriptor kept is O_PATH, which
 * can be closed without blocking; it is reopened for reading at the end.
 */
#ifndef RECORD_CODE_FILE_H
#define RECORD_CODE_FILE_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"
#include "formats/process/mapped_file.h"
#include "record/embed/code_place.h"

#include <stdbool.h>
#include <stdint.h>

struct code_file {
	struct mapped_file mapped; /* first, so that a mapped file is its code file */
	uint8_t own_id_len;        /* build ID as read from the file */
	uint8_t own_id[20];
	uint64_t changed_ns, checked_ns; /* the file's change time when it was read; when that was last looked at */
	uint64_t checked_round;          /* and in which round */
	int fd_plus_1;      /* 0: not open; opened with O_PATH */
	bool looked_at;     /* it was examined, or cannot be */
	uint8_t nlate;      /* timeouts */
	bool wanted;        /* it has sampled addresses for the current output file */
	uint32_t nattempts; /* to open it, which were not refused */
	uint64_t tried_round; /* the round of the last attempt + 1 */
	uint32_t owner;     /* user who can make it slow to read */
	uint64_t touched;   /* the round in which something new was last seen in it */
	struct map offsets; /* in the file -> samples taken there */
	bool merged;        /* offsets are with another file of the same content (attach_image.c) */
};

/* Limits; when they are reached, unmapped files are dropped, the oldest first. */
#define CODE_FILES_WANTED_MAX    4096
#define CODE_FILES_ADDRESSES_MAX (1U << 20)

struct code_files {
	struct mapped_files mapped;       /* first; all that are mapped, of struct code_file */
	struct foreign_reader *reader;    /* opens them; NULL: we do. Set by the caller */
	VEC(struct code_file *) wanted;   /* in order of appearance */
	VEC(struct code_file *) foreseen; /* the oldest first; they may be wanted by now */
	size_t nopen, max_open;
	uint64_t round, full_round;          /* now; when there was last no room */
	size_t naddresses;                   /* of all that are wanted */
	uint64_t dropped, dropped_addresses; /* files, and addresses, for which there was no room */
};

void code_files_init(struct code_files *files, size_t max_open);
/* No references to its files may remain. */
void code_files_deinit(struct code_files *files);

/*
 * An address at @offset of @file was seen, as the leaf of @leaves samples; opens the file if it is not open and that is allowed, once in a
 * round. True if the offset is new.
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

/* Put the build ID of the mapping at @place into @map, whose path names no file, if it has one. */
void code_files_query(struct code_files *files, struct event_mmap *map,
		      const struct code_place *place);

/* Open @file through the mapping at @place, although it has no sampled addresses; false if it cannot be opened. */
bool code_files_hold(struct code_files *files, struct code_file *file,
		     const struct code_place *place);

/* Of the files without sampled addresses the latest @most stay open, if descriptors suffice. */
#define CODE_FILES_FORESEEN 64

/* Forget the sampled addresses of all files. */
void code_files_forget(struct code_files *files);

/* All rings have been drained once more. */
void code_files_round(struct code_files *files);

/* The open file's descriptor, which stays its and is for path_fd_reopen(); -1 if it is not open. */
static inline int code_file_fd(const struct code_file *file)
{
	return file->fd_plus_1 - 1;
}

/*
 * A descriptor for reading, owned by the caller: of the open file, or by a new attempt with its path. -1: not available. May
 * block for ever: for a child, at the end.
 */
int code_file_open(const struct code_file *file);

#endif
