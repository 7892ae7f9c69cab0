/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_reader.c - finds the blocks of a trace, loads all but the events, and feeds those to the window.
 *
 * Every head says when its block's oldest event was. As all heads are read before the first event,
 * it is known for each event whether an older one can still come, and so when it may be delivered.
 */
#include "formats/trace/trace_reader.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/base/zframe.h"
#include "formats/event.h"
#include "formats/trace/trace_attached.h"
#include "formats/trace/trace_block.h"
#include "formats/trace/trace_chunk.h"
#include "formats/trace/trace_field.h"
#include "formats/trace/trace_file.h"
#include "formats/trace/trace_loader.h"
#include "formats/trace/trace_recording.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The blocks of events that are decoded at the moment, merged by time.
 *
 * Events come out ordered by time and, where times are equal, by their place in the file. Blocks
 * overlap in time by what the kernel's rings held back, so one or two are open at once; memory is
 * limited all the same, and a file that asks for more gets its events out of order and counted.
 *
 * Each open block has a sorted list of places; the smallest head of them all is next.
 */

#define BLOCKS_MAX 64
#define MEMORY_MAX (256u << 20)

struct trace_window {
	struct trace_chunks *chunks;
	struct trace_chunk *open[BLOCKS_MAX];
	size_t nopen, oldest;
	uint64_t next_number, last_ns, late;
};

/* @chunks, which takes what is used up, must outlive the window. */
static struct trace_window *trace_window_new(struct trace_chunks *chunks)
{
	struct trace_window *win = memory_zeroed(1, sizeof(*win));

	win->chunks = chunks;
	return win;
}

/* All that was held must have been let go. */
static void trace_window_free(struct trace_window *win)
{
	if (!win)
		return;
	for (size_t i = 0; i < win->nopen; i++)
		trace_chunks_put(win->chunks, win->open[i]);
	free(win);
}

/* May another block be added? If not, events have to be taken first. Only the blocks decide, so the order is always the same. */
static bool trace_window_has_room(const struct trace_window *win)
{
	size_t used = 0;

	for (size_t i = 0; i < win->nopen; i++)
		used += win->open[i]->len;
	return win->nopen < BLOCKS_MAX && used < MEMORY_MAX;
}

/* Blocks that are used up make way for those behind them. */
static void close_spent(struct trace_window *win)
{
	for (size_t i = 0; i < win->nopen;) {
		struct trace_chunk *chunk = win->open[i];

		if (chunk->pos < chunk->events.count) {
			i++;
			continue;
		}
		win->open[i] = win->open[--win->nopen];
		chunk->spent = true;
		if (!chunk->holds)
			trace_chunks_put(win->chunks, chunk);
	}
}

/* Let go of a chunk once, whose holds were counted up before. */
static void trace_window_let_go(struct trace_window *win, struct trace_chunk *chunk)
{
	if (--chunk->holds == 0 && chunk->spent)
		trace_chunks_put(win->chunks, chunk);
}

/* Add the next block of the file, which is the window's from now on. */
static void trace_window_add(struct trace_window *win, struct trace_chunk *chunk)
{
	chunk->pos = 0;
	chunk->spent = false;
	chunk->number = win->next_number++;
	win->open[win->nopen++] = chunk;
}

static bool comes_first(const struct trace_chunk *a, const struct trace_chunk *b)
{
	uint64_t x = a->order[a->pos].time_ns, y = b->order[b->pos].time_ns;

	return x != y ? x < y : a->number < b->number;
}

/*
 * Time of the oldest event; false if there is none. What trace_window_take() gave becomes
 * invalid, unless its chunk is held.
 */
static bool trace_window_oldest(struct trace_window *win, uint64_t *ret_time_ns)
{
	const struct trace_chunk *chunk;

	close_spent(win);
	if (win->nopen == 0)
		return false;
	win->oldest = 0;
	for (size_t i = 1; i < win->nopen; i++) {
		if (comes_first(win->open[i], win->open[win->oldest]))
			win->oldest = i;
	}
	chunk = win->open[win->oldest];
	*ret_time_ns = chunk->order[chunk->pos].time_ns;
	return true;
}

