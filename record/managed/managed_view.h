/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_view.h - cached and bounded access to a process's memory, for one reading of an interpreter's stack.
 *
 * The data of one stack is close together, so memory is read in pages, each page once. The pages that the last readings of
 * the same thread needed are read first, with one call (struct managed_recent). A view is bounded in time and pages,
 * whatever pointers the process contains. Failure is sticky: later reads yield zero, and the caller checks once.
 */
#ifndef RECORD_MANAGED_VIEW_H
#define RECORD_MANAGED_VIEW_H

#include "record/task/task_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MANAGED_PAGE_LEN   4096u
#define MANAGED_PAGES	   64u	    /* kept at a time */
#define MANAGED_READS_MAX  512u	    /* pages read in one view */
#define MANAGED_RECENT_MAX 32u	    /* pages that are read ahead */
#define MANAGED_UNUSED_MAX 8u	    /* readings without use after which a page is no longer read ahead */
#define MANAGED_TIME_NS	   1000000u /* that the recorder lets one view take */

/* Copy @count pieces, each as far as it can be had, and say how much of it (task_memory_read_pieces()). */
typedef void managed_read_fn(void *context, struct task_memory_piece *pieces, size_t count);

/* The parts of pages that recent readings of a thread needed. Empty when zeroed. */
struct managed_recent {
	size_t len;
	struct managed_part {
		uint64_t number; /* of the page */
		uint16_t begin, end; /* in it */
		uint16_t unused; /* readings since it was needed */
	} parts[MANAGED_RECENT_MAX]; /* ascending */
};

struct managed_page {
	uint64_t number;
	uint32_t view; /* managed_view.number of the one that it was read in */
	size_t begin, end; /* what is here of it */
	bool part;	   /* more of it was not asked for yet */
	bool hinted;	   /* managed_view_want() asked for it */
	size_t used_begin, used_end; /* what was needed of it; nothing: the end is 0 */
	struct managed_part recent; /* the recent part, if it was read ahead */
	uint8_t *data;
};

struct managed_view {
	managed_read_fn *read;
	managed_read_fn *read_file; /* the owner's, slow: reads file-backed pages that are not in memory; NULL: they cannot be read */
	void *context;
	bool by_cpu_time; /* the caller's: time is what its thread runs, for one that nothing waits for */
	uint64_t limit_ns; /* the owner's: what to allow for each view; 0: MANAGED_TIME_NS */
	uint64_t deadline_ns;
	uint32_t number; /* of views so far */
	unsigned reads, copies;
	bool failed;
	bool missed; /* a needed page is not in memory */
	size_t nwanted;
	struct managed_page *wanted[MANAGED_RECENT_MAX];
	struct managed_page pages[MANAGED_PAGES];
	uint8_t data[MANAGED_PAGES][MANAGED_PAGE_LEN];
};

/* Large: allocate one, zeroed, and begin it again for each stack. Nothing is read after @time_ns from now. */
void managed_view_begin(struct managed_view *view, managed_read_fn *read, void *context,
			uint64_t time_ns);

/* Hint: the page of @addr will be needed; managed_view_fetch() reads all such pages with one call. */
void managed_view_want(struct managed_view *view, uint64_t addr);
void managed_view_fetch(struct managed_view *view);

/* Hint at the pages in @recent; at the end, store in it those used now or in the last MANAGED_UNUSED_MAX views. */
void managed_view_want_recent(struct managed_view *view, const struct managed_recent *recent);
void managed_view_remember(const struct managed_view *view, struct managed_recent *recent);

/* Copy @len bytes, at most a few pages, from @addr on. False, and zeroes, if they cannot be read or the view failed before. */
bool managed_view_copy(struct managed_view *view, uint64_t addr, void *ret, size_t len);

/* Extend *@digest by @len bytes at @addr. False, as managed_view_try(), if they cannot be read. */
bool managed_view_digest(struct managed_view *view, uint64_t addr, size_t len, uint64_t *digest);

/* Little-endian numbers, as all processors that we know have them; 0 on failure. */
uint64_t managed_view_u64(struct managed_view *view, uint64_t addr);
uint32_t managed_view_u32(struct managed_view *view, uint64_t addr);
uint16_t managed_view_u16(struct managed_view *view, uint64_t addr);
uint8_t managed_view_u8(struct managed_view *view, uint64_t addr);

/* The number at @offset of what was copied. */
static inline uint64_t managed_word(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* As managed_view_copy(), but only running out of time is sticky. */
bool managed_view_try(struct managed_view *view, uint64_t addr, void *ret, size_t len);

#endif
