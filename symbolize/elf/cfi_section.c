/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_section.c - finds the FDE of an address.
 *
 * .eh_frame_hdr answers nearly every question without touching the rest. It is believed only as far as the
 * FDE it leads to covers the address. The first question it cannot answer has it checked as a whole; if it is
 * not true and complete, both sections are walked into an index of our own, and if that knows better
 * the header is not asked again: a table that lies, is not sorted, or leaves functions out costs time, not a
 * wrong answer.
 */
#include "symbolize/elf/cfi_section.h"

#include "formats/base/bisect.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "symbolize/elf/cfi_record.h"
#include "symbolize/elf/go_table.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDS_MAX      1024 /* marks of an end in a row that are read over; linkers leave one or two between parts */
#define EMPTY_MAX     16   /* entries for no code at all, beside those of the table */
#define HDR_ENTRY_LEN 8 /* two 32-bit numbers, counted from the header's address */
#define HDR_TABLE_S32 (CFI_POINTER_DATA_RELATIVE | CFI_POINTER_S32)

struct entry {
	uint64_t begin, end;
	uint64_t offset;
	bool is_debug;
};

struct index {
	VEC(struct entry) entries; /* ascending, not overlapping at their begins */
};

struct cfi_section {
	struct cfi_bytes eh, debug;
	struct go_table *go; /* NULL: it is no Go program */
	const uint8_t *table; /* of .eh_frame_hdr; NULL if there is none that we can use */
	size_t ntable;
	uint64_t hdr_vaddr;
	bool sampled; /* the table's rows are checked only near what is asked for */

	pthread_mutex_t lock; /* for building the index, and for @defect */
	atomic_bool indexed;  /* @index is complete and will not change */
	atomic_bool doubted;  /* the table was caught lying */
	atomic_bool complete; /* the table has as many entries as .eh_frame has FDEs */
	atomic_bool holes;    /* the index, or who made the image, left out what cannot be read */
	struct index index;
	char defect[160];
	struct image *img; /* is informed of @defect */
};

static void note_args(struct cfi_section *cfi, const char *fmt, va_list args)
{
	if (cfi->defect[0])
		return; /* the first is the cause of most others */
	vsnprintf(cfi->defect, sizeof(cfi->defect), fmt, args);
	image_note_defect(cfi->img, "%s", cfi->defect);
}

PRINTF(2, 3) static void note_defect(struct cfi_section *cfi, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	note_args(cfi, fmt, args);
	va_end(args);
}

/* A defect that costs entries. */
PRINTF(2, 3) static void note_hole(struct cfi_section *cfi, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	note_args(cfi, fmt, args);
	va_end(args);
	atomic_store_explicit(&cfi->holes, true, memory_order_relaxed);
}

/* Take the binary search table of .eh_frame_hdr if it has the one form that linkers write. */
static void read_hdr(struct cfi_section *cfi, const struct image_section *hdr)
{
	struct cfi_pointer_base base = { .start_vaddr = hdr->vaddr, .data_vaddr = hdr->vaddr };
	struct reader r;

	reader_init(&r, hdr->data, hdr->len, /* big_endian= */ false);
	uint8_t version = reader_u8(&r, "version");
	uint8_t section_encoding = reader_u8(&r, "section pointer encoding");
	uint8_t count_encoding = reader_u8(&r, "count encoding");
	uint8_t table_encoding = reader_u8(&r, "table encoding");

	cfi_pointer_skip(&r, section_encoding, "section pointer");
	if (count_encoding == CFI_POINTER_OMITTED || table_encoding != HDR_TABLE_S32)
		return; /* allowed: there is no table then, or not one that ends in a fixed length */
	uint64_t count = cfi_pointer_read(&r, count_encoding, &base, "count");

	if (r.failed || version != 1 || count > reader_left(&r) / HDR_ENTRY_LEN) {
		note_defect(cfi, ".eh_frame_hdr is malformed; .eh_frame was walked instead");
		return;
	}
	cfi->table = r.pos;
	cfi->ntable = (size_t)count;
	cfi->hdr_vaddr = hdr->vaddr;
}

