/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wake_filter.c - with a real kernel's BPF, where that lets us load a program.
 */
#include "record/sample/wake_filter.h"

#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERIOD_NS   100000
#define SAMPLES	    10
#define PATIENCE_NS 2000000000ULL /* of CPU time */

/* Samples of this thread; -1: there are none to be had. */
static int open_clock(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_TASK_CLOCK,
					.sample_period = PERIOD_NS, .exclude_kernel = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Run until the bell rings, or so long that it would have: for SAMPLES samples, with @patient for as long as it may take. */
static bool rings(const struct wake_filter *f, int fd, bool patient)
{
	uint64_t begin = 0, now = 0, limit = patient ? PATIENCE_NS : SAMPLES * PERIOD_NS;

	if (read(fd, &begin, sizeof(begin)) != sizeof(begin))
		return false;
	while (!wake_filter_waits(f, 0) && now < begin + limit)
		for (volatile int i = 0; i < 10000; i++)
			if (i == 9999 && read(fd, &now, sizeof(now)) != sizeof(now))
				return false;
	return wake_filter_waits(f, 0);
}

static void answer(struct wake_filter *f)
{
	wake_filter_answer(f, 0, wake_filter_rung(f, 0));
}

TEST(wake_filter_rings_for_samples_of_marked_processes_only)
{
	struct wake_filter *f = getenv("EMULATOR") ? NULL : wake_filter_new(2);
	int fd = f ? open_clock() : -1;

	if (fd < 0 || !wake_filter_attach(f, 0, fd)) {
		wake_filter_free(f);
		SKIP("this kernel has no BPF for us");
	}
	CHECK(!rings(f, fd, /* patient= */ false));
	wake_filter_mark(f, (uint32_t)getpid());
	wake_filter_mark(f, (uint32_t)getpid());
	CHECK(rings(f, fd, /* patient= */ true));
	CHECK(!wake_filter_waits(f, 1));
	answer(f);
	CHECK(rings(f, fd, /* patient= */ true));
	wake_filter_unmark(f, (uint32_t)getpid());
	answer(f);
	CHECK(rings(f, fd, /* patient= */ true)); /* there was a second reason */
	wake_filter_unmark(f, (uint32_t)getpid());
	wake_filter_mark(f, (uint32_t)getpid() + 1);
	answer(f);
	CHECK(!rings(f, fd, /* patient= */ false));
	close(fd);
	wake_filter_free(f);
}

TEST(wake_filter_tells_what_rang_before_the_answer_from_what_rang_since)
{
	struct wake_filter *f = getenv("EMULATOR") ? NULL : wake_filter_new(1);
	int fd = f ? open_clock() : -1;

	if (fd < 0 || !wake_filter_attach(f, 0, fd)) {
		wake_filter_free(f);
		SKIP("this kernel has no BPF for us");
	}
	uint64_t before = wake_filter_rung(f, 0);

	wake_filter_mark(f, (uint32_t)getpid());
	CHECK(rings(f, fd, /* patient= */ true));
	wake_filter_answer(f, 0, before);
	CHECK(wake_filter_waits(f, 0));
	wake_filter_unmark(f, (uint32_t)getpid());
	answer(f);
	CHECK(!wake_filter_waits(f, 0));
	close(fd);
	wake_filter_free(f);
}
