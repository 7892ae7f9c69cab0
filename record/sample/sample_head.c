/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_head.c - copies a record first and then checks whether it was still valid, since the kernel overwrites first.
 */
#include "record/sample/sample_head.h"

#include <linux/perf_event.h>
#include <string.h>

#define HEAD_LEN 40 /* header, identifier, address, process and thread, time */

void sample_head_copy(const struct ring *ring, uint64_t pos, void *ret, size_t len)
{
	uint64_t offset = pos & (ring->data_len - 1);
	size_t first = (size_t)MIN(ring->data_len - offset, (uint64_t)len);

	memcpy(ret, ring->data + offset, first);
	memcpy((uint8_t *)ret + first, ring->data, len - first);
}

uint64_t sample_head_tail(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_tail, __ATOMIC_ACQUIRE);
}

bool sample_head_next(const struct ring *ring, uint64_t *pos, uint64_t head, struct sample_head *ret)
{
	uint8_t bytes[HEAD_LEN];
	struct perf_event_header header;

	while (head - *pos >= sizeof(header)) {
		uint64_t at = *pos;

		sample_head_copy(ring, at, bytes, sizeof(bytes));
		memcpy(&header, bytes, sizeof(header));
		/* The copy must come before the check. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (sample_head_tail(ring) > at || header.size < sizeof(header) || header.size > head - at)
			return false;
		*pos += header.size;
		if (header.type != PERF_RECORD_SAMPLE || header.size < HEAD_LEN)
			continue;
		*ret = (struct sample_head){ .pos = at, .len = header.size };
		memcpy(&ret->pid, bytes + 24, sizeof(ret->pid));
		memcpy(&ret->tid, bytes + 28, sizeof(ret->tid));
		memcpy(&ret->time_ns, bytes + 32, sizeof(ret->time_ns));
		return true;
	}
	*pos = head;
	return false;
}