/* What a bundle knows of the original. */
static void take_holes(struct cfi_section *cfi, const struct image_section *holes)
{
	note_hole(cfi, "%.*s", (int)MIN(holes->len, sizeof(cfi->defect)), (const char *)holes->data);
	if (!cfi->defect[0])
		note_hole(cfi, "entries of its unwind table cannot be read");
}

struct cfi_section *cfi_section_new(struct image *img)
{
	struct image_section eh, debug, hdr, holes;
	bool has_eh = image_section(img, ".eh_frame", &eh) && eh.len;
	bool has_debug = image_section(img, ".debug_frame", &debug) && debug.len;
	bool has_holes = image_section(img, CFI_SECTION_HOLES, &holes) && holes.len;
	struct go_table *go = go_table_new(img);
	struct cfi_section *cfi;

	if (!has_eh && !has_debug && !has_holes && !go)
		return NULL;
	cfi = memory_zeroed(1, sizeof(*cfi));
	pthread_mutex_init(&cfi->lock, NULL);
	cfi->img = img;
	cfi->go = go;
	if (has_eh)
		cfi->eh = (struct cfi_bytes){ .data = eh.data,
					      .len = eh.len,
					      .base = { .start_vaddr = eh.vaddr } };
	if (has_debug)
		cfi->debug = (struct cfi_bytes){ .data = debug.data,
						 .len = debug.len,
						 .is_debug = true };
	if (has_eh && image_section(img, ".eh_frame_hdr", &hdr))
		read_hdr(cfi, &hdr);
	if (has_holes)
		take_holes(cfi, &holes);
	return cfi;
}

void cfi_section_free(struct cfi_section *cfi)
{
	if (!cfi)
		return;
	vec_deinit(&cfi->index.entries);
	go_table_free(cfi->go);
	pthread_mutex_destroy(&cfi->lock);
	free(cfi);
}

void cfi_section_check_near(struct cfi_section *cfi)
{
	if (cfi)
		cfi->sampled = true;
}

/* The FDE at @offset with its own CIE. */
static bool fde_at(const struct cfi_bytes *bytes, uint64_t offset, struct cfi_fde *ret)
{
	struct cfi_record rec;
	struct cfi_cie cie;

	return cfi_record_at(bytes, offset, &rec) && !rec.is_end && !rec.is_cie &&
	       cfi_record_cie(bytes, rec.cie_offset, &cie) &&
	       cfi_record_fde(bytes, &rec, &cie, ret);
}

/* Column 0 of row @row of the table is where a function begins, column 1 where its FDE is. */
static uint64_t table_vaddr(const struct cfi_section *cfi, size_t row, size_t column)
{
	struct reader r;

	reader_init(&r, cfi->table + row * HDR_ENTRY_LEN + column * 4, 4, /* big_endian= */ false);
	return cfi->hdr_vaddr + (uint64_t)(int64_t)(int32_t)reader_u32(&r, "table entry");
}

/* The first row that begins after @vaddr. */
static size_t table_row(const struct cfi_section *cfi, uint64_t vaddr)
{
	return BISECT(cfi->ntable, i, table_vaddr(cfi, i, 0) <= vaddr);
}

/* Where the FDE of a row is in its section. */
static uint64_t row_offset(const struct cfi_section *cfi, size_t row)
{
	return table_vaddr(cfi, row, 1) - cfi->eh.base.start_vaddr;
}

static bool find_by_table(const struct cfi_section *cfi, uint64_t vaddr, struct cfi_fde *ret)
{
	size_t row = table_row(cfi, vaddr);

	return row && fde_at(&cfi->eh, row_offset(cfi, row - 1), ret) && vaddr >= ret->begin &&
	       vaddr < ret->end;
}

/* The last CIE that was parsed: those of neighbours are nearly always the same. */
struct cie_cache {
	uint64_t offset;
	bool valid;
	struct cfi_cie cie;
};

static bool cached_cie(struct cie_cache *cache, const struct cfi_bytes *bytes, uint64_t offset)
{
	if (cache->valid && cache->offset == offset)
		return true;
	cache->offset = offset;
	cache->valid = cfi_record_cie(bytes, offset, &cache->cie);
	return cache->valid;
}

