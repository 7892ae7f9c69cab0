/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_quiet.c - the machine's counters lie in a block for tools (PerfMemory, jvmstat), each an entry with its name:
 *
 *	block	u32 magic, u8[4], i32 used, i32 overflow, i64 time, i32 offset of the first entry, i32 count
 *	entry	i32 length, i32 offset of the name, i32[1], u8[4], i32 offset of the value
 */
#include "record/runtime/hotspot_quiet.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_LEN_MAX (256U << 10)
#define BLOCK_MAGIC   0xc0c0feca
#define SEARCHES_MAX  200 /* counters are made while the machine starts */
/* Between looks that are as close, no block is freed and filled again unnoticed: where no class was unloaded, and where that is not known. */
#define CLOSE_NS      60000000ULL
#define CLOSER_NS     35000000ULL
#define BLOCKS_MAX    2048 /* free blocks of one heap that are remembered */
#define LOADERS_MAX   16384
#define BEFORE_NS     50000000ULL /* the first look */

void hotspot_quiet_set_heap(struct hotspot_quiet *q, size_t number, uint64_t addr, unsigned log2_segment)
{
	struct hotspot_quiet_heap *heap = &q->heaps[number];

	q->nheaps = MAX(q->nheaps, number + 1);
	if (heap->addr == addr)
		return;
	vec_deinit(&heap->blocks);
	*heap = (struct hotspot_quiet_heap){ .addr = addr, .log2_segment = log2_segment };
}

static uint64_t word_at(struct managed_view *view, uint64_t addr)
{
	uint64_t word = 0;
	struct task_memory_piece piece = { addr, &word, sizeof(word), 0 };

	view->read(view->context, &piece, 1);
	return piece.got == sizeof(word) ? word : 0;
}

/* ---- counters -------------------------------------------------------------------------------------- */

static void take_entry(struct reader entry, uint64_t block, struct hotspot_quiet *q)
{
	const uint64_t start = block + entry.offset;
	struct reader name = entry;

	reader_skip(&entry, 4, "length");
	uint32_t name_offset = reader_u32(&entry, "offset of the name");

	reader_skip(&entry, 8, "kind");
	uint32_t value_offset = reader_u32(&entry, "offset of the value");

	reader_skip(&name, name_offset, "name");
	const char *text = reader_string(&name, "name");

	if (entry.failed || name.failed || value_offset % 8 || value_offset > BLOCK_LEN_MAX)
		return;
	if (strcmp(text, "java.cls.unloadedClasses") == 0)
		q->unloaded_at = start + value_offset;
	else if (strcmp(text, "sun.ci.totalCompiles") == 0)
		q->compiled_at = start + value_offset;
}

static void take_entries(const uint8_t *bytes, size_t len, uint64_t block, struct hotspot_quiet *q)
{
	struct reader r;

	reader_init(&r, bytes, len, /* big_endian= */ false);
	reader_skip(&r, 24, "head");
	uint32_t offset = reader_u32(&r, "offset of the first entry"), count = reader_u32(&r, "entries");

	reader_init(&r, bytes, len, /* big_endian= */ false);
	reader_skip(&r, offset, "entries");
	for (uint32_t i = 0; i < count && !r.failed && !(q->unloaded_at && q->compiled_at); i++) {
		struct reader length = r;
		struct reader entry = reader_slice(&r, reader_u32(&length, "length"), "entry");

		if (!r.failed)
			take_entry(entry, block, q);
	}
}

static void find_counters(struct hotspot_quiet *q, struct managed_view *view)
{
	const struct hotspot_layout *l = q->layout;
	uint64_t block = 0;
	uint32_t head[3] = { 0 };

	if (q->searches++ >= SEARCHES_MAX)
		return;
	if (l->has[OBJECTS_HEAP] && l->has[HEAP_COLLECTIONS] && (block = word_at(view, l->at[OBJECTS_HEAP])))
		q->collections_at = block + l->at[HEAP_COLLECTIONS];
	block = l->has[PERF_START] ? word_at(view, l->at[PERF_START]) : 0;
	if (block)
		view->read(view->context, &(struct task_memory_piece){ block, head, sizeof(head), 0 }, 1);
	if (head[0] != BLOCK_MAGIC || !head[2] || head[2] > BLOCK_LEN_MAX)
		return;
	uint8_t *bytes = memory_zeroed(1, head[2]);

	view->read(view->context, &(struct task_memory_piece){ block, bytes, head[2], 0 }, 1);
	take_entries(bytes, head[2], block, q);
	free(bytes);
}

