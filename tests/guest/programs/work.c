/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - does a known number of rounds in functions of known callers and known shares of instructions, so
 * that what is sampled in a guest that counts exactly can be checked.
 *
 *	work ROUNDS	main -> outer -> middle -> heavy (3 parts of 4) and main -> outer -> light (1 of 4)
 */
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

/* One loop of four instructions for each @n. */
static inline __attribute__((always_inline)) void spin(uint64_t n)
{
	uint64_t x = sink;

	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(x));
	sink = x;
}

NOINLINE static void heavy(uint64_t n)
{
	spin(3 * n);
}

NOINLINE static void light(uint64_t n)
{
	spin(n);
}

NOINLINE static int middle(uint64_t n)
{
	heavy(n);
	return (int)sink;
}

NOINLINE static int outer(uint64_t n)
{
	int sum = middle(n);

	light(n);
	return sum + (int)sink;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;

	for (int i = 0; i < rounds; i++)
		sink += (uint64_t)outer(10000);
	return 0;
}
