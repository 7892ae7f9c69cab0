/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secrets.c - holds one secret in every place that a sample can see, and spins.
 *
 * Usage: secrets SECONDS [ARGUMENT...] <SECRET. SECRET is eight bytes, which stand nowhere in the program's own
 * code. In registers and on the stack are then
 *	the bytes, as a number, as text, and at all eight places that a word may begin;
 *	the number inverted, shifted right by 17 bits so that it could be an address, and its lower half;
 *	a heap address, printed on standard output as "heap ADDRESS" in decimal.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct planted {
	uint64_t number;
	char text[16];
	uint64_t inverted, shifted, half;
	void *heap;
	double floating;
};

#define ESCAPE(p) __asm__ volatile("" : : "r"(p) : "memory")

static uint64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Spins with @secret and @heap in as many registers as the machine has to spare. */
static __attribute__((noinline)) void spin(uint64_t secret, void *heap, uint64_t until_ms)
{
	uint64_t a = secret, b = (uint64_t)(uintptr_t)heap, c = ~secret;
	volatile uint64_t here = secret;

	while (cpu_ms() < until_ms) {
		for (int i = 0; i < 100000; i++)
			__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));
	}
	here += a + b + c;
}

static __attribute__((noinline)) void plant(uint64_t secret, unsigned shift, uint64_t until_ms)
{
	struct planted p = { .number = secret };
	char *text = p.text + shift;

	p.heap = malloc(100000);
	memcpy(p.heap, &secret, sizeof(secret));
	memcpy(text, &secret, sizeof(secret));
	p.inverted = ~secret;
	p.shifted = secret >> 17;
	p.half = (uint32_t)secret;
	memcpy(&p.floating, &secret, sizeof(secret));
	printf("heap %" PRIuPTR "\n", (uintptr_t)p.heap);
	fflush(stdout);
	ESCAPE(&p);
	spin(secret, p.heap, until_ms);
	ESCAPE(&p);
	free(p.heap);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	uint64_t secret;

	if (read(STDIN_FILENO, &secret, sizeof(secret)) != (ssize_t)sizeof(secret))
		return 1;
	alarm(seconds + 60);
	for (unsigned shift = 0; shift < 8; shift++)
		plant(secret, shift, cpu_ms() + seconds * 1000 / 8);
	return 0;
}