/* ---- looking --------------------------------------------------------------------------------------- */

/* Behind the size of a segment: end in use; first free block; from 14 on the last that was put in; how much is free, in how many blocks. */
static bool heap_words(const struct hotspot_layout *l, uint64_t addr, uint64_t *ret)
{
	*ret = addr + (l->at[HEAP_LOG2_SEGMENT] + 4 + 7) / 8 * 8;
	return l->jdk >= 14;
}

struct sight {
	uint64_t words[HOTSPOT_HEAPS_MAX][HOTSPOT_HEAP_WORDS];
	uint64_t unloaded, compiled;
	bool whole;
};

static struct sight look(const struct hotspot_quiet *q, struct managed_view *view)
{
	struct task_memory_piece pieces[HOTSPOT_HEAPS_MAX + 2];
	struct sight sight = { .whole = true };
	size_t count = 0;

	for (; count < q->nheaps; count++) {
		uint64_t addr;
		bool has_last = heap_words(q->layout, q->heaps[count].addr, &addr);

		pieces[count] = (struct task_memory_piece){ addr, sight.words[count], 8 * (HOTSPOT_HEAP_WORDS - !has_last), 0 };
	}
	if (q->unloaded_at)
		pieces[count++] = (struct task_memory_piece){ q->unloaded_at, &sight.unloaded, 8, 0 };
	else if (q->collections_at)
		pieces[count++] = (struct task_memory_piece){ q->collections_at, &sight.unloaded, 4, 0 };
	if (q->compiled_at)
		pieces[count++] = (struct task_memory_piece){ q->compiled_at, &sight.compiled, 8, 0 };
	view->read(view->context, pieces, count);
	for (size_t i = 0; i < count; i++)
		sight.whole = sight.whole && pieces[i].got == pieces[i].len;
	for (size_t i = 0; i < q->nheaps; i++) {
		uint64_t *blocks = &sight.words[i][HOTSPOT_HEAP_WORDS - 1 - (q->layout->jdk < 14)];

		*blocks = (uint32_t)*blocks; /* a number, and what lies behind it */
	}
	return sight;
}

static void add_block(struct hotspot_quiet_heap *heap, uint64_t start, uint64_t end, uint64_t seen_ns)
{
	for (size_t i = 0; i < heap->blocks.len; i++) {
		struct hotspot_free_block *b = &heap->blocks.items[i];

		if (b->start == start && b->end == end) {
			b->seen_ns = seen_ns;
			return;
		}
	}
	vec_push(&heap->blocks, ((struct hotspot_free_block){ start, end, seen_ns }));
}

/* The list of free blocks ascends. False if it is not one, or too long to be kept. */
static bool read_blocks(const struct hotspot_quiet *q, struct managed_view *view, struct hotspot_quiet_heap *heap, uint64_t seen_ns)
{
	const struct hotspot_layout *l = q->layout;
	uint64_t block = heap->words[1], last = 0;
	unsigned count = 0;

	for (; block && count < BLOCKS_MAX && heap->blocks.len < BLOCKS_MAX; count++) {
		uint64_t len = word_at(view, block + l->at[BLOCK_LEN]);

		if (l->block_size < 16)
			len = (uint32_t)len;
		if (block <= last || !len || len > UINT32_MAX)
			return false;
		last = block;
		add_block(heap, block, block + (len << heap->log2_segment), seen_ns);
		block = word_at(view, block + l->block_size);
	}
	return !block;
}

static bool is_calm(const uint64_t *old, const uint64_t *now)
{
	return now[0] >= old[0] && memcmp(old + 1, now + 1, sizeof(uint64_t) * (HOTSPOT_HEAP_WORDS - 1)) == 0;
}

/*
 * Something may have been freed or, from the list, used: which blocks are free now? Where that alone does not tell - the end in use is lower
 * than it was, or it is not known whether classes were unloaded, whose code is freed at once - all of the heap may be other code.
 */
static void take_change(const struct hotspot_quiet *q, struct managed_view *view, struct hotspot_quiet_heap *heap, bool known,
			uint64_t now_ns)
{
	if (known && read_blocks(q, view, heap, now_ns))
		return;
	heap->blocks.len = 0;
	heap->since_ns = now_ns;
}

