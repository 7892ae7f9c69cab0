/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_import.h - sessions whose input is a profile already (formats/profile_source.h). Used by session.c only.
 */
#ifndef REPORT_SESSION_IMPORT_H
#define REPORT_SESSION_IMPORT_H

#include "report/session.h"

/* Put @profile, which is @s's from now on, in place of its empty one. */
void session_import_profile(struct session *s, struct profile *profile);

/*
 * What session_load() does for such a session: keep the samples that pass @filter. ERR_UNSUPPORTED: a window of time, as there are no
 * times.
 */
MUST_USE struct err *session_import_load(struct session *s, struct filter *filter);

#endif
