/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads of one name that take pieces of three kinds of work from one queue, so that who does what is chance.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 1200
#define WORDS  8192

static unsigned next;

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

__attribute__((noinline)) static void fill(uint32_t *words, uint32_t seed)
{
	for (size_t i = 0; i < WORDS; i++)
		words[i] = seed = seed * 1664525 + 1013904223;
}

__attribute__((noinline)) static void sort(uint32_t *words)
{
	qsort(words, WORDS, sizeof(*words), compare);
}

__attribute__((noinline)) static uint32_t checksum(const uint32_t *words)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < WORDS; i++) {
		crc ^= words[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

static void *work(void *unused)
{
	uint32_t words[WORDS], sum = 0;
	unsigned piece;

	while ((piece = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < PIECES) {
		fill(words, piece);
		if (piece % 3)
			sort(words);
		for (int i = 0; i < 5; i++)
			sum += checksum(words);
		char *copy = malloc(sizeof(words));
		memcpy(copy, words, sizeof(words));
		sum += (unsigned char)copy[piece];
		free(copy);
	}
	*(volatile uint32_t *)words = sum;
	return unused;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