/* Take the oldest event, of *@ret_chunk; there must be one. */
static const struct event *trace_window_take(struct trace_window *win, struct trace_chunk **ret_chunk)
{
	struct trace_chunk *chunk = win->open[win->oldest];
	const struct event *ev = &chunk->events.events[chunk->order[chunk->pos++].index];

	win->late += ev->time_ns < win->last_ns;
	win->last_ns = MAX(win->last_ns, ev->time_ns);
	*ret_chunk = chunk;
	return ev;
}

/* How many were taken that were older than one taken before. */
static uint64_t trace_window_late(const struct trace_window *win)
{
	return win->late;
}

/* ---- finding whole blocks ---- */

struct trace_found {
	struct trace_block head;
	uint64_t offset;
	uint64_t oldest_ns; /* of this and all events blocks behind it; the reader's */
};

#define SCAN_LEN (64u << 10)

/* The head of a block at @offset, whose content must be there too. ERR_CORRUPT, ERR_SYSTEM. */
static struct err *trace_scan_head(const struct trace_file *file, uint64_t offset, struct trace_found *ret)
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

/* Where the next intact block begins, from @offset on; the end of the file if there is none. */
static uint64_t trace_scan_next(const struct trace_file *file, uint64_t offset)
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

/* @err was found at the beginning of @file: if that is something other than a trace, say what. Takes @err. */
static struct err *trace_scan_explain(const struct trace_file *file, struct err *err)
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

#define ATTACHED_MAX (1024u << 20) /* images, texts: decompressed, together */

struct trace_reader {
	struct event_source source; /* must be first */
	struct trace_file file;
	struct recording rec;
	struct zframe_decoder *zframe;
	struct trace_chunks chunks;
	struct trace_loader *loader;
	struct trace_window *window;
	struct writer packed; /* a zstd frame as it is in the file */
	VEC(struct trace_found) blocks;
	VEC(struct trace_block_info) infos;
	VEC(struct recording_image) images;
	VEC(struct recording_lines) lines;
	VEC(struct recording_jit_map) jit_maps;
	VEC(uint8_t *) attached; /* contents that the above point into */
	uint64_t attached_len;
	size_t next; /* block to look at for events */
	struct err *failure;
};

static struct trace_reader *reader_of(struct event_source *source)
{
	return (struct trace_reader *)(void *)source;
}

static void close_reader(struct event_source *source)
{
	struct trace_reader *t = reader_of(source);

	trace_loader_free(t->loader);
	trace_window_free(t->window);
	trace_chunks_deinit(&t->chunks);
	zframe_decoder_free(t->zframe);
	writer_deinit(&t->packed);
	for (size_t i = 0; i < t->attached.len; i++)
		free(t->attached.items[i]);
	vec_deinit(&t->attached);
	vec_deinit(&t->blocks);
	vec_deinit(&t->infos);
	vec_deinit(&t->images);
	vec_deinit(&t->lines);
	vec_deinit(&t->jit_maps);
	arena_deinit(&t->rec.arena);
	trace_file_close(&t->file);
	err_free(t->failure);
	free(t);
}

static void close_readerp(struct trace_reader **t)
{
	if (*t)
		close_reader(&(*t)->source);
}

static void note_damage(struct trace_reader *t, uint64_t offset)
{
	if (t->rec.damaged_at == 0 || offset < t->rec.damaged_at)
		t->rec.damaged_at = offset;
}

static struct trace_place place_of(const struct trace_found *block)
{
	return (struct trace_place){
		.offset = block->offset + block->head.head_len,
		.packed_len = block->head.packed_len,
		.len = block->head.content_len,
	};
}

/* Decompress the content of @block to @out, which has room for it. */
static struct err *read_content(struct trace_reader *t, const struct trace_found *block, void *out)
{
	struct trace_place place = place_of(block);

	return trace_chunk_unpack(&t->file, &place, &t->packed, t->zframe, out);
}

