/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_program.c - the whole of preport: a trace, intact as a file, whose blocks hold anything, through each command.
 *
 * The input is a byte that chooses the command line (ALL: each of them, one after the other; under a fuzzer, which wants
 * many quick runs, the one that the input's checksum chooses), and then blocks as tests/tools/plain_blocks writes them. They are compressed here and get heads with the right checksums and sequence
 * numbers, so that what is changed arrives at those who decode it.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/base/command.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/zframe.h"
#include "formats/trace/trace_block.h"
#include "report/commands.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALL       0xff
#define WORDS_MAX 12

/* FILE is the trace. None writes anywhere but to standard output, which is /dev/null here. */
#define COMMON "-iFILE", "--no-cache"
static const char *const lines[][WORDS_MAX] = {
	{ COMMON },
	{ COMMON, "--by=leaf" },
	{ COMMON, "--by=total", "--tree" },
	{ COMMON, "--by=caller", "--format=json" },
	{ COMMON, "--by=line,address", "--format=csv" },
	{ COMMON, "--by=module,thread,process" },
	{ COMMON, "--by=program,comm,cpu" },
	{ COMMON, "--by=entry,mine" },
	{ COMMON, "--by=data-symbol,data-source" },
	{ COMMON, "--by=data-type,data-field" },
	{ COMMON, "--by=branch" },
	{ COMMON, "--by=branch=line" },
	{ COMMON, "--by=wait,state", "--event=off-cpu" },
	{ COMMON, "--by=syscall,waker", "--event=off-cpu" },
	{ COMMON, "--by=leaf", "--event=wall" },
	{ COMMON, "--by=leaf", "--time=20%,60%" },
	{ COMMON, "--by=leaf", "--hide=.*a.*", "--focus=.*", "--merge-recursion" },
	{ COMMON, "--by=leaf", "--no-inline", "--no-demangle", "--native" },
	{ COMMON, "--callers-of=*" },
	{ "info", "-iFILE" },
	{ "info", "-iFILE", "--format=json" },
	{ "script", COMMON },
	{ "script", COMMON, "--format=json" },
	{ "processes", COMMON },
	{ "waits", COMMON },
	{ "annotate", COMMON, "*" },
	{ "folded", COMMON },
	{ "flamegraph", COMMON, "--svg", "-o-" },
	{ "flamegraph", COMMON, "-o-" },
	{ "html", COMMON, "-o-" },
	{ "pprof", COMMON, "-o-" },
	{ "export", COMMON, "--to=firefox", "-o-" },
	{ "export", COMMON, "--to=speedscope", "-o-" },
	{ "export", COMMON, "--to=chrome", "-o-" },
	{ "export", COMMON, "--to=callgrind", "-o-" },
	{ "export", COMMON, "--to=perf-script", "-o-" },
	{ "topdown", COMMON },
	{ "diff", "--no-cache", "FILE", "FILE" },
	{ "bundle", "-iFILE", "-o/dev/null" },
	{ "strip", "-iFILE", "--stacks", "--names", "-o/dev/null" },
};

static void put_block(struct writer *file, struct zframe_encoder *z, const struct trace_block *head,
		      const struct reader *content)
{
	struct trace_block block = *head;
	struct writer packed = { 0 };
	struct err *err = zframe_encode(z, content->pos, reader_left(content), &packed);

	CHECK(!err);
	block.content_len = reader_left(content);
	block.packed_len = packed.len;
	trace_block_put(file, &block);
	writer_bytes(file, packed.data, packed.len);
	writer_deinit(&packed);
}

/* Blocks as plain_blocks.c writes them; what is cut short is left out. */
static void put_blocks(struct writer *file, struct reader *r)
{
	struct zframe_encoder *z = zframe_encoder_new(/* level= */ 1, /* window_log= */ 0);
	uint64_t sequence = 0;

	while (reader_left(r)) {
		struct trace_block block = { .major = TRACE_MAJOR, .sequence = sequence++ };

		block.kind = reader_u8(r, "kind");
		block.stream = reader_u8(r, "stream");
		block.first_ns = reader_u64(r, "oldest");
		block.last_ns = reader_u64(r, "newest");
		block.watermark_ns = reader_u64(r, "watermark");

		struct reader content = reader_slice(r, reader_u32(r, "length"), "content");

		if (r->failed)
			break;
		put_block(file, z, &block, &content);
	}
	zframe_encoder_free(z);
}

static void run(const char *const *line, char *path)
{
	static const struct program program = {
		.name = "preport", .version = "fuzzed", .summary = "", .see_also = "", .commands = commands,
	};
	char input[64];
	char *argv[WORDS_MAX + 2] = { (char *)"preport" };
	int argc = 1;

	snprintf(input, sizeof(input), "-i%s", path);
	for (; line[argc - 1]; argc++) {
		const char *word = line[argc - 1];

		argv[argc] = strcmp(word, "-iFILE") == 0 ? input :
			     strcmp(word, "FILE") == 0	 ? path :
							   (char *)(uintptr_t)word;
	}

	int status = program_main(&program, argc, argv, /* failure_status= */ 0);

	CHECK(status >= 0 && status <= 2);
}

/* What is printed is nobody's business, but for a sanitizer's report, which goes to the descriptor itself. */
static void silence(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	CHECK(freopen("/dev/null", "w", stdout));

	FILE *nowhere = fopen("/dev/null", "w");

	CHECK(nowhere);
	stderr = nowhere;
	unsetenv("DEBUGINFOD_URLS");
}

static size_t choose(uint8_t byte, const uint8_t *data, size_t len)
{
#ifdef FUZZ
	if (byte == ALL)
		return trace_block_crc(data, len) % ARRAY_LEN(lines);
#else
	(void)data;
	(void)len;
#endif
	return byte;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct writer file = { 0 };
	struct reader r;
	char path[32];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	silence();
	CHECK(fd >= 0);
	reader_init(&r, data, len, /* big_endian= */ false);

	size_t which = choose(reader_u8(&r, "command line"), data, len);

	put_blocks(&file, &r);
	CHECK(write(fd, file.data, file.len) == (ssize_t)file.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		if (which == ALL || which % ARRAY_LEN(lines) == i)
			run(lines[i], path);
	writer_deinit(&file);
	close(fd);
	return 0;
}
