/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_time.c - a signal is taken where it is noticed, so that the next one can be told from it: pending signals of one
 * number are one.
 */
#include "record/system/stop_time.h"

#include "formats/base/clock.h"
#include "record/system/stop_signal.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

void stop_time_begin(struct stop_time *t)
{
	if (!t->read_ns)
		t->read_ns = clock_now_ns(CLOCK_MONOTONIC) + STOP_TIME_READ_NS;
}

/* Take a signal that is pending, if none was taken. */
static void look(struct stop_time *t)
{
	siginfo_t info;
	sigset_t set;

	if (!t || t->read_ns)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	int signal = sigtimedwait(&set, &info, &(struct timespec){ 0 });

	if (signal <= 0)
		return;
	stop_time_begin(t);
	t->from_process = info.si_code <= 0;
	t->signal = signal;
}

/* @later_ns: than the end of reading. */
static bool is_past(const struct stop_time *t, uint64_t later_ns)
{
	return t && t->read_ns && (clock_now_ns(CLOCK_MONOTONIC) >= t->read_ns + later_ns || stop_signal_pending());
}

bool stop_time_is_over(const struct stop_time *t)
{
	return is_past(t, 0);
}

bool stop_time_leaves(struct stop_time *t, enum stop_kind kind)
{
	look(t);
	if (!is_past(t, 0))
		return false;
	t->left[kind]++;
	return true;
}

void stop_time_note(const struct stop_time *t, struct diag *notes)
{
	static const char *const whats[STOP_KINDS] = {
		[STOP_PROCESSES] = "mappings of processes",
		[STOP_ACCOUNTS] = "accounts of threads' CPU time",
		[STOP_DESCRIPTORS] = "looks at descriptors",
		[STOP_SAMPLES] = "samples in the ring buffers",
	};

	for (size_t i = 0; i < STOP_KINDS; i++)
		if (t->left[i])
			diag_warn(notes, "a signal ended the recording, and no time was left for all: %s not read: %" PRIu64,
				  whats[i], t->left[i]);
}

bool stop_time_ends_writing(struct stop_time *t)
{
	look(t);
	return is_past(t, STOP_TIME_WRITE_NS - STOP_TIME_READ_NS);
}
