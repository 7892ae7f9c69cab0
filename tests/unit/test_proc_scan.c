/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_proc_scan.c - what /proc tells of this very process, and of the kernel.
 */
#include "record/task/proc_scan.h"

#include "tests/unit/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What was told, as far as the tests ask for it. */
struct told {
	uint32_t nthreads;
	size_t forks, comms, maps, kernel_maps;
	bool own_code, anonymous, in_order;
	const void *anonymous_addr;
	bool named_thread;
	size_t stop_after;
};

static void tell_process(void *context, uint32_t pid, uint32_t nthreads)
{
	struct told *told = context;

	if (pid == (uint32_t)getpid())
		told->nthreads = nthreads;
}

static struct err *tell_event(void *context, const struct event *ev)
{
	struct told *told = context;
	uint64_t here = (uintptr_t)tell_event;

	CHECK_UINT(ev->time_ns, 0);
	if (told->stop_after && told->forks + told->comms + told->maps >= told->stop_after)
		return err_new(ERR_SYSTEM, "enough");
	if (ev->kind == EVENT_FORK) {
		told->forks++;
	} else if (ev->kind == EVENT_COMM) {
		told->comms++;
		told->in_order = told->forks == told->comms;
		told->named_thread |= !strcmp(ev->comm.comm, "a ) S 1 \n b");
	} else if (ev->mmap.flags & EVENT_MMAP_KERNEL) {
		told->kernel_maps++;
	} else {
		told->maps++;
		told->own_code |= here >= ev->mmap.start && here < ev->mmap.end &&
				  ev->mmap.path[0] == '/' &&
				  (ev->mmap.inode || ev->mmap.build_id_len);
		told->anonymous |= ev->mmap.start == (uintptr_t)told->anonymous_addr &&
				   !strcmp(ev->mmap.path, "//anon");
		CHECK(ev->mmap.flags & EVENT_MMAP_EXEC);
		CHECK(ev->mmap.end > ev->mmap.start);
	}
	return NULL;
}

static void *wait_for_end(void *pipe_fd)
{
	char byte;

	prctl(PR_SET_NAME, "a ) S 1 \n b");
	if (write(((int *)pipe_fd)[3], "x", 1) != 1 || read(((int *)pipe_fd)[0], &byte, 1) != 1)
		return NULL;
	return pipe_fd;
}

TEST(proc_scan_tells_of_this_process_with_its_threads_and_code)
{
	size_t stuck = 0;
	struct told told = { 0 };
	const struct proc_visitor visitor = { .event = tell_event, .process = tell_process, .context = &told };
	int fds[4];
	char byte;
	pthread_t thread;

	if (getenv("EMULATOR"))
		SKIP("the emulator shows none of its code as executable");
	told.anonymous_addr =
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pipe(fds) == 0 && pipe(fds + 2) == 0);
	CHECK(pthread_create(&thread, NULL, wait_for_end, fds) == 0);
	CHECK(read(fds[2], &byte, 1) == 1);
	CHECK_OK(proc_scan_process(getpid(), &visitor, &stuck));
	CHECK(write(fds[1], "x", 1) == 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	munmap((void *)(uintptr_t)told.anonymous_addr, 4096);

	CHECK(told.nthreads >= 2);
	CHECK_UINT(told.forks, told.nthreads);
	CHECK(told.in_order);
	CHECK(told.named_thread);
	CHECK(told.own_code);
	CHECK(told.anonymous);
}

TEST(proc_scan_of_a_process_that_is_gone_tells_nothing)
{
	size_t stuck = 0;
	struct told told = { 0 };
	const struct proc_visitor visitor = { .event = tell_event, .process = tell_process, .context = &told };

	CHECK_OK(proc_scan_process(0x7ffffff0, &visitor, &stuck));
	CHECK_UINT(told.forks + told.comms + told.maps, 0);
}

TEST(proc_scan_stops_at_the_visitors_error)
{
	size_t stuck = 0;
	struct told told = { .stop_after = 3 };
	const struct proc_visitor visitor = { .event = tell_event, .process = tell_process, .context = &told };

	CHECK_ERR(proc_scan_all(&visitor, &stuck), ERR_SYSTEM, "enough");
	CHECK_UINT(told.forks + told.comms + told.maps, 3);
}

TEST(proc_scan_kernel_text_is_all_or_nothing)
{
	struct told told = { 0 };
	const struct proc_visitor visitor = { .event = tell_event, .process = tell_process, .context = &told };
	uint64_t start = 1, end = 1;

	proc_scan_kernel_text(&start, &end);
	CHECK((!start && !end) || (start > UINT64_MAX / 2 && end > start));
	CHECK_OK(proc_scan_kernel(0xffffffff81000000, 0xffffffff82000000, &visitor));
	CHECK(told.kernel_maps >= 1);
	CHECK_UINT(told.maps, 0);
}
