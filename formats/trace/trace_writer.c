/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_writer.c - gathers events into a block, packs it and writes it out whole.
 *
 * Each block is one write, so the end of a file whose writer was killed is at worst a part of one
 * block.
 */
#include "formats/trace/trace_writer.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/base/zframe.h"
#include "formats/trace/trace_attached.h"
#include "formats/trace/trace_block.h"
#include "formats/trace/trace_encoder.h"
#include "formats/trace/trace_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZSTD_LEVEL 3

/* A block of events is closed when it holds so much, packed or decoded. */
#define CONTENT_GOAL  (1u << 20)
#define EXPANDED_GOAL (24u << 20)

/* A block of images is closed when it holds so much. */
#define IMAGES_GOAL (4u << 20)

struct index_entry {
	uint64_t offset;
	struct trace_block block;
};

/* A block of events that is packed but not written. */
struct kept {
	struct trace_block block;
	size_t start, end; /* in the stream's packed bytes */
	size_t nsamples;
	uint64_t packed_lens[TRACE_COLUMNS];
};

/* Everything that adding an event touches: streams may grow side by side. */
struct stream {
	struct trace_encoder *events;
	struct zframe_encoder *zframe;
	struct writer content, packed;
	VEC(struct kept) kept;
};

struct trace_writer {
	int fd;                 /* -1: there is a sink */
	struct trace_sink sink; /* take is NULL: there is a descriptor */
	struct stream *streams; /* with encoders from trace_writer_begin() on */
	size_t nstreams;
	struct zframe_encoder *zframe;
	struct writer content, packed;
	struct writer images; /* content of a block that is still growing */
	struct trace_sizes sizes;
	uint64_t watermark_ns;
	VEC(struct index_entry) index;
};

struct trace_writer *trace_writer_new(int fd)
{
	struct trace_writer *w = memory_zeroed(1, sizeof(*w));

	w->fd = fd;
	w->zframe = zframe_encoder_new(ZSTD_LEVEL, 0);
	trace_writer_set_streams(w, 1);
	return w;
}

void trace_writer_set_streams(struct trace_writer *w, size_t nstreams)
{
	free(w->streams);
	w->streams = memory_zeroed(nstreams, sizeof(*w->streams));
	w->nstreams = nstreams;
}

static void stream_deinit(struct stream *s)
{
	trace_encoder_free(s->events);
	zframe_encoder_free(s->zframe);
	writer_deinit(&s->content);
	writer_deinit(&s->packed);
	vec_deinit(&s->kept);
}

struct trace_writer *trace_writer_new_to(const struct trace_sink *sink)
{
	struct trace_writer *w = trace_writer_new(-1);

	w->sink = *sink;
	return w;
}

void trace_writer_free(struct trace_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nstreams; i++)
		stream_deinit(&w->streams[i]);
	free(w->streams);
	zframe_encoder_free(w->zframe);
	writer_deinit(&w->content);
	writer_deinit(&w->packed);
	writer_deinit(&w->images);
	vec_deinit(&w->index);
	free(w);
}

static struct err *write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t done = write(fd, data, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_system(errno, "cannot write the trace");
		data += done;
		len -= (size_t)done;
	}
	return NULL;
}

/* Write @block, of which @data holds the head and what is packed behind it. */
static struct err *put_out(struct trace_writer *w, const struct trace_block *block,
			   const uint8_t *data, size_t len)
{
	struct index_entry entry = { .offset = w->sizes.total, .block = *block };
	struct err *err = w->sink.take ? w->sink.take(w->sink.context, block, data, len)
				       : write_all(w->fd, data, len);

	if (err)
		return err;
	vec_push(&w->index, entry);
	w->sizes.total += len;
	return NULL;
}

/* How the content of a block is cut into zstd frames, and what each came to. */
struct cut {
	size_t nframes;
	const size_t *lens;
	uint64_t *packed_lens;
};

