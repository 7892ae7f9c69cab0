/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot.c - code blobs that were read are cached with a cookie of compile number, method and length, which differ if another
 * blob is at the address later.
 *
 * A blob's records are valid from the time since when nothing was freed at its place (hotspot_quiet.h) until it was last
 * seen.
 */
#include "record/runtime/hotspot.h"

#include "formats/arch.h"
#include "formats/base/bisect.h"
#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/hotspot_frame.h"
#include "record/runtime/hotspot_methods.h"
#include "record/runtime/hotspot_quiet.h"

#include <string.h>

#define FROZEN	HOTSPOT_METHODS_MAX /* a function's number, behind those of all methods */
#define PUSHED_LEN	16 /* of code that takes off the stack what was pushed for a call */
#define CALL_LEN_MAX	8 /* of the instruction in front of a return address */
#define HOPS_MAX	4096 /* back to the beginning of a blob */
#define BLOBS_MAX	(1U << 16)
#define BLOB_LEN_MAX	(64U << 20)
#define SCOPES_LEN_MAX	(256U << 10)
#define SCOPES_KEPT_MAX (64U << 20) /* of all blobs */
#define SCOPES_TRIES	4
#define CALLS_MAX	64
#define FRAME_WORDS_MAX 65536
#define NO_FRAME_SIZE	UINT32_MAX /* what a blob says whose frame has no fixed length */
#define CODE_LEN_MAX	(128U << 10) /* of a method whose code is kept */
#define CODE_LEAVES	3	     /* so often it was executed */
#define NEAR_LEN	512
#define MARKS_MAX	32
#define MARK_LEN_MAX	512
#define STUB_PAGES	3  /* that are kept from where a stub was executed on: most end there */
#define STUB_PAGES_MAX	64 /* of one machine */
#define BARRIER_LEN	256 /* of the stub at a method's entry, up to its call: it saves the arguments */

struct space {
	uint64_t low, high;
};

struct heap {
	struct space memory, segments;
	unsigned log2_segment;
};

/* How much of a kind of blob is known. */
enum blob_kind {
	BLOB_OTHER, /* its frame has the length that it says, when it has called something */
	BLOB_METHOD,
	BLOB_INTERPRETER,
	BLOB_STUBS, /* each has a frame of its own, by frame pointer if it has one */
	BLOB_BARE,  /* adapters and tables: they jump, with the return address on top of the stack */
};

struct blob {
	uint64_t start;		/* of the CodeBlob, in the process */
	uint64_t code, code_end;
	uint64_t name;		/* address of its name */
	uint32_t compile_id, frame_words;
	uint64_t method;
	enum blob_kind kind;
	unsigned leaves;
	bool has_code; /* it was written */
	bool is_gone;  /* another one, or nothing, is there */
	bool is_fresh; /* it was read with the look that goes on */
	uint64_t from_ns; /* it was there, as far as that is certain */
	/* Of a method: its PcDescs and scopes, read when they are first needed; again where they were not in memory. */
	unsigned scopes_tries;
	uint8_t *pcs, *scopes;
	size_t pcs_len, scopes_len;
	uint64_t metadata, metadata_end;
	char *label;
};

struct hotspot {
	struct hotspot_layout layout;
	uint32_t inner_pid;
	struct heap heaps[HOTSPOT_HEAPS_MAX];
	size_t nheaps;
	struct hotspot_quiet quiet;
	bool comparing, changed; /* a comparison of all blobs has begun; something may have been freed since one did */
	uint64_t begun_ns;	 /* when the one that goes on did */
	uint64_t checked_ns;	 /* until when all that is known, and not gone, was there */
	size_t compared;	 /* blobs so far */
	size_t methods_compared;
	size_t unread; /* 1 more than the number of a blob that could not be read with what was left of a view */
	struct map blobs; /* by address -> index */
	VEC(struct blob) items;
	size_t scopes_len, labels_len; /* bytes that are kept */
	struct hotspot_methods methods;
	uint64_t interpreter, interpreter_end;
	struct map stub_pages; /* numbers of those that were kept */
	bool knows_frozen; /* the function that stands for frames in the heap was written */
};

struct hotspot *hotspot_new(const struct hotspot_layout *layout, uint32_t inner_pid)
{
	struct hotspot *h = memory_zeroed(1, sizeof(*h));

	h->layout = *layout;
	h->methods.layout = &h->layout;
	h->quiet.layout = &h->layout;
	h->inner_pid = inner_pid;
	return h;
}

static void blob_deinit(struct blob *b)
{
	free(b->pcs);
	free(b->scopes);
	free(b->label);
}

void hotspot_free(struct hotspot *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->items.len; i++)
		blob_deinit(&h->items.items[i]);
	vec_deinit(&h->items);
	map_deinit(&h->blobs);
	map_deinit(&h->stub_pages);
	hotspot_methods_deinit(&h->methods);
	hotspot_quiet_deinit(&h->quiet);
	free(h);
}

size_t hotspot_held(const struct hotspot *h)
{
	const struct hotspot_methods *m = &h->methods;

	return sizeof(*h) + h->items.cap * sizeof(*h->items.items) + h->scopes_len + h->labels_len +
	       m->items.cap * sizeof(*m->items.items) + m->lines_len + m->names_len +
	       (h->blobs.len + m->by_address.len) * 2 * sizeof(struct map_slot);
}

