/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_reader.h - reads files and processes of others while recording, in a process that may be left behind.
 *
 * A file on FUSE or NFS may never answer: to open it, to look its name up, to read it, to close it. Nor may a process whose
 * mappings are locked while such a file is mapped. A thread that waits for them cannot be ended, and an exit
 * waits for it. So a process does it, and the recorder waits for its answer for a while only:
 *
 *	recorder                        reader
 *	request             ─►          opens, reads
 *	                    ◄─          answer, perhaps with a descriptor
 *	no answer in time: kills it, goes on, and has another one for the next request
 *
 * One that cannot be killed is left behind, and ends when its file answers. How long is waited for all requests together, and
 * how many readers may be left behind, is bounded, too: then nothing is read for a while. All that was not read is counted.
 *
 * Descriptors come with O_PATH only: to close another one of a FUSE file waits for its server.
 */
#ifndef RECORD_FOREIGN_READER_H
#define RECORD_FOREIGN_READER_H

#include "formats/base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_REQUEST_MAX 8192 /* bytes */
#define FOREIGN_ANSWER_MAX  16384

#define FOREIGN_LEFT_MAX    16 /* readers that do not die */

/* Who waits: for one answer, and for all, at once and of each second (a full bucket and its rate). */
enum foreign_patience {
	FOREIGN_DRAIN,  /* rings wait for it: 100 ms; 1 s, 5 % */
	FOREIGN_THREAD, /* a thread that nothing waits for: 2 s; 10 s, 20 % */
};

struct foreign_reader;

struct foreign_job {
	/* In the reader: fill @answer, and *@ret_fd with a descriptor or leave it -1. It knows what was known when the reader began. */
	void (*run)(const void *request, void *answer, int *ret_fd);
	const char *name; /* of what is read, for the notes */
	const void *request;
	size_t request_len;
	size_t answer_len; /* always as much */
	bool can_ask_again; /* it is many in one, which the caller asks for one by one if no answer comes soon: that counts as no failure */
};

enum foreign_result {
	FOREIGN_DONE,
	FOREIGN_LATE,    /* no answer came in time */
	FOREIGN_REFUSED, /* none was asked for: too much has been waited for already */
};

struct foreign_reader *foreign_reader_new(enum foreign_patience patience);
void foreign_reader_free(struct foreign_reader *f);

/*
 * Have @job done; @answer means nothing if it is not. *@ret_fd, -1 if there is none, is the caller's. @f may be NULL: the caller
 * itself does it. Not thread-safe.
 */
enum foreign_result foreign_reader_ask(struct foreign_reader *f, const struct foreign_job *job, void *answer,
				      int *ret_fd);

/* Say in @notes what was not read. */
void foreign_reader_note(const struct foreign_reader *f, struct diag *notes);

#endif
