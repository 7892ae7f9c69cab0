/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_table.h - all formats that are read as a profile, and which of them a file has.
 *
 *	struct import_file file;
 *	const struct importer *importer;
 *	struct err *err = import_file_open(fd, name, &file);
 *
 *	if (!err)
 *		err = import_table_find(&file.input, &importer);
 *	if (!err)
 *		err = import_table_read(importer, &file.input, profile, &facts, &diag);
 *	import_file_close(&file);
 */
#ifndef FORMATS_IMPORT_TABLE_H
#define FORMATS_IMPORT_TABLE_H

#include "formats/profile/import/importer.h"

#include <stdbool.h>

/* In the order of `preport formats`; NULL-terminated. */
extern const struct importer *const import_table[];

/*
 * Which format is it? The content decides; the name of the file only decides between formats that are equally likely.
 * ERR_UNSUPPORTED: none of them, with what the bytes look like; or several.
 */
MUST_USE struct err *import_table_find(const struct import_input *in, const struct importer **ret);

/*
 * Read it. What the caller then has in @p is complete in itself: there is at least one sample. Errors name the file and the
 * format; ERR_UNSUPPORTED also for a file without samples.
 */
MUST_USE struct err *import_table_read(const struct importer *importer, const struct import_input *in,
				       struct profile *p, struct profile_facts *facts,
				       struct diag *diag);

#endif
