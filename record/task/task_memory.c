/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_memory.c - /proc/PID/pagemap has 8 bytes for each page: bit 63 says that it is present
 * (Documentation/admin-guide/mm/pagemap.rst). Pages that are swapped out do not count.
 */
#include "record/task/task_memory.h"

#include "formats/base/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PRESENT    (1ULL << 63)
#define PAGES_MAX  512 /* asked for at once */
#define LISTED_MAX 128 /* scattered pages, likewise */

bool task_memory_open(struct task_memory *mem, uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap", pid);
	mem->pid = pid;
	mem->pagemap_fd = open(path, O_RDONLY | O_CLOEXEC);
	return mem->pagemap_fd >= 0;
}

void task_memory_close(struct task_memory *mem)
{
	if (mem->pagemap_fd >= 0)
		close(mem->pagemap_fd);
	mem->pagemap_fd = -1;
}

/* The number of consecutive pages from @first on that are present, or not present; at most @count and PAGES_MAX. */
static size_t alike_pages(int pagemap_fd, uint64_t first, size_t count, bool present)
{
	uint64_t entries[PAGES_MAX];
	ssize_t got = pread(pagemap_fd, entries, MIN(count, (size_t)PAGES_MAX) * sizeof(*entries),
			    (off_t)(first * sizeof(*entries)));
	size_t n = 0;

	while (got > 0 && n < (size_t)got / sizeof(*entries) && !(entries[n] & PRESENT) == !present)
		n++;
	return n;
}

static size_t alike_bytes(const struct task_memory *mem, uint64_t addr, size_t len, bool present)
{
	uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t page = addr / page_len, end;
	size_t got;

	if (mem->pagemap_fd < 0 || !len || __builtin_add_overflow(addr, len - 1, &end))
		return 0;
	uint64_t last = end / page_len;

	while (page <= last) {
		size_t wanted = (size_t)MIN(last - page + 1, (uint64_t)PAGES_MAX);

		got = alike_pages(mem->pagemap_fd, page, wanted, present);
		page += got;
		if (got < wanted)
			break;
	}
	if (page * page_len <= addr)
		return 0;
	return (size_t)MIN(page * page_len - addr, (uint64_t)len);
}

size_t task_memory_present(const struct task_memory *mem, uint64_t addr, size_t len)
{
	return alike_bytes(mem, addr, len, /* present= */ true);
}

size_t task_memory_absent(const struct task_memory *mem, uint64_t addr, size_t len)
{
	return alike_bytes(mem, addr, len, /* present= */ false);
}

size_t task_memory_read(const struct task_memory *mem, uint64_t addr, void *ret, size_t len)
{
	size_t present = task_memory_present(mem, addr, len);
	struct iovec to = { .iov_base = ret, .iov_len = present };
	struct iovec from = { .iov_base = (void *)(uintptr_t)addr, .iov_len = present };
	ssize_t got = present ? process_vm_readv((pid_t)mem->pid, &to, 1, &from, 1, 0) : 0;

	return got > 0 ? (size_t)got : 0;
}

/* The pages that pieces lie in, and for each what move_pages(2) says of it: the node that has it, or why there is none. */
struct page_list {
	uint64_t page_len;
	size_t count;
	void *pages[LISTED_MAX];
	int status[LISTED_MAX];
};

/* List those of @piece, *@ret_first is the first. False: there is no room for all. */
static bool list_pages(struct page_list *list, const struct task_memory_piece *piece, size_t *ret_first)
{
	uint64_t page = piece->addr & ~(list->page_len - 1), end;

	if (!piece->len || __builtin_add_overflow(piece->addr, piece->len - 1, &end))
		return false;
	/* The piece before may end in it. */
	if (list->count && list->pages[list->count - 1] == (void *)(uintptr_t)page)
		list->count--;
	*ret_first = list->count;
	for (; page <= end; page += list->page_len) {
		if (list->count == LISTED_MAX)
			return false;
		list->pages[list->count++] = (void *)(uintptr_t)page;
	}
	return true;
}

/*
 * Find out with one call which of the pages are present. The kernel's zero page is reported like a missing page. False: the kernel
 * cannot (CONFIG_MIGRATION) or must not tell.
 */
static bool ask_pages(const struct task_memory *mem, struct page_list *list)
{
	/* Of all ways to wait for the process's mmap lock, this one alone ends when we are killed; move_pages() and process_vm_readv() then find it free. */
	alike_pages(mem->pagemap_fd, (uintptr_t)list->pages[0] / list->page_len, 1, true);
	if (syscall(SYS_move_pages, (long)mem->pid, list->count, list->pages, NULL, list->status, 0) != 0)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		if (list->status[i] == -EFAULT &&
		    alike_pages(mem->pagemap_fd, (uintptr_t)list->pages[i] / list->page_len, 1, true))
			list->status[i] = 0;
	}
	return true;
}

/* Up to the first page that is not present; @i is the piece's first. */
static size_t present_in(const struct page_list *list, const struct task_memory_piece *piece, size_t i)
{
	uint64_t addr = piece->addr, end = addr + piece->len;

	for (; addr < end && list->status[i] >= 0; i++)
		addr = (addr & ~(list->page_len - 1)) + list->page_len;
	return (size_t)(MIN(addr, end) - piece->addr);
}

/* Set @got of each piece to its length in present pages. */
static void find_present(const struct task_memory *mem, struct task_memory_piece *pieces, size_t count)
{
	struct page_list list;
	size_t first[TASK_MEMORY_PIECES_MAX];
	bool listed = count > 1 && mem->pagemap_fd >= 0;

	list.page_len = (uint64_t)sysconf(_SC_PAGESIZE);
	list.count = 0;
	for (size_t i = 0; i < count && listed; i++)
		listed = list_pages(&list, &pieces[i], &first[i]);
	listed = listed && ask_pages(mem, &list);
	for (size_t i = 0; i < count; i++)
		pieces[i].got = listed ? present_in(&list, &pieces[i], first[i]) :
					 task_memory_present(mem, pieces[i].addr, pieces[i].len);
}

void task_memory_read_pieces(const struct task_memory *mem, struct task_memory_piece *pieces,
			     size_t count)
{
	struct iovec to[TASK_MEMORY_PIECES_MAX], from[TASK_MEMORY_PIECES_MAX];
	size_t map[TASK_MEMORY_PIECES_MAX], n = 0, done = 0;

	for (size_t i = 0; i < count; i++)
		pieces[i].got = 0;
	count = MIN(count, (size_t)TASK_MEMORY_PIECES_MAX);
	find_present(mem, pieces, count);
	for (size_t i = 0; i < count; i++) {
		if (!pieces[i].got)
			continue;
		to[n] = (struct iovec){ pieces[i].to, pieces[i].got };
		from[n] = (struct iovec){ (void *)(uintptr_t)pieces[i].addr, pieces[i].got };
		map[n++] = i;
	}
	/* The kernel stops at the first piece that it cannot copy; the next call starts behind it. */
	while (done < n) {
		ssize_t got = process_vm_readv((pid_t)mem->pid, to + done, n - done, from + done,
					       n - done, 0);
		size_t left = got > 0 ? (size_t)got : 0;

		while (done < n && left >= to[done].iov_len)
			left -= to[done++].iov_len;
		if (done < n)
			pieces[map[done++]].got = left;
	}
}
