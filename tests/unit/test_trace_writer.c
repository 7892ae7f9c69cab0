/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_writer.c - when blocks are written, how large they get, and what a full disk does.
 */
#include "formats/trace/trace_writer.h"

#include "formats/base/vec.h"
#include "formats/base/zframe.h"
#include "formats/trace/trace_block.h"
#include "formats/trace/trace_reader.h"
#include "tests/unit/event_check.h"
#include "tests/unit/event_maker.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct target {
	int fd;
	struct recording rec;
	struct event_maker maker;
	struct trace_writer *writer;
};

static void target_init(struct target *target)
{
	*target = (struct target){ .maker.state = 11, .maker.time_ns = 1000 };
	target->fd = memfd_create("trace", MFD_CLOEXEC);
	CHECK(target->fd >= 0);
	maker_recording(&target->rec);
	target->writer = trace_writer_new(target->fd);
	CHECK_OK(trace_writer_begin(target->writer, &target->rec));
}

static void target_deinit(struct target *target)
{
	trace_writer_free(target->writer);
	close(target->fd);
	arena_deinit(&target->rec.arena);
	maker_deinit(&target->maker);
}

static struct event_source *target_open(const struct target *target)
{
	struct event_source *source;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", target->fd);
	CHECK_OK(trace_reader_open(path, &source));
	return source;
}

static uint64_t file_len(const struct target *target)
{
	return (uint64_t)lseek(target->fd, 0, SEEK_END);
}

/* @count events, each on one of @nstreams, as a reader gets them. */
static struct event_source *make_on_streams(struct target *target, size_t nstreams, size_t count)
{
	*target = (struct target){ .maker.state = 5, .maker.time_ns = 1000 };
	target->fd = memfd_create("trace", MFD_CLOEXEC);
	CHECK(target->fd >= 0);
	maker_recording(&target->rec);
	target->writer = trace_writer_new(target->fd);
	trace_writer_set_streams(target->writer, nstreams);
	CHECK_OK(trace_writer_begin(target->writer, &target->rec));
	for (size_t i = 0; i < count; i++) {
		struct event ev;

		maker_any(&target->maker, &ev);
		ev.time_ns = 1000 + i;
		CHECK_OK(trace_writer_add(target->writer, ev.cpu % nstreams, &ev));
		if (i % 1000 == 999)
			CHECK_OK(trace_writer_round(target->writer, i, 3000));
	}
	CHECK_OK(trace_writer_end(target->writer, &target->rec));
	return target_open(target);
}

TEST(trace_writer_gives_the_same_events_on_one_stream_and_on_several)
{
	for (size_t nstreams = 2; nstreams < 8; nstreams += 3) {
		struct target one, several;
		struct event_source *a = make_on_streams(&one, 1, 5000);
		struct event_source *b = make_on_streams(&several, nstreams, 5000);
		struct event x, y;
		size_t count = 0;

		for (; event_source_next(a, &x); count++) {
			CHECK(event_source_next(b, &y));
			check_event(&y, &x);
		}
		CHECK(!event_source_next(b, &y));
		CHECK_UINT(count, 5000);
		event_source_close(a);
		event_source_close(b);
		target_deinit(&one);
		target_deinit(&several);
	}
}

TEST(trace_writer_closes_a_block_when_it_is_old)
{
	struct target target;
	struct event ev = { .kind = EVENT_EXIT, .time_ns = 1000 };
	uint64_t len;

	target_init(&target);
	len = file_len(&target);
	CHECK_OK(trace_writer_round(target.writer, 500, 0)); /* nothing is pending */
	CHECK_OK(trace_writer_event(target.writer, &ev));
	CHECK_OK(trace_writer_round(target.writer, 1999, 1000));
	CHECK_UINT(file_len(&target), len);
	CHECK_OK(trace_writer_round(target.writer, 2000, 1000));
	CHECK(file_len(&target) > len);
	len = file_len(&target);
	CHECK_OK(trace_writer_event(target.writer, &ev));
	CHECK_OK(trace_writer_round(target.writer, 2000, 0)); /* at once */
	CHECK(file_len(&target) > len);

	/* By its newest event, whatever is promised. */
	len = file_len(&target);
	ev.time_ns = 3000;
	CHECK_OK(trace_writer_event(target.writer, &ev));
	ev.time_ns = 4000;
	CHECK_OK(trace_writer_event(target.writer, &ev));
	CHECK_OK(trace_writer_round(target.writer, 2500, 1000));
	CHECK(file_len(&target) > len);
	target_deinit(&target);
}

