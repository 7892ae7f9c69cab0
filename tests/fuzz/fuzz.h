/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - a fuzz target: one function that parses its input and asserts what must be true of it.
 *
 * It is linked with libFuzzer by "make fuzz", and with replay.c for "make check", which feeds it every
 * file in tests/data/fuzz/<format>/.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What must be true whatever the input is. */
#define CHECK(condition)                                                                       \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                               \
		}                                                                              \
	} while (0)

#endif
