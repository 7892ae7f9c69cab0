/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares_plugin.c - the part of shares.c that is loaded with dlopen().
 */
#include <stdint.h>
#include <time.h>

void heavy_plugin(uint64_t until_ns);

/* Work until the thread has used @until_ns of CPU time in all. */
void heavy_plugin(uint64_t until_ns)
{
	static volatile uint64_t sink;
	struct timespec ts;
	uint64_t x = sink | 1;

	do {
		for (int i = 0; i < 20000; i++)
			x = x * 6364136223846793005u + 1;
		sink = x;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	} while ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec < until_ns);
}
