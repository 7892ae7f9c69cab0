/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_memory.h - reads the memory of another process, but only pages that are in memory.
 *
 * A page that is not present would have to be paged in, from a disk or from a user's FUSE or userfaultfd server that may
 * never answer. A recorder that runs as root must not wait for it. So pagemap or move_pages(2) is queried first, and
 * only present pages are copied.
 *
 * A page may be removed between query and copy. process_vm_readv() then waits in a killable way, unlike /proc/PID/mem; so
 * read in a thread or child that is waited for with a timeout. It also refuses pages that the process itself cannot read
 * (PROT_NONE, execute-only).
 *
 * All of this takes the process's mmap lock, which it may hold for as long as it likes (a mapped file on FUSE): only the read of pagemap, which
 * comes first, waits for it in a killable way. Another thread may take the lock between that and the rest, some microseconds.
 *
 * Needs the permission to ptrace the process. Several threads may read from one.
 */
#ifndef RECORD_TASK_MEMORY_H
#define RECORD_TASK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_memory {
	uint32_t pid;
	int pagemap_fd; /* -1: not open. It refers to the program that ran when it was opened; calls by @pid may meet a later one. */
};

/* False: no such process or no permission; @mem then reads nothing. */
bool task_memory_open(struct task_memory *mem, uint32_t pid);
void task_memory_close(struct task_memory *mem);

/* The number of bytes from @addr on, at most @len, in consecutive present pages; 0 once the process is gone. */
size_t task_memory_present(const struct task_memory *mem, uint64_t addr, size_t len);

/* The same in pages that are not present; 0 also if unknown. */
size_t task_memory_absent(const struct task_memory *mem, uint64_t addr, size_t len);

/* Copy up to @len bytes from @addr on, up to the first page that is not present or not readable. Returns the number. */
size_t task_memory_read(const struct task_memory *mem, uint64_t addr, void *ret, size_t len);

#define TASK_MEMORY_PIECES_MAX 64

struct task_memory_piece {
	uint64_t addr;
	void *to;
	size_t len;
	size_t got; /* so many bytes from @addr on were copied */
};

/*
 * Copy up to TASK_MEMORY_PIECES_MAX pieces with as few calls as possible, each as task_memory_read() does; what is beyond
 * that number is left alone, with @got 0. Neighbours in memory are cheapest when they are neighbours in @pieces.
 */
void task_memory_read_pieces(const struct task_memory *mem, struct task_memory_piece *pieces,
			     size_t count);

#endif
