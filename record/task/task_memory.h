/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_memory.h - reads the memory of another process, but only pages that are in memory.
 *
 * A page that is not present has to be brought in by its owner: a disk, or a FUSE or userfaultfd server that an
 * ordinary user wrote and that never answers. A recorder that runs as root must not wait for it. So the process's
 * pagemap, or move_pages(2), is asked first, and bytes are copied from the pages that it reports as present.
 *
 * The process may take a page away between the question and the copy. process_vm_readv() waits for such a page in a
 * way that a fatal signal ends, where /proc/PID/mem would not; so read in a thread or a child that nothing waits for
 * without a limit. It also refuses what is not readable for the process itself (PROT_NONE, execute-only).
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
	int pagemap_fd; /* -1: not open. It belongs to the program that ran when it was opened; what else asks by @pid may meet a later one. */
};

/* False, and @mem reads nothing: there is no such process, or no permission. */
bool task_memory_open(struct task_memory *mem, uint32_t pid);
void task_memory_close(struct task_memory *mem);

/* How many bytes from @addr on, at most @len, lie in pages that are present without a gap; 0 once the process is gone. */
size_t task_memory_present(const struct task_memory *mem, uint64_t addr, size_t len);

/* How many lie in pages that are not; 0 also if nothing can be said. */
size_t task_memory_absent(const struct task_memory *mem, uint64_t addr, size_t len);

/* Copy up to @len bytes from @addr on, up to the first page that is not present or not readable; how many. */
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