/* When a heap is seen for the first time: nothing was ever freed there if nothing is free. */
static uint64_t first_since(const struct sight *sight, size_t number, uint64_t now_ns)
{
	static const uint64_t none[2];

	return memcmp(&sight->words[number][3], none, sizeof(none)) == 0 && !sight->words[number][1] && !sight->unloaded ?
		       1 : now_ns - BEFORE_NS;
}

bool hotspot_quiet_look(struct hotspot_quiet *q, struct managed_view *view)
{
	uint64_t before_ns = clock_now_ns(CLOCK_MONOTONIC), looked_ns = q->looked_ns;

	if (!q->unloaded_at || !q->compiled_at)
		find_counters(q, view);
	struct sight now = look(q, view);
	uint64_t after_ns = clock_now_ns(CLOCK_MONOTONIC);
	bool far = after_ns - looked_ns > (q->unloaded_at ? CLOSE_NS : CLOSER_NS) && (!q->compiled_at || now.compiled != q->compiled);
	bool freed = false;

	for (size_t i = 0; i < q->nheaps; i++) {
		struct hotspot_quiet_heap *heap = &q->heaps[i];
		bool is_first = !heap->since_ns, has_shrunk = now.words[i][0] < heap->words[0];
		bool changed = !is_first && (!now.whole || far || !is_calm(heap->words, now.words[i]));

		memcpy(heap->words, now.words[i], sizeof(heap->words));
		if (is_first)
			heap->since_ns = first_since(&now, i, before_ns);
		if (changed)
			take_change(q, view, heap, now.whole && !far && !has_shrunk && q->unloaded_at, after_ns);
		freed = freed || changed;
	}
	if (!looked_ns) {
		q->classes_since_ns = now.unloaded ? before_ns - BEFORE_NS : 1;
	} else if (!now.whole || now.unloaded != q->unloaded || (far && !q->unloaded_at)) {
		q->classes_since_ns = after_ns;
		q->collected = !q->unloaded_at;
		freed = q->unloads = true;
	}
	/* No class was ever unloaded, or no garbage ever collected, however far looks are apart. */
	if (now.whole && !now.unloaded && (q->unloaded_at || q->collections_at))
		q->classes_since_ns = 1;
	q->unloads = q->unloads || !q->unloaded_at;
	q->unloaded = now.unloaded;
	q->compiled = now.compiled;
	q->looked_ns = before_ns;
	return freed;
}

/* ---- class loaders --------------------------------------------------------------------------------- */

static bool has_lost(const struct map *before, const struct map *now)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(before, &pos));) {
		if (!map_get(now, slot->key))
			return true;
	}
	return false;
}

bool hotspot_quiet_loaders(struct hotspot_quiet *q, struct managed_view *view)
{
	const struct hotspot_layout *l = q->layout;
	bool known = l->has[KLASS_LOADER] && l->has[LOADERS_HEAD] && l->has[LOADER_NEXT], is_new = true;
	uint64_t loader = known ? word_at(view, l->at[LOADERS_HEAD]) : 0;
	struct map now = { 0 };

	for (; loader && is_new && now.len < LOADERS_MAX; loader = word_at(view, loader + l->at[LOADER_NEXT]))
		map_put(&now, loader, &is_new);
	bool lost = !q->unloaded_at && has_lost(&q->loaders, &now);

	if (lost)
		q->classes_since_ns = clock_now_ns(CLOCK_MONOTONIC);
	/* A circle, or too many; or the memory of loaders and names may have been used again for others that look the same. */
	if (loader || lost || q->collected)
		map_clear(&now);
	q->collected = false;
	map_deinit(&q->loaders);
	q->loaders = now;
	q->unloads = false;
	return known;
}

void hotspot_quiet_deinit(struct hotspot_quiet *q)
{
	map_deinit(&q->loaders);
	for (size_t i = 0; i < q->nheaps; i++)
		vec_deinit(&q->heaps[i].blocks);
}

uint64_t hotspot_quiet_since(const struct hotspot_quiet *q, size_t number, uint64_t start, uint64_t end)
{
	const struct hotspot_quiet_heap *heap = &q->heaps[number];
	uint64_t since_ns = MAX(heap->since_ns, q->classes_since_ns);

	for (size_t i = 0; i < heap->blocks.len; i++) {
		const struct hotspot_free_block *b = &heap->blocks.items[i];

		if (b->start < end && start < b->end)
			since_ns = MAX(since_ns, b->seen_ns);
	}
	return since_ns;
}
