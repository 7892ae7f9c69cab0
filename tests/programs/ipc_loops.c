/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_loops.c - two loops whose instructions per cycle are known to differ: each instruction of chained() needs the
 * result of the one before, after a multiplication's three cycles or more; those of independent() need nothing.
 */
#include <stdint.h>

#define ROUNDS 6

/* One multiplication that the compiler cannot join with the next. */
static inline uint64_t step(uint64_t a, uint64_t by)
{
	a *= by;
	__asm__ volatile("" : "+r"(a));
	return a;
}

__attribute__((noinline)) static uint64_t chained(uint64_t n)
{
	uint64_t a = 1, by = n | 3;

	__asm__ volatile("" : "+r"(by)); /* or it would be additions */
	for (uint64_t i = 0; i < n; i++) {
		a = step(a, by);
		a = step(a, by);
		a = step(a, by);
		a = step(a, by);
	}
	return a;
}

__attribute__((noinline)) static uint64_t independent(uint64_t n)
{
	uint64_t a = 1, b = 2, c = 3, d = 4;

	for (uint64_t i = 0; i < n; i++) {
		a += 3;
		b += 5;
		__asm__ volatile("" : "+r"(a), "+r"(b));
		c += 7;
		d += 9;
		__asm__ volatile("" : "+r"(c), "+r"(d));
	}
	return a + b + c + d;
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += chained(3000000) + independent(40000000);
	return sum == 1;
}
