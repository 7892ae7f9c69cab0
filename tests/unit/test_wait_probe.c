/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wait_probe.c - what /proc says of a thread that waits, and who is looked at.
 */
#include "record/sample/wait_probe.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t lookup(void *context, const char *name)
{
	(void)context;
	return strcmp(name, "futex_do_wait") == 0 ? 0xffffffff81000000 : 0;
}

TEST(wait_probe_reads_a_line_of_the_kernels_stack)
{
	CHECK_UINT(thread_sight_parse_frame("[<0>] futex_do_wait+0x38/0x70", lookup, NULL), 0xffffffff81000038);
	CHECK_UINT(thread_sight_parse_frame("[<0>] futex_do_wait+0x38/0x70 [mod]", lookup, NULL), 0xffffffff81000038);
	CHECK_UINT(thread_sight_parse_frame("[<0>] other+0x38/0x70", lookup, NULL), 0);
	CHECK_UINT(thread_sight_parse_frame("[<0>] futex_do_wait", lookup, NULL), 0);
	CHECK_UINT(thread_sight_parse_frame("[<0>]", lookup, NULL), 0);
	CHECK_UINT(thread_sight_parse_frame("[<0>] +0x38", lookup, NULL), 0);
	CHECK_UINT(thread_sight_parse_frame("", lookup, NULL), 0);
}

TEST(wait_probe_reads_stack_and_instruction_pointer_behind_a_system_call)
{
	uint64_t sp = 0, ip = 0;

	CHECK(thread_sight_parse_syscall("202 0x7f 0x0 0x0 0x0 0x0 0x0 0x7ffd10 0x7f20\n", &sp, &ip));
	CHECK_UINT(sp, 0x7ffd10);
	CHECK_UINT(ip, 0x7f20);
	CHECK(thread_sight_parse_syscall("-1 0x7ffd18 0x7f28\n", &sp, &ip));
	CHECK_UINT(sp, 0x7ffd18);
	CHECK_UINT(ip, 0x7f28);
	CHECK(!thread_sight_parse_syscall("running\n", &sp, &ip));
	CHECK(!thread_sight_parse_syscall("-1 0x0 0x0\n", &sp, &ip));
	CHECK(!thread_sight_parse_syscall("12\n", &sp, &ip));
	CHECK(!thread_sight_parse_syscall("12 0x7\n", &sp, &ip));
	CHECK(!thread_sight_parse_syscall("", &sp, &ip));
}

struct sleeper {
	int ends[2];
	_Atomic uint32_t tid;
};

static void *sleep_long(void *arg)
{
	struct sleeper *s = arg;
	char byte;

	s->tid = (uint32_t)syscall(SYS_gettid);
	return read(s->ends[0], &byte, 1) == 1 ? arg : NULL;
}

static struct err *note(void *context, const struct wait_probe_found *found)
{
	*(struct wait_probe_found *)context = *found;
	return NULL;
}

/* Threads of this process that run before all ordinary ones. */
static unsigned count_urgent(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	while (dir && (entry = readdir(dir)) != NULL)
		count += atoi(entry->d_name) > 0 && (sched_getscheduler(atoi(entry->d_name)) & ~SCHED_RESET_ON_FORK) == SCHED_RR;
	if (dir)
		closedir(dir);
	return count;
}

TEST(wait_probe_looks_at_who_waits_for_long_without_a_stack_once)
{
	struct wait_probe_found *found = calloc(1, sizeof(*found));
	struct priority urgent = { 0 }, lowered;
	struct wait_probe *p;
	struct sleeper sleeper = { 0 };
	pthread_t thread;

	if (getenv("EMULATOR") || access("/proc/self/syscall", R_OK) || access("/proc/self/schedstat", R_OK))
		SKIP("this kernel does not tell what threads wait for");
	/* This thread may be urgent, but is not while it tests. */
	bool is_urgent = priority_raise(&urgent, 1, /* kept= */ true);

	lowered = urgent;
	if (is_urgent) {
		priority_finish(&lowered);
		priority_step_back();
	}
	p = wait_probe_new(NULL, &urgent);
	CHECK(pipe(sleeper.ends) == 0 && pthread_create(&thread, NULL, sleep_long, &sleeper) == 0);
	while (!sleeper.tid)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);

	struct event fork = { .kind = EVENT_FORK, .pid = (uint32_t)getpid(), .tid = sleeper.tid };
	struct event out = { .kind = EVENT_SWITCH, .pid = 1, .tid = 77, .time_ns = 1000 };

	wait_probe_event(p, &fork);
	wait_probe_event(p, &out);
	wait_probe_sampled(p, 77, 999); /* its stack is known */
	CHECK(wait_probe_busy(p));
	/* It may be on its way into the pipe at the first look. */
	for (int i = 0; i < 1000 && !found->sight.tid; i++) {
		wait_probe_ask(p, 1000000000 + (uint64_t)i);
		nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
		CHECK_OK(wait_probe_take(p, note, found));
		if (!found->sight.tid && !wait_probe_busy(p))
			wait_probe_event(p, &fork);
	}
	CHECK_UINT(found->sight.tid, sleeper.tid);
	CHECK(found->sight.sp && found->sight.ip && found->sight.stack_len);
	CHECK(!wait_probe_busy(p));
	CHECK_UINT(wait_probe_totals(p).found, 1);
	/* Or behind a crowd of busy threads it would look when the recording is over. */
	CHECK_UINT(count_urgent(), is_urgent ? 1 : 0);
	CHECK(write(sleeper.ends[1], "x", 1) == 1);
	pthread_join(thread, NULL);
	wait_probe_free(p);
	free(found);
}

