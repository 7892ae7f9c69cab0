/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_view.h - a process's memory as one reading of an interpreter's stack sees it.
 *
 * Interpreters keep what belongs to one stack close together, so memory is read a page at a time and each page once: the
 * frames of a typical stack take three or four reads. A view is bounded in time and in pages, whatever pointers the
 * process made up. Failure is sticky: later reads yield zero, and the caller asks once.
 */
#ifndef RECORD_MANAGED_VIEW_H
#define RECORD_MANAGED_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANAGED_PAGE_LEN  4096u
#define MANAGED_PAGES	  64u	   /* kept at a time */
#define MANAGED_READS_MAX 512u	   /* pages read in one view */
#define MANAGED_TIME_NS	  1000000u /* that the recorder lets one view take */

/* Copy up to @len bytes from @addr on; how many. */
typedef size_t managed_read_fn(void *context, uint64_t addr, void *ret, size_t len);

struct managed_page {
	uint64_t number; /* 0: empty */
	size_t end; /* so many bytes of it were read */
	uint8_t data[MANAGED_PAGE_LEN];
};

struct managed_view {
	managed_read_fn *read;
	void *context;
	uint64_t deadline_ns;
	unsigned reads, copies;
	bool failed;
	struct managed_page pages[MANAGED_PAGES];
};

/* Large: allocate one and begin it anew for each stack. After @time_ns from now nothing more is read. */
void managed_view_begin(struct managed_view *view, managed_read_fn *read, void *context,
			uint64_t time_ns);

/* Copy @len bytes, at most a few pages, from @addr on. False, and zeroes, if they cannot be had; also if that was so before. */
bool managed_view_copy(struct managed_view *view, uint64_t addr, void *ret, size_t len);

/* Little-endian numbers, as all processors that we know have them; 0 on failure. */
uint64_t managed_view_u64(struct managed_view *view, uint64_t addr);
uint32_t managed_view_u32(struct managed_view *view, uint64_t addr);
uint8_t managed_view_u8(struct managed_view *view, uint64_t addr);

/* As managed_view_copy(), but a failure is not remembered, unless it was one of time. */
bool managed_view_try(struct managed_view *view, uint64_t addr, void *ret, size_t len);

#endif
