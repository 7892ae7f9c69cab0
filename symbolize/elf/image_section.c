/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_section.c - an image's bytes: by section, decompressed where need be, and by address.
 */
#include "symbolize/elf/image_parts.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/zframe.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define CHDR_LEN          24 /* Elf64_Chdr */
#define LEGACY_HEADER_LEN 12 /* "ZLIB" and the length, big-endian */

#define SECTION_LEN_MAX   (4ULL << 30)
/* zlib expands at most 1032 times, zstd about 32,768 times (one block of 128 KiB in 4 bytes). */
#define EXPANSION_MAX 33000

/* Mappings begin on a page; these are the sizes that the architectures here have. */
#define PAGE_LEN_MIN 0x1000ULL
#define PAGE_LEN_MAX 0x10000ULL

/* What may be in memory of a file's pages. Less costs time: what is needed again is mapped again. */
#define PASSED_MAX (48ULL << 20)

/*
 * Debug information packs three to ten times. A few sections of zeros may do better; all together that makes
 * no hundreds of times what the file takes up, holes not counted. What a trace embeds is not compressed at all, and
 * there may be thousands of images in it, so that each gets little.
 */
#define UNPACKED_MIN  (16ULL << 20)
#define UNPACKED_RATE 200

/* Is @len what @packed bytes can hold, and within what a file's sections may come to? Counts it if so. */
static bool expansion_is_sane(struct image *img, uint64_t packed, uint64_t len)
{
	uint64_t stored = MIN(img->stored_len, UINT64_MAX / UNPACKED_RATE) * UNPACKED_RATE;
	uint64_t limit = img->in_memory ? MIN(UNPACKED_MIN, stored) : MAX(UNPACKED_MIN, stored);

	if (!len || len > SECTION_LEN_MAX || len / EXPANSION_MAX > packed ||
	    len > limit - MIN(limit, img->unpacked))
		return false;
	img->unpacked += len;
	return true;
}

/* libelf of 0.188 and before knows no zstd. */
static bool unpack_zstd(const struct image *img, struct section *s, size_t len)
{
	struct zframe_decoder *z = zframe_decoder_new();
	struct err *err;

	s->own = memory_alloc(len);
	err = zframe_decode(z, img->bytes + s->offset + CHDR_LEN, s->len - CHDR_LEN, s->own, len);
	zframe_decoder_free(z);
	if (err) {
		err_free(err);
		return false;
	}
	s->data = s->own;
	s->data_len = len;
	return true;
}

/* Unpack a stream of zlib's form to exactly @ret_len bytes; false if it is damaged or stands for another number. */
#ifdef HAVE_LIBDEFLATE
static bool inflate_exactly(const uint8_t *data, size_t len, uint8_t *ret, size_t ret_len)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool done = d && libdeflate_zlib_decompress(d, data, len, ret, ret_len, NULL) == LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(d);
	return done;
}
#else
static bool inflate_exactly(const uint8_t *data, size_t len, uint8_t *ret, size_t ret_len)
{
	uLongf got = ret_len;

	return uncompress(ret, &got, data, len) == Z_OK && got == ret_len;
}
#endif

/* By ourselves: libelf would write into the section header, which lies in the file's mapping. */
static bool unpack_zlib(const struct image *img, struct section *s, size_t header_len, size_t len)
{
	s->own = memory_alloc(len);
	if (!inflate_exactly(img->bytes + s->offset + header_len, s->len - header_len, s->own, len))
		return false;
	s->data = s->own;
	s->data_len = len;
	return true;
}

/* SHF_COMPRESSED: the section begins with type, padding, length and alignment (gABI, chapter 4). */
static bool unpack(struct image *img, struct section *s)
{
	struct reader r;

	reader_init(&r, img->bytes + s->offset, s->len, /* big_endian= */ false);
	uint32_t type = reader_u32(&r, "compression type");

	reader_skip(&r, 4, "padding");
	uint64_t len = reader_u64(&r, "decompressed length");

	reader_skip(&r, 8, "alignment");
	if (r.failed || !expansion_is_sane(img, s->len, len))
		return false;
	if (type == ELFCOMPRESS_ZSTD)
		return unpack_zstd(img, s, len);
	return type == ELFCOMPRESS_ZLIB && unpack_zlib(img, s, CHDR_LEN, len);
}

static bool unpack_legacy(struct image *img, struct section *s)
{
	struct reader r;

	reader_init(&r, img->bytes + s->offset, s->len, /* big_endian= */ true);
	const char *magic = reader_bytes(&r, 4, "magic");
	uint64_t len = reader_u64(&r, "decompressed length");

	return !r.failed && memcmp(magic, "ZLIB", 4) == 0 &&
	       expansion_is_sane(img, s->len - LEGACY_HEADER_LEN, len) &&
	       unpack_zlib(img, s, LEGACY_HEADER_LEN, len);
}

