/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_run.c - warnings are printed also when the work failed: they may be why.
 */
#include "report/session.h"

struct err *session_run(const struct session_args *session, session_fn *work, void *args)
{
	struct session s;
	struct err *err = session_open(&s, session);

	if (!err)
		err = work(&s, args);
	session_warn(&s);
	session_close(&s);
	return err;
}
