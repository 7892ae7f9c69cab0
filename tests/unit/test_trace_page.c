/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_page.c - the hex dump in precord-trace(5) is what trace_writer writes and
 * trace_reader reads.
 */
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "tests/unit/test.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE "Documentation/man/precord-trace.5"

/* The example of the page: a process gets its name, and one sample is taken of it. */
static const struct event_regs regs = {
	.mask = 1 << 6 | 1 << 7 | 1 << 16, /* rbp, rsp, rip */
	.values = { [6] = 0x7ffd00000020, [7] = 0x7ffd00000008, [16] = 0x401136 },
};
static const uint32_t slots[] = { 1, 3, 4 };
static const uint64_t words[] = { 0x401200, 0x7ffd00000040, 0x401200 };
static const uint64_t kernel_ips[] = { 0xffffffff81000010 };

static const struct event name_event = {
	.kind = EVENT_COMM,
	.time_ns = 1000,
	.cpu = 1,
	.pid = 70,
	.tid = 70,
	.comm = { .comm = "sh", .exec = true },
};
static const struct event sample_event = {
	.kind = EVENT_SAMPLE,
	.time_ns = 1500,
	.cpu = 1,
	.pid = 70,
	.tid = 71,
	.sample = {
		.mode = EVENT_MODE_USER,
		.ip = 0x401136,
		.period = 100,
		.nkernel_ips = 1,
		.kernel_ips = kernel_ips,
		.regs = &regs,
		.stack = { .base = 0x7ffd00000008, .end = 0x7ffd00000040, .nwords = 3,
			   .slots = slots, .words = words, .cut = true },
	},
};

static void write_example(struct trace_writer *w)
{
	struct recording_event event = { .name = "cpu-clock",
					 .unit = "ns",
					 .type = 1,
					 .rate = 100,
					 .samples = true,
					 .format = "" };
	struct recording rec = { .tool = "precord",
				 .cmdline = "",
				 .hostname = "",
				 .os_release = "",
				 .cpu_model = "",
				 .container = "",
				 .arch = &arch_x86_64,
				 .ncpus_online = 2,
				 .chain = RECORDING_CHAIN_DWARF,
				 .events = &event,
				 .nevents = 1,
				 .end_ns = 2000,
				 .exit_status = -1 };
	struct recording_count count = { .event = 0, .cpu = 1, .samples = 1 };

	CHECK_OK(trace_writer_begin(w, &rec));
	CHECK_OK(trace_writer_event(w, &name_event));
	CHECK_OK(trace_writer_event(w, &sample_event));
	rec.counts = &count;
	rec.ncounts = 1;
	CHECK_OK(trace_writer_round(w, 1500, 0));
	CHECK_OK(trace_writer_end(w, &rec));
}

/* Bytes from lines like "00000010  01 00 01 00  words", whose offsets must follow each other. */
static size_t read_dump(FILE *page, uint8_t *ret, size_t max)
{
	char line[512];
	size_t len = 0;

	while (fgets(line, sizeof(line), page)) {
		char *pos = line;
		unsigned long offset = strtoul(line, &pos, 16);

		if (pos != line + 8 || strncmp(pos, "  ", 2) != 0)
			continue;
		CHECK_UINT(offset, len);
		for (pos += 2; isxdigit((unsigned char)pos[0]) && isxdigit((unsigned char)pos[1]);
		     pos += 3) {
			CHECK(len < max);
			ret[len++] = (uint8_t)strtoul(pos, NULL, 16);
			if (pos[2] != ' ' || pos[3] == ' ')
				break;
		}
	}
	return len;
}

TEST(trace_page_shows_what_is_written)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace_writer *writer = trace_writer_new(fd);
	uint8_t shown[2048], written[2048];
	FILE *page = fopen(PAGE, "re");
	ssize_t len;

	CHECK(page != NULL);
	write_example(writer);
	len = pread(fd, written, sizeof(written), 0);
	CHECK(len > 0);
	CHECK_UINT(read_dump(page, shown, sizeof(shown)), (uint64_t)len);
	CHECK_MEM(shown, written, (size_t)len);
	fclose(page);
	trace_writer_free(writer);
	close(fd);
}

TEST(trace_page_shows_what_can_be_read)
{
	uint8_t shown[2048];
	FILE *page = fopen(PAGE, "re");
	struct event_source *source;
	struct event ev;
	size_t len;

	CHECK(page != NULL);
	len = read_dump(page, shown, sizeof(shown));
	fclose(page);
	CHECK_OK(trace_reader_open_memory(shown, len, &source));
	CHECK(event_source_next(source, &ev));
	CHECK_STR(ev.comm.comm, "sh");
	CHECK(event_source_next(source, &ev));
	CHECK_UINT(ev.tid, 71);
	CHECK_MEM(ev.sample.stack.words, words, sizeof(words));
	CHECK(!event_source_next(source, &ev));
	CHECK(event_source_recording(source)->complete);
	event_source_close(source);
}
