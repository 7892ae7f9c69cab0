/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_import.h - sessions whose input is a profile already (formats/profile/profile_source.h).
 */
#ifndef REPORT_SESSION_IMPORT_H
#define REPORT_SESSION_IMPORT_H

#include "report/load/session.h"
#include "report/view/view.h"

/* For session.c: put @profile, which is @s's from now on, in place of its empty one. */
void session_import_profile(struct session *s, struct profile *profile);

/*
 * For session.c: what session_load() does for such a session: keep the samples that pass @filter. ERR_UNSUPPORTED: a window of time, as there are no
 * times.
 */
MUST_USE struct err *session_import_load(struct session *s, struct filter *filter);

/*
 * Does what was loaded tell the groups of @levels apart? A table of nothing but "[no line]" would look like an answer.
 * ERR_UNSUPPORTED: it does not. Recordings always do, or say why not in each row.
 */
MUST_USE struct err *session_import_answers(const struct session *s, const struct view_levels *levels);

#endif
