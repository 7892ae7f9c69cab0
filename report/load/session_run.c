/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_run.c - warnings are printed also when the work failed: they may be why.
 *
 * The process ends with its command, and the kernel takes back in one piece what would be released one by one: a twentieth
 * of a report's time, in which no other thread has anything to do. Sanitizers are to see that nothing else is lost, so for
 * them it is released.
 */
#include "report/load/session.h"

#include <stdio.h>

#if defined(__has_feature)
#define IS_BUILT_WITH(sanitizer) __has_feature(sanitizer)
#else
#define IS_BUILT_WITH(sanitizer) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	IS_BUILT_WITH(address_sanitizer) || IS_BUILT_WITH(thread_sanitizer)
static const bool leaks_are_looked_for = true;
#else
static const bool leaks_are_looked_for = false;
#endif

static struct err *check_needs(const struct session *s, const struct command *command)
{
	char who[64];

	if (!command->needs)
		return NULL;
	snprintf(who, sizeof(who), "'preport %s'", command->name);
	return session_need(s, command->needs, who);
}

struct err *session_run(const struct command *command, const struct session_args *session,
			session_fn *work, void *args)
{
	struct session s;
	struct err *err = session_open(&s, session);

	if (!err)
		err = check_needs(&s, command);
	if (!err)
		err = work(&s, args);
	session_warn(&s);
	if (leaks_are_looked_for)
		session_close(&s);
	return err;
}