/* ---- the code cache -------------------------------------------------------------------------------- */

static struct space read_space(const struct hotspot *h, struct managed_view *view, uint64_t addr)
{
	struct space space;

	space.low = managed_view_u64(view, addr + h->layout.at[SPACE_LOW]);
	space.high = managed_view_u64(view, addr + h->layout.at[SPACE_HIGH]);
	return space;
}

static void read_heap(struct hotspot *h, struct managed_view *view, uint64_t addr)
{
	const uint64_t *at = h->layout.at;
	struct heap heap = { 0 };

	heap.memory = read_space(h, view, addr + at[HEAP_MEMORY]);
	heap.segments = read_space(h, view, addr + at[HEAP_SEGMAP]);
	heap.log2_segment = managed_view_u32(view, addr + at[HEAP_LOG2_SEGMENT]);
	if (view->failed || heap.memory.low >= heap.memory.high || heap.segments.low >= heap.segments.high ||
	    heap.log2_segment < 4 || heap.log2_segment > 16)
		return;
	hotspot_quiet_set_heap(&h->quiet, h->nheaps, addr, heap.log2_segment);
	h->heaps[h->nheaps++] = heap;
}

static void read_heaps(struct hotspot *h, struct managed_view *view)
{
	const uint64_t *at = h->layout.at;
	uint64_t array = managed_view_u64(view, at[CACHE_HEAPS]);
	uint32_t count = managed_view_u32(view, array + at[ARRAY_LEN_FIELD]);
	uint64_t items = managed_view_u64(view, array + at[ARRAY_DATA]);


	h->nheaps = 0;
	for (uint32_t i = 0; i < count && i < HOTSPOT_HEAPS_MAX && !view->failed; i++)
		read_heap(h, view, managed_view_u64(view, items + 8ULL * i));
	hotspot_quiet_look(&h->quiet, view);
}

static const struct heap *heap_at(struct hotspot *h, struct managed_view *view, uint64_t ip)
{
	for (int tried = 0; tried < 2; tried++) {
		for (size_t i = 0; i < h->nheaps; i++) {
			if (ip - h->heaps[i].memory.low < h->heaps[i].memory.high - h->heaps[i].memory.low)
				return &h->heaps[i];
		}
		if (!tried)
			read_heaps(h, view);
	}
	return NULL;
}

#define SEGMENT_FREE 0xff

/* Address of the CodeBlob around @ip; 0 if there is none in use. */
static uint64_t find_blob(struct hotspot *h, struct managed_view *view, uint64_t ip)
{
	const struct heap *heap = heap_at(h, view, ip);
	const struct hotspot_layout *l = &h->layout;

	if (!heap)
		return 0;
	uint64_t segment = (ip - heap->memory.low) >> heap->log2_segment;
	uint64_t nsegments = heap->segments.high - heap->segments.low;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		uint8_t back = segment < nsegments ? managed_view_u8(view, heap->segments.low + segment) : SEGMENT_FREE;

		if (view->failed || back == SEGMENT_FREE || back > segment)
			return 0;
		if (!back)
			break;
		segment -= back;
	}
	uint64_t block = heap->memory.low + (segment << heap->log2_segment);
	uint64_t len = l->block_size >= 16 ? managed_view_u64(view, block + l->at[BLOCK_LEN]) :
					     managed_view_u32(view, block + l->at[BLOCK_LEN]);

	if (view->failed || !managed_view_u8(view, block + l->at[BLOCK_USED]) || ip < block + l->block_size ||
	    len > BLOB_LEN_MAX >> heap->log2_segment || (ip - block) >> heap->log2_segment >= len)
		return 0;
	return block + l->block_size;
}

/* ---- code blobs ------------------------------------------------------------------------------------ */

static enum blob_kind kind_of(const char *name)
{
	static const char *const bare[] = { "vtable", "itable", "I2C", "MethodHandlesAdapter" };

	if (strcmp(name, "nmethod") == 0 || strcmp(name, "native nmethod") == 0)
		return BLOB_METHOD;
	if (strcmp(name, "Interpreter") == 0)
		return BLOB_INTERPRETER;
	if (strncmp(name, "StubRoutines", strlen("StubRoutines")) == 0)
		return BLOB_STUBS;
	for (size_t i = 0; i < ARRAY_LEN(bare); i++) {
		if (strncmp(name, bare[i], strlen(bare[i])) == 0)
			return BLOB_BARE;
	}
	return BLOB_OTHER;
}

static bool read_code_range(const struct hotspot *h, struct managed_view *view, struct blob *b)
{
	const uint64_t *at = h->layout.at;

	if (h->layout.has[BLOB_CODE_BEGIN]) {
		b->code = managed_view_u64(view, b->start + at[BLOB_CODE_BEGIN]);
		b->code_end = managed_view_u64(view, b->start + at[BLOB_CODE_END]);
	} else {
		b->code = b->start + managed_view_u32(view, b->start + at[BLOB_CODE_OFFSET]);
		b->code_end = b->start + managed_view_u32(view, b->start + at[BLOB_DATA_OFFSET]);
	}
	return !view->failed && b->code > b->start && b->code < b->code_end && b->code_end - b->start <= BLOB_LEN_MAX;
}

