/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares_plugin.c - the part of shares.c that is loaded with dlopen().
 */
#include <stdint.h>
#include <time.h>

void heavy_plugin(void);

void heavy_plugin(void)
{
	static volatile uint64_t sink;
	struct timespec ts;
	uint64_t end = 0;

	do {
		for (int i = 0; i < 20000; i++)
			sink = sink * 6364136223846793005u + 1;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		uint64_t now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;

		end = end ? end : now + 1500000;
		if (now >= end)
			break;
	} while (1);
}