static struct err *parse_images(struct trace_reader *t, struct reader *r)
{
	struct recording_image image;
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		if (tag != TRACE_IMAGE_TAG)
			continue;
		struct err *err = trace_image_load(&value, &t->rec, &image);

		if (err)
			return err;
		vec_push(&t->images, image);
	}
	return reader_check(r);
}

static struct err *parse_attached(struct trace_reader *t, const struct trace_found *block,
				  struct reader *r)
{
	struct recording_jit_map map;
	struct recording_lines lines;
	struct err *err;

	switch (block->head.kind) {
	case TRACE_IMAGE:
		return parse_images(t, r);
	case TRACE_JIT_MAP:
		err = trace_jit_map_load(r, &t->rec, &map);
		if (!err)
			vec_push(&t->jit_maps, map);
		return err;
	case TRACE_LINES:
		err = trace_lines_load(r, &t->rec, &lines);
		if (!err)
			vec_push(&t->lines, lines);
		return err;
	case TRACE_KSYMS:
		return trace_ksyms_load(r, &t->rec);
	case TRACE_KERNEL_CODE:
		return trace_kernel_code_load(r, &t->rec);
	default:
		return trace_end_load(r, &t->rec);
	}
}

/* Load anything but events and the header. */
static struct err *load_attached(struct trace_reader *t, const struct trace_found *block)
{
	size_t len = block->head.content_len;
	struct reader r;

	if (len > ATTACHED_MAX - t->attached_len)
		return err_new(ERR_CORRUPT, "more than %u bytes are attached", ATTACHED_MAX);

	uint8_t *content = memory_alloc(MAX(len, 1));
	struct err *err = read_content(t, block, content);

	if (err) {
		free(content);
		return err;
	}
	vec_push(&t->attached, content);
	t->attached_len += len;
	reader_init(&r, content, len, /* big_endian= */ false);
	return parse_attached(t, block, &r);
}

static struct err *load_header(struct trace_reader *t, const struct trace_found *block)
{
	size_t len = block->head.content_len;
	CLEANUP(memory_freep) uint8_t *content = memory_alloc(MAX(len, 1));
	struct err *err = read_content(t, block, content);
	uint32_t nstreams;
	struct reader r;

	if (err)
		return err;
	reader_init(&r, content, len, /* big_endian= */ false);
	return trace_header_load(&r, &t->rec, &nstreams);
}

static void add_block(struct trace_reader *t, const struct trace_found *block)
{
	struct trace_block_info info = {
		.offset = block->offset,
		.len = block->head.head_len + block->head.packed_len,
		.packed_len = block->head.packed_len,
		.content_len = block->head.content_len,
		.kind = trace_block_kind_name(block->head.kind),
	};

	vec_push(&t->blocks, *block);
	vec_push(&t->infos, info);
}

static struct err *open_header(struct trace_reader *t, struct trace_found *ret)
{
	struct err *err = trace_scan_head(&t->file, 0, ret);

	if (err)
		return trace_scan_explain(&t->file, err);
	if (ret->head.kind != TRACE_HEADER)
		return err_new(ERR_CORRUPT, "a block of kind %u stands where the header belongs",
			       ret->head.kind);
	err = load_header(t, ret);
	return err ? err_wrap(err, "unreadable header") : NULL;
}

static bool is_attached(uint8_t kind)
{
	return kind == TRACE_IMAGE || kind == TRACE_LINES || kind == TRACE_KSYMS ||
	       kind == TRACE_KERNEL_CODE || kind == TRACE_JIT_MAP || kind == TRACE_END;
}

/* Events wait, the index is not needed, the header was first; all else is loaded. */
static void take_block(struct trace_reader *t, const struct trace_found *block, uint64_t sequence)
{
	struct err *err = NULL;

	if (block->head.sequence != sequence)
		note_damage(t, block->offset);
	if (is_attached(block->head.kind))
		err = load_attached(t, block);
	if (err)
		note_damage(t, block->offset);
	err_free(err);
	add_block(t, block);
}

