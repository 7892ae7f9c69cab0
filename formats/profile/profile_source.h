/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_source.h - files that hold a finished profile instead of events: every format of the import table.
 *
 * They are a source without events beside the profile, so that whatever needs no more than the profile takes them as it
 * takes traces. What the format does not know of the recording is absent.
 */
#ifndef FORMATS_PROFILE_SOURCE_H
#define FORMATS_PROFILE_SOURCE_H

#include "formats/base/diag.h"
#include "formats/event.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

/*
 * Recognise and read the file behind @fd, which stays the caller's and may be closed at once; @name is for messages. Source,
 * profile and facts are the caller's; texts of the facts live as long as both of these. What is left out is counted in @diag. ERR_SYSTEM: it cannot be read.
 * ERR_UNSUPPORTED: no format of the table, or one without samples.  ERR_CORRUPT: damaged.
 */
MUST_USE struct err *profile_source_open(int fd, const char *name, struct diag *diag,
					 struct event_source **ret, struct profile **ret_profile,
					 struct profile_facts *ret_facts);

#endif
