/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_reader.c - what trace_writer wrote, trace_reader gives back; and what it makes of
 * damage.
 */
#include "formats/trace/trace_reader.h"

#include "formats/base/memory.h"
#include "formats/trace/trace_field.h"
#include "formats/trace/trace_recording.h"
#include "tests/unit/event_check.h"
#include "tests/unit/test.h"
#include "tests/unit/trace_maker.h"

#include <fcntl.h>
#include <unistd.h>

TEST(trace_reader_gives_back_all_that_was_written)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct trace_maker made;
		struct event_source *source;
		struct event ev;

		trace_maker_begin(&made, seed);
		for (int i = 0; i < 4; i++) {
			trace_maker_add(&made, seed * 20);
			trace_maker_flush(&made);
		}
		trace_maker_attach(&made);
		trace_maker_read(&made);
		CHECK_OK(trace_reader_open_memory(made.bytes, made.len, &source));
		check_recording(event_source_recording(source), &made.rec);
		for (size_t i = 0; i < made.events.len; i++) {
			CHECK(event_source_next(source, &ev));
			check_event(&ev, &made.events.items[i]);
		}
		CHECK(!event_source_next(source, &ev));
		CHECK_OK(event_source_finish(source));
		event_source_close(source);
		trace_maker_deinit(&made);
	}
}

/* All 33 registers, and a stack pointer with another number than on x86-64. */
TEST(trace_reader_gives_back_samples_of_aarch64)
{
	struct event_regs regs = { .mask = (1ull << 33) - 1 };
	uint32_t slots[] = { 0, 1, 2 };
	uint64_t words[] = { 0xaaaac0de0000, 0xfffff0000010, 0x12aaaac0de0000 };
	struct event ev = { .kind = EVENT_SAMPLE, .time_ns = 5, .sample.regs = &regs };
	struct event_source *source;
	struct event got;
	struct trace_maker made;

	trace_maker_begin(&made, 1);
	trace_writer_free(made.writer);
	CHECK(ftruncate(made.fd, 0) == 0 && lseek(made.fd, 0, SEEK_SET) == 0);
	made.rec.arch = &arch_aarch64;
	made.writer = trace_writer_new(made.fd);
	CHECK_OK(trace_writer_begin(made.writer, &made.rec));
	for (unsigned i = 0; i < 33; i++)
		regs.values[i] = 0xfffff0000000 + i;
	regs.values[arch_aarch64.sp] = 0xfffff0000000;
	ev.sample.stack = (struct event_stack){
		.base = 0xfffff0000000, .end = 0xfffff0000018, .nwords = 3, .slots = slots, .words = words
	};
	vec_push(&made.events, ev);
	CHECK_OK(trace_writer_event(made.writer, &ev));
	trace_maker_attach(&made);
	trace_maker_read(&made);
	CHECK_OK(trace_reader_open_memory(made.bytes, made.len, &source));
	check_recording(event_source_recording(source), &made.rec);
	CHECK(event_source_next(source, &got));
	check_event(&got, &ev);
	event_source_close(source);
	trace_maker_deinit(&made);
}

TEST(trace_reader_reads_a_cut_file_as_far_as_it_goes)
{
	struct trace_maker made;
	size_t seen = 0;

	trace_maker_small(&made);
	for (size_t len = 0; len < made.len; len++) {
		struct event_source *source = NULL;
		struct err *err = trace_reader_open_memory(guarded(made.bytes, len), len, &source);
		const struct recording *rec;

		if (err) {
			CHECK(err_kind(err) == ERR_CORRUPT && !source);
			CHECK_UINT(seen, 0); /* only as long as the header is not whole */
			err_free(err);
			continue;
		}
		rec = event_source_recording(source);
		size_t count = trace_maker_drain(&made, source);

		CHECK(count >= seen);
		CHECK(rec->complete || count <= made.events.len);
		CHECK(rec->complete || !rec->ncounts);
		seen = count;
		event_source_close(source);
	}
	CHECK_UINT(seen, made.events.len);
	trace_maker_deinit(&made);
}

static void check_flipped(struct trace_maker *made, size_t at, uint8_t bits)
{
	struct event_source *source;
	const struct recording *rec;
	struct err *err;

	made->bytes[at] = (char)(made->bytes[at] ^ bits);
	err = trace_reader_open_memory(made->bytes, made->len, &source);
	made->bytes[at] = (char)(made->bytes[at] ^ bits);
	if (err) {
		CHECK(err_kind(err) == ERR_CORRUPT);
		err_free(err);
		return;
	}
	/* Reading goes on in the flipped file: what was noticed at opening is not enough. */
	made->bytes[at] = (char)(made->bytes[at] ^ bits);
	size_t count = trace_maker_drain(made, source);

	made->bytes[at] = (char)(made->bytes[at] ^ bits);
	rec = event_source_recording(source);
	if (!rec->damaged_at) { /* zstd has bits without a meaning */
		CHECK_UINT(count, made->events.len);
		check_recording(rec, &made->rec);
	}
	event_source_close(source);
}

