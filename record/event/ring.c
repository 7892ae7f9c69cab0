/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the reader's half of the protocol in linux/perf_event.h: head is read before the records
 * (acquire), tail is written after them (release).
 */
#include "record/event/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct err *ring_open(struct ring *ring, int fd, uint32_t cpu, uint64_t data_len)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page_len + data_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return err_system(errno, "cannot map %zu KiB of ring buffer for CPU %u",
				  (size_t)data_len / 1024, cpu);
	*ring = (struct ring){
		.fd = fd,
		.cpu = cpu,
		.page = map,
		.data = (const uint8_t *)map + page_len,
		.data_len = data_len,
	};
	return NULL;
}

void ring_close(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->data_len);
	*ring = (struct ring){ .fd = -1 };
}

uint64_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* Copy @len bytes from @pos on, around the end if need be. */
static void copy_out(const struct ring *ring, uint64_t pos, void *ret, size_t len)
{
	uint64_t offset = pos & (ring->data_len - 1);
	size_t first = MIN((size_t)(ring->data_len - offset), len);

	memcpy(ret, ring->data + offset, first);
	memcpy((uint8_t *)ret + first, ring->data, len - first);
}

bool ring_next(struct ring *ring, uint64_t head, uint8_t *scratch, const uint8_t **ret_data,
	       size_t *ret_len)
{
	struct perf_event_header header;

	if (head - ring->tail < sizeof(header))
		return false;
	copy_out(ring, ring->tail, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > head - ring->tail) {
		ring->skipped += head - ring->tail;
		ring->tail = head;
		return false;
	}
	uint64_t offset = ring->tail & (ring->data_len - 1);

	if (header.size > ring->data_len - offset) {
		copy_out(ring, ring->tail, scratch, header.size);
		*ret_data = scratch;
	} else {
		*ret_data = ring->data + offset;
	}
	*ret_len = header.size;
	ring->tail += header.size;
	return true;
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
