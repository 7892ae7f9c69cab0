/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_head.c - sections are read whole, each when it is needed, and only if the file has all of it.
 */
#include "formats/perf/perf_data_head.h"

#include "formats/base/memory.h"
#include "formats/base/writer.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC_LEN     8
#define HEAD_LEN      104
#define PIPE_HEAD_LEN 16
#define ID_SECTION_LEN 16 /* behind each attribute: offset and length of its ids */
#define SECTION_MAX   (64u << 20)

static const char magic[] = "PERFILE2", swapped[] = "2ELIFREP", old_magic[] = "PERFFILE"; /* without the zero */

/* The @len bytes at @offset to @ret, emptied first. */
static struct err *read_section(const struct trace_file *file, uint64_t offset, uint64_t len,
				struct writer *ret)
{
	size_t got;

	if (offset > file->len || len > file->len - offset)
		return err_new(ERR_CORRUPT,
			       "%" PRIu64 " bytes at offset %" PRIu64 " extend beyond the end of the file",
			       len, offset);
	if (len > SECTION_MAX)
		return err_new(ERR_CORRUPT, "%" PRIu64 " bytes at offset %" PRIu64 " are too many",
			       len, offset);
	writer_reset(ret);
	writer_reserve(ret, (size_t)len);
	struct err *err = trace_file_read(file, offset, ret->data, (size_t)len, &got);

	if (!err && got < len)
		err = err_new(ERR_CORRUPT, "the file ends at offset %" PRIu64, offset + got);
	ret->len = err ? 0 : (size_t)len;
	return err;
}

static struct reader section_reader(const struct writer *bytes, uint64_t offset)
{
	struct reader r;

	reader_init(&r, bytes->data, bytes->len, /* big_endian= */ false);
	r.offset = offset;
	return r;
}

static bool begins_with(const struct trace_file *file, const char *text)
{
	char start[MAGIC_LEN];
	size_t len = 0;
	struct err *err = trace_file_read(file, 0, start, sizeof(start), &len);

	err_free(err);
	return len == sizeof(start) && memcmp(start, text, sizeof(start)) == 0;
}

bool perf_data_head_is(const struct trace_file *file)
{
	return begins_with(file, magic) || begins_with(file, swapped) || begins_with(file, old_magic);
}

static struct err *refuse(const struct trace_file *file)
{
	if (begins_with(file, swapped))
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "this perf.data is of a big-endian machine: byte 0 begins "
					  "a header in the other byte order"),
				  "only x86_64 and aarch64 are known; 'perf report' reads it");
	if (begins_with(file, old_magic))
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "this perf.data is of the format of before 2010"),
				  "'perf report' of that time reads it");
	return NULL;
}

/* How much of the data is there. */
static void find_end(const struct trace_file *file, uint64_t data_len, struct perf_data_head *head)
{
	uint64_t there = file->len - MIN(head->data, file->len);

	head->complete = data_len && data_len <= there;
	head->data_end = head->data + (head->complete ? data_len : there);
	if (!head->complete)
		memset(head->features, 0, sizeof(head->features));
}

static struct err *read_whole(const struct trace_file *file, struct reader *r,
			      struct perf_data_head *head)
{
	head->attr_len = reader_u64(r, "size of attributes");
	head->attrs = reader_u64(r, "attributes");
	head->attrs_len = reader_u64(r, "attributes");
	head->data = reader_u64(r, "data");
	uint64_t data_len = reader_u64(r, "data");

	reader_skip(r, 16, "event types");
	for (size_t i = 0; i < ARRAY_LEN(head->features); i++)
		head->features[i] = reader_u64(r, "features");

	struct err *err = reader_check(r);

	if (err)
		return err;
	head->has_parts = head->features[0] >> PERF_DATA_FEATURE_DIR_FORMAT & 1;
	if (head->data > file->len)
		return err_remedy(err_new(ERR_CORRUPT,
					  "the data is to begin at offset %" PRIu64 " of %" PRIu64,
					  head->data, file->len),
				  "the file is cut; copy it again");
	find_end(file, data_len, head);
	return NULL;
}

struct err *perf_data_head_read(const struct trace_file *file, struct perf_data_head *ret)
{
	CLEANUP(writer_deinit) struct writer bytes = { 0 };
	struct err *err = refuse(file);

