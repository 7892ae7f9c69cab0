/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_output.h - the file that a recording goes to.
 *
 *	open          NAME.part is created, for its owner only, in the folder, which is opened once
 *	write         to NAME.part; NAME, if there is one, stays what it was
 *	place         NAME becomes NAME.old, NAME.part becomes NAME
 *
 * So a command that fails to start replaces nothing, and NAME is always complete. A killed recorder leaves NAME.part,
 * which preport reads; the next recording to NAME keeps it as NAME.part.old. NAME.part is
 * locked while it is written: a second recorder to the same NAME refuses to begin.
 *
 * Other users may be able to write in the folder. Their files are not opened: links are not followed, and a FIFO or
 * device is written to only if it belongs to this user or to root.
 */
#ifndef RECORD_TRACE_OUTPUT_H
#define RECORD_TRACE_OUTPUT_H

#include "formats/base/err.h"
#include "record/system/stop_time.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_output {
	const char *path; /* as the user gave it */
	int fd;           /* -1: none */
	bool is_pipe;     /* standard output, which stays open */
	int dir_fd;       /* of the folder; -1: a FIFO or device, never renamed */
	char *name;       /* in the folder */
	char *part;       /* the name while it is written */
	struct stop_time *stop; /* NULL: none */
};

/* No file. */
#define TRACE_OUTPUT_NONE ((struct trace_output){ .fd = -1, .dir_fd = -1 })

/*
 * Create the file that will be @path, which must outlive @ret; "-" is standard output, which must not be a terminal.
 * ERR_SYSTEM: it cannot be created, or another recorder writes to it.  ERR_USAGE: it is a directory, a terminal, a
 * block device or another user's FIFO. trace_output_close() is due in any case.
 */
MUST_USE struct err *trace_output_open(const char *path, struct trace_output *ret);

/*
 * Write all of @data. A pipe, FIFO or device may take nothing for ever: @out->stop ends that. ERR_SYSTEM: it did, or the
 * bytes cannot be written.
 */
MUST_USE struct err *trace_output_write(const struct trace_output *out, const void *data, size_t len);

/* After the file was placed or discarded: create the next one of the same name in the same folder. ERR_SYSTEM, as above. */
MUST_USE struct err *trace_output_again(struct trace_output *out);

/* Create a file beside @out, which is called NAME.@suffix.part until it is placed. ERR_SYSTEM, as above. */
MUST_USE struct err *trace_output_beside(const struct trace_output *out, const char *suffix,
					 struct trace_output *ret);

/*
 * The file is complete: close it and give it its name, @name in the same folder, or NAME if that is NULL. An existing
 * NAME is kept as NAME.old. An existing @name is not replaced: *@ret_exists is set (may be NULL with NAME).
 * ERR_SYSTEM: what was written did not reach the file, or it is no longer there.
 */
MUST_USE struct err *trace_output_place(struct trace_output *out, const char *name,
					bool *ret_exists);

/* Remove @name, from the same folder. ERR_SYSTEM: it is there and cannot be removed. */
MUST_USE struct err *trace_output_remove(const struct trace_output *out, const char *name);

/* Close the file and remove it, and close the folder. TRACE_OUTPUT_NONE and one that failed to open are fine. */
void trace_output_close(struct trace_output *out);

#endif
