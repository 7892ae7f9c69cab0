/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_signal.c - the signal that ended the recording was taken from its descriptor: one that is pending came after it.
 */
#include "record/system/stop_signal.h"

#include <signal.h>

bool stop_signal_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM));
}