#define LABEL_LEN 63

/* The text at @addr, or as much of it as can be read; characters that are none become '?'. */
static void read_label(struct managed_view *view, uint64_t addr, char ret[LABEL_LEN + 1])
{
	size_t len = MIN(MANAGED_PAGE_LEN - (size_t)(addr % MANAGED_PAGE_LEN), (size_t)LABEL_LEN);

	memset(ret, 0, LABEL_LEN + 1);
	managed_view_copy(view, addr, ret, len);
	if (len < LABEL_LEN && !memchr(ret, '\0', len))
		managed_view_copy(view, addr + len, ret + len, LABEL_LEN - len);
	for (char *c = ret; *c; c++) {
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	}
}

/* The head of the blob at @start: what tells it from others. */
static bool read_head(const struct hotspot *h, struct managed_view *view, uint64_t start, struct blob *ret)
{
	const uint64_t *at = h->layout.at;
	struct blob b = { .start = start };
	char label[LABEL_LEN + 1];

	b.name = managed_view_u64(view, start + at[BLOB_NAME]);
	b.frame_words = managed_view_u32(view, start + at[BLOB_FRAME_SIZE]);
	if (b.frame_words == NO_FRAME_SIZE)
		b.frame_words = 0;
	if (!read_code_range(h, view, &b))
		return false;
	read_label(view, b.name, label);
	b.kind = kind_of(label);
	if (b.kind == BLOB_METHOD) {
		b.method = managed_view_u64(view, start + at[NMETHOD_METHOD]);
		b.compile_id = managed_view_u32(view, start + at[NMETHOD_COMPILE_ID]);
	}
	if (view->failed || b.frame_words > FRAME_WORDS_MAX)
		return false;
	b.label = memory_strdup(label);
	b.is_fresh = true;
	*ret = b;
	return true;
}

static bool is_same(const struct blob *a, const struct blob *b)
{
	return a->name == b->name && a->code == b->code && a->code_end == b->code_end && a->method == b->method &&
	       a->compile_id == b->compile_id && a->frame_words == b->frame_words;
}

/* It is new here: say what code it is. */
static bool announce(struct hotspot *h, struct managed_view *view, struct blob *b, struct writer *out)
{
	uint32_t method;

	if (b->kind == BLOB_METHOD) {
		if (!hotspot_methods_get(&h->methods, view, b->method, out, &method))
			return false;
		free(b->label);
		b->label = memory_strdup(h->methods.items.items[method].name);
	}
	jitdump_put_known(out, b->code, b->code_end - b->code, *b->label ? b->label : "[code]");
	return true;
}

/* Another one, or none, is there; it was until @until_ns. */
static void retire(struct blob *b, uint64_t until_ns, struct writer *out)
{
	size_t begin = out->len;

	b->is_gone = true;
	jitdump_put_gone(out, b->code, b->code_end - b->code);
	jitdump_set_times(out, begin, 0, MAX(until_ns, 1));
}

static uint64_t in_use_since(struct hotspot *h, struct managed_view *view, const struct blob *b)
{
	const struct heap *heap = heap_at(h, view, b->start);

	return heap ? hotspot_quiet_since(&h->quiet, (size_t)(heap - h->heaps), b->start - h->layout.block_size, b->code_end) :
		      h->quiet.looked_ns;
}

/* The blob around @ip, as it is now; NULL if there is none. Valid until the next call. */
static struct blob *get_blob(struct hotspot *h, struct managed_view *view, uint64_t ip, struct writer *out)
{
	uint64_t start = find_blob(h, view, ip), *slot = start ? map_get(&h->blobs, start) : NULL;
	struct blob *old = slot ? &h->items.items[*slot] : NULL, now;

	if (!start || !read_head(h, view, start, &now))
		return NULL;
	if (old && !old->is_gone && is_same(old, &now)) {
		blob_deinit(&now);
		return old;
	}
	/* The interpreter and the stubs are made with the machine and are never freed. */
	now.from_ns = now.kind == BLOB_INTERPRETER || now.kind == BLOB_STUBS ? 1 : in_use_since(h, view, &now);
	if (old && !old->is_gone)
		retire(old, h->checked_ns, out);
	if ((!old && h->items.len >= BLOBS_MAX) || !announce(h, view, &now, out)) {
		blob_deinit(&now);
		return NULL;
	}
	h->labels_len += strlen(now.label) + 1 - (old ? strlen(old->label) + 1 : 0);
	if (!old) {
		*map_put(&h->blobs, start, NULL) = h->items.len;
		vec_push(&h->items, now);
		return &h->items.items[h->items.len - 1];
	}
	h->scopes_len -= old->pcs_len + old->scopes_len;
	blob_deinit(old);
	*old = now;
	return old;
}

/* ---- what is gone ---------------------------------------------------------------------------------- */

