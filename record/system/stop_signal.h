/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_signal.h - is the recorder told to stop what it does after the recording?
 */
#ifndef RECORD_STOP_SIGNAL_H
#define RECORD_STOP_SIGNAL_H

#include <stdbool.h>

/* Is SIGINT or SIGTERM, which must be blocked, pending? It stays so. */
bool stop_signal_pending(void);

#endif