static struct err *pack(struct zframe_encoder *zframe, const uint8_t *content,
			const struct cut *cut, struct writer *packed)
{
	for (size_t i = 0; i < cut->nframes; i++) {
		size_t before = packed->len;
		struct err *err = NULL;

		if (cut->lens[i] || cut->nframes == 1)
			err = zframe_encode(zframe, content, cut->lens[i], packed);
		if (err)
			return err;
		cut->packed_lens[i] = packed->len - before;
		content += cut->lens[i];
	}
	return NULL;
}

/* Pack w->content behind the head of @block, write both and remember where. */
static struct err *write_block(struct trace_writer *w, struct trace_block *block,
			       const struct cut *cut)
{
	struct trace_block placeholder = { 0 };
	size_t end;
	struct err *err;

	writer_reset(&w->packed);
	trace_block_put(&w->packed, &placeholder);
	err = pack(w->zframe, w->content.data, cut, &w->packed);
	if (err)
		return err;
	end = w->packed.len;
	block->major = TRACE_MAJOR;
	block->minor = TRACE_MINOR;
	block->sequence = w->index.len;
	block->content_len = w->content.len;
	block->packed_len = end - TRACE_HEAD_LEN;
	writer_reset(&w->packed);
	trace_block_put(&w->packed, block);
	w->packed.len = end;
	return put_out(w, block, w->packed.data, w->packed.len);
}

/* Where the bytes of a block as a whole are accounted for. */
static uint64_t *account_of_kind(struct trace_sizes *sizes, uint8_t kind)
{
	if (kind == TRACE_IMAGE)
		return &sizes->images;
	return kind == TRACE_EVENTS ? &sizes->samples : &sizes->symbols;
}

struct err *trace_writer_block(struct trace_writer *w, const struct trace_block *block,
			       const uint8_t *data, size_t len)
{
	struct trace_block renumbered = *block;

	renumbered.sequence = w->index.len;
	writer_reset(&w->packed);
	trace_block_put(&w->packed, &renumbered);
	writer_bytes(&w->packed, data + TRACE_HEAD_LEN, len - TRACE_HEAD_LEN);
	struct err *err = put_out(w, &renumbered, w->packed.data, w->packed.len);

	if (!err)
		*account_of_kind(&w->sizes, block->kind) += len;
	return err;
}

/* Write w->content as a block of @kind and add what that took to @account. */
static struct err *write_single(struct trace_writer *w, uint8_t kind, uint64_t *account)
{
	struct trace_block block = { .kind = kind };
	uint64_t packed_len = 0;
	struct cut cut = { .nframes = 1, .lens = &w->content.len, .packed_lens = &packed_len };
	struct err *err;

	if (w->content.len > TRACE_CONTENT_MAX)
		return err_new(ERR_UNSUPPORTED, "%zu bytes of '%s' are more than a block may hold",
			       w->content.len, trace_block_kind_name(kind));
	err = write_block(w, &block, &cut);
	if (!err)
		*account += TRACE_HEAD_LEN + packed_len;
	return err;
}

struct err *trace_writer_begin(struct trace_writer *w, const struct recording *rec)
{
	for (size_t i = 0; i < w->nstreams; i++) {
		w->streams[i].events = trace_encoder_new(rec->arch);
		w->streams[i].zframe = zframe_encoder_new(ZSTD_LEVEL, 0);
	}
	writer_reset(&w->content);
	trace_header_put(&w->content, rec, (uint32_t)w->nstreams);
	return write_single(w, TRACE_HEADER, &w->sizes.other);
}

/* Where the bytes of a column are accounted for. */
static uint64_t *account_of(struct trace_sizes *sizes, enum trace_column column)
{
	switch (column) {
	case TRACE_COLUMN_REGS:
	case TRACE_COLUMN_STACK_SHAPES:
	case TRACE_COLUMN_STACK_POINTERS:
	case TRACE_COLUMN_STACK_NUMBERS:
	case TRACE_COLUMN_FRESH: /* nearly all of them stood in stacks */
		return &sizes->stacks;
	case TRACE_COLUMN_SIDE_BAND:
		return &sizes->side_band;
	default:
		return &sizes->samples;
	}
}

