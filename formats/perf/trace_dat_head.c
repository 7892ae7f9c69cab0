/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_dat_head.c - version 6 is one text after the other, so it is read with more of the file until it fits; version 7 tells
 * where its sections are.
 */
#include "formats/perf/trace_dat_head.h"

#include "formats/base/gzip.h"
#include "formats/base/memory.h"
#include "formats/base/zframe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LEN	    ((size_t)16 << 20) /* of version 6: kallsyms and all formats are 8 MiB */
#define PARTS_MAX	    65536
#define OPTION_SECTIONS_MAX 256 /* each may name the next */

enum option_id {
	OPTION_DONE = 0,
	OPTION_DATE = 1,
	OPTION_BUFFER = 3,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_CPU_COUNT = 8,
	OPTION_VERSION = 9,
	OPTION_TSC = 14,
	OPTION_HEADERS = 16,
	OPTION_FTRACE = 17,
	OPTION_SYSTEMS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_COMMANDS = 21,
	OPTION_LATENCY = 22,
};

#define SECTION_PACKED 1

struct file_part {
	struct writer bytes;
	struct reader r;
};

/* @len bytes at @offset, or what there is of them. */
static struct err *read_part(const struct trace_file *file, uint64_t offset, size_t len, struct file_part *ret)
{
	len = offset < file->len ? (size_t)MIN((uint64_t)len, file->len - offset) : 0;
	writer_reserve(&ret->bytes, len);
	struct err *err = trace_file_read(file, offset, ret->bytes.data, len, &ret->bytes.len);

	reader_init(&ret->r, ret->bytes.data, ret->bytes.len, /* big_endian= */ false);
	ret->r.offset = offset;
	return err;
}

static void file_part_deinit(struct file_part *part)
{
	writer_deinit(&part->bytes);
}

bool trace_dat_head_is(const struct trace_file *file)
{
	uint8_t start[sizeof(TRACING_DATA_MAGIC) - 1];
	size_t len = 0;
	struct err *err = trace_file_read(file, 0, start, sizeof(start), &len);

	err_free(err);
	return len == sizeof(start) && memcmp(start, TRACING_DATA_MAGIC, len) == 0;
}

void trace_dat_head_deinit(struct trace_dat_head *head)
{
	vec_deinit(&head->events);
	vec_deinit(&head->parts);
}

struct err *trace_dat_unpack(enum trace_dat_packing packing, const uint8_t *data, size_t len, size_t unpacked_len,
			     struct writer *out)
{
	size_t before = out->len;
	struct err *err = packing == TRACE_DAT_ZSTD ? zframe_unpack(data, len, unpacked_len, out)
						    : gzip_decode(data, len, unpacked_len, out);

	if (err || out->len - before == unpacked_len)
		return err;
	return err_new(ERR_CORRUPT, "it unpacks to %zu bytes instead of %zu", out->len - before, unpacked_len);
}

/* ---- what both versions have ----------------------------------------------------------------------- */

static void take_event(void *to, const struct tracing_data_format *format)
{
	struct trace_dat_head *head = to;
	struct trace_dat_event event = {
		.id = format->id,
		.name = arena_printf(head->arena, "%s:%s", format->system, format->name),
		.format = arena_strdup(head->arena, format->text),
	};

	vec_push(&head->events, event);
}

static struct trace_dat_text read_text(struct trace_dat_head *head, struct reader *r, uint64_t len, const char *what)
{
	if (len > reader_left(r)) {
		reader_fail(r, what);
		return (struct trace_dat_text){ "", 0 };
	}
	const char *text = reader_bytes(r, (size_t)len, what);

	return (struct trace_dat_text){ text ? arena_memdup(head->arena, text, (size_t)len) : "", text ? (size_t)len : 0 };
}

static void read_kallsyms(struct trace_dat_head *head, struct reader *r)
{
	uint32_t len = reader_u32(r, "length of kallsyms");

	head->kallsyms = read_text(head, r, len, "kallsyms");
}

static void read_commands(struct trace_dat_head *head, struct reader *r)
{
	uint64_t len = reader_u64(r, "length of command names");

	head->commands = read_text(head, r, len, "command names");
}

static const char *read_string(struct trace_dat_head *head, struct reader *r)
{
	const char *text = reader_string(r, "option");

	return text ? arena_strdup(head->arena, text) : "";
}

/* "[local] global counter", of which the one in brackets is used, or "local". */
static const char *read_clock(struct trace_dat_head *head, struct reader *r)
{
	char *text = arena_strdup(head->arena, read_string(head, r)), *open = strchr(text, '[');

	if (open) {
		text = open + 1;
		text[strcspn(text, "]")] = 0;
	}
	return text;
}

