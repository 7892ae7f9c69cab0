/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/trace_maker.h"

#include "formats/base/memory.h"
#include "formats/base/zframe.h"
#include "formats/trace/trace_reader.h"
#include "tests/unit/event_check.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void trace_maker_begin(struct trace_maker *made, uint64_t seed)
{
	*made = (struct trace_maker){ .maker.state = seed };
	made->fd = memfd_create("trace", MFD_CLOEXEC);
	CHECK(made->fd >= 0);
	maker_recording(&made->rec);
	made->writer = trace_writer_new(made->fd);
	CHECK_OK(trace_writer_begin(made->writer, &made->rec));
}

void trace_maker_add(struct trace_maker *made, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct event ev;

		maker_any(&made->maker, &ev);
		vec_push(&made->events, ev);
		CHECK_OK(trace_writer_event(made->writer, &ev));
	}
}

void trace_maker_flush(struct trace_maker *made)
{
	CHECK_OK(trace_writer_round(made->writer, made->maker.time_ns, 0));
}

void trace_maker_attach(struct trace_maker *made)
{
	for (size_t i = 0; i < made->rec.nimages; i++)
		CHECK_OK(trace_writer_image(made->writer, &made->rec.images[i]));
	CHECK_OK(trace_writer_lines(made->writer, made->rec.lines));
	CHECK_OK(trace_writer_ksyms(made->writer, made->rec.ksyms, made->rec.nksyms));
	CHECK_OK(trace_writer_kernel_code(made->writer, &made->rec.kernel_code));
	CHECK_OK(trace_writer_jit_map(made->writer, &made->rec.jit_maps[0]));
	CHECK_OK(trace_writer_end(made->writer, &made->rec));
}

void trace_maker_read(struct trace_maker *made)
{
	off_t len = lseek(made->fd, 0, SEEK_END);

	CHECK(len > 0);
	CHECK_UINT(trace_writer_sizes(made->writer)->total, (uint64_t)len);
	made->len = (size_t)len;
	made->bytes = memory_alloc(made->len);
	CHECK_UINT((uint64_t)pread(made->fd, made->bytes, made->len, 0), made->len);
}

void trace_maker_locate(struct trace_maker *made)
{
	const struct trace_block_info *info;
	struct event_source *source;
	size_t count;

	CHECK_OK(trace_reader_open_memory(made->bytes, made->len, &source));
	info = trace_reader_blocks(source, &count);
	for (size_t i = 0; i < count; i++) {
		struct trace_place place = {
			.offset = info[i].offset + info[i].len - info[i].packed_len,
			.packed_len = (size_t)info[i].packed_len,
			.len = (size_t)info[i].content_len,
		};

		if (strcmp(info[i].kind, "events") == 0)
			vec_push(&made->places, place);
	}
	event_source_close(source);
}

void trace_maker_deinit(struct trace_maker *made)
{
	trace_writer_free(made->writer);
	close(made->fd);
	arena_deinit(&made->rec.arena);
	maker_deinit(&made->maker);
	vec_deinit(&made->events);
	vec_deinit(&made->places);
	free(made->bytes);
}

void trace_maker_small(struct trace_maker *made)
{
	trace_maker_begin(made, 7);
	trace_maker_add(made, 12);
	trace_maker_flush(made);
	trace_maker_add(made, 12);
	trace_maker_attach(made);
	trace_maker_read(made);
}

size_t trace_maker_drain(const struct trace_maker *made, struct event_source *source)
{
	struct event ev;
	size_t next = 0, count = 0;

	while (event_source_next(source, &ev)) {
		while (next < made->events.len && made->events.items[next].time_ns != ev.time_ns)
			next++;
		CHECK(next < made->events.len);
		check_event(&ev, &made->events.items[next++]);
		count++;
	}
	CHECK_OK(event_source_finish(source));
	return count;
}

void trace_maker_block(struct writer *file, struct trace_block block,
		       const struct writer *content)
{
	struct zframe_encoder *z = zframe_encoder_new(3, 0);
	struct writer packed = { 0 };

	CHECK_OK(zframe_encode(z, content->data, content->len, &packed));
	block.content_len = content->len;
	block.packed_len = packed.len;
	trace_block_put(file, &block);
	writer_bytes(file, packed.data, packed.len);
	writer_deinit(&packed);
	zframe_encoder_free(z);
}
