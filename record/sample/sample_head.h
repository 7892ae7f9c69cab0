/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_head.h - reads the headers of samples in a ring while another thread consumes it.
 *
 * Consumes nothing. If the other thread releases the records meanwhile and the kernel overwrites them, the copy is invalid.
 */
#ifndef RECORD_SAMPLE_HEAD_H
#define RECORD_SAMPLE_HEAD_H

#include "record/event/ring.h"

#include <stdbool.h>
#include <stdint.h>

struct sample_head {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t pos; /* in the ring */
	size_t len;
};

/* Copy @len bytes of @ring from @pos on. */
void sample_head_copy(const struct ring *ring, uint64_t pos, void *ret, size_t len);

/* Up to where the ring was consumed. */
uint64_t sample_head_tail(const struct ring *ring);

/*
 * The next sample from *@pos on, which begins with an identifier, address, process and thread, and time; *@pos is then behind it. False
 * with *@pos at @head: there is none before it. False with a smaller *@pos: the record was consumed meanwhile.
 */
bool sample_head_next(const struct ring *ring, uint64_t *pos, uint64_t head, struct sample_head *ret);

#endif
