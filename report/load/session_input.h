/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_input.h - the file that a session reads, whichever format it is in.
 */
#ifndef REPORT_SESSION_INPUT_H
#define REPORT_SESSION_INPUT_H

#include "report/load/session.h"

/*
 * Open the trace or perf.data at @path, "-" for standard input; or read the profile there, of any format of the import table,
 * into *@ret_profile, which is left alone otherwise. ERR_SYSTEM, ERR_CORRUPT, ERR_UNSUPPORTED: as the readers say.
 */
MUST_USE struct err *session_input_open(const char *path, struct diag *diag, struct event_source **ret,
					struct profile **ret_profile);

/* ERR_UNSUPPORTED: the input of @s is no trace of precord, and does not consist of blocks. */
MUST_USE struct err *session_input_need_blocks(const struct session *s);

#endif
