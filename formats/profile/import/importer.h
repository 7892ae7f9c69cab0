/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importer.h - one row of the table of formats that are read as a profile; one file each beside this one.
 *
 * A new format is a file import_<name>.c with a struct importer, and a row in import_rows.h.
 */
#ifndef FORMATS_IMPORTER_H
#define FORMATS_IMPORTER_H

#include "formats/base/diag.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

#include <stddef.h>
#include <stdint.h>

/* How much of a file is looked at to recognise it. */
#define IMPORT_START_LEN ((size_t)64 << 10)

/* What a format can hold, for `preport formats`. */
enum import_carries {
	IMPORT_TIMES = 1 << 0,	   /* of each sample */
	IMPORT_THREADS = 1 << 1,
	IMPORT_LINES = 1 << 2,	   /* of source code */
	IMPORT_ADDRESSES = 1 << 3,
	IMPORT_LABELS = 1 << 4,
	IMPORT_INLINED = 1 << 5,   /* marks inlined calls */
	IMPORT_TYPES = 1 << 6,	   /* several value types */
};

/* The bytes of a file, unpacked if it was compressed. */
struct import_input {
	const char *name; /* for messages */
	const uint8_t *data;
	size_t len;
};

struct importer {
	const char *name;	/* one word: "cpuprofile" */
	const char *what;	/* "CPU profile of V8 (Node.js, Chrome, Deno)" */
	const char *extensions; /* ".cpuprofile .json", or "" */
	unsigned carries;	/* enum import_carries, or'd */

	/*
	 * How sure is it that a file which begins like this is one? 0 is no, 100 is a magic number that nothing else has. @start
	 * has IMPORT_START_LEN bytes, or all if the file is shorter.
	 */
	unsigned (*recognise)(const uint8_t *start, size_t len);

	/*
	 * Fill the fresh @p, and of @facts what the file knows. What is left out is counted in @diag. ERR_CORRUPT: damaged, with the
	 * offset or line. ERR_UNSUPPORTED: a version or variant that is not read.
	 */
	struct err *(*read)(const struct import_input *in, struct profile *p,
			    struct profile_facts *facts, struct diag *diag);
};

#endif
