/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_own_samples.c - the test's own switches, sampled and left out; others cannot be told apart from here.
 */
#include "record/event/own_samples.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SWITCHES 4

/* Bytes of samples that the next few switches of this thread leave in the ring. */
static uint64_t sampled(const struct perf_event_mmap_page *page)
{
	uint64_t before = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	for (int i = 0; i < SWITCHES; i++)
		usleep(1);
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - before;
}

TEST(switches_of_the_recorder_itself_are_left_out)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
					.sample_period = 1,
					.sample_type = PERF_SAMPLE_TID };
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		SKIP("no event can be opened here");
	struct perf_event_mmap_page *page = mmap(NULL, 2 * page_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(page != MAP_FAILED);
	CHECK(sampled(page) > 0);
	bool left_out = own_samples_leave_out(fd);
	uint64_t after = sampled(page);

	munmap(page, 2 * page_len);
	close(fd);
	if (!left_out)
		SKIP("no program may be given to the kernel here");
	CHECK_UINT(after, 0);
}
