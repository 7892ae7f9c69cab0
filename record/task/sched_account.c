/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task/sched_account.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

bool sched_account_read(int fd, struct event_task_times *ret)
{
	char text[128];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return false;
	text[len] = '\0';
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret->run_ns, &ret->wait_ns, &ret->turns) == 3;
}
