/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped_file.h - what mappings show: each file once, however many processes map it.
 *
 * A file lives as long as somebody refers to it. Those that no one does are kept for a while, the latest of them, since a
 * program that is run once is often run again. Not thread-safe.
 */
#ifndef FORMATS_MAPPED_FILE_H
#define FORMATS_MAPPED_FILE_H

#include "formats/base/map.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPED_FILES_IDLE_MAX 1024 /* that are kept though no one refers to them */

enum mapped_file_kind {
	MAPPED_FILE,      /* a file of code, or one that was */
	MAPPED_ANONYMOUS, /* memory without a file behind it */
	MAPPED_VDSO,
	MAPPED_OTHER, /* [vsyscall], [uprobes] */
};

struct mapped_files;

struct mapped_file {
	struct mapped_files *files;
	struct mapped_file *next_same_hash;
	struct mapped_file *older, *newer; /* while it is idle */
	uint32_t nrefs;
	enum mapped_file_kind kind;
	bool deleted;  /* the kernel said so */
	bool replaced; /* another content has its identity now: mapped_files_get() gives a new one */
	uint64_t hash;
	char *path;                         /* without " (deleted)" if it is a file */
	uint64_t device, inode, generation; /* 0 if not known */
	uint8_t build_id_len;               /* as the mapping said */
	uint8_t build_id[20];
};

struct mapped_files {
	size_t file_len;                      /* of what begins with a struct mapped_file */
	void (*forget)(struct mapped_file *); /* it is about to be freed; may be NULL */
	struct map by_hash;                   /* of identity -> first of them */
	struct mapped_file *oldest, *newest;  /* idle ones */
	size_t nidle, nfiles;
};

/* @file_len: bytes of the caller's struct, which begins with a struct mapped_file and is zeroed behind it. */
void mapped_files_init(struct mapped_files *files, size_t file_len,
		       void (*forget)(struct mapped_file *));
/* All of them, referred to or not. */
void mapped_files_deinit(struct mapped_files *files);

/*
 * What @map shows, made if it is new; *@ret_new may be NULL. Refer to it before the next call, or it may go away.
 */
struct mapped_file *mapped_files_get(struct mapped_files *files, const struct event_mmap *map,
				     bool *ret_new);

struct mapped_file *mapped_file_ref(struct mapped_file *file);
void mapped_file_unref(struct mapped_file *file); /* NULL is fine */

#endif
