/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_maker.c - bytes in the order of perf.data-file-format.txt.
 */
#include "tests/unit/perf_data_maker.h"

#include <string.h>

#define HEAD_LEN 104
#define ATTR_LEN PERF_ATTR_SIZE_VER5
#define PIPE_LEN 16
#define FLAG_SAMPLE_ID_ALL (1ULL << 18)

static void patch64(struct perf_data_maker *m, size_t offset, uint64_t value)
{
	memcpy(m->w.data + offset, &value, sizeof(value));
}

static void put_attr(struct writer *w, const struct perf_data_attr_made *attr)
{
	size_t start = w->len;

	writer_u32(w, attr->type);
	writer_u32(w, ATTR_LEN);
	writer_u64(w, attr->config);
	writer_u64(w, attr->period);
	writer_u64(w, attr->sample_type ? attr->sample_type : PERF_DATA_SAMPLE_TYPE);
	writer_u64(w, attr->read_format);
	writer_u64(w, attr->flags | FLAG_SAMPLE_ID_ALL);
	while (w->len < start + 72)
		writer_u8(w, 0);
	writer_u64(w, attr->branch_type);
	writer_u64(w, attr->regs_user);
	writer_u32(w, attr->stack_len);
	while (w->len < start + ATTR_LEN)
		writer_u8(w, 0);
}

static void put_ids(struct writer *w, size_t event)
{
	writer_u64(w, 100 * (event + 1));
	writer_u64(w, 100 * (event + 1) + 1);
}

void perf_data_begin(struct perf_data_maker *m, const struct perf_data_attr_made *attrs, size_t count)
{
	writer_bytes(&m->w, "PERFILE2", 8);
	writer_u64(&m->w, HEAD_LEN);
	writer_u64(&m->w, ATTR_LEN + 16);
	while (m->w.len < HEAD_LEN)
		writer_u8(&m->w, 0);
	for (size_t i = 0; i < count; i++)
		put_ids(&m->w, i);
	patch64(m, 24, m->w.len);
	patch64(m, 32, count * (ATTR_LEN + 16));
	for (size_t i = 0; i < count; i++) {
		put_attr(&m->w, &attrs[i]);
		writer_u64(&m->w, HEAD_LEN + 16 * i);
		writer_u64(&m->w, 16);
	}
	m->nevents = count;
	m->data = m->w.len;
	patch64(m, 40, m->data);
}

void perf_data_begin_pipe(struct perf_data_maker *m, const struct perf_data_attr_made *attrs,
			  size_t count)
{
	writer_bytes(&m->w, "PERFILE2", 8);
	writer_u64(&m->w, PIPE_LEN);
	for (size_t i = 0; i < count; i++) {
		perf_data_open_record(m, 64, 0);
		put_attr(&m->w, &attrs[i]);
		put_ids(&m->w, i);
		perf_data_close_record(m);
	}
}

void perf_data_open_record(struct perf_data_maker *m, uint32_t type, uint16_t misc)
{
	m->record = m->w.len;
	writer_u32(&m->w, type);
	writer_u16(&m->w, misc);
	writer_u16(&m->w, 0);
}

void perf_data_close_record(struct perf_data_maker *m)
{
	uint16_t len;

	while ((m->w.len - m->record) % 8)
		writer_u8(&m->w, 0);
	len = (uint16_t)(m->w.len - m->record);
	memcpy(m->w.data + m->record + 6, &len, sizeof(len));
}

static void put_padded(struct writer *w, const char *text)
{
	size_t start = w->len;

	writer_string(w, text);
	while ((w->len - start) % 8)
		writer_u8(w, 0);
}

void perf_data_trailer(struct perf_data_maker *m, uint64_t id, uint64_t time_ns)
{
	writer_u32(&m->w, 10);
	writer_u32(&m->w, 11);
	writer_u64(&m->w, time_ns);
	writer_u64(&m->w, 1);
	writer_u64(&m->w, id);
}

void perf_data_sample(struct perf_data_maker *m, uint64_t id, uint64_t time_ns, uint64_t ip)
{
	perf_data_open_record(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	writer_u64(&m->w, id);
	writer_u64(&m->w, ip);
	writer_u32(&m->w, 10);
	writer_u32(&m->w, 11);
	writer_u64(&m->w, time_ns);
	writer_u64(&m->w, 1);
	writer_u64(&m->w, 7);
	perf_data_close_record(m);
}

void perf_data_comm(struct perf_data_maker *m, uint64_t time_ns, const char *name)
{
	perf_data_open_record(m, PERF_RECORD_COMM, 0);
	writer_u32(&m->w, 10);
	writer_u32(&m->w, 11);
	put_padded(&m->w, name);
	perf_data_trailer(m, 100, time_ns);
	perf_data_close_record(m);
}

void perf_data_mmap(struct perf_data_maker *m, int32_t pid, uint64_t start, uint64_t len,
		    uint64_t offset, const char *path)
{
	perf_data_open_record(m, PERF_RECORD_MMAP,
			      pid < 0 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	writer_u32(&m->w, (uint32_t)pid);
	writer_u32(&m->w, (uint32_t)pid);
	writer_u64(&m->w, start);
	writer_u64(&m->w, len);
	writer_u64(&m->w, offset);
	put_padded(&m->w, path);
	perf_data_trailer(m, 0, 0);
	perf_data_close_record(m);
}

void perf_data_round(struct perf_data_maker *m)
{
	perf_data_open_record(m, 68, 0);
	perf_data_close_record(m);
}

void perf_data_text(struct writer *w, const char *text)
{
	writer_u32(w, 64);
	for (size_t i = 0; i < 64; i++)
		writer_u8(w, i < strlen(text) ? (uint8_t)text[i] : 0);
}

static void close_section(struct perf_data_maker *m)
{
	if (m->nsections)
		m->sections[m->nsections - 1].len =
			m->features.len - m->sections[m->nsections - 1].offset;
}

void perf_data_feature(struct perf_data_maker *m, unsigned number)
{
	close_section(m);
	m->sections[m->nsections].number = number;
	m->sections[m->nsections++].offset = m->features.len;
}

void perf_data_end(struct perf_data_maker *m)
{
	size_t end = m->w.len, contents = end + 16 * m->nsections;

	close_section(m);
	patch64(m, 48, end - m->data);
	for (size_t i = 0; i < m->nsections; i++) {
		m->w.data[72 + m->sections[i].number / 8] |= (uint8_t)(1 << m->sections[i].number % 8);
		writer_u64(&m->w, contents + m->sections[i].offset);
		writer_u64(&m->w, m->sections[i].len);
	}
	writer_bytes(&m->w, m->features.data, m->features.len);
}

void perf_data_maker_deinit(struct perf_data_maker *m)
{
	writer_deinit(&m->w);
	writer_deinit(&m->features);
}