/* Else each wait of one thread would have a list of 65,536 others gone through, which do not end. */
TEST(wait_probe_does_not_go_through_all_waits_for_the_sake_of_each)
{
	struct wait_probe *p = wait_probe_new(NULL, NULL);

	for (uint32_t i = 1; i < 65536; i++)
		wait_probe_event(p, &(struct event){ .kind = EVENT_FORK, .pid = i, .tid = i });
	for (unsigned i = 0; i < 5000; i++) {
		struct event out = { .kind = EVENT_SWITCH, .pid = 77777, .tid = 77777, .time_ns = 1000 + i };
		struct event in = out;

		in.cpu_switch.in = true;
		wait_probe_event(p, &out);
		wait_probe_event(p, &in);
	}
	CHECK(wait_probe_totals(p).dropped > 4000);
	CHECK(wait_probe_totals(p).dropped < 5000);
	wait_probe_free(p);
}

TEST(wait_probe_gives_each_of_many_threads_a_turn)
{
	enum { WAITERS = 2 * WAIT_PROBE_RATE, UNKNOWN = 10, FIRST_TID = 1 << 30 }; /* there are no such threads */
	struct wait_probe *p = wait_probe_new(NULL, NULL);
	const uint64_t now_ns = 1000000000000;

	for (uint32_t i = 0; i < WAITERS; i++) {
		struct event out = { .kind = EVENT_SWITCH, .pid = 1, .tid = FIRST_TID + i, .time_ns = now_ns + i };

		/* A stack of all but the last was seen when they left their CPUs before. */
		if (i < WAITERS - UNKNOWN)
			wait_probe_sampled(p, out.tid, now_ns - 1000000000);
		wait_probe_event(p, &out);
	}
	wait_probe_ask(p, now_ns + 2 * WAIT_PROBE_LONG_NS);
	CHECK_UINT(wait_probe_totals(p).asked, UNKNOWN);
	wait_probe_free(p);
}

/* The sample and the record of a switch come through different rings: either may be read first, and a sample may be lost. */
TEST(wait_probe_follows_waits_whose_sample_did_not_come)
{
	enum { FIRST_TID = 1 << 30 }; /* there is no such thread */
	struct event before = { .kind = EVENT_SWITCH, .pid = 1, .tid = FIRST_TID, .time_ns = 1000000 };
	struct event after = { .kind = EVENT_SWITCH, .pid = 1, .tid = FIRST_TID + 1, .time_ns = 1000000 };
	struct event lost = { .kind = EVENT_SWITCH, .pid = 1, .tid = FIRST_TID + 2, .time_ns = 2000000 };
	struct wait_probe *p = wait_probe_new(NULL, NULL);

	wait_probe_sampled(p, before.tid, before.time_ns - 10);
	wait_probe_event(p, &before);
	wait_probe_event(p, &after);
	wait_probe_sampled(p, after.tid, after.time_ns - 10);
	wait_probe_ask(p, before.time_ns + 1);
	CHECK(!wait_probe_busy(p));
	wait_probe_sampled(p, lost.tid, lost.time_ns - 1000000); /* of the wait before */
	wait_probe_event(p, &lost);
	wait_probe_ask(p, lost.time_ns + 1);
	CHECK(wait_probe_busy(p)); /* until it has waited for long, and is asked for */
	CHECK_UINT(wait_probe_totals(p).asked, 0);
	wait_probe_ask(p, lost.time_ns + WAIT_PROBE_LONG_NS);
	CHECK_UINT(wait_probe_totals(p).asked, 1);
	wait_probe_free(p);
}

TEST(wait_probe_follows_threads_that_ran_while_switches_were_not_recorded)
{
	enum { FIRST_TID = 1 << 30 }; /* there is no such thread */
	struct event ran = { .kind = EVENT_TASK_TIMES, .pid = 1, .tid = FIRST_TID, .time_ns = 1000000 };
	struct event in = { .kind = EVENT_SWITCH, .pid = 1, .tid = FIRST_TID, .time_ns = 2000000, .cpu_switch = { .in = true } };
	struct wait_probe *p = wait_probe_new(NULL, NULL);

	wait_probe_event(p, &ran);
	wait_probe_ask(p, ran.time_ns + 1);
	CHECK(!wait_probe_busy(p)); /* records of its switches tell */
	wait_probe_pause(p, true);
	wait_probe_event(p, &ran);
	wait_probe_pause(p, false);
	wait_probe_ask(p, ran.time_ns + 1);
	CHECK(wait_probe_busy(p));
	wait_probe_event(p, &in);
	wait_probe_ask(p, ran.time_ns + WAIT_PROBE_LONG_NS);
	CHECK_UINT(wait_probe_totals(p).asked, 0);
	wait_probe_free(p);
}
