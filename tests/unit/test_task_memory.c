/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/task/task_memory.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid;
	struct task_memory mem;
};

/* A child that shares nothing but a copy of our pages; skips where it cannot be read. */
static struct child start_child(void)
{
	struct child child = { .pid = -1 };

	if (getenv("EMULATOR"))
		SKIP("/proc shows the emulator's memory");
	child.pid = fork();
	if (child.pid == 0)
		for (;;)
			pause();
	CHECK(child.pid > 0);
	if (!task_memory_open(&child.mem, (uint32_t)child.pid) ||
	    !task_memory_present(&child.mem, (uintptr_t)&child, 1)) {
		kill(child.pid, SIGKILL);
		waitpid(child.pid, NULL, 0);
		task_memory_close(&child.mem);
		SKIP("other processes cannot be read here");
	}
	return child;
}

static void end_child(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	task_memory_close(&child->mem);
}

/* Three pages; the one in the middle was never touched. */
static uint8_t *gapped_pages(size_t page_len)
{
	uint8_t *pages = mmap(NULL, 3 * page_len, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	madvise(pages, 3 * page_len, MADV_NOHUGEPAGE);
	memset(pages, 'a', page_len);
	memset(pages + 2 * page_len, 'c', page_len);
	return pages;
}

TEST(task_memory_stops_at_the_first_page_that_is_not_present)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = gapped_pages(page_len);
	uint8_t *copy = calloc(3, page_len);
	struct child child = start_child();
	uint64_t addr = (uintptr_t)pages;

	CHECK_UINT(task_memory_present(&child.mem, addr, 3 * page_len), page_len);
	CHECK_UINT(task_memory_absent(&child.mem, addr, 3 * page_len), 0);
	CHECK_UINT(task_memory_absent(&child.mem, addr + page_len + 16, 2 * page_len - 16), page_len - 16);
	CHECK_UINT(task_memory_absent(&child.mem, addr + page_len + 16, 64), 64);
	CHECK_UINT(task_memory_read(&child.mem, addr + 16, copy, 2 * page_len), page_len - 16);
	CHECK_UINT(copy[0], 'a');
	CHECK_UINT(copy[page_len - 16], 0);
	CHECK_UINT(task_memory_read(&child.mem, addr + page_len, copy, 8), 0);
	CHECK_UINT(task_memory_read(&child.mem, addr + 2 * page_len, copy, 8), 8);
	CHECK_UINT(copy[7], 'c');
	end_child(&child);
	munmap(pages, 3 * page_len);
	free(copy);
}

TEST(task_memory_reads_more_pages_than_it_asks_for_at_once)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE), len = 1200 * page_len;
	uint8_t *pages = malloc(len), *copy = malloc(len);

	CHECK(pages && copy);
	for (size_t i = 0; i < len; i++)
		pages[i] = (uint8_t)(i * 31 >> 7);
	struct child child = start_child();

	CHECK_UINT(task_memory_read(&child.mem, (uintptr_t)pages, copy, len), len);
	CHECK(memcmp(pages, copy, len) == 0);
	end_child(&child);
	free(pages);
	free(copy);
}

TEST(task_memory_of_nothing_is_nothing)
{
	struct task_memory none = { .pagemap_fd = -1 };
	uint8_t byte;

	CHECK_UINT(task_memory_read(&none, 0, &byte, 1), 0);
	CHECK(!task_memory_open(&none, UINT32_MAX));

	struct child child = start_child();

	CHECK_UINT(task_memory_read(&child.mem, 0, &byte, 1), 0);
	CHECK_UINT(task_memory_read(&child.mem, UINT64_MAX, &byte, 1), 0);
	CHECK_UINT(task_memory_read(&child.mem, UINT64_MAX, &byte, 2), 0);
	CHECK_UINT(task_memory_present(&child.mem, (uintptr_t)&byte, 0), 0);
	CHECK_UINT(task_memory_absent(&child.mem, (uintptr_t)&byte, 0), 0);
	CHECK_UINT(task_memory_absent(&child.mem, UINT64_MAX, 2), 0);
	end_child(&child);
	task_memory_open(&child.mem, (uint32_t)getpid());
	child.mem.pid = (uint32_t)child.pid;
	CHECK_UINT(task_memory_read(&child.mem, (uintptr_t)&byte, &byte, 1), 0); /* it has ended */
	task_memory_close(&child.mem);
}

TEST(task_memory_reads_pieces_around_those_that_are_not_there)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = gapped_pages(page_len), *locked = gapped_pages(page_len);
	uint8_t *zeroes = gapped_pages(page_len), copy[7][16] = { 0 };
	struct child child;
	struct task_memory_piece pieces[] = {
		{ (uintptr_t)pages, copy[0], 16, 9 },		     /* present */
		{ (uintptr_t)pages + page_len, copy[1], 16, 9 },     /* not */
		{ (uintptr_t)pages + 2 * page_len, copy[2], 16, 9 }, /* present */
		{ (uintptr_t)locked, copy[3], 16, 9 },		     /* present, and nobody may read it */
		{ UINT64_MAX, copy[4], 16, 9 },
		{ (uintptr_t)pages + page_len - 8, copy[5], 16, 9 }, /* a half of it */
		{ (uintptr_t)zeroes + page_len - 8, copy[6], 16, 9 }, /* present, but nobody has written to it */
	};
	static const size_t want[] = { 16, 0, 16, 0, 0, 8, 16 };

	CHECK_UINT(*(volatile uint8_t *)(zeroes + page_len), 0);
	CHECK(mprotect(locked, page_len, PROT_NONE) == 0);
	child = start_child();
	task_memory_read_pieces(&child.mem, pieces, ARRAY_LEN(pieces));
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		CHECK_UINT(pieces[i].got, want[i]);
	CHECK_UINT(copy[0][15], 'a');
	CHECK_UINT(copy[2][15], 'c');
	CHECK_UINT(copy[5][7], 'a');
	/* And again without the one that cannot be listed. */
	pieces[4].addr = (uintptr_t)pages + 8;
	task_memory_read_pieces(&child.mem, pieces, ARRAY_LEN(pieces));
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		CHECK_UINT(pieces[i].got, i == 4 ? 16 : want[i]);
	end_child(&child);
	munmap(pages, 3 * page_len);
	munmap(zeroes, 3 * page_len);
	munmap(locked, 3 * page_len);
}