TEST(trace_reader_notices_every_wrong_byte)
{
	struct trace_maker made;

	trace_maker_small(&made);
	for (size_t at = 0; at < made.len; at++) {
		check_flipped(&made, at, (uint8_t)(1u << at % 8));
		check_flipped(&made, at, 0xff);
	}
	trace_maker_deinit(&made);
}

TEST(trace_reader_loses_no_more_than_the_damaged_block)
{
	struct event_source *source;
	const struct trace_block_info *blocks;
	struct trace_maker made;
	size_t nblocks;

	trace_maker_begin(&made, 3);
	for (int i = 0; i < 3; i++) {
		trace_maker_add(&made, 10);
		trace_maker_flush(&made);
	}
	trace_maker_attach(&made);
	trace_maker_read(&made);
	CHECK_OK(trace_reader_open_memory(made.bytes, made.len, &source));
	blocks = trace_reader_blocks(source, &nblocks);
	CHECK_UINT(nblocks, 11); /* header, events, images, lines, ksyms, kernel code, JIT map, end, index */
	CHECK_STR(blocks[2].kind, "events");

	/* Once in its content, once in its head. */
	size_t places[] = { blocks[2].offset + blocks[2].len - 1, blocks[2].offset + 20 };
	uint64_t damaged_at = blocks[2].offset;

	event_source_close(source);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		made.bytes[places[i]] ^= 1;
		CHECK_OK(trace_reader_open_memory(made.bytes, made.len, &source));
		CHECK_UINT(trace_maker_drain(&made, source), 20);
		CHECK_UINT(event_source_recording(source)->damaged_at, damaged_at);
		CHECK(event_source_recording(source)->complete);
		CHECK_UINT(event_source_recording(source)->nksyms, made.rec.nksyms);
		event_source_close(source);
		made.bytes[places[i]] ^= 1;
	}

	/* A later block's head is found damaged earlier, but the first damage in the file counts. */
	made.bytes[places[0]] ^= 1;
	made.bytes[made.len - 40] ^= 1;
	CHECK_OK(trace_reader_open_memory(made.bytes, made.len - 30, &source));
	CHECK_UINT(trace_maker_drain(&made, source), 20);
	CHECK_UINT(event_source_recording(source)->damaged_at, damaged_at);
	event_source_close(source);
	trace_maker_deinit(&made);
}

/* Events whose times are @times, with a new block before each 0. */
static struct event_source *open_times(struct trace_maker *made, const uint64_t *times, size_t count)
{
	struct event_source *source;

	trace_maker_begin(made, 1);
	for (size_t i = 0; i < count; i++) {
		struct event ev = { .kind = EVENT_EXIT, .time_ns = times[i], .pid = (uint32_t)i };

		if (times[i])
			CHECK_OK(trace_writer_event(made->writer, &ev));
		else
			CHECK_OK(trace_writer_round(made->writer, 0, 0));
	}
	CHECK_OK(trace_writer_end(made->writer, &made->rec));
	trace_maker_read(made);
	CHECK_OK(trace_reader_open_memory(made->bytes, made->len, &source));
	return source;
}

TEST(trace_reader_sorts_by_time_and_then_by_place)
{
	static const uint64_t times[] = { 30, 10, 20, 20, 0, 5, 20, 40, 0, 50, 45, 0, 35, 60, 1 };
	static const uint64_t sorted[] = { 1, 5, 10, 20, 20, 20, 30, 35, 40, 45, 50, 60 };
	struct trace_maker made;
	struct event_source *source = open_times(&made, times, ARRAY_LEN(times));
	struct event ev;
	uint32_t last_pid = 0;

	for (size_t i = 0; i < ARRAY_LEN(sorted); i++) {
		CHECK(event_source_next(source, &ev));
		CHECK_UINT(ev.time_ns, sorted[i]);
		CHECK(!i || sorted[i - 1] != sorted[i] || ev.pid > last_pid);
		last_pid = ev.pid;
	}
	CHECK(!event_source_next(source, &ev));
	CHECK_UINT(event_source_recording(source)->late_events, 0);
	event_source_close(source);
	trace_maker_deinit(&made);
}