static struct err *walk_blocks(struct trace_reader *t)
{
	struct trace_found block;
	struct err *err = open_header(t, &block);
	uint64_t offset, sequence;

	if (err)
		return err;
	add_block(t, &block);
	offset = block.head.head_len + block.head.packed_len;
	sequence = block.head.sequence;
	while (offset < t->file.len) {
		err = trace_scan_head(&t->file, offset, &block);
		if (err) {
			err_free(err);
			note_damage(t, offset);
			offset = trace_scan_next(&t->file, offset + 1);
			continue;
		}
		take_block(t, &block, sequence + 1);
		sequence = block.head.sequence;
		offset += block.head.head_len + block.head.packed_len;
	}
	return NULL;
}

/* From the last block backwards: the oldest event that is still to come. */
static void find_oldest(struct trace_reader *t)
{
	uint64_t oldest_ns = UINT64_MAX;

	for (size_t i = t->blocks.len; i > 0; i--) {
		struct trace_found *block = &t->blocks.items[i - 1];

		if (block->head.kind == TRACE_EVENTS)
			oldest_ns = MIN(oldest_ns, block->head.first_ns);
		block->oldest_ns = oldest_ns;
	}
}

static void list_events(struct trace_reader *t)
{
	for (size_t i = 0; i < t->blocks.len; i++) {
		struct trace_place place = place_of(&t->blocks.items[i]);

		if (t->blocks.items[i].head.kind == TRACE_EVENTS)
			trace_loader_add(t->loader, &place);
	}
}

static const struct recording *get_recording(struct event_source *source)
{
	return &reader_of(source)->rec;
}

/* Load the next block of events, if it can be loaded. False if there are no more. */
static bool load_events(struct trace_reader *t)
{
	while (t->next < t->blocks.len && t->blocks.items[t->next].head.kind != TRACE_EVENTS)
		t->next++;
	if (t->next == t->blocks.len)
		return false;

	const struct trace_found *block = &t->blocks.items[t->next++];
	struct trace_chunk *chunk;
	struct err *err = trace_loader_next(t->loader, &chunk);

	if (!err && chunk)
		trace_window_add(t->window, chunk);
	if (err && err_kind(err) == ERR_SYSTEM) {
		t->failure = err;
		return false;
	}
	if (err)
		note_damage(t, block->offset);
	err_free(err);
	return true;
}

static const struct event *take_event(struct trace_reader *t, struct trace_chunk **ret_chunk)
{
	const struct event *ev = trace_window_take(t->window, ret_chunk);

	t->rec.late_events = trace_window_late(t->window);
	return ev;
}

/* The next event in time order, which lies in *@ret_chunk; NULL at the end and on failure. */
static const struct event *advance(struct trace_reader *t, struct trace_chunk **ret_chunk)
{
	uint64_t time_ns = 0;

	for (;;) {
		bool any = trace_window_oldest(t->window, &time_ns);
		bool more = t->next < t->blocks.len;
		bool final = !more || time_ns <= t->blocks.items[t->next].oldest_ns ||
			     !trace_window_has_room(t->window);

		if (t->failure)
			return NULL;
		if (any && final)
			return take_event(t, ret_chunk);
		if (!load_events(t) && !any)
			return NULL;
	}
}

static bool next_event(struct event_source *source, struct event *ret)
{
	struct trace_chunk *chunk;
	const struct event *ev = advance(reader_of(source), &chunk);

	if (ev)
		*ret = *ev;
	return ev;
}

static void use_pool(struct event_source *source, struct pool *pool)
{
	struct trace_reader *t = reader_of(source);

	if (pool)
		trace_loader_use(t->loader, pool);
	else
		trace_loader_settle(t->loader);
}

static bool is_held(const struct event_batch *batch, const struct trace_chunk *chunk)
{
	for (size_t i = batch->chunks.len; i > 0; i--) {
		if (batch->chunks.items[i - 1] == chunk)
			return true;
	}
	return false;
}

