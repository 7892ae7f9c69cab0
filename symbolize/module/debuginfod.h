/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod.h - files from the servers that DEBUGINFOD_URLS names, within a limit of time and bytes.
 *
 * Servers may be slow, hang, or send without end. What all requests together may take is one budget; a file that is larger
 * than DEBUGINFOD_LEN_MAX is given up. When the budget is used up, no server is asked any more, and that is counted.
 * Any number of threads may ask.
 */
#ifndef SYMBOLIZE_DEBUGINFOD_H
#define SYMBOLIZE_DEBUGINFOD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_TIME_NS 120000000000ull /* unless one says otherwise */
#define DEBUGINFOD_LEN_MAX (4ull << 30)

struct debuginfod {
	uint64_t time_ns; /* for all requests together */
	/* Called now and then while a file comes: so many bytes of so many, 0: not known. NULL: not wanted. */
	void (*progress)(void *context, uint64_t got, uint64_t len);
	void *context;

	/* What came of it. */
	_Atomic uint64_t spent_ns;
	atomic_uint found, late, refused; /* files; that time ran out for, or no server was asked for; that were too large */
};

enum debuginfod_kind {
	DEBUGINFOD_EXECUTABLE,
	DEBUGINFOD_DEBUGINFO,
};

/*
 * Where the file of that build ID is now (in the library's cache), for the caller to free; NULL if DEBUGINFOD_URLS is not set, the
 * library is not there, or no server has it. Its content is whatever a server sent. @d may be NULL.
 */
char *debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const uint8_t *build_id, size_t len);

#endif
