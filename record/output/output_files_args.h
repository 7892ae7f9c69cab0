/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_files_args.h - options that choose the output files of a recording.
 */
#ifndef RECORD_OUTPUT_FILES_ARGS_H
#define RECORD_OUTPUT_FILES_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stop_time;

struct output_files_args {
	bool switches;           /* --switch-output */
	uint64_t switch_len;     /* begin a new file at this size, 0: not by size */
	uint64_t switch_time_ns; /* after so long, 0: not by time */
	uint64_t max_files;      /* keep so many with a time in their names, 0: all */
	uint64_t flight_len;     /* --overwrite: bytes of memory, 0: not given */
	size_t nstreams;         /* of events in each file; not an option */
	struct stop_time *stop;  /* a pipe that takes nothing is given up then; NULL: never; not an option */
};

#endif