/* Microseconds, in C's notation. */
static void read_date(struct trace_dat_head *head, struct reader *r)
{
	long long value = strtoll(read_string(head, r), NULL, 0);

	head->has_wall = !__builtin_mul_overflow((int64_t)value, INT64_C(1000), &head->wall_ns);
}

static void read_tsc(struct trace_dat_head *head, struct reader *r)
{
	head->tsc_mult = reader_u32(r, "multiplier of the clock");
	head->tsc_shift = reader_u32(r, "shift of the clock");
	head->tsc_offset = reader_u64(r, "offset of the clock");
	if (head->tsc_shift > 63)
		reader_fail(r, "shift of the clock");
}

static bool is_page_len(uint32_t len)
{
	return len >= 1024 && len <= 16u << 20 && (len & (len - 1)) == 0;
}

static void add_part(struct trace_dat_head *head, struct reader *r, struct trace_dat_part part)
{
	if (!is_page_len(part.page_len) || head->parts.len >= PARTS_MAX)
		reader_fail(r, "size of a page");
	else if (part.len && !r->failed)
		vec_push(&head->parts, part);
}

static void read_common_option(struct trace_dat_head *head, uint32_t id, struct reader *r)
{
	switch (id) {
	case OPTION_DATE:
		read_date(head, r);
		break;
	case OPTION_CLOCK:
		head->clock = read_clock(head, r);
		break;
	case OPTION_UNAME:
		head->uname = read_string(head, r);
		break;
	case OPTION_CPU_COUNT:
		head->ncpus = reader_u32(r, "number of CPUs");
		break;
	case OPTION_VERSION:
		head->tool = read_string(head, r);
		break;
	case OPTION_TSC:
		read_tsc(head, r);
		break;
	default:
		break;
	}
}

/* ---- version 6 ------------------------------------------------------------------------------------- */

struct instances {
	VEC(uint64_t) offsets; /* of buffers other than the first */
};

static void read_options_6(struct trace_dat_head *head, struct reader *r, struct instances *instances)
{
	for (;;) {
		uint32_t id = reader_u16(r, "option");

		if (!id || r->failed)
			return;
		uint32_t len = reader_u32(r, "length of an option");
		struct reader option = reader_slice(r, len, "option");

		if (id == OPTION_BUFFER)
			vec_push(&instances->offsets, reader_u64(&option, "offset of a buffer"));
		else
			read_common_option(head, id, &option);
	}
}

static void read_parts_6(struct trace_dat_head *head, struct reader *r)
{
	for (uint32_t cpu = 0; cpu < head->ncpus && !r->failed; cpu++) {
		struct trace_dat_part part = { .cpu = cpu, .page_len = head->page_len };

		part.offset = reader_u64(r, "offset of a CPU's pages");
		part.len = reader_u64(r, "length of a CPU's pages");
		add_part(head, r, part);
	}
}

/* "flyrecord\0" and the parts. ERR_UNSUPPORTED: it is a text. */
static struct err *read_buffer_6(struct trace_dat_head *head, struct reader *r, struct instances *instances)
{
	const char *kind = reader_string(r, "kind of data");

	if (kind && strcmp(kind, "options  ") == 0) {
		read_options_6(head, r, instances);
		kind = reader_string(r, "kind of data");
	}
	if (kind && strcmp(kind, "latency  ") == 0)
		return err_new(ERR_UNSUPPORTED, "it holds a latency trace as text, no events");
	if (kind && strcmp(kind, "flyrecord") != 0)
		reader_fail(r, "kind of data");
	if (kind)
		read_parts_6(head, r);
	return reader_check(r);
}

static struct err *read_instances(const struct trace_file *file, struct trace_dat_head *head, struct instances *instances)
{
	struct err *err = NULL;

	for (size_t i = 0; i < instances->offsets.len && !err; i++) {
		CLEANUP(file_part_deinit) struct file_part part = { 0 };

		err = read_part(file, instances->offsets.items[i], 16 + 16 * (size_t)MIN(head->ncpus, PARTS_MAX), &part);
		if (!err)
			err = read_buffer_6(head, &part.r, instances);
	}
	return err;
}

/* Everything behind the start, at @r. */
static struct err *read_texts_6(struct trace_dat_head *head, struct reader *r, struct instances *instances)
{
	const struct tracing_data_taker taker = { head, take_event };

	tracing_data_headers(r, &head->page);
	tracing_data_ftrace(r, &taker);
	tracing_data_systems(r, &taker);
	read_kallsyms(head, r);
	reader_skip(r, reader_u32(r, "length of printk's formats"), "printk's formats");
	read_commands(head, r);
	head->ncpus = reader_u32(r, "number of CPUs");
	struct err *err = reader_check(r);

	return err ? err : read_buffer_6(head, r, instances);
}

static void forget(struct trace_dat_head *head, struct instances *instances)
{
	head->events.len = head->parts.len = instances->offsets.len = 0;
}

