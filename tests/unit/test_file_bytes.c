/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/file_bytes.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* A file that begins with @text and is @len bytes long. */
static const char *file_with(const char *text, size_t len)
{
	const char *path = test_path("bytes");
	FILE *file = fopen(path, "w");

	fputs(text, file);
	fclose(file);
	CHECK_INT(truncate(path, (off_t)len), 0);
	return path;
}

TEST(file_bytes_are_all_bytes_up_to_the_limit)
{
	CLEANUP(writer_deinit) struct writer out = { 0 };
	const char *path = file_with("begin", MIB);

	writer_u8(&out, 'x');
	CHECK_OK(file_bytes_read(path, MIB, &out));
	CHECK_UINT(out.len, 1 + MIB);
	CHECK_MEM(out.data, "xbegin", 7);
	CHECK_OK(file_bytes_read_regular(path, MIB, &out));
	CHECK_UINT(out.len, 1 + 2 * MIB);
}

TEST(file_bytes_refuse_what_is_longer)
{
	CLEANUP(writer_deinit) struct writer out = { 0 };
	const char *path = file_with("", MIB + 1);

	CHECK_ERR(file_bytes_read(path, MIB, &out), ERR_UNSUPPORTED, "bytes' is longer than 1 MiB");
	writer_reset(&out);
	CHECK_ERR(file_bytes_read_regular(path, MIB, &out), ERR_UNSUPPORTED, "longer than 1 MiB");
	CHECK_UINT(out.len, 0); /* its length says it */
}

TEST(file_bytes_of_a_path_that_a_recording_names_are_those_of_a_regular_file)
{
	CLEANUP(writer_deinit) struct writer out = { 0 };
	const char *fifo = test_path("fifo");

	CHECK_INT(mkfifo(fifo, 0600), 0);
	CHECK_ERR(file_bytes_read_regular(fifo, MIB, &out), ERR_UNSUPPORTED, "not a regular file");
	CHECK_ERR(file_bytes_read_regular("/", MIB, &out), ERR_UNSUPPORTED, "not a regular file");
	CHECK_ERR(file_bytes_read("/", MIB, &out), ERR_SYSTEM, "cannot read '/'");
	CHECK_ERR(file_bytes_read("/no/such/file", MIB, &out), ERR_SYSTEM, "cannot open");
	unlink(fifo);
}
