/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_guard.c - the handler maps a page of zeros where the file has none, and the instruction is tried again.
 */
#include "formats/base/page_guard.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A signal handler is passed nothing of ours, so that this cannot live in the guard. */
static volatile sig_atomic_t patched;

static void patch(int signal_number, siginfo_t *info, void *context)
{
	int saved = errno;
	uintptr_t page_len = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)info->si_addr & ~(page_len - 1));

	(void)context;
	/* Anything but a page without a file is an error of the machine: die of it at the next try. */
	if (info->si_code != BUS_ADRERR ||
	    mmap(page, page_len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
		signal(signal_number, SIG_DFL);
	else
		patched++;
	errno = saved;
}

void page_guard_begin(struct page_guard *guard)
{
	struct sigaction action = { .sa_sigaction = patch, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	guard->start = (uint64_t)patched;
	sigaction(SIGBUS, &action, &guard->before);
}

void page_guard_stay(void)
{
	struct page_guard guard;

	page_guard_begin(&guard);
}

void page_guard_end(struct page_guard *guard)
{
	sigaction(SIGBUS, &guard->before, NULL);
}

uint64_t page_guard_count(const struct page_guard *guard)
{
	return (uint64_t)patched - guard->start;
}