/* Another blob, or none, is where @b was. */
static bool is_gone(struct hotspot *h, struct managed_view *view, const struct blob *b)
{
	struct blob now;
	bool same;

	if (find_blob(h, view, b->code) != b->start || !read_head(h, view, b->start, &now))
		return true;
	same = is_same(b, &now);
	blob_deinit(&now);
	return !same;
}

/* Look whether something may have been freed since the last look: up to that, all that was known was there if it was at the look before. */
static bool look_around(struct hotspot *h, struct managed_view *view)
{
	uint64_t before_ns = h->quiet.looked_ns;
	bool freed = hotspot_quiet_look(&h->quiet, view);

	if (!h->changed && !h->comparing)
		h->checked_ns = freed ? before_ns : h->quiet.looked_ns;
	h->changed = h->changed || freed;
	return freed;
}

/* What of a blob's head changes when it is another one, as it is in memory: enough to see that none is. */
struct mark {
	uint64_t name, method;
	uint32_t compile_id;
	bool used;
};

static size_t mark_len(const struct hotspot *h)
{
	const uint64_t *at = h->layout.at;
	size_t end = (size_t)MAX(at[BLOB_NAME], MAX(at[NMETHOD_METHOD], at[NMETHOD_COMPILE_ID]));

	return (size_t)h->layout.block_size + end + 8;
}

static bool has_mark(const struct hotspot *h, const struct blob *b, const uint8_t *bytes)
{
	const uint64_t *at = h->layout.at;
	const uint8_t *head = bytes + h->layout.block_size;

	if (!bytes[at[BLOCK_USED]] || managed_word(head, at[BLOB_NAME]) != b->name)
		return false;
	return b->kind != BLOB_METHOD || (managed_word(head, at[NMETHOD_METHOD]) == b->method &&
					  (uint32_t)managed_word(head, at[NMETHOD_COMPILE_ID]) == b->compile_id);
}

/* Look at the next blobs' marks, with one call; closer at those that differ. */
static void compare_some(struct hotspot *h, struct managed_view *view, struct writer *out)
{
	struct task_memory_piece pieces[MARKS_MAX];
	size_t len = mark_len(h), first = h->compared, count = MIN(h->items.len - first, (size_t)MARKS_MAX);
	uint8_t *bytes = memory_alloc(MARKS_MAX * MARK_LEN_MAX);

	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct task_memory_piece){ h->items.items[first + i].start - h->layout.block_size, bytes + i * MARK_LEN_MAX,
							MIN(len, (size_t)MARK_LEN_MAX), 0 };
	view->read(view->context, pieces, count);
	view->reads += (unsigned)count / 8 + 1;
	for (size_t i = 0; i < count && !view->failed; i++, h->compared++) {
		struct blob *b = &h->items.items[first + i];

		if (b->is_gone || (len <= MARK_LEN_MAX && pieces[i].got == len && has_mark(h, b, bytes + i * MARK_LEN_MAX)))
			continue;
		bool gone = is_gone(h, view, b);

		/* With a view of its own it cannot be read either: not for want of time, but because it is not there. */
		if (view->failed && h->unread != h->compared + 1) {
			h->unread = h->compared + 1;
			break;
		}
		if (gone || view->failed)
			retire(b, h->checked_ns, out);
	}
	free(bytes);
}

void hotspot_watch(struct hotspot *h, struct managed_view *view)
{
	look_around(h, view);
}

bool hotspot_compare(struct hotspot *h, struct managed_view *view, struct writer *out)
{
	if (!h->nheaps)
		read_heaps(h, view);
	look_around(h, view);
	h->methods.seen_ns = h->checked_ns;
	if (h->quiet.unloads && hotspot_quiet_loaders(&h->quiet, view))
		hotspot_methods_retire_others(&h->methods, &h->quiet.loaders, out);
	if (!h->comparing) {
		h->compared = h->changed ? 0 : SIZE_MAX;
		h->methods_compared = h->changed || !h->quiet.unloaded_at ? 0 : SIZE_MAX;
		h->begun_ns = h->quiet.looked_ns;
		h->changed = false;
	}
	h->comparing = true;
	while (h->compared < h->items.len && !view->failed)
		compare_some(h, view, out);
	h->comparing = view->failed || !hotspot_methods_compare(&h->methods, view, &h->methods_compared, out);
	if (!h->comparing)
		h->checked_ns = h->begun_ns;
	return !h->comparing;
}

uint64_t hotspot_checked_ns(const struct hotspot *h)
{
	return h->checked_ns;
}

/* ---- scopes ---------------------------------------------------------------------------------------- */

/* Where a method's tables are: [pcs, pcs_end), [scopes, scopes_end), and its metadata. */
struct tables {
	uint64_t pcs, pcs_end, scopes, scopes_end, metadata, metadata_end;
};

