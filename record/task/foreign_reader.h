/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_reader.h - reads other processes' files and memory while recording, in a process that can be abandoned.
 *
 * A file on FUSE or NFS may block for ever on lookup, open, read or close, and so may a process whose address space is locked
 * while such a file is mapped. A thread that is blocked there cannot be ended, and exit waits for it. So a process does
 * the reading, and the recorder waits for its answer for a limited time:
 *
 *	recorder                        reader
 *	request             ─►          opens, reads
 *	                    ◄─          answer, perhaps with a descriptor
 *	no answer in time: kills it, goes on, and starts another one for the next request
 *
 * Time in which the reader runs, or waits for a CPU, is not time in which a file blocks it: it gets longer if it is
 * found so, on a machine that is slow or has much to do.
 * One user's files must not use up the time of others': of what is left of the budget, one answer may take a quarter, and a user
 * other than root has a quarter of the whole. So many that hang are waited for ever more shortly, and none of them is the last that is read.
 * One that cannot be killed is abandoned and ends when its file answers. The total waiting time and the number of abandoned
 * readers are bounded too; beyond that nothing is read for a while. Everything that was not read is counted.
 *
 * Descriptors come with O_PATH only: to close another one of a FUSE file waits for its server.
 */
#ifndef RECORD_FOREIGN_READER_H
#define RECORD_FOREIGN_READER_H

#include "formats/base/diag.h"
#include "record/system/stop_time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_REQUEST_MAX 8192 /* bytes */
#define FOREIGN_ANSWER_MAX  16384

#define FOREIGN_LEFT_MAX    16 /* readers that do not die */

/* Who waits; timeouts of one answer, if the reader is blocked and if it is busy, and of all (a full bucket, and its rate). */
enum foreign_patience {
	FOREIGN_DRAIN,  /* rings wait for it: 100 ms, 1 s; 1 s, 5 % */
	FOREIGN_THREAD, /* a background thread: 2 s, 4 s; 10 s, 20 % */
};

struct foreign_reader;

struct foreign_job {
	/* Runs in the reader: fill @answer, and set *@ret_fd to a descriptor or leave it -1. It sees memory as of the reader's fork. */
	void (*run)(const void *request, void *answer, int *ret_fd);
	const char *name; /* of the file or process, for the notes */
	const void *request;
	size_t request_len;
	size_t answer_len; /* always as much */
	uint32_t pid; /* whose user can make it slow; 0: nobody's */
	bool can_ask_again; /* a batch, which the caller repeats one by one if no answer comes soon; that is not counted as a failure */
};

enum foreign_result {
	FOREIGN_DONE,
	FOREIGN_LATE,    /* no answer came in time */
	FOREIGN_REFUSED, /* not sent: the waiting budget is used up */
};

struct foreign_reader *foreign_reader_new(enum foreign_patience patience);
void foreign_reader_free(struct foreign_reader *f);

/* After @stop nothing is read. */
void foreign_reader_stop_at(struct foreign_reader *f, const struct stop_time *stop);

/*
 * Run @job in the reader; @answer is valid only if it was done. *@ret_fd, -1 if there is none, is the caller's. @f NULL: run it
 * in the caller. Not thread-safe.
 */
enum foreign_result foreign_reader_ask(struct foreign_reader *f, const struct foreign_job *job, void *answer,
				      int *ret_fd);

/* How long it has waited so far for readers that were blocked, not at work. */
uint64_t foreign_reader_waited_ns(const struct foreign_reader *f);

/* Add notes about what was not read. */
void foreign_reader_note(const struct foreign_reader *f, struct diag *notes);

#endif
