/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_log.c - blocks are kept compressed, as in a file.
 *
 * Not the kernel's own overwriting rings (attr.write_backward): those keep raw stacks, so 32 MiB a CPU hold
 * seconds where compressed blocks hold an hour; application data would stay in memory for as long; files of processes
 * that have ended could no longer be opened; and the side-band would have to be read anyway.
 */
#include "record/output/flight_log.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define CHAPTERS 8 /* that a full log has about; one is lost at a time */

struct block {
	struct trace_block head;
	uint8_t *data; /* head included */
	size_t len;
};

struct chapter {
	uint64_t start_ns;
	struct recording_count *counts;
	VEC(struct block) blocks;
	size_t nsnapshot; /* of the blocks */
	uint64_t snapshot_len, len;
};

struct flight_log {
	uint64_t max_len, len;
	bool process_snapshot; /* blocks that come now are the last chapter's process snapshot */
	VEC(struct chapter) chapters;
};

struct flight_log *flight_log_new(uint64_t max_len)
{
	struct flight_log *log = memory_zeroed(1, sizeof(*log));

	log->max_len = max_len;
	return log;
}

static void chapter_deinit(struct chapter *chapter)
{
	for (size_t i = 0; i < chapter->blocks.len; i++)
		free(chapter->blocks.items[i].data);
	vec_deinit(&chapter->blocks);
	free(chapter->counts);
}

void flight_log_free(struct flight_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->chapters.len; i++)
		chapter_deinit(&log->chapters.items[i]);
	vec_deinit(&log->chapters);
	free(log);
}

static struct chapter *last(const struct flight_log *log)
{
	return &log->chapters.items[log->chapters.len - 1];
}

static struct err *take(void *context, const struct trace_block *head, const uint8_t *data,
			size_t len)
{
	struct flight_log *log = context;
	struct chapter *chapter = last(log);
	struct block block = { .head = *head, .len = len };

	if (head->kind != TRACE_EVENTS)
		return NULL; /* each file has a header of its own */
	block.data = memory_alloc(len);
	memcpy(block.data, data, len);
	vec_push(&chapter->blocks, block);
	chapter->len += len;
	log->len += len;
	if (log->process_snapshot) {
		chapter->nsnapshot++;
		chapter->snapshot_len += len;
	}
	return NULL;
}

struct trace_sink flight_log_sink(struct flight_log *log)
{
	return (struct trace_sink){ take, log };
}

static void drop_oldest(struct flight_log *log)
{
	log->len -= log->chapters.items[0].len;
	chapter_deinit(&log->chapters.items[0]);
	vec_remove(&log->chapters, 0, 1);
}

void flight_log_begin_chapter(struct flight_log *log, uint64_t start_ns,
			      const struct recording_count *counts, size_t ncounts)
{
	struct chapter chapter = {
		.start_ns = start_ns,
		.counts = counts ? memory_zeroed(ncounts + 1, sizeof(*counts)) : NULL,
	};

	/* Leave room for the new chapter. */
	while (log->chapters.len > 1 && log->len + log->max_len / CHAPTERS > log->max_len)
		drop_oldest(log);
	if (counts && ncounts)
		memcpy(chapter.counts, counts, ncounts * sizeof(*counts));
	vec_push(&log->chapters, chapter);
	log->process_snapshot = true;
}

void flight_log_snapshot_ends(struct flight_log *log)
{
	log->process_snapshot = false;
}

bool flight_log_chapter_is_full(const struct flight_log *log)
{
	const struct chapter *chapter = last(log);

	/* A large process snapshot is written less often. */
	return chapter->len - chapter->snapshot_len >=
	       MAX(log->max_len / CHAPTERS, chapter->snapshot_len);
}

uint64_t flight_log_start(const struct flight_log *log, const struct recording_count **ret_counts)
{
	*ret_counts = log->chapters.items[0].counts;
	return log->chapters.items[0].start_ns;
}

uint64_t flight_log_len(const struct flight_log *log)
{
	return log->len;
}

struct err *flight_log_write(const struct flight_log *log, struct trace_writer *w)
{
	struct err *err = NULL;

	for (size_t i = 0; i < log->chapters.len && !err; i++) {
		const struct chapter *chapter = &log->chapters.items[i];

		for (size_t j = i ? chapter->nsnapshot : 0; j < chapter->blocks.len && !err; j++) {
			const struct block *block = &chapter->blocks.items[j];

			err = trace_writer_block(w, &block->head, block->data, block->len);
		}
	}
	return err;
}