/* One record after another; in a sparse file there may be billions of end marks. */
struct walk {
	const struct cfi_bytes *bytes;
	uint64_t offset; /* of the next one */
	size_t nends;    /* marks read in a row */
};

static bool walk_next(struct walk *walk, struct cfi_record *ret)
{
	if (walk->nends > ENDS_MAX || !cfi_record_at(walk->bytes, walk->offset, ret))
		return false;
	walk->nends = ret->is_end ? walk->nends + 1 : 0;
	walk->offset = ret->end;
	return true;
}

/* Append an entry for every sound FDE of @bytes. */
static void walk(struct cfi_section *cfi, const struct cfi_bytes *bytes, struct index *index)
{
	const char *name = bytes->is_debug ? ".debug_frame" : ".eh_frame";
	struct walk records = { .bytes = bytes };
	struct cie_cache cache = { 0 };
	struct cfi_record rec;
	size_t count = 0;

	while (walk_next(&records, &rec)) {
		struct cfi_fde fde;

		if (rec.is_end || rec.is_cie)
			continue;
		count++;
		if (!cached_cie(&cache, bytes, rec.cie_offset) ||
		    !cfi_record_fde(bytes, &rec, &cache.cie, &fde)) {
			note_hole(cfi, "%s has an unusable entry at offset 0x%" PRIx64, name,
				  rec.offset);
			continue;
		}
		if (fde.begin && fde.begin < fde.end) /* linkers leave 0 for code they dropped */
			vec_push(&index->entries,
				 ((struct entry){ fde.begin, fde.end, rec.offset, bytes->is_debug }));
	}
	if (records.offset < bytes->len)
		note_hole(cfi, "%s is malformed from offset 0x%" PRIx64 " on", name, records.offset);
	else if (!bytes->is_debug && count < cfi->ntable)
		note_hole(cfi, ".eh_frame_hdr leads to %zu entries, .eh_frame has %zu", cfi->ntable, count);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return COMPARE(left->offset, right->offset);
}

static void sort_entries(struct index *index)
{
	for (size_t i = 1; i < index->entries.len; i++) {
		if (index->entries.items[i - 1].begin > index->entries.items[i].begin) {
			vec_sort(&index->entries, compare_entries);
			return;
		}
	}
}

/* Merge two sorted lists; where one of @second begins inside one of @first it is left out. */
static void merge(const struct index *first, const struct index *second, struct index *ret)
{
	uint64_t covered = 0; /* by those of @first so far */
	size_t j = 0;

	for (size_t i = 0; i <= first->entries.len; i++) {
		bool last = i == first->entries.len;
		uint64_t begin = last ? UINT64_MAX : first->entries.items[i].begin;

		for (; j < second->entries.len && second->entries.items[j].begin < begin; j++) {
			if (second->entries.items[j].begin >= covered)
				vec_push(&ret->entries, second->entries.items[j]);
		}
		if (last)
			break;
		vec_push(&ret->entries, first->entries.items[i]);
		covered = MAX(covered, first->entries.items[i].end);
	}
}

static void build_index(struct cfi_section *cfi)
{
	struct index eh = { 0 }, debug = { 0 };

	if (cfi->eh.data)
		walk(cfi, &cfi->eh, &eh);
	if (cfi->debug.data)
		walk(cfi, &cfi->debug, &debug);
	sort_entries(&eh);
	sort_entries(&debug);
	merge(&eh, &debug, &cfi->index);
	vec_deinit(&eh.entries);
	vec_deinit(&debug.entries);
}

/* What is logically constant may be computed late: the index is, under the lock. */
static struct cfi_section *late(const struct cfi_section *cfi)
{
	return (struct cfi_section *)(uintptr_t)cfi;
}

static const struct index *get_index(const struct cfi_section *cfi)
{
	struct cfi_section *own = late(cfi);

	if (atomic_load_explicit(&own->indexed, memory_order_acquire))
		return &cfi->index;
	pthread_mutex_lock(&own->lock);
	if (!atomic_load_explicit(&own->indexed, memory_order_relaxed)) {
		build_index(own);
		atomic_store_explicit(&own->indexed, true, memory_order_release);
	}
	pthread_mutex_unlock(&own->lock);
	return &cfi->index;
}

