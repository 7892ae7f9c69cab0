/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps_line.h - one line of /proc/PID/maps (proc_pid_maps(5)): "5581f000-5582f000 r-xp 00000000 fd:00 1234   /bin/cat".
 *
 * Tens of thousands are read when a recording begins; sscanf() takes 6,000 instructions for each.
 */
#ifndef RECORD_MAPS_LINE_H
#define RECORD_MAPS_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end;
	bool reads, writes, executes;
	uint64_t offset; /* of @start in the file, in bytes */
	uint64_t device; /* as makedev() makes it; 0 without a file */
	uint64_t inode;  /* 0 without a file */
	char *path;      /* in the line, up to its end, as the kernel escapes it; "" if there is none */
};

/* Read @line, a line feed at its end or none. False if it is no such line. */
bool maps_line_parse(char *line, struct maps_line *ret);

#endif
