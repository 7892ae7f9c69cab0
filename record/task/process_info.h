/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_info.h - command line, cgroup and user of a process, as an event.
 *
 * They are read when a process is found running, and after each exec, if it still lives then: a program that ends within a
 * few milliseconds may have none. Where many call exec, only so many a second are read.
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
#define PROCESS_INFO_RATE        200  /* execs a second after which it is read, and at once */

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
	struct foreign_reader *reader; /* reads after execs; NULL: the caller does, and may wait for ever */
	bool no_cmdline;  /* leave command lines out */
	uint64_t skipped; /* execs after which there was no time to read anything */
	uint64_t tokens, last_ns;
	VEC(struct process_exec) execs; /* to be read */
	struct process_info_texts texts; /* of the one that is reported */
};

/* What the folder of /proc that is open as @dir_fd tells. It may wait for ever. */
void process_info_read(const struct process_info *info, int dir_fd, struct process_info_texts *ret);

/* The event that says so; its texts are those of @texts. */
struct event process_info_event(uint32_t pid, const struct process_info_texts *texts);

/* Process @pid executed a program at @now_ns: have the same read by process_info_tell(), unless there were too many. */
void process_info_after_exec(struct process_info *info, uint32_t pid, uint64_t now_ns);

/*
 * Tell what there is to know of those since the last call, in their order, with the times of their execs; an event lasts until @tell
 * returns. Many are read at once: an exchange with the reader takes longer than to read one. Those that are gone, or do not
 * answer, are left out.
 */
MUST_USE struct err *process_info_tell(struct process_info *info, struct err *(*tell)(void *context, const struct event *ev),
				       void *context);

/* Its caller's memory. */
void process_info_deinit(struct process_info *info);

#endif