static bool find_tables(const struct hotspot *h, struct managed_view *view, const struct blob *b, struct tables *ret)
{
	const uint64_t *at = h->layout.at;
	const bool *has = h->layout.has;
	uint64_t start = b->start;

	if (has[NMETHOD_METADATA] && has[NMETHOD_SCOPES_DATA_BEGIN] && has[NMETHOD_SCOPES_PCS] && has[NMETHOD_DEPENDENCIES]) {
		ret->pcs = start + managed_view_u32(view, start + at[NMETHOD_SCOPES_PCS]);
		ret->pcs_end = start + managed_view_u32(view, start + at[NMETHOD_DEPENDENCIES]);
		ret->scopes = managed_view_u64(view, start + at[NMETHOD_SCOPES_DATA_BEGIN]);
		ret->scopes_end = ret->pcs;
		ret->metadata = start + managed_view_u32(view, start + at[NMETHOD_METADATA]);
		ret->metadata_end = ret->scopes;
		return !view->failed;
	}
	if (!has[NMETHOD_IMMUTABLE_DATA] || !has[NMETHOD_IMMUTABLE_DATA_SIZE] || !has[NMETHOD_SCOPES_DATA] ||
	    !has[NMETHOD_SCOPES_PCS] || !has[BLOB_MUTABLE_DATA] || !has[BLOB_MUTABLE_DATA_SIZE] || !has[BLOB_RELOCATION_SIZE])
		return false;
	uint64_t data = managed_view_u64(view, start + at[NMETHOD_IMMUTABLE_DATA]);
	uint64_t mutable = managed_view_u64(view, start + at[BLOB_MUTABLE_DATA]);

	ret->pcs = data + managed_view_u32(view, start + at[NMETHOD_SCOPES_PCS]);
	ret->pcs_end = ret->scopes = data + managed_view_u32(view, start + at[NMETHOD_SCOPES_DATA]);
	ret->scopes_end = data + managed_view_u32(view, start + at[NMETHOD_IMMUTABLE_DATA_SIZE]);
	ret->metadata = mutable + managed_view_u32(view, start + at[BLOB_RELOCATION_SIZE]);
	ret->metadata_end = mutable + managed_view_u32(view, start + at[BLOB_MUTABLE_DATA_SIZE]);
	return !view->failed;
}

static uint8_t *read_table(struct managed_view *view, uint64_t begin, uint64_t end, size_t *ret_len)
{
	uint64_t len = end - begin;
	uint8_t *bytes;

	if (begin >= end || len > SCOPES_LEN_MAX)
		return NULL;
	bytes = memory_alloc((size_t)len);
	if (!managed_view_try(view, begin, bytes, (size_t)len)) {
		free(bytes);
		return NULL;
	}
	*ret_len = (size_t)len;
	return bytes;
}

static void read_scopes(struct hotspot *h, struct managed_view *view, struct blob *b)
{
	struct tables t;

	if (b->scopes_tries >= SCOPES_TRIES || h->scopes_len > SCOPES_KEPT_MAX)
		return;
	b->scopes_tries++;
	if (!find_tables(h, view, b, &t))
		return;
	b->pcs = read_table(view, t.pcs, t.pcs_end, &b->pcs_len);
	b->scopes = b->pcs ? read_table(view, t.scopes, t.scopes_end, &b->scopes_len) : NULL;
	if (!b->scopes) {
		free(b->pcs);
		b->pcs = NULL;
		b->pcs_len = 0;
		return;
	}
	b->scopes_tries = SCOPES_TRIES;
	b->metadata = t.metadata;
	b->metadata_end = MAX(t.metadata, t.metadata_end);
	h->scopes_len += b->pcs_len + b->scopes_len;
}

