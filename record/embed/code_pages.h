/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_pages.h - copies of pages of JIT code, made when an address in them is first sampled: a process that has ended has no
 * memory left to read when the recording ends.
 *
 * A page is copied once, or again when code was sampled where it had none; code that is replaced later is not seen.
 */
#ifndef RECORD_CODE_PAGES_H
#define RECORD_CODE_PAGES_H

#include "formats/base/map.h"
#include "record/task/task_memory.h"

#define CODE_PAGE_LEN  4096u
#define CODE_PAGES_MAX 128 /* of one process */

/* Zeroed is empty. */
struct code_pages {
	struct map pages; /* by number: the copy, 0 if it could not be read */
};

/* Executable memory that is one mapping. */
struct code_area {
	uint64_t start, end;
};

/*
 * Copy the page of @ip from @memory, unless that was done before, or there are CODE_PAGES_MAX; and those of @area where the code from there
 * on seems to branch to. A page that had nothing at @ip is copied once more.
 */
void code_pages_take(struct code_pages *p, const struct task_memory *memory, uint64_t ip, struct code_area area);

/* Copy @len bytes from @ip on into @ret. False if not all of their pages are there. */
bool code_pages_read(const struct code_pages *p, uint64_t ip, void *ret, size_t len);

/* The pages' numbers, ascending, those that could be read. The caller frees them. */
uint64_t *code_pages_numbers(const struct code_pages *p, size_t *ret_count);

void code_pages_deinit(struct code_pages *p);

#endif
