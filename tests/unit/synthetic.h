/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic.h - small profiles for tests: stacks are written as text, "main;f;f;g", the leaf last.
 */
#ifndef UNIT_SYNTHETIC_H
#define UNIT_SYNTHETIC_H

#include "formats/profile/profile.h"

/*
 * A profile with one event "cpu-clock" in ns. Functions are in module "/bin/app"; "libc:malloc" is in "/lib/libc",
 * and "a+b" is one location where b was inlined into a.
 */
struct profile *synthetic_new(void);

/* @count samples of period @period each, on CPU 0, in thread @tid of process @pid. */
struct synthetic_sample {
	const char *stack;
	uint32_t pid, tid;
	uint64_t count, period;
};

void synthetic_add(struct profile *p, const struct synthetic_sample *sample);

#endif