static bool is_legacy(const struct section *s)
{
	return strncmp(s->name, ".zdebug", strlen(".zdebug")) == 0;
}

/* All pages may go at any time: they are never written to, so they come back from the file as they were. */
static void let_go(const struct image *img)
{
	if (img->mapped && !img->copied)
		madvise((void *)(uintptr_t)img->bytes, img->len, MADV_DONTNEED);
}

void image_passed(struct image *img, uint64_t len)
{
	img->passed += len;
	if (img->passed < PASSED_MAX)
		return;
	img->passed = 0;
	let_go(img);
}

/* Point @s->data at its bytes. Called with the lock held. Sections of debug files may have no bytes. */
static bool load(struct image *img, struct section *s)
{
	if (s->data || s->failed)
		return s->data;
	if (s->type == SHT_NOBITS || !image_fits(img, s->offset, s->len))
		s->failed = true;
	else if (s->flags & SHF_COMPRESSED)
		s->failed = !unpack(img, s);
	else if (is_legacy(s))
		s->failed = !unpack_legacy(img, s);
	else {
		s->data = img->bytes + s->offset;
		s->data_len = s->len;
	}
	if (s->own)
		let_go(img); /* what was packed is not read again */
	if (!s->failed)
		image_relocate(img, s);
	if (s->failed) {
		free(s->own);
		s->own = NULL;
	}
	return !s->failed;
}

/* ".debug_x" is also called ".zdebug_x". */
static bool has_name(const struct section *s, const char *name)
{
	if (strcmp(s->name, name) == 0)
		return true;
	return is_legacy(s) && name[0] == '.' && strcmp(s->name + 2, name + 1) == 0;
}

bool image_section(struct image *img, const char *name, struct image_section *ret)
{
	for (size_t i = 0; i < img->nsections; i++) {
		struct section *s = &img->sections[i];

		if (!has_name(s, name))
			continue;
		pthread_mutex_lock(&img->lock);
		bool loaded = load(img, s);

		pthread_mutex_unlock(&img->lock);
		if (!loaded && s->type != SHT_NOBITS)
			image_note_defect(img, "section '%s' cannot be read: it is cut, or not what its "
					       "compression header says", s->name);
		if (!loaded)
			continue;
		*ret = (struct image_section){
			.name = s->name,
			.vaddr = s->flags & SHF_ALLOC ? s->vaddr : 0,
			.offset = s->offset,
			.data = s->data,
			.len = s->data_len,
		};
		return true;
	}
	return false;
}

static const struct section *find_stored(const struct image *img, const char *name)
{
	for (size_t i = 0; i < img->nsections; i++) {
		if (has_name(&img->sections[i], name) && img->sections[i].type != SHT_NOBITS)
			return &img->sections[i];
	}
	return NULL;
}

void image_variable_sections(const struct image *img, struct image_section_set *ret)
{
	static const char relocated[] = ".data.rel.ro";

	*ret = (struct image_section_set){ 0 };
	for (size_t i = 0; i < img->nsections; i++) {
		const struct section *s = &img->sections[i];

		if (s->flags & SHF_WRITE && s->index <= UINT16_MAX && strncmp(s->name, relocated, strlen(relocated)) != 0)
			ret->bits[s->index / 64] |= 1ULL << (s->index % 64);
	}
}

bool image_has_section(const struct image *img, const char *name)
{
	return find_stored(img, name);
}

uint64_t image_section_stored_len(const struct image *img, const char *name)
{
	const struct section *s = find_stored(img, name);

	return s ? s->len : 0;
}

static int compare_vaddr(const void *a, const void *b)
{
	const struct section *sa = *(const struct section *const *)a;
	const struct section *sb = *(const struct section *const *)b;

	return COMPARE(sa->vaddr, sb->vaddr);
}

/* Thread-local templates (.tbss) take no room, so they hold no address. */
void image_sort_sections(struct image *img)
{
	img->loaded = memory_zeroed(img->nsections + 1, sizeof(*img->loaded));
	for (size_t i = 0; i < img->nsections; i++) {
		const struct section *s = &img->sections[i];
		bool no_room = s->type == SHT_NOBITS && s->flags & SHF_TLS;

		if (s->flags & SHF_ALLOC && !no_room && s->len)
			img->loaded[img->nloaded++] = s;
	}
	qsort(img->loaded, img->nloaded, sizeof(*img->loaded), compare_vaddr);
	for (size_t i = 1; i < img->nloaded; i++) {
		const struct section *before = img->loaded[i - 1];

		img->overlapping |= img->loaded[i]->vaddr - before->vaddr < before->len;
	}
}

static const struct section *first_section_at(const struct image *img, uint64_t vaddr)
{
	const struct section *first = NULL;

	for (size_t i = 0; i < img->nloaded; i++) {
		const struct section *s = img->loaded[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->len && (!first || s < first))
			first = s;
	}
	return first;
}

