/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_case.h - a file as the import table reads it, and what its damaged copies do.
 */
#ifndef UNIT_IMPORT_CASE_H
#define UNIT_IMPORT_CASE_H

#include "formats/profile/import/import_file.h"
#include "formats/profile/import/import_table.h"
#include "tests/unit/test.h"

struct import_case {
	const struct importer *importer;
	struct profile *p;
	struct profile_facts facts;
	struct diag diag;
};

/* Recognise and read @len bytes; import_case_close() in any case. */
MUST_USE struct err *import_case_read(struct import_case *c, const void *data, size_t len, const char *name);

/* The same of a text, or of a file of tests/data/import/; the test fails if that does. */
void import_case_text(struct import_case *c, const char *text);
void import_case_file(struct import_case *c, const char *name);

void import_case_close(struct import_case *c);

/* The sums of the value type of that name; all 0 if there is none. */
struct profile_sum import_case_sum(const struct import_case *c, const char *type);

/* The same of the samples whose leaf is @function and whose thread is called @thread; NULL: any. @type is never NULL. */
struct profile_sum import_case_part(const struct import_case *c, const char *type, const char *function,
				    const char *thread);

/* "leaf:LINE<caller:LINE<…" of row @row, inlined calls with a '+' instead of the '<' behind them. */
const char *import_case_stack(const struct import_case *c, size_t row);

/* Cut copies and copies with a flipped byte: each gives an error with a message of one line, or a profile. */
void import_case_damage(const void *data, size_t len, const char *name);

/* The bytes of a file of tests/data/import/; the caller frees them. */
uint8_t *import_case_bytes(const char *name, size_t *ret_len);

#endif