TEST(trace_writer_closes_a_block_when_it_is_full)
{
	struct target target;
	struct event_source *source;
	const struct trace_block_info *blocks;
	uint8_t raw[50000];
	struct event ev = { .kind = EVENT_SAMPLE,
			    .sample.raw = raw,
			    .sample.raw_len = sizeof(raw) };
	size_t nblocks, nevents = 0;

	target_init(&target);
	for (int i = 0; i < 100; i++) {
		for (size_t k = 0; k < sizeof(raw); k++)
			raw[k] = (uint8_t)maker_random(&target.maker, 256);
		CHECK_OK(trace_writer_event(target.writer, &ev));
	}
	CHECK_OK(trace_writer_end(target.writer, &target.rec));
	source = target_open(&target);
	blocks = trace_reader_blocks(source, &nblocks);
	for (size_t i = 0; i < nblocks; i++)
		CHECK(blocks[i].content_len < (1 << 20) + 2 * sizeof(raw));
	CHECK(nblocks > 5 && nblocks < 12);
	while (event_source_next(source, &ev))
		nevents++;
	CHECK_UINT(nevents, 100);
	event_source_close(source);
	target_deinit(&target);
}

/* A large stack that stays costs next to nothing here, but a reader has to unfold it. */
TEST(trace_writer_closes_a_block_that_would_need_too_much_memory)
{
	static uint32_t slots[8000];
	static uint64_t words[8000];
	struct target target;
	struct event_source *source;
	struct event ev = { .kind = EVENT_SAMPLE };
	size_t nblocks, nevents = 0;

	for (uint32_t i = 0; i < ARRAY_LEN(slots); i++) {
		slots[i] = i;
		words[i] = 0x401000;
	}
	ev.sample.stack = (struct event_stack){ .base = 0x7ff000000000,
						.end = 0x7ff000010000,
						.nwords = 8000,
						.slots = slots,
						.words = words };
	target_init(&target);
	for (int i = 0; i < 1000; i++)
		CHECK_OK(trace_writer_event(target.writer, &ev));
	CHECK_OK(trace_writer_end(target.writer, &target.rec));
	source = target_open(&target);
	trace_reader_blocks(source, &nblocks);
	CHECK(nblocks >= 6 && nblocks <= 9); /* 96 MB in blocks of 24 MiB, and header, end, index */
	while (event_source_next(source, &ev)) {
		CHECK_UINT(ev.sample.stack.nwords, 8000);
		nevents++;
	}
	CHECK_UINT(nevents, 1000);
	event_source_close(source);
	target_deinit(&target);
}

TEST(trace_writer_accounts_for_every_byte)
{
	struct target target;
	const struct trace_sizes *sizes;
	struct event ev;

	target_init(&target);
	for (int i = 0; i < 200; i++) {
		maker_any(&target.maker, &ev);
		CHECK_OK(trace_writer_event(target.writer, &ev));
	}
	CHECK_OK(trace_writer_image(target.writer, &target.rec.images[0]));
	CHECK_OK(trace_writer_ksyms(target.writer, target.rec.ksyms, target.rec.nksyms));
	CHECK_OK(trace_writer_end(target.writer, &target.rec));
	sizes = trace_writer_sizes(target.writer);
	CHECK_UINT(sizes->total, file_len(&target));
	CHECK_UINT(sizes->samples + sizes->stacks + sizes->side_band + sizes->images +
			   sizes->symbols + sizes->other,
		   sizes->total);
	CHECK(sizes->samples && sizes->stacks && sizes->side_band && sizes->images &&
	      sizes->symbols && sizes->other);
	target_deinit(&target);
}

