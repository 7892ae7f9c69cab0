/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_profile.h - reads a file that holds a finished profile, in any format of the import table.
 */
#ifndef FORMATS_IMPORT_PROFILE_H
#define FORMATS_IMPORT_PROFILE_H

#include "formats/base/diag.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

/*
 * Recognise and read the file behind @fd, which stays the caller's and may be closed at once; @name is for messages. Profile
 * and facts are the caller's; texts of the facts live as long as both. What is left out is counted in @diag.
 *
 * ERR_SYSTEM: it cannot be read.  ERR_UNSUPPORTED: no format of the table, or one without samples.  ERR_CORRUPT: damaged.
 */
MUST_USE struct err *import_profile(int fd, const char *name, struct diag *diag, struct profile **ret,
				    struct profile_facts *ret_facts);

#endif
