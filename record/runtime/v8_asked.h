/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_asked.h - addresses that one V8 was asked for: addresses in use are passed on again and again.
 */
#ifndef RUNTIME_V8_ASKED_H
#define RUNTIME_V8_ASKED_H

#include "formats/base/map.h"

/* Zeroed is empty. */
struct v8_asked {
	struct map placed; /* uses -> number of the code whose record is complete */
	struct map absent; /* addresses in no code -> when to search again */
};

void v8_asked_deinit(struct v8_asked *a);

/* Is the record of @use, an address and how it is used, complete as that of code @number? */
bool v8_asked_is_placed(const struct v8_asked *a, uint64_t use, uint32_t number);
void v8_asked_set_placed(struct v8_asked *a, uint64_t use, uint32_t number);

/* Was code searched for at @ip, and not found, in the two seconds before @now_ns? A search takes a millisecond where there is none. */
bool v8_asked_is_absent(const struct v8_asked *a, uint64_t ip, uint64_t now_ns);
void v8_asked_set_found(struct v8_asked *a, uint64_t ip, bool found, uint64_t now_ns);

#endif