static int32_t int_at(const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static int32_t scope_at(const struct hotspot *h, const struct blob *b, size_t entry)
{
	return int_at(b->pcs + entry * h->layout.pc_desc_size + 4);
}

/*
 * Where the scopes of @ip begin; 0 if that is not known. A return address has an entry of its own. Where a method is interrupted, the entry
 * of the next place that has one holds, as the machine itself does it (JavaThread::pd_last_frame, frame::is_interpreted_frame); behind the
 * last one, as where a method returns, the machine knows no line, and the place before is the closest.
 */
static uint32_t scope_of(const struct hotspot *h, const struct blob *b, uint64_t ip, enum hotspot_use use)
{
	size_t size = h->layout.pc_desc_size, count = b->pcs_len / size;
	int64_t offset = (int64_t)(ip - b->code) + (use == HOTSPOT_LEAF);
	/* The first entry at @offset or above. */
	size_t at = BISECT(count, i, int_at(b->pcs + i * size) < offset);

	if (use == HOTSPOT_CALLER && (at == count || int_at(b->pcs + at * size) != offset))
		return 0;
	if (use == HOTSPOT_LEAF && (at == count || scope_at(h, b, at) <= 0)) {
		while (at && scope_at(h, b, at - 1) <= 0)
			at--;
		at--; /* SIZE_MAX where there is none */
	}
	return at < count && scope_at(h, b, at) > 0 ? (uint32_t)scope_at(h, b, at) : 0;
}

static bool method_of_scope(struct hotspot *h, struct managed_view *view, const struct blob *b, uint32_t index,
			    struct writer *out, uint32_t *ret)
{
	uint64_t slot = b->metadata + 8ULL * (index - 1);

	return index && slot < b->metadata_end &&
	       hotspot_methods_get(&h->methods, view, managed_view_u64(view, slot), out, ret);
}

/* The methods at @ip, innermost first. */
static uint32_t read_calls(struct hotspot *h, struct managed_view *view, const struct blob *b, uint32_t scope,
			   struct writer *out, struct jitdump_call ret[CALLS_MAX])
{
	unsigned jdk = h->layout.jdk;
	uint32_t count = 0;

	while (scope && scope < b->scopes_len && count < CALLS_MAX) {
		size_t pos = scope;
		uint32_t sender = hotspot_unsigned5(b->scopes, b->scopes_len, &pos, jdk);
		uint32_t index = hotspot_unsigned5(b->scopes, b->scopes_len, &pos, jdk);
		uint32_t bci = hotspot_unsigned5(b->scopes, b->scopes_len, &pos, jdk), method;

		if (sender >= scope || !method_of_scope(h, view, b, index, out, &method))
			return 0;
		/* The number before the first bytecode: the method is being entered. */
		ret[count++] = (struct jitdump_call){ method, hotspot_methods_line(&h->methods, method, bci ? bci - 1 : 0) };
		scope = sender;
	}
	return scope ? 0 : count;
}

/* The method alone, where it begins: no more is known of its code. */
static uint32_t entered_method(struct hotspot *h, struct managed_view *view, const struct blob *b, struct writer *out,
			       struct jitdump_call ret[CALLS_MAX])
{
	uint32_t method;

	if (!hotspot_methods_get(&h->methods, view, b->method, out, &method))
		return 0;
	ret[0] = (struct jitdump_call){ method, hotspot_methods_line(&h->methods, method, 0) };
	return 1;
}

/* ---- addresses ------------------------------------------------------------------------------------- */

static enum jitdump_frame leaf_frame(struct managed_view *view, const struct blob *b, uint64_t ip, uint32_t *len)
{
	uint8_t near[2 * NEAR_LEN];
	size_t at = (size_t)(ip - b->code), code_len = (size_t)(b->code_end - b->code), end;

	end = MIN(code_len, (size_t)NEAR_LEN);
	if (!managed_view_try(view, b->code, near, end))
		return JITDUMP_FRAME_UNKNOWN;
	if (at + 32 <= end || end == code_len)
		return hotspot_frame_at(near, end, at, len);
	/* Not in the prologue: the code around the address will do, as it begins behind it. */
	size_t begin = at - 64;

	end = MIN(code_len, at + 64);
	if (!managed_view_try(view, b->code + begin, near, end - begin))
		return JITDUMP_FRAME_UNKNOWN;
	return hotspot_frame_at(near, end - begin, at - begin, len);
}

/*
 * Does nothing return to @ip, since the frame is not there or not whole? Words on the stack may be such addresses: where a method
 * polls for a safepoint at its end, for one, the handler has it. As a caller's it would be taken for its instruction before.
 */
static bool is_no_return(struct managed_view *view, const struct blob *b, uint64_t ip)
{
	uint32_t whole = 8 * b->frame_words, len = whole;

	if (b->kind != BLOB_METHOD || b->frame_words < 2 || arch_native() != &arch_x86_64)
		return false;
	enum jitdump_frame frame = leaf_frame(view, b, ip, &len);

	return frame == JITDUMP_FRAME_NOT_SAVED || (frame == JITDUMP_FRAME_SAVED && len != whole);
}

static bool is_in_barrier(struct managed_view *view, const struct blob *b, uint64_t ip)
{
	uint8_t before[BARRIER_LEN];
	size_t len = (size_t)MIN(ip - b->code, sizeof(before));

	return managed_view_try(view, ip - len, before, len) && hotspot_frame_is_barrier(before, len);
}

static enum jitdump_frame frame_of(struct managed_view *view, const struct blob *b, uint64_t ip, enum hotspot_use use,
				   uint32_t *ret_len)
{
	*ret_len = 8 * b->frame_words;
	if (arch_native() != &arch_x86_64)
		return JITDUMP_FRAME_UNKNOWN;
	if (b->kind == BLOB_INTERPRETER)
		return JITDUMP_FRAME_INTERPRETER;
	if (b->kind == BLOB_BARE && use == HOTSPOT_LEAF) {
		*ret_len = 8;
		return JITDUMP_FRAME_NOT_SAVED;
	}
	if (b->kind == BLOB_STUBS && is_in_barrier(view, b, ip)) {
		*ret_len = HOTSPOT_FRAME_BARRIER;
		return JITDUMP_FRAME_POINTED;
	}
	if (b->kind == BLOB_STUBS || b->kind == BLOB_BARE || b->frame_words < 2)
		return JITDUMP_FRAME_UNKNOWN;
	if (use == HOTSPOT_CALLER)
		return JITDUMP_FRAME_SAVED;
	return b->kind == BLOB_METHOD ? leaf_frame(view, b, ip, ret_len) : JITDUMP_FRAME_UNKNOWN;
}

/* Is there a call in front of @ip? False if that cannot be read. */
static bool find_call(struct managed_view *view, const struct blob *b, uint64_t ip, bool *ret)
{
	uint8_t before[CALL_LEN_MAX];
	size_t len = (size_t)MIN(ip - b->code, sizeof(before));

	if (!managed_view_try(view, ip - len, before, len))
		return false;
	*ret = arch_native()->ends_with_call(before, len);
	return true;
}

/*
 * What a method has pushed to call a stub of the machine (C1: whether a class is another's subclass), in bytes. Java's own calls, which
 * tables know, push nothing.
 */
static uint32_t pushed_for_call(const struct hotspot *h, struct managed_view *view, const struct blob *b, uint64_t ip)
{
	uint8_t code[PUSHED_LEN];
	size_t len = (size_t)MIN(b->code_end - ip, sizeof(code));
	bool is_call;

	if (b->kind != BLOB_METHOD || scope_of(h, b, ip, HOTSPOT_CALLER) || !find_call(view, b, ip, &is_call) || !is_call || !managed_view_try(view, ip, code, len))
		return 0;
	return 8 * hotspot_frame_pushed(code, len);
}

/*
 * The methods at @ip. Calls of stubs (to copy, compare, hash) have no entry of their own, since no thread stops in them: the machine's rule
 * for interrupted methods holds.
 */
static uint32_t calls_at(struct hotspot *h, struct managed_view *view, const struct blob *b, uint64_t ip, enum hotspot_use use,
			 struct writer *out, struct jitdump_call ret[CALLS_MAX])
{
	uint32_t count = read_calls(h, view, b, scope_of(h, b, ip, use), out, ret);
	bool is_call;

	if (count)
		return count;
	if (use == HOTSPOT_LEAF)
		return entered_method(h, view, b, out, ret);
	if (!b->pcs || !find_call(view, b, ip, &is_call) || !is_call)
		return 0;
	return read_calls(h, view, b, scope_of(h, b, ip - 1, HOTSPOT_LEAF), out, ret);
}

/*
 * Is @ip where a virtual thread's outermost frame on this stack returns to, while its callers lie in the heap (JDK 21 and later)? It begins a
 * stub and is no return address otherwise: the stubs beside it, which call to move frames there and back, are returned to behind a call.
 */
static bool is_frozen(struct managed_view *view, const struct blob *b, uint64_t ip)
{
	static const char label[] = "StubRoutines (continuation";
	bool is_call;

	return strncmp(b->label, label, strlen(label)) == 0 && find_call(view, b, ip, &is_call) && !is_call;
}

/* A function that is called by the stub, which as the outermost one has the name of its code. */
static uint32_t frozen_calls(struct hotspot *h, struct writer *out, struct jitdump_call ret[CALLS_MAX])
{
	if (!h->knows_frozen)
		jitdump_put_function(out, FROZEN, "[frozen]", "", /* line= */ 0);
	h->knows_frozen = true;
	ret[0] = ret[1] = (struct jitdump_call){ FROZEN, 0 };
	return 2;
}

/* Of methods that are executed again and again, for annotate; of code whose frame nothing else tells, at once. */
static bool wants_code(struct blob *b, enum hotspot_use use)
{
	if (b->kind == BLOB_METHOD)
		return use == HOTSPOT_LEAF && ++b->leaves >= CODE_LEAVES;
	return b->kind == BLOB_OTHER && (use == HOTSPOT_LEAF || !b->frame_words);
}

static void put_code(const struct hotspot *h, struct managed_view *view, struct blob *b, enum hotspot_use use,
		     struct writer *out)
{
	size_t len = (size_t)(b->code_end - b->code);

	if (b->has_code || len > CODE_LEN_MAX || !wants_code(b, use))
		return;
	b->has_code = true;
	uint8_t *code = memory_alloc(len);

	if (managed_view_try(view, b->code, code, len))
		jitdump_put_load(out, h->inner_pid, b->code, b->label, code, len);
	free(code);
}

/*
 * Stubs are hand-written, and many have frames of their own (of hashes and ciphers, with the frame pointer in use): what the code still
 * does to the stack tells how they end. It does not change.
 */
static void put_stub(struct hotspot *h, struct managed_view *view, const struct blob *b, uint64_t ip, struct writer *out)
{
	uint8_t code[MANAGED_PAGE_LEN];

	for (uint64_t page = ip / MANAGED_PAGE_LEN; page < ip / MANAGED_PAGE_LEN + STUB_PAGES; page++) {
		uint64_t begin = MAX(b->code, page * MANAGED_PAGE_LEN), end = MIN(b->code_end, (page + 1) * MANAGED_PAGE_LEN);

		if (begin >= end || h->stub_pages.len >= STUB_PAGES_MAX || map_get(&h->stub_pages, page) ||
		    !managed_view_try(view, begin, code, (size_t)(end - begin)))
			continue;
		map_put(&h->stub_pages, page, NULL);
		jitdump_put_bytes(out, begin, code, (size_t)(end - begin));
	}
}

static bool look(struct hotspot *h, struct managed_view *view, uint64_t ip, enum hotspot_use use, struct writer *out,
		 struct blob **ret)
{
	struct jitdump_call calls[CALLS_MAX];
	struct blob *b = get_blob(h, view, ip, out);
	uint32_t count = 0, len;

	*ret = b; /* even without a place in it: it may have been announced */
	if (!b || ip < b->code || ip >= b->code_end + (use == HOTSPOT_CALLER))
		return false;
	if (use == HOTSPOT_CALLER && is_no_return(view, b, ip))
		return false;
	if (b->kind == BLOB_INTERPRETER) {
		h->interpreter = b->code;
		h->interpreter_end = b->code_end;
	}
	if (b->kind == BLOB_METHOD) {
		read_scopes(h, view, b);
		count = calls_at(h, view, b, ip, use, out, calls);
	}
	if (b->kind == BLOB_STUBS && use == HOTSPOT_CALLER && is_frozen(view, b, ip))
		count = frozen_calls(h, out, calls);
	enum jitdump_frame frame = frame_of(view, b, ip, use, &len);

	if (use == HOTSPOT_CALLER && frame == JITDUMP_FRAME_SAVED)
		len += pushed_for_call(h, view, b, ip);

	jitdump_put_place(out, ip - (use == HOTSPOT_CALLER), frame, len, calls, count);
	put_code(h, view, b, use, out);
	if (b->kind == BLOB_STUBS && use == HOTSPOT_LEAF)
		put_stub(h, view, b, ip, out);
	return true;
}

bool hotspot_look(struct hotspot *h, struct managed_view *view, uint64_t ip, enum hotspot_use use, struct writer *out)
{
	size_t begin = out->len;
	struct blob *b = NULL;

	h->methods.seen_ns = h->checked_ns;
	bool found = look(h, view, ip, use, out, &b);

	if (b)
		jitdump_set_times(out, begin, b->from_ns, b->from_ns);
	/*
	 * What was freed meanwhile may have been read in part: it holds for no time, and is read anew when it is met again. What was known
	 * before holds until it was last seen.
	 */
	if (look_around(h, view) && b && in_use_since(h, view, b) > b->from_ns)
		retire(b, b->is_fresh ? b->from_ns : h->methods.seen_ns, out);
	if (b)
		b->is_fresh = false;
	return found;
}

static bool look_bytecode(struct hotspot *h, struct managed_view *view, uint64_t bytecode, uint64_t method,
			  struct writer *out, struct hotspot_method **ret)
{
	struct hotspot_method *m;
	uint32_t number;

	if (!hotspot_methods_get(&h->methods, view, method, out, &number))
		return false;
	m = &h->methods.items.items[number];
	/* A native method has no bytecode: itself stands for it. */
	if (!m->bytecode_len) {
		m->bytecode = method;
		m->bytecode_len = sizeof(method);
	}
	if (bytecode < m->bytecode || bytecode - m->bytecode >= m->bytecode_len)
		return false;
	struct jitdump_call call = {
		number, hotspot_methods_line(&h->methods, number, (uint32_t)(bytecode - m->bytecode))
	};

	if (!m->is_known)
		jitdump_put_known(out, m->bytecode, m->bytecode_len, m->name);
	m->is_known = true;
	jitdump_put_place(out, bytecode, JITDUMP_FRAME_UNKNOWN, 0, &call, 1);
	*ret = m;
	return true;
}

bool hotspot_is_late(const struct hotspot *h, uint64_t time_ns)
{
	return time_ns < h->quiet.classes_since_ns;
}

bool hotspot_look_bytecode(struct hotspot *h, struct managed_view *view, uint64_t bytecode, uint64_t method,
			   struct writer *out)
{
	size_t begin = out->len;
	struct hotspot_method *m = NULL;

	if (!h->quiet.looked_ns)
		read_heaps(h, view);
	uint64_t since_ns = h->quiet.classes_since_ns;
	size_t nknown = h->methods.items.len;

	h->methods.seen_ns = h->checked_ns;
	bool found = look_bytecode(h, view, bytecode, method, out, &m);

	jitdump_set_times(out, begin, since_ns, since_ns);
	look_around(h, view);
	/* As above, when classes were unloaded. What is freed in a code heap is no bytecode. */
	if (m && h->quiet.classes_since_ns > since_ns) {
		h->methods.seen_ns = m >= h->methods.items.items + nknown ? since_ns : h->methods.seen_ns;
		hotspot_methods_retire(&h->methods, m, out);
	}
	return found;
}

/* Before any address in it is met: the machine says where it made it. */
static void find_interpreter(struct hotspot *h, struct managed_view *view)
{
	const uint64_t *at = h->layout.at;

	if (!h->layout.has[INTERPRETER_CODE] || !h->layout.has[QUEUE_BUFFER] || !h->layout.has[QUEUE_LIMIT])
		return;
	uint64_t queue = managed_view_u64(view, at[INTERPRETER_CODE]);
	uint64_t start = queue ? managed_view_u64(view, queue + at[QUEUE_BUFFER]) : 0;
	uint32_t len = queue ? managed_view_u32(view, queue + at[QUEUE_LIMIT]) : 0;

	if (view->failed || !len || len > BLOB_LEN_MAX || !start || !heap_at(h, view, start))
		return;
	h->interpreter = start;
	h->interpreter_end = start + len;
}

bool hotspot_interpreter(struct hotspot *h, struct managed_view *view, uint64_t *ret_start, uint64_t *ret_len)
{
	if (!h->interpreter)
		find_interpreter(h, view);
	*ret_start = h->interpreter;
	*ret_len = h->interpreter_end - h->interpreter;
	return *ret_len;
}