/* Pack what stream number @number holds into a block, and keep that. */
static struct err *keep(struct trace_writer *w, size_t number)
{
	struct stream *s = &w->streams[number];
	struct trace_encoder_summary sum = trace_encoder_summary(s->events);
	struct trace_block placeholder = { 0 };
	struct kept kept = {
		.block = {
			.kind = TRACE_EVENTS,
			.stream = (uint32_t)number,
			.first_ns = sum.first_ns,
			.last_ns = sum.last_ns,
			.watermark_ns = w->watermark_ns,
			.major = TRACE_MAJOR,
			.minor = TRACE_MINOR,
		},
		.start = s->packed.len,
		.nsamples = sum.samples,
	};
	size_t lens[TRACE_COLUMNS];
	struct cut cut = { TRACE_COLUMNS, lens, kept.packed_lens };

	if (sum.count == 0)
		return NULL;
	writer_reset(&s->content);
	trace_encoder_finish(s->events, &s->content, lens);
	trace_block_put(&s->packed, &placeholder);
	struct err *err = pack(s->zframe, s->content.data, &cut, &s->packed);

	if (err)
		return err;
	kept.end = s->packed.len;
	kept.block.content_len = s->content.len;
	kept.block.packed_len = kept.end - kept.start - TRACE_HEAD_LEN;
	vec_push(&s->kept, kept);
	return NULL;
}

static struct err *write_kept(struct trace_writer *w, const struct stream *s, struct kept *kept)
{
	uint8_t *data = s->packed.data + kept->start;

	kept->block.sequence = w->index.len;
	writer_reset(&w->packed);
	trace_block_put(&w->packed, &kept->block);
	memcpy(data, w->packed.data, TRACE_HEAD_LEN);
	struct err *err = put_out(w, &kept->block, data, kept->end - kept->start);

	if (err)
		return err;
	for (size_t i = 0; i < TRACE_COLUMNS; i++)
		*account_of(&w->sizes, (enum trace_column)i) += kept->packed_lens[i];
	w->sizes.samples += TRACE_HEAD_LEN;
	w->sizes.nsamples += kept->nsamples;
	return NULL;
}

static struct err *write_all_kept(struct trace_writer *w, struct stream *s)
{
	struct err *err = NULL;

	for (size_t i = 0; i < s->kept.len && !err; i++)
		err = write_kept(w, s, &s->kept.items[i]);
	s->kept.len = 0;
	writer_reset(&s->packed);
	return err;
}

/* Write what is packed; with @all, what is not is packed before. */
static struct err *flush(struct trace_writer *w, bool all)
{
	struct err *err = NULL;

	for (size_t i = 0; i < w->nstreams && !err; i++) {
		err = all ? keep(w, i) : NULL;
		if (!err)
			err = write_all_kept(w, &w->streams[i]);
	}
	return err;
}

struct err *trace_writer_add(struct trace_writer *w, size_t stream, const struct event *ev)
{
	struct trace_encoder *events = w->streams[stream].events;
	struct trace_encoder_summary sum;

	trace_encoder_add(events, ev);
	sum = trace_encoder_summary(events);
	if (sum.content_len < CONTENT_GOAL && sum.expanded_len < EXPANDED_GOAL)
		return NULL;
	return keep(w, stream);
}

struct err *trace_writer_event(struct trace_writer *w, const struct event *ev)
{
	struct err *err = trace_writer_add(w, 0, ev);

	return err ? err : write_all_kept(w, &w->streams[0]);
}

/*
 * By the newest event, since the promise lags behind: what is not written yet dies with the recorder. Streams are
 * flushed together, so that a reader of the file need not hold one back for another.
 */
