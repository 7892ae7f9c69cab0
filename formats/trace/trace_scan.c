/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/trace_scan.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"

#include <inttypes.h>
#include <string.h>

#define SCAN_LEN (64u << 10)

struct err *trace_scan_head(const struct trace_file *file, uint64_t offset, struct trace_found *ret)
{
	struct trace_found block = { .offset = offset };
	uint8_t bytes[8 + TRACE_HEAD_LEN_MAX];
	struct reader r;
	size_t got;
	struct err *err = trace_file_read(file, offset, bytes, sizeof(bytes), &got);

	if (err)
		return err;
	reader_init(&r, bytes, got, /* big_endian= */ false);
	r.offset = offset;
	err = trace_block_parse(&r, &block.head);
	if (err)
		return err;
	if (block.head.packed_len > file->len - offset - block.head.head_len)
		return err_new(ERR_CORRUPT, "block cut off at offset %" PRIu64, offset);
	*ret = block;
	return NULL;
}

static bool is_block(const struct trace_file *file, uint64_t offset)
{
	struct trace_found block;
	struct err *err = trace_scan_head(file, offset, &block);

	err_free(err);
	return !err;
}

uint64_t trace_scan_next(const struct trace_file *file, uint64_t offset)
{
	CLEANUP(memory_freep) uint8_t *bytes = memory_alloc(SCAN_LEN);
	size_t got;

	for (; offset < file->len; offset += SCAN_LEN - TRACE_MARK_LEN - 7) {
		const uint8_t *mark = bytes;
		struct err *err = trace_file_read(file, offset, bytes, SCAN_LEN, &got);

		err_free(err);
		if (err)
			break;
		while ((mark = memmem(mark, got - (size_t)(mark - bytes), TRACE_MARK,
				      TRACE_MARK_LEN))) {
			uint64_t place = offset + (uint64_t)(mark - bytes) - 8;

			if (mark - bytes >= 8 && is_block(file, place))
				return place;
			mark++;
		}
	}
	return file->len;
}

struct err *trace_scan_explain(const struct trace_file *file, struct err *err)
{
	uint8_t magic[8] = { 0 };
	size_t got = 0;

	if (err_kind(err) != ERR_CORRUPT)
		return err;
	if (file->len == 0) {
		err_free(err);
		return err_new(ERR_CORRUPT, "the file is empty");
	}
	struct err *failed = trace_file_read(file, 0, magic, sizeof(magic), &got);

	err_free(failed);
	if (memcmp(magic, "PERFILE2", 8) == 0 || memcmp(magic, "2ELIFREP", 8) == 0) {
		err_free(err);
		err = err_new(ERR_UNSUPPORTED, "this is a perf.data file, not a trace of precord");
		return err_remedy(err, "reports read it with -i; what rewrites traces needs one that "
				       "precord recorded");
	}
	return err_wrap(err, "not a trace of precord");
}