/* What failed for want of bytes is tried again with more of them. */
static struct err *read_6(const struct trace_file *file, struct trace_dat_head *head)
{
	struct instances instances = { 0 };
	struct err *err;

	for (size_t len = FIRST_LEN;; len *= 4) {
		CLEANUP(file_part_deinit) struct file_part part = { 0 };
		struct tracing_data_start start;

		err = read_part(file, 0, len, &part);
		if (!err) {
			tracing_data_start(&part.r, &start);
			err = read_texts_6(head, &part.r, &instances);
		}
		if (!err || part.bytes.len < len || len > TRACE_DAT_UNPACKED_MAX)
			break;
		err_free(err);
		forget(head, &instances);
	}
	if (!err)
		err = read_instances(file, head, &instances);
	vec_deinit(&instances.offsets);
	return err;
}

/* ---- version 7 ------------------------------------------------------------------------------------- */

/* The content of the section at @offset, unpacked. */
static struct err *open_section(const struct trace_file *file, const struct trace_dat_head *head, uint64_t offset,
				struct file_part *ret)
{
	CLEANUP(file_part_deinit) struct file_part start = { 0 };
	CLEANUP(writer_deinit) struct writer unpacked = { 0 };
	struct err *err = read_part(file, offset, 16, &start);

	if (err)
		return err;
	reader_skip(&start.r, 2, "kind of a section");
	uint32_t flags = reader_u16(&start.r, "flags of a section");

	reader_skip(&start.r, 4, "name of a section");
	uint64_t len = reader_u64(&start.r, "length of a section");

	if (len > file->len || offset > file->len - len || len > TRACE_DAT_UNPACKED_MAX)
		reader_fail(&start.r, "length of a section");
	err = reader_check(&start.r);
	if (!err)
		err = read_part(file, offset + 16, (size_t)len, ret);
	if (err || !(flags & SECTION_PACKED))
		return err;

	uint32_t packed_len = reader_u32(&ret->r, "packed length"), unpacked_len = reader_u32(&ret->r, "unpacked length");

	if (unpacked_len > TRACE_DAT_UNPACKED_MAX)
		reader_fail(&ret->r, "unpacked length");
	const uint8_t *packed = reader_bytes(&ret->r, packed_len, "packed section");

	err = reader_check(&ret->r);
	if (!err)
		err = trace_dat_unpack(head->packing, packed, packed_len, unpacked_len, &unpacked);
	if (err)
		return err_wrap(err, "in the section at offset %" PRIu64, offset);
	writer_deinit(&ret->bytes);
	ret->bytes = unpacked;
	unpacked = (struct writer){ 0 };
	reader_init(&ret->r, ret->bytes.data, ret->bytes.len, /* big_endian= */ false);
	return NULL;
}

static struct err *read_section(const struct trace_file *file, struct trace_dat_head *head, uint32_t id, struct reader *option)
{
	const struct tracing_data_taker taker = { head, take_event };
	CLEANUP(file_part_deinit) struct file_part part = { 0 };
	uint64_t offset = reader_u64(option, "offset of a section");
	struct err *err = reader_check(option);

	if (!err)
		err = open_section(file, head, offset, &part);
	if (err)
		return err;
	if (id == OPTION_HEADERS)
		tracing_data_headers(&part.r, &head->page);
	else if (id == OPTION_FTRACE)
		tracing_data_ftrace(&part.r, &taker);
	else if (id == OPTION_SYSTEMS)
		tracing_data_systems(&part.r, &taker);
	else if (id == OPTION_KALLSYMS)
		read_kallsyms(head, &part.r);
	else
		read_commands(head, &part.r);
	err = reader_check(&part.r);
	return err ? err_wrap(err, "in the section at offset %" PRIu64, offset) : NULL;
}

/* Is the section of a buffer packed? */
static struct err *look_at_buffer(const struct trace_file *file, uint64_t offset, bool *ret_packed)
{
	CLEANUP(file_part_deinit) struct file_part part = { 0 };
	struct err *err = read_part(file, offset, 16, &part);

	if (err)
		return err;
	reader_skip(&part.r, 2, "kind of a section");
	*ret_packed = reader_u16(&part.r, "flags of a section") & SECTION_PACKED;
	return reader_check(&part.r);
}

static struct err *read_buffer_7(const struct trace_file *file, struct trace_dat_head *head, struct reader *r)
{
	struct trace_dat_part part = { 0 };
	uint64_t offset = reader_u64(r, "offset of a buffer");

	reader_string(r, "name of a buffer");
	const char *clock = read_clock(head, r);
	uint32_t page_len = reader_u32(r, "size of a page"), ncpus = reader_u32(r, "number of CPUs");
	struct err *err = reader_check(r);