	*ret = (struct perf_data_head){ 0 };
	if (!err)
		err = read_section(file, 0, MIN(file->len, HEAD_LEN), &bytes);
	if (err)
		return err;

	struct reader r = section_reader(&bytes, 0);

	reader_skip(&r, MAGIC_LEN, "magic");
	uint64_t len = reader_u64(&r, "size of the header");

	if (!r.failed && len == PIPE_HEAD_LEN) {
		ret->pipe = ret->complete = true;
		ret->data = PIPE_HEAD_LEN;
		ret->data_end = file->len;
		return NULL;
	}
	if (!r.failed && len < HEAD_LEN)
		return err_new(ERR_CORRUPT, "a header of %" PRIu64 " bytes at offset 8", len);
	err = read_whole(file, &r, ret);
	return err ? err_wrap(err, "the header is damaged") : NULL;
}

static struct err *load_attr(const struct perf_data_head *head, const struct trace_file *file,
			     struct reader *r, struct perf_data_attrs *attrs)
{
	CLEANUP(writer_deinit) struct writer ids = { 0 };
	struct reader attr = reader_slice(r, (size_t)head->attr_len - ID_SECTION_LEN, "attributes");
	struct err *err = perf_data_attrs_add(attrs, &attr);

	if (err)
		return err;
	uint64_t offset = reader_u64(r, "ids");
	uint64_t len = reader_u64(r, "ids");

	err = reader_check(r);
	if (!err && len)
		err = read_section(file, offset, len, &ids);
	if (err)
		return err;

	struct reader list = section_reader(&ids, offset);

	perf_data_attrs_add_ids(attrs, &list, (uint32_t)attrs->items.len - 1);
	return NULL;
}

struct err *perf_data_head_load_attrs(const struct perf_data_head *head,
				      const struct trace_file *file, struct perf_data_attrs *attrs)
{
	CLEANUP(writer_deinit) struct writer bytes = { 0 };
	struct err *err = read_section(file, head->attrs, head->attrs_len, &bytes);
	struct reader r = section_reader(&bytes, head->attrs);

	if (!err && (head->attr_len < ID_SECTION_LEN || head->attr_len > head->attrs_len))
		err = err_new(ERR_CORRUPT, "attributes of %" PRIu64 " bytes each at offset %" PRIu64,
			      head->attr_len, head->attrs);
	while (!err && reader_left(&r) >= head->attr_len)
		err = load_attr(head, file, &r, attrs);
	return err ? err_wrap(err, "the table of events is damaged") : NULL;
}

static struct err *load_feature(const struct trace_file *file, const struct perf_data_facts *facts,
				unsigned number, struct reader *table)
{
	CLEANUP(writer_deinit) struct writer bytes = { 0 };
	uint64_t offset = reader_u64(table, "offset of a feature");
	uint64_t len = reader_u64(table, "length of a feature");
	struct err *err = reader_check(table);

	if (err || !perf_data_feature_is_used(number))
		return err;
	err = read_section(file, offset, len, &bytes);
	if (err)
		return err;

	struct reader r = section_reader(&bytes, offset);

	return perf_data_feature_load(facts, number, &r);
}

static bool has_feature(const struct perf_data_head *head, unsigned number)
{
	return head->features[number / 64] >> number % 64 & 1;
}

struct err *perf_data_head_load_features(const struct perf_data_head *head,
					 const struct trace_file *file,
					 const struct perf_data_facts *facts,
					 uint64_t *ret_damaged_at)
{
	CLEANUP(writer_deinit) struct writer bytes = { 0 };
	uint64_t count = 0;

	for (unsigned i = 0; i < PERF_DATA_FEATURES_MAX; i++)
		count += has_feature(head, i);
	struct err *err = count ? read_section(file, head->data_end, 16 * count, &bytes) : NULL;
	struct reader table = section_reader(&bytes, head->data_end);

	for (unsigned i = 0; i < PERF_DATA_FEATURES_MAX && !table.failed; i++) {
		if (!err && has_feature(head, i))
			err = load_feature(file, facts, i, &table);
		if (!err)
			continue;
		if (err_kind(err) != ERR_CORRUPT)
			return err;
		err_free(err);
		err = NULL;
		*ret_damaged_at = table.offset;
	}
	return err;
}