static bool find_by_index(const struct cfi_section *cfi, uint64_t vaddr, struct cfi_fde *ret)
{
	const struct index *index = get_index(cfi);
	const struct entry *entry;
	size_t low = BISECT(index->entries.len, i, index->entries.items[i].begin <= vaddr);

	if (!low)
		return false;
	entry = &index->entries.items[low - 1];
	return vaddr < entry->end &&
	       fde_at(entry->is_debug ? &cfi->debug : &cfi->eh, entry->offset, ret);
}

static void doubt_table(const struct cfi_section *cfi, const struct cfi_fde *fde)
{
	struct cfi_section *own = late(cfi);

	if (fde->from_debug_frame || fde->from_go)
		return; /* the header is not expected to know it */
	pthread_mutex_lock(&own->lock);
	atomic_store_explicit(&own->doubted, true, memory_order_relaxed);
	note_defect(own, ".eh_frame_hdr does not lead to the entry for 0x%" PRIx64, fde->begin);
	pthread_mutex_unlock(&own->lock);
}

/* Are the table's rows in order, and each leads to an FDE that begins where the row says? */
static bool rows_are_true(const struct cfi_section *cfi)
{
	struct cie_cache cache = { 0 };
	uint64_t last = 0;

	for (size_t row = 0; row < cfi->ntable; row++) {
		uint64_t begin = table_vaddr(cfi, row, 0);
		struct cfi_record rec;
		struct cfi_fde fde;

		if (row && begin <= last)
			return false;
		if (!cfi_record_at(&cfi->eh, row_offset(cfi, row), &rec) || rec.is_end ||
		    rec.is_cie || !cached_cie(&cache, &cfi->eh, rec.cie_offset) ||
		    !cfi_record_fde(&cfi->eh, &rec, &cache.cie, &fde) || fde.begin != begin)
			return false;
		last = begin;
	}
	return true;
}

/* Do the rows on both sides of @vaddr tell the truth? */
static bool rows_are_true_near(const struct cfi_section *cfi, uint64_t vaddr)
{
	size_t next = table_row(cfi, vaddr);

	for (size_t row = next ? next - 1 : 0; row <= next && row < cfi->ntable; row++) {
		struct cfi_fde fde;

		if (!fde_at(&cfi->eh, row_offset(cfi, row), &fde) ||
		    fde.begin != table_vaddr(cfi, row, 0))
			return false;
	}
	return true;
}

/* Does .eh_frame have as many FDEs as there are rows? Linkers make none for those that cover nothing. */
static bool count_is_true(const struct cfi_section *cfi)
{
	size_t count = cfi_record_count_fdes(&cfi->eh, ENDS_MAX), empty = 0;
	struct walk records = { .bytes = &cfi->eh };
	struct cie_cache cache = { 0 };
	struct cfi_record rec;
	struct cfi_fde fde;

	if (count <= cfi->ntable || count - cfi->ntable > EMPTY_MAX)
		return count == cfi->ntable;
	while (walk_next(&records, &rec))
		empty += !rec.is_end && !rec.is_cie && cached_cie(&cache, &cfi->eh, rec.cie_offset) &&
			 cfi_record_fde(&cfi->eh, &rec, &cache.cie, &fde) && fde.begin == fde.end;
	return count == cfi->ntable + empty;
}

/* Less lies between functions as padding. */
#define ALIGNMENT 16

/* Does @vaddr lie in padding, between functions whose rows, both true, follow one another? */
static bool is_in_padding(const struct cfi_section *cfi, uint64_t vaddr)
{
	size_t next = table_row(cfi, vaddr);
	struct cfi_fde fde;

	return next && next < cfi->ntable && fde_at(&cfi->eh, row_offset(cfi, next - 1), &fde) &&
	       table_vaddr(cfi, next, 0) - fde.end < ALIGNMENT;
}

/*
 * The table has nothing for an address: is that the truth? If its rows are true and as many as there are
 * FDEs, and there is no other section, it is. To find that out takes a third of the time that an index does.
 */