/* The content of the last block of @target: the index. */
static void read_index(const struct target *target, const struct trace_block_info *block,
		       uint8_t *ret)
{
	struct zframe_decoder *z = zframe_decoder_new();
	uint8_t packed[4096];
	size_t len = block->len - TRACE_HEAD_LEN;

	CHECK(len <= sizeof(packed));
	CHECK(pread(target->fd, packed, len, (off_t)(block->offset + TRACE_HEAD_LEN)) ==
	      (ssize_t)len);
	CHECK_OK(zframe_decode(z, packed, len, ret, block->content_len));
	zframe_decoder_free(z);
}

TEST(trace_writer_ends_with_an_index_of_all_blocks)
{
	const struct trace_block_info *blocks;
	struct event_source *source;
	struct target target;
	struct reader r;
	uint8_t index[4096];
	uint64_t offset = 0;
	struct event ev;
	size_t nblocks;

	target_init(&target);
	for (int i = 0; i < 3; i++) {
		maker_any(&target.maker, &ev);
		CHECK_OK(trace_writer_event(target.writer, &ev));
		CHECK_OK(trace_writer_round(target.writer, 0, 0));
	}
	CHECK_OK(trace_writer_end(target.writer, &target.rec));
	source = target_open(&target);
	blocks = trace_reader_blocks(source, &nblocks);
	CHECK_UINT(nblocks, 6);
	CHECK_STR(blocks[5].kind, "index");
	CHECK(blocks[5].content_len < sizeof(index));
	read_index(&target, &blocks[5], index);
	reader_init(&r, index, blocks[5].content_len, /* big_endian= */ false);
	for (size_t i = 0; i < 5; i++) {
		CHECK_STR(trace_block_kind_name(reader_u8(&r, "kind")), blocks[i].kind);
		CHECK_UINT(reader_uleb(&r, "stream"), 0);
		offset += reader_uleb(&r, "distance");
		CHECK_UINT(offset, blocks[i].offset);
		reader_uleb(&r, "oldest");
		reader_uleb(&r, "span");
	}
	CHECK_OK(reader_check(&r));
	CHECK_UINT(reader_left(&r), 0);
	event_source_close(source);
	target_deinit(&target);
}

TEST(trace_writer_says_when_the_disk_is_full)
{
	struct recording rec;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct trace_writer *writer;

	if (fd < 0)
		SKIP("no /dev/full");
	maker_recording(&rec);
	writer = trace_writer_new(fd);
	CHECK_ERR(trace_writer_begin(writer, &rec), ERR_SYSTEM, "No space left");
	trace_writer_free(writer);
	arena_deinit(&rec.arena);
	close(fd);
}

/* A pipe that takes part of a block and then no more: what is whole stays readable. */
TEST(trace_writer_leaves_whole_blocks_when_it_fails)
{
	struct target target;
	struct event_source *source;
	struct event ev = { .kind = EVENT_EXIT, .time_ns = 1, .pid = 5, .tid = 5 };
	char bytes[8192];
	int fds[2];

	target_init(&target);
	trace_writer_free(target.writer);
	CHECK(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	CHECK(fcntl(fds[1], F_SETPIPE_SZ, 4096) == 4096);
	target.writer = trace_writer_new(fds[1]);
	CHECK_OK(trace_writer_begin(target.writer, &target.rec));
	CHECK_OK(trace_writer_event(target.writer, &ev));
	CHECK_OK(trace_writer_round(target.writer, 1, 0));
	for (int i = 0; i < 50; i++) {
		struct event any;

		maker_any(&target.maker, &any);
		CHECK_OK(trace_writer_event(target.writer, &any));
	}
	CHECK_ERR(trace_writer_round(target.writer, 2, 0), ERR_SYSTEM, "temporarily");

	ssize_t len = read(fds[0], bytes, sizeof(bytes));

	CHECK(len > 0);
	CHECK_OK(trace_reader_open_memory(bytes, (size_t)len, &source));
	CHECK(event_source_next(source, &ev));
	CHECK_UINT(ev.pid, 5);
	CHECK(!event_source_next(source, &ev));
	CHECK(!event_source_recording(source)->complete);
	event_source_close(source);
	close(fds[0]);
	close(fds[1]);
	target_deinit(&target);
}
