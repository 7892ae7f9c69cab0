/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight functions in turn. With -DMORE=30, parse() has 30 % more to do.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MORE
#define MORE 0
#endif
#define WORDS  4096
#define ROUNDS 900

static char text[WORDS * 8];
static uint32_t words[WORDS], sorted[WORDS], table[WORDS];

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

__attribute__((noinline)) static void fill(uint32_t seed)
{
	for (size_t i = 0; i < WORDS; i++)
		words[i] = seed = seed * 1664525 + 1013904223;
}

__attribute__((noinline)) static void format(void)
{
	for (size_t i = 0; i < WORDS; i++)
		snprintf(text + i * 8, 8, "%06x ", words[i] & 0xffffff);
}

__attribute__((noinline)) static uint32_t parse(size_t rounds)
{
	uint32_t sum = 0;

	for (size_t r = 0; r < rounds; r++) {
		const char *at = text + r % WORDS * 8;
		uint32_t value = 0;

		for (; *at && *at != ' '; at++)
			value = value * 16 + (uint32_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
		sum += value;
	}
	return sum;
}

__attribute__((noinline)) static void sort(void)
{
	memcpy(sorted, words, sizeof(words));
	qsort(sorted, WORDS, sizeof(*sorted), compare);
}

__attribute__((noinline)) static uint32_t search(void)
{
	uint32_t found = 0;

	for (size_t i = 0; i < WORDS; i++)
		found += bsearch(&words[i], sorted, WORDS, sizeof(*sorted), compare) != NULL;
	return found;
}

__attribute__((noinline)) static void scatter(void)
{
	for (size_t i = 0; i < WORDS * 16; i++)
		table[words[i % WORDS] >> 20] += (uint32_t)i;
}

__attribute__((noinline)) static uint32_t checksum(void)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < WORDS; i++) {
		crc ^= words[i];
		for (int bit = 0; bit < 32; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

int main(void)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		fill(i);
		format();
		sum += parse(WORDS * 4 * (100 + MORE) / 100);
		sort();
		sum += search();
		scatter();
		sum += checksum();
	}
	return sum == 0;
}
