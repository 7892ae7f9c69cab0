/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_reader.c - what trace_writer wrote, trace_reader gives back; and what it makes of damage.
 */
#include "formats/trace_reader.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/trace_writer.h"
#include "tests/unit/event_maker.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A trace under construction, in memory. */
struct made {
	int fd;
	struct trace_writer *writer;
	struct recording rec;
	struct event_maker maker;
	VEC(struct event) events;
	char *bytes;
	size_t len;
};

static void made_begin(struct made *made, uint64_t seed)
{
	*made = (struct made){ .maker.state = seed };
	made->fd = memfd_create("trace", MFD_CLOEXEC);
	CHECK(made->fd >= 0);
	maker_recording(&made->rec);
	made->writer = trace_writer_new(made->fd);
	CHECK_OK(trace_writer_begin(made->writer, &made->rec));
}

static void made_add(struct made *made, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct event ev;

		maker_any(&made->maker, &ev);
		vec_push(&made->events, ev);
		CHECK_OK(trace_writer_event(made->writer, &ev));
	}
}

static void made_flush(struct made *made)
{
	CHECK_OK(trace_writer_round(made->writer, made->maker.time_ns, 0));
}

static void made_attach(struct made *made)
{
	for (size_t i = 0; i < made->rec.nimages; i++)
		CHECK_OK(trace_writer_image(made->writer, &made->rec.images[i]));
	CHECK_OK(trace_writer_ksyms(made->writer, made->rec.ksyms, made->rec.nksyms));
	CHECK_OK(trace_writer_jit_map(made->writer, &made->rec.jit_maps[0]));
	CHECK_OK(trace_writer_end(made->writer, &made->rec));
}

static void made_read(struct made *made)
{
	off_t len = lseek(made->fd, 0, SEEK_END);

	CHECK(len > 0);
	CHECK_UINT(trace_writer_sizes(made->writer)->total, (uint64_t)len);
	made->len = (size_t)len;
	made->bytes = memory_alloc(made->len);
	CHECK_UINT((uint64_t)pread(made->fd, made->bytes, made->len, 0), made->len);
}

static void made_deinit(struct made *made)
{
	trace_writer_free(made->writer);
	close(made->fd);
	arena_deinit(&made->rec.arena);
	maker_deinit(&made->maker);
	vec_deinit(&made->events);
	free(made->bytes);
}

TEST(trace_reader_gives_back_all_that_was_written)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct made made;
		struct event_source *source;
		struct event ev;

		made_begin(&made, seed);
		for (int i = 0; i < 4; i++) {
			made_add(&made, seed * 20);
			made_flush(&made);
		}
		made_attach(&made);
		made_read(&made);
		CHECK_OK(trace_reader_open_memory(made.bytes, made.len, &source));
		check_recording(event_source_recording(source), &made.rec);
		for (size_t i = 0; i < made.events.len; i++) {
			CHECK(event_source_next(source, &ev));
			check_event(&ev, &made.events.items[i]);
		}
		CHECK(!event_source_next(source, &ev));
		CHECK_OK(event_source_finish(source));
		event_source_close(source);
		made_deinit(&made);
	}
}
