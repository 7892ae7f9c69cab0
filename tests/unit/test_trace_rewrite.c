/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_rewrite.c - a trace that is written once more holds the same, less what was left out.
 */
#include "formats/trace/trace_rewrite.h"

#include "formats/base/vec.h"
#include "formats/trace/trace_reader.h"
#include "tests/unit/event_check.h"
#include "tests/unit/event_maker.h"
#include "tests/unit/test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct event_source *open_fd(int fd)
{
	struct event_source *source;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_OK(trace_reader_open(path, &source));
	return source;
}

static int write_events(const struct recording *rec, const struct event *events, size_t count)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace_rewrite *rw;

	CHECK(fd >= 0);
	CHECK_OK(trace_rewrite_begin(fd, rec, &rw));
	for (size_t i = 0; i < count; i++)
		CHECK_OK(trace_rewrite_event(rw, &events[i]));
	CHECK_OK(trace_rewrite_end(rw, rec));
	trace_rewrite_free(rw);
	return fd;
}

/* Copy what @fd holds, without threads' names if @drop_names. */
static int copy(int fd, bool complete, bool drop_names)
{
	struct event_source *source = open_fd(fd);
	struct recording as = *event_source_recording(source);
	int to = memfd_create("copy", MFD_CLOEXEC);
	struct trace_rewrite *rw;
	struct event ev;

	CHECK(to >= 0);
	as.complete = complete;
	CHECK_OK(trace_rewrite_begin(to, &as, &rw));
	while (event_source_next(source, &ev)) {
		if (!drop_names || ev.kind != EVENT_COMM)
			CHECK_OK(trace_rewrite_event(rw, &ev));
	}
	CHECK_OK(event_source_finish(source));
	CHECK_OK(trace_rewrite_end(rw, &as));
	trace_rewrite_free(rw);
	event_source_close(source);
	return to;
}

#define NEVENTS 400

static void make(struct event_maker *maker, struct recording *rec, struct event events[NEVENTS])
{
	*maker = (struct event_maker){ .state = 5 };
	maker_recording(rec);
	rec->complete = true;
	for (size_t i = 0; i < NEVENTS; i++)
		maker_any(maker, &events[i]);
}

TEST(trace_rewrite_keeps_everything_that_is_not_taken_away)
{
	struct event events[NEVENTS];
	struct event_maker maker;
	struct recording rec;
	struct event_source *source;
	struct event ev;

	make(&maker, &rec, events);
	int first = write_events(&rec, events, NEVENTS);
	int second = copy(first, /* complete= */ true, /* drop_names= */ false);

	source = open_fd(second);
	check_recording(event_source_recording(source), &rec);
	for (size_t i = 0; i < NEVENTS; i++) {
		CHECK(event_source_next(source, &ev));
		check_event(&ev, &events[i]);
	}
	CHECK(!event_source_next(source, &ev));
	event_source_close(source);
	close(first);
	close(second);
	arena_deinit(&rec.arena);
	maker_deinit(&maker);
}

TEST(trace_rewrite_leaves_out_events_and_the_end)
{
	struct event events[NEVENTS];
	struct event_maker maker;
	struct recording rec;
	struct event_source *source;
	struct event ev;
	size_t expected = 0, count = 0;

	make(&maker, &rec, events);
	int first = write_events(&rec, events, NEVENTS);
	int second = copy(first, /* complete= */ false, /* drop_names= */ true);

	for (size_t i = 0; i < NEVENTS; i++)
		expected += events[i].kind != EVENT_COMM;
	source = open_fd(second);
	CHECK(!event_source_recording(source)->complete);
	CHECK_UINT(event_source_recording(source)->nimages, rec.nimages);
	while (event_source_next(source, &ev)) {
		CHECK(ev.kind != EVENT_COMM);
		count++;
	}
	CHECK_UINT(count, expected);
	event_source_close(source);
	close(first);
	close(second);
	arena_deinit(&rec.arena);
	maker_deinit(&maker);
}