static bool next_batch(struct event_source *source, size_t max, struct event_batch *ret)
{
	struct trace_reader *t = reader_of(source);
	struct trace_chunk *chunk, *last = NULL;
	const struct event *ev;

	ret->events.len = ret->chunks.len = 0;
	while (ret->events.len < max && (ev = advance(t, &chunk))) {
		if (chunk != last && !is_held(ret, chunk)) {
			chunk->holds++;
			vec_push(&ret->chunks, chunk);
		}
		last = chunk;
		vec_push(&ret->events, ev);
	}
	return ret->events.len;
}

static void release(struct event_source *source, struct event_batch *batch)
{
	for (size_t i = 0; i < batch->chunks.len; i++)
		trace_window_let_go(reader_of(source)->window, batch->chunks.items[i]);
	batch->events.len = batch->chunks.len = 0;
}

/* Damage is reported by the recording; only what the system refused is an error here. */
static struct err *finish(struct event_source *source)
{
	struct trace_reader *t = reader_of(source);
	struct err *err = t->failure;

	t->failure = NULL;
	return err;
}

static void progress(struct event_source *source, uint64_t *ret_done, uint64_t *ret_len)
{
	const struct trace_reader *t = reader_of(source);

	*ret_done = t->next < t->blocks.len ? t->blocks.items[t->next].offset : t->file.len;
	*ret_len = t->file.len;
}

static const struct event_source_ops ops = {
	.recording = get_recording,
	.next = next_event,
	.finish = finish,
	.close = close_reader,
	.progress = progress,
	.use_pool = use_pool,
	.next_batch = next_batch,
	.release = release,
};

static struct err *open_file(struct trace_file file, struct event_source **ret)
{
	CLEANUP(close_readerp) struct trace_reader *t = memory_zeroed(1, sizeof(*t));

	t->source.ops = &ops;
	t->file = file;
	t->zframe = zframe_decoder_new();
	t->window = trace_window_new(&t->chunks);
	t->loader = trace_loader_new(&t->file, &t->rec, &t->chunks);

	struct err *err = walk_blocks(t);

	if (err)
		return err;
	find_oldest(t);
	list_events(t);
	t->rec.images = t->images.items;
	t->rec.nimages = t->images.len;
	t->rec.lines = t->lines.items;
	t->rec.nlines = t->lines.len;
	t->rec.jit_maps = t->jit_maps.items;
	t->rec.njit_maps = t->jit_maps.len;
	*ret = &t->source;
	t = NULL; /* now the caller's */
	return NULL;
}

bool trace_reader_is(const struct trace_file *file)
{
	uint8_t start[sizeof(uint32_t)];
	struct reader r;
	size_t len = 0;
	struct err *err = trace_file_read(file, 0, start, sizeof(start), &len);

	reader_init(&r, start, err ? 0 : len, /* big_endian= */ false);
	err_free(err);
	return reader_u32(&r, "the first magic") == TRACE_SKIPPABLE && !r.failed;
}

struct err *trace_reader_open(const char *path, struct event_source **ret)
{
	struct trace_file file;
	struct err *err = trace_file_open(path, &file);

	return err ? err : trace_reader_open_file(path, file, ret);
}

struct err *trace_reader_open_file(const char *name, struct trace_file file,
				   struct event_source **ret)
{
	struct err *err = open_file(file, ret);

	return err ? err_wrap(err, "'%s'", name) : NULL;
}

struct err *trace_reader_open_memory(const void *data, size_t len, struct event_source **ret)
{
	return open_file(trace_file_memory(data, len), ret);
}

const struct trace_block_info *trace_reader_blocks(struct event_source *source, size_t *ret_count)
{
	struct trace_reader *t = reader_of(source);

	*ret_count = t->infos.len;
	return t->infos.items;
}

struct err *trace_reader_packed(struct event_source *source, size_t number, const uint8_t **ret)
{
	struct trace_reader *t = reader_of(source);
	struct trace_place place = place_of(&t->blocks.items[number]);
	struct err *err = trace_chunk_read(&t->file, &place, &t->packed);

	*ret = t->packed.data;
	return err;
}

uint64_t trace_reader_len(struct event_source *source)
{
	return reader_of(source)->file.len;
}