/* Every block overlaps with every other: more than a reader keeps open. */
TEST(trace_reader_gives_up_order_before_it_gives_up_memory)
{
	CLEANUP(memory_freep) uint64_t *times = memory_zeroed(600, sizeof(*times));
	struct event_source *source;
	struct trace_maker made;
	struct event ev;
	size_t count = 0;

	for (size_t i = 0; i < 200; i++) {
		times[3 * i] = 1000 - i;
		times[3 * i + 1] = 2000 + i;
	}
	source = open_times(&made, times, 600);
	while (event_source_next(source, &ev))
		count++;
	CHECK_UINT(count, 400);
	CHECK(event_source_recording(source)->late_events > 0);
	event_source_close(source);
	trace_maker_deinit(&made);
}

TEST(trace_reader_skips_what_a_newer_minor_version_adds)
{
	struct trace_block block = { .major = TRACE_MAJOR, .minor = 200, .kind = TRACE_HEADER };
	struct writer content = { 0 }, file = { 0 };
	struct event_source *source;
	struct recording rec;
	size_t nblocks;

	maker_recording(&rec);
	trace_header_put(&content, &rec, 1);
	trace_field_put_bytes(&content, 1000, "something new", 13);
	trace_maker_block(&file, block, &content);
	block.kind = 77;
	block.sequence++;
	trace_maker_block(&file, block, &content);
	block.kind = TRACE_END;
	block.sequence++;
	writer_reset(&content);
	trace_end_put(&content, &rec);
	trace_field_put_uint(&content, 1001, 12345);
	trace_maker_block(&file, block, &content);

	CHECK_OK(trace_reader_open_memory(file.data, file.len, &source));
	CHECK_STR(trace_reader_blocks(source, &nblocks)[1].kind, "unknown");
	CHECK_UINT(nblocks, 3);
	rec.nimages = rec.nlines = rec.nksyms = rec.njit_maps = 0;
	rec.kernel_code = (struct recording_kernel_code){ 0 };
	check_recording(event_source_recording(source), &rec);
	event_source_close(source);
	arena_deinit(&rec.arena);
	writer_deinit(&content);
	writer_deinit(&file);
}

TEST(trace_reader_refuses_another_major_version)
{
	struct trace_block block = { .major = TRACE_MAJOR + 1, .kind = TRACE_HEADER };
	struct writer content = { 0 }, file = { 0 };
	struct event_source *source;

	trace_maker_block(&file, block, &content);
	CHECK_ERR(trace_reader_open_memory(file.data, file.len, &source), ERR_UNSUPPORTED,
		  "trace format 2.0");
	writer_deinit(&file);
}

TEST(trace_reader_says_what_is_not_a_trace)
{
	static const char perf[104] = "PERFILE2";
	static const char elf[104] = "\177ELF";
	struct event_source *source;

	CHECK_ERR(trace_reader_open_memory("", 0, &source), ERR_CORRUPT, "empty");
	CHECK_ERR(trace_reader_open_memory(perf, sizeof(perf), &source), ERR_UNSUPPORTED,
		  "perf.data");
	CHECK_ERR(trace_reader_open_memory(elf, sizeof(elf), &source), ERR_CORRUPT, "not a trace");
	CHECK_ERR(trace_reader_open_memory(elf, 3, &source), ERR_CORRUPT, "not a trace");
	CHECK_ERR(trace_reader_open("/", &source), ERR_SYSTEM, "directory");
	CHECK_ERR(trace_reader_open("/nonexistent", &source), ERR_SYSTEM, "'/nonexistent'");
}

TEST(trace_reader_reads_from_files_and_from_pipes)
{
	struct event_source *source;
	struct trace_maker made;
	char path[32];
	int pipe_fds[2];

	trace_maker_small(&made);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made.fd);
	CHECK_OK(trace_reader_open(path, &source));
	CHECK_UINT(trace_maker_drain(&made, source), made.events.len);
	event_source_close(source);

	CHECK(pipe2(pipe_fds, O_CLOEXEC) == 0);
	CHECK_UINT((uint64_t)write(pipe_fds[1], made.bytes, made.len), made.len);
	close(pipe_fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe_fds[0]);
	CHECK_OK(trace_reader_open(path, &source));
	close(pipe_fds[0]);
	CHECK_UINT(trace_maker_drain(&made, source), made.events.len);
	event_source_close(source);
	trace_maker_deinit(&made);
}

/* The file shrinks while it is open: no SIGBUS, but damage. */
TEST(trace_reader_survives_a_file_that_shrinks)
{
	struct event_source *source;
	struct trace_maker made;
	struct event ev;
	char path[32];

	trace_maker_small(&made);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made.fd);
	CHECK_OK(trace_reader_open(path, &source));
	CHECK(ftruncate(made.fd, (off_t)made.len / 4) == 0);
	while (event_source_next(source, &ev))
		;
	CHECK_OK(event_source_finish(source));
	CHECK(event_source_recording(source)->damaged_at > 0);
	event_source_close(source);
	trace_maker_deinit(&made);
}