/* The loaded section at @vaddr. */
static const struct section *section_at(const struct image *img, uint64_t vaddr)
{
	size_t low = 0, high = img->nloaded;

	if (img->overlapping)
		return first_section_at(img, vaddr);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct section *s = img->loaded[middle];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->len)
			return s;
		if (vaddr < s->vaddr)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const char *image_section_at(const struct image *img, uint64_t vaddr)
{
	const struct section *s = section_at(img, vaddr);

	return s ? s->name : NULL;
}

static const uint8_t *bytes_of(const struct image *img, uint64_t offset, uint64_t len,
			       uint64_t skip, size_t *ret_len)
{
	if (skip >= len || !image_fits(img, offset, skip + 1))
		return NULL;
	*ret_len = MIN(len, img->len - offset) - skip;
	return img->bytes + offset + skip;
}

/*
 * The section comes first where there is one: in a separate debug file it says SHT_NOBITS, while the
 * segments still claim bytes.
 */
const uint8_t *image_bytes_at(struct image *img, uint64_t vaddr, size_t *ret_len)
{
	const struct section *s = section_at(img, vaddr);

	if (s && s->type == SHT_NOBITS)
		return NULL;
	for (size_t i = 0; i < img->nsegments; i++) {
		const struct image_segment *seg = &img->segments[i];

		if (vaddr >= seg->vaddr && vaddr - seg->vaddr < seg->file_len)
			return bytes_of(img, seg->offset, seg->file_len, vaddr - seg->vaddr,
					ret_len);
	}
	const uint8_t *bytes =
		s ? bytes_of(img, s->offset, s->len, vaddr - s->vaddr, ret_len) : NULL;

	/* Where a segment begins, the section has no say any more. */
	for (size_t i = 0; bytes && i < img->nsegments; i++) {
		if (img->segments[i].vaddr > vaddr && img->segments[i].file_len)
			*ret_len = MIN(*ret_len, img->segments[i].vaddr - vaddr);
	}
	return bytes;
}

/*
 * A mapping starts on a page, a segment need not: lld, mold and gold let the text segment begin in the
 * middle of the page where the read-only one ends, so that file page is mapped twice.
 *
 *	file     |  page 0      |  page 1      |
 *	         [ read-only        ][ text         ]
 *	mapping of text:        ^ file_offset      its segment's vaddr is that of the inner bracket
 */
static bool starts_in(const struct image_segment *seg, uint64_t file_offset, uint64_t page_len,
		      bool stripped)
{
	uint64_t first = seg->offset & ~(page_len - 1);
	/* What was left out of the file (bundle.h, objcopy --only-keep-debug) is still placed by it. */
	uint64_t len = seg->file_len || !stripped ? seg->file_len : seg->memory_len;

	if (file_offset < seg->offset)
		return file_offset >= first && len;
	return file_offset - seg->offset < len;
}

static const struct image_segment *segment_for(const struct image *img, uint64_t file_offset,
					       uint64_t page_len, bool exec, bool data)
{
	for (size_t i = 0; i < img->nsegments; i++) {
		const struct image_segment *seg = &img->segments[i];

		if (seg->exec == exec &&
		    starts_in(seg, file_offset, page_len, exec || data))
			return seg;
	}
	return NULL;
}

/* @data: executable segments come last, not first. */
static bool find_bias(const struct image *img, bool data, uint64_t start, uint64_t file_offset,
		      uint64_t *ret_bias)
{
	const struct {
		uint64_t page_len;
		bool exec;
	} tries[] = {
		{ PAGE_LEN_MIN, !data },
		{ PAGE_LEN_MAX, !data },
		{ PAGE_LEN_MIN, data },
		{ PAGE_LEN_MAX, data },
	};

	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		const struct image_segment *seg =
			segment_for(img, file_offset, tries[i].page_len, tries[i].exec, data);

		if (seg) {
			*ret_bias = start - (seg->vaddr - seg->offset + file_offset);
			return true;
		}
	}
	return false;
}

bool image_bias(const struct image *img, uint64_t start, uint64_t file_offset, uint64_t *ret_bias)
{
	return find_bias(img, /* data= */ false, start, file_offset, ret_bias);
}

bool image_data_bias(const struct image *img, uint64_t start, uint64_t file_offset,
		     uint64_t *ret_bias)
{
	return find_bias(img, /* data= */ true, start, file_offset, ret_bias);
}

void *image_elf(struct image *img)
{
	return img->elf;
}

void image_build_id_hex(const uint8_t *build_id, size_t len, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		ret[2 * i] = digits[build_id[i] >> 4];
		ret[2 * i + 1] = digits[build_id[i] & 15];
	}
	ret[2 * len] = '\0';
}