static bool is_due(const struct trace_writer *w, uint64_t max_age_ns)
{
	bool due = !max_age_ns;

	for (size_t i = 0; i < w->nstreams; i++) {
		const struct stream *s = &w->streams[i];
		struct trace_encoder_summary sum = trace_encoder_summary(s->events);

		due |= sum.count &&
		       MAX(w->watermark_ns, sum.last_ns) >= sum.first_ns + max_age_ns;
	}
	return due;
}

struct err *trace_writer_round(struct trace_writer *w, uint64_t time_ns, uint64_t max_age_ns)
{
	w->watermark_ns = MAX(w->watermark_ns, time_ns);
	return flush(w, is_due(w, max_age_ns));
}

struct err *trace_writer_flush_images(struct trace_writer *w)
{
	struct writer images = w->images;
	struct err *err;

	if (images.len == 0)
		return NULL;
	w->images = w->content;
	w->content = images;
	err = write_single(w, TRACE_IMAGE, &w->sizes.images);
	writer_reset(&w->images);
	return err;
}

/* Images have much in common: several of them in one block take a tenth less. */
struct err *trace_writer_image(struct trace_writer *w, const struct recording_image *image)
{
	if (w->images.len + image->elf_len > IMAGES_GOAL) {
		struct err *err = trace_writer_flush_images(w);

		if (err)
			return err;
	}
	trace_image_put(&w->images, image);
	return NULL;
}

struct err *trace_writer_ksyms(struct trace_writer *w, const struct recording_ksym *ksyms,
			       size_t count)
{
	writer_reset(&w->content);
	trace_ksyms_put(&w->content, ksyms, count);
	return write_single(w, TRACE_KSYMS, &w->sizes.symbols);
}

struct err *trace_writer_jit_map(struct trace_writer *w, const struct recording_jit_map *map)
{
	writer_reset(&w->content);
	trace_jit_map_put(&w->content, map);
	return write_single(w, TRACE_JIT_MAP, &w->sizes.symbols);
}

struct err *trace_writer_kernel_code(struct trace_writer *w, const struct recording_kernel_code *code)
{
	writer_reset(&w->content);
	trace_kernel_code_put(&w->content, code);
	return write_single(w, TRACE_KERNEL_CODE, &w->sizes.images);
}

struct err *trace_writer_lines(struct trace_writer *w, const struct recording_lines *lines)
{
	writer_reset(&w->content);
	trace_lines_put(&w->content, lines);
	return write_single(w, TRACE_LINES, &w->sizes.symbols);
}

static struct err *write_index(struct trace_writer *w)
{
	uint64_t offset = 0;

	writer_reset(&w->content);
	for (size_t i = 0; i < w->index.len; i++) {
		const struct index_entry *entry = &w->index.items[i];

		writer_u8(&w->content, entry->block.kind);
		writer_uleb(&w->content, entry->block.stream);
		writer_uleb(&w->content, entry->offset - offset);
		writer_uleb(&w->content, entry->block.first_ns);
		writer_uleb(&w->content, entry->block.last_ns - entry->block.first_ns);
		offset = entry->offset;
	}
	return write_single(w, TRACE_INDEX, &w->sizes.other);
}

struct err *trace_writer_stop(struct trace_writer *w)
{
	struct err *err = flush(w, /* all= */ true);

	return err ? err : trace_writer_flush_images(w);
}

struct err *trace_writer_end(struct trace_writer *w, const struct recording *rec)
{
	struct err *err = trace_writer_stop(w);

	return err ? err : trace_writer_end_now(w, rec);
}

struct err *trace_writer_end_now(struct trace_writer *w, const struct recording *rec)
{
	struct err *err;

	writer_reset(&w->content);
	trace_end_put(&w->content, rec);
	err = write_single(w, TRACE_END, &w->sizes.other);
	if (err)
		return err;
	return write_index(w);
}

const struct trace_sizes *trace_writer_sizes(const struct trace_writer *w)
{
	return &w->sizes;
}
