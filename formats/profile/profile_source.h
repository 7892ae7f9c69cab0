/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_source.h - files that hold a finished profile instead of events: collapsed stacks and pprof's.
 *
 * They are a source without events beside the profile, so that whatever needs no more than the profile takes them as it
 * takes traces. Of the recording next to nothing is known: the name of the format, the events, perhaps when and how long.
 */
#ifndef FORMATS_PROFILE_SOURCE_H
#define FORMATS_PROFILE_SOURCE_H

#include "formats/event.h"
#include "formats/profile/profile.h"

/* Is @path a regular file that begins like one of these? What cannot be read is not. */
bool profile_source_is(const char *path);

/*
 * Read @path. Source and profile are the caller's; they do not depend on each other. ERR_SYSTEM: it cannot be read.  ERR_CORRUPT,
 * ERR_UNSUPPORTED: see folded_read() and pprof_read(); also a file without any sample.
 */
MUST_USE struct err *profile_source_open(const char *path, struct event_source **ret,
					 struct profile **ret_profile);

#endif