	if (!err)
		err = look_at_buffer(file, offset, &part.packed);
	if (err)
		return err;
	if (*clock)
		head->clock = clock;
	for (uint32_t i = 0; i < ncpus && !r->failed; i++) {
		part.page_len = page_len;
		part.cpu = reader_u32(r, "number of a CPU");
		part.offset = reader_u64(r, "offset of a CPU's pages");
		part.len = reader_u64(r, "length of a CPU's pages");
		if (part.packed && part.len && part.len <= UINT64_MAX - 4)
			part.len += 4; /* the number of chunks is not in it */
		add_part(head, r, part);
	}
	return reader_check(r);
}

static struct err *read_option_7(const struct trace_file *file, struct trace_dat_head *head, uint32_t id, struct reader *option)
{
	switch (id) {
	case OPTION_BUFFER:
		return read_buffer_7(file, head, option);
	case OPTION_LATENCY:
		return err_new(ERR_UNSUPPORTED, "it holds a latency trace as text, no events");
	case OPTION_HEADERS:
	case OPTION_FTRACE:
	case OPTION_SYSTEMS:
	case OPTION_KALLSYMS:
	case OPTION_COMMANDS:
		return read_section(file, head, id, option);
	default:
		read_common_option(head, id, option);
		return reader_check(option);
	}
}

/* The options at @offset; *@ret_next is where there are more, or 0. */
static struct err *read_options_7(const struct trace_file *file, struct trace_dat_head *head, uint64_t offset,
				  uint64_t *ret_next)
{
	CLEANUP(file_part_deinit) struct file_part part = { 0 };
	struct err *err = open_section(file, head, offset, &part);

	while (!err) {
		uint32_t id = reader_u16(&part.r, "option"), len = reader_u32(&part.r, "length of an option");
		struct reader option = reader_slice(&part.r, len, "option");

		err = reader_check(&part.r);
		if (!err && id == OPTION_DONE) {
			*ret_next = reader_u64(&option, "offset of more options");
			return reader_check(&option);
		}
		if (!err)
			err = read_option_7(file, head, id, &option);
	}
	return err_wrap(err, "in the options at offset %" PRIu64, offset);
}

static struct err *find_packing(struct trace_dat_head *head, const char *name)
{
	if (strcmp(name, "none") == 0)
		head->packing = TRACE_DAT_PLAIN;
	else if (strcmp(name, "zstd") == 0)
		head->packing = TRACE_DAT_ZSTD;
	else if (strcmp(name, "zlib") == 0)
		head->packing = TRACE_DAT_ZLIB;
	else
		return err_remedy(err_new(ERR_UNSUPPORTED, "it is compressed with '%.32s'", name),
				  "trace-cmd convert --compression none writes it anew");
	return NULL;
}

static struct err *read_7(const struct trace_file *file, struct trace_dat_head *head, struct reader *r)
{
	const char *packing = reader_string(r, "name of the compression");

	reader_string(r, "version of the compression");
	uint64_t offset = reader_u64(r, "offset of the options");
	struct err *err = reader_check(r);

	if (!err)
		err = find_packing(head, packing);
	for (int i = 0; !err && offset; i++) {
		uint64_t next = 0;

		if (i >= OPTION_SECTIONS_MAX)
			return err_new(ERR_CORRUPT, "more than %d sections of options, the last at offset %" PRIu64,
				       OPTION_SECTIONS_MAX, offset);
		err = read_options_7(file, head, offset, &next);
		offset = next;
	}
	return err;
}

/* ---- either ---------------------------------------------------------------------------------------- */

static struct err *read_version(const struct trace_file *file, struct trace_dat_head *head, const char *version, struct reader *r)
{
	if (strcmp(version, "6") == 0)
		return read_6(file, head);
	if (strcmp(version, "7") == 0)
		return read_7(file, head, r);
	return err_remedy(err_new(ERR_UNSUPPORTED, "version '%.16s' of trace.dat is not read", version),
			  "trace-cmd convert --file-version 7 writes it anew");
}

struct err *trace_dat_head_read(const struct trace_file *file, struct trace_dat_head *head)
{
	CLEANUP(file_part_deinit) struct file_part part = { 0 };
	struct tracing_data_start start;
	struct err *err = read_part(file, 0, 4096, &part);

	if (err)
		return err;
	tracing_data_start(&part.r, &start);
	err = reader_check(&part.r);
	if (err)
		return err;
	if (start.big_endian)
		return err_new(ERR_UNSUPPORTED, "it is of a big-endian machine");
	head->clock = head->uname = head->tool = "";
	head->page_len = start.page_len;
	head->page = (struct tracing_data_page){ .data_offset = 16, .long_len = 8 };
	err = read_version(file, head, start.version, &part.r);
	if (!err && !head->parts.len)
		return err_new(ERR_CORRUPT, "it has no events: no CPU has pages");
	return err;
}
