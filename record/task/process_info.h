/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_info.h - command line, cgroup and user of a process, as an event.
 *
 * Read when a running process is found, and after each exec if the process still lives: a program that ends within a few
 * milliseconds may have none. With very many execs a second only some are read at once; the others a little later, if they are
 * still there then: whoever floods the recorder with short programs shall not hide others' that last.
 */
#ifndef RECORD_PROCESS_INFO_H
#define RECORD_PROCESS_INFO_H

#include "formats/base/err.h"
#include "formats/base/vec.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_INFO_CMDLINE_MAX 4096 /* bytes; a longer one ends in "..." */
#define PROCESS_INFO_CGROUP_MAX  4096
#define PROCESS_INFO_RATE        200  /* execs a second that are read, and the burst */
#define PROCESS_INFO_LATER_MAX   4096 /* beyond the rate, that are remembered */
#define PROCESS_INFO_LATER_NS    200000000ULL /* after which these are read, if they are still there */
#define PROCESS_INFO_LATER_RATE  50 /* a second, and the burst */

struct foreign_reader;

struct process_info_texts {
	uint32_t uid;
	char cmdline[PROCESS_INFO_CMDLINE_MAX + 4];
	char cgroup[PROCESS_INFO_CGROUP_MAX];
};

/* A process that executed a program, and when. */
struct process_exec {
	uint32_t pid;
	uint64_t time_ns;
};

struct process_info {
	struct foreign_reader *reader; /* reads after execs; NULL: the caller reads, and may block for ever */
	bool no_cmdline;  /* leave command lines out */
	uint64_t skipped; /* execs that were not read, beyond the rate */
	uint64_t tokens, last_ns, later_tokens, later_last_ns;
	VEC(struct process_exec) later; /* beyond the rate, in order */
	VEC(struct process_exec) execs; /* to be read */
	struct process_info_texts texts; /* of the one that is reported */
};

/* Read from the /proc folder open as @dir_fd. May block for ever. */
void process_info_read(const struct process_info *info, int dir_fd, struct process_info_texts *ret);

/* The event of @texts, which it points into. */
struct event process_info_event(uint32_t pid, const struct process_info_texts *texts);

/* Process @pid executed a program at @now_ns: process_info_tell() will read it, later if there are too many. */
void process_info_after_exec(struct process_info *info, uint32_t pid, uint64_t now_ns);

/*
 * Report the execs since the last call, in order, with their times; an event lasts until @tell returns. They are read in batches: an
 * exchange with the reader takes longer than reading one process. Processes that are gone or do not answer are omitted. Those that are
 * read later are reported with @now_ns, the time of the newest record.
 */
MUST_USE struct err *process_info_tell(struct process_info *info, uint64_t now_ns,
				       struct err *(*tell)(void *context, const struct event *ev), void *context);

/* Its caller's memory. */
void process_info_deinit(struct process_info *info);

#endif