static bool is_complete(const struct cfi_section *cfi, uint64_t vaddr)
{
	struct cfi_section *own = late(cfi);

	if (cfi->sampled && !rows_are_true_near(cfi, vaddr))
		return false;
	if (atomic_load_explicit(&own->complete, memory_order_relaxed))
		return true;
	if (cfi->debug.data || atomic_load_explicit(&own->indexed, memory_order_acquire))
		return false;
	if (cfi->sampled && is_in_padding(cfi, vaddr))
		return true;
	if (!count_is_true(cfi) || (!cfi->sampled && !rows_are_true(cfi)))
		return false;
	atomic_store_explicit(&own->complete, true, memory_order_relaxed);
	return true;
}

static bool find_in_sections(const struct cfi_section *cfi, uint64_t vaddr, struct cfi_fde *ret)
{
	bool by_table =
		cfi->table && !atomic_load_explicit(&late(cfi)->doubted, memory_order_relaxed);
	struct cfi_fde fde;

	if (by_table && find_by_table(cfi, vaddr, &fde)) {
		*ret = fde;
		return true;
	}
	if (by_table && is_complete(cfi, vaddr))
		return false;
	if (!find_by_index(cfi, vaddr, &fde))
		return false;
	if (by_table)
		doubt_table(cfi, &fde);
	*ret = fde;
	return true;
}

bool cfi_section_find(const struct cfi_section *cfi, uint64_t vaddr, struct cfi_fde *ret)
{
	size_t function;

	return find_in_sections(cfi, vaddr, ret) ||
	       (cfi->go && go_table_find(cfi->go, vaddr, &function) && go_table_fde(cfi->go, function, ret) &&
		vaddr < ret->end);
}

/* Function @number of Go's table, if the sections do not cover it. */
static bool go_only(const struct cfi_section *cfi, size_t number, struct cfi_fde *ret)
{
	struct go_function f;
	struct cfi_fde covered;

	return go_table_function(cfi->go, number, &f) && !find_in_sections(cfi, f.begin, &covered) &&
	       go_table_fde(cfi->go, number, ret);
}

bool cfi_section_each(const struct cfi_section *cfi, size_t *pos, struct cfi_fde *ret)
{
	const struct index *index = get_index(cfi);
	size_t all = index->entries.len + (cfi->go ? go_table_count(cfi->go) : 0);

	while (*pos < index->entries.len) {
		const struct entry *entry = &index->entries.items[(*pos)++];

		if (fde_at(entry->is_debug ? &cfi->debug : &cfi->eh, entry->offset, ret))
			return true;
	}
	while (*pos < all) {
		if (go_only(cfi, (*pos)++ - index->entries.len, ret))
			return true;
	}
	return false;
}

/* The first sound one in @bytes that covers code. */
static bool first_of(const struct cfi_bytes *bytes, struct cfi_fde *ret)
{
	struct walk records = { .bytes = bytes };
	struct cfi_record rec;

	while (bytes->data && walk_next(&records, &rec)) {
		if (fde_at(bytes, rec.offset, ret) && ret->begin && ret->begin < ret->end)
			return true;
	}
	return false;
}

bool cfi_section_any(const struct cfi_section *cfi, struct cfi_fde *ret)
{
	size_t count = cfi->go ? go_table_count(cfi->go) : 0;

	if (first_of(&cfi->eh, ret) || first_of(&cfi->debug, ret))
		return true;
	for (size_t i = 0; i < count; i++) {
		if (go_table_fde(cfi->go, i, ret))
			return true;
	}
	return false;
}

const char *cfi_section_defect(const struct cfi_section *cfi)
{
	bool any;

	pthread_mutex_lock(&late(cfi)->lock);
	any = cfi->defect[0];
	pthread_mutex_unlock(&late(cfi)->lock);
	return any ? cfi->defect : NULL; /* once there, it stays as it is */
}

bool cfi_section_has_holes(const struct cfi_section *cfi)
{
	return atomic_load_explicit(&late(cfi)->holes, memory_order_relaxed);
}

void cfi_section_note_malformed(const struct cfi_section *cfi)
{
	pthread_mutex_lock(&late(cfi)->lock);
	note_defect(late(cfi), "its unwind table has instructions that cannot be followed");
	pthread_mutex_unlock(&late(cfi)->lock);
}
