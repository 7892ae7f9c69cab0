/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_table.c - the header, a table of functions, a record for each, and streams of differences that these refer to.
 *
 *	header   magic u32, 0 0, instruction size u8, pointer size u8, number of functions, number of files,
 *	         [where code begins: from 1.18 on], offsets of: names, units, files, streams, functions
 *	function table   (begin, offset of the record) for each, and an end; from 1.18 on as 32-bit distances from where code begins
 *	record   begin, name i32, arguments i32, deferreturn u32, stream of the stack pointer u32, ...
 *	stream   pairs of LEB128: how the value changes (zigzag), for how many instruction units it holds; ends with a change of 0
 *
 * A value is -1 before the first pair.
 */
#include "symbolize/elf/go_table.h"

#include "formats/base/arena.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/writer.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_LEN 8 /* up to the first word */
#define MODULE_TEXT 22 /* runtime.moduledata.text, in words */
#define FUNCTIONS_MAX (1u << 24)
#define FDES_RATE 16 /* bytes of FDEs for each byte of the section, at most */
#define FRAME_LEN_MAX (1u << 30)

#define FLAG_TOP_FRAME 1

/* What differs between versions. Offsets of words in the header and of bytes in a record. */
struct layout {
	uint32_t magic;
	uint8_t names, streams, functions; /* words of the header that hold offsets */
	uint8_t begin_len;                 /* of an entry of the function table, and of the field in a record */
	uint8_t flag;                      /* in a record */
};

static const struct layout layouts[] = {
	{ 0xfffffffa, 2, 5, 6, 8, 41 }, /* 1.16, which has no flags but 0 there, and 1.17 */
	{ 0xfffffff0, 3, 6, 7, 4, 37 }, /* 1.18, 1.19 */
	{ 0xfffffff1, 3, 6, 7, 4, 41 }, /* 1.20 and later */
};

struct go_table {
	const struct arch *arch;
	const struct layout *layout;
	const uint8_t *data; /* the section */
	size_t len;
	uint64_t names, streams, functions; /* offsets in it */
	size_t count;
	uint64_t text; /* link-time address that begins count from; 0 where they are addresses */
	uint8_t quantum;

	pthread_mutex_t lock; /* of what follows */
	struct arena arena;
	struct map fdes; /* index to the address of a struct fde */
	uint64_t fdes_left; /* bytes that FDEs may still take */
};

/* Instructions of an FDE. */
struct fde {
	const uint8_t *bytes;
	size_t len;
	uint64_t covers; /* bytes of code; 0: there is no FDE */
};

static struct reader reader_at(const struct go_table *t, uint64_t offset)
{
	struct reader r;

	offset = MIN(offset, (uint64_t)t->len);
	reader_init(&r, t->data + offset, t->len - (size_t)offset, /* big_endian= */ false);
	return r;
}

static uint64_t read_begin(const struct go_table *t, struct reader *r)
{
	return t->layout->begin_len == 4 ? reader_u32(r, "function") : reader_u64(r, "function");
}

/* Begin of function @index, or the end of the last one, and where its record is. */
static bool entry_at(const struct go_table *t, size_t index, uint64_t *ret_begin, uint64_t *ret_record)
{
	struct reader r = reader_at(t, t->functions + 2ULL * t->layout->begin_len * index);

	*ret_begin = t->text + read_begin(t, &r);
	if (!ret_record)
		return !r.failed;
	*ret_record = t->functions + read_begin(t, &r);
	return !r.failed;
}

static const char *name_at(const struct go_table *t, uint64_t record)
{
	struct reader r = reader_at(t, record + t->layout->begin_len);
	uint32_t offset = reader_u32(&r, "name");
	const char *name;

	if (r.failed)
		return NULL;
	r = reader_at(t, t->names + offset);
	name = reader_string(&r, "name");
	return r.failed ? NULL : name;
}

size_t go_table_count(const struct go_table *t)
{
	return t->count;
}

bool go_table_function(const struct go_table *t, size_t index, struct go_function *ret)
{
	uint64_t record;

	if (index >= t->count || !entry_at(t, index, &ret->begin, &record) ||
	    !entry_at(t, index + 1, &ret->end, NULL) || ret->begin >= ret->end)
		return false;
	ret->name = name_at(t, record);
	return ret->name && ret->name[0];
}

bool go_table_find(const struct go_table *t, uint64_t vaddr, size_t *ret_index)
{
	size_t low = 0, high = t->count;
	uint64_t begin, end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (entry_at(t, mid, &begin, NULL) && begin <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || !entry_at(t, low, &end, NULL) || vaddr >= end)
		return false;
	*ret_index = low - 1;
	return true;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static bool is_code(const struct image *img, uint64_t vaddr, uint64_t len)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t at = vaddr - segments[i].vaddr;

		if (segments[i].exec && at < segments[i].memory_len && len <= segments[i].memory_len - at)
			return true;
	}
	return false;
}

/* Do all functions lie in code if @text is where it begins? */
static bool is_text(struct go_table *t, const struct image *img, uint64_t text)
{
	uint64_t begin, end;

	t->text = text;
	return entry_at(t, 0, &begin, NULL) && entry_at(t, t->count, &end, NULL) && begin < end &&
	       is_code(img, begin, end - begin);
}

static uint64_t header_word(const struct go_table *t, unsigned index)
{
	struct reader r = reader_at(t, HEADER_LEN + 8ULL * index);

	return reader_u64(&r, "header");
}

/* runtime.firstmoduledata begins with the address of our table, unless that is relocated. */
static bool text_of_module(struct go_table *t, struct image *img, uint64_t table_vaddr)
{
	struct image_section module;
	struct reader r;

	if (!image_section(img, ".go.module", &module))
		return false;
	reader_init(&r, module.data, module.len, /* big_endian= */ false);
	if (reader_u64(&r, "module's table") != table_vaddr)
		return false;
	reader_skip(&r, 8 * (MODULE_TEXT - 1), "module");
	uint64_t text = reader_u64(&r, "module's code");

	return !r.failed && is_text(t, img, text);
}

/* The file says where the program is entered; if Go's linker wrote it, that is a function of the table. */
static bool text_of_entry(struct go_table *t, const struct image *img)
{
	const char *name = t->arch == &arch_x86_64 ? "_rt0_amd64_linux" : "_rt0_arm64_linux";
	struct go_function f;

	t->text = 0;
	for (size_t i = 0; i < t->count; i++) {
		if (go_table_function(t, i, &f) && strcmp(f.name, name) == 0)
			return is_text(t, img, image_entry(img) - f.begin);
		t->text = 0;
	}
	return false;
}

static bool find_text(struct go_table *t, struct image *img, uint64_t table_vaddr)
{
	if (t->layout->begin_len == 8)
		return is_text(t, img, 0);
	uint64_t text = header_word(t, 2); /* not since Go 1.26 */

	return (text && is_text(t, img, text)) || text_of_module(t, img, table_vaddr) ||
	       text_of_entry(t, img);
}

static bool read_header(struct go_table *t)
{
	struct reader r = reader_at(t, 0);
	uint32_t magic = reader_u32(&r, "magic");
	uint16_t zero = reader_u16(&r, "padding");

	t->quantum = reader_u8(&r, "instruction size");
	uint8_t word_len = reader_u8(&r, "pointer size");
	uint64_t count = reader_u64(&r, "functions");

	if (r.failed || zero || word_len != 8 || !t->quantum || t->quantum > 4 || !count || count > FUNCTIONS_MAX)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(layouts) && !t->layout; i++) {
		if (layouts[i].magic == magic)
			t->layout = &layouts[i];
	}
	if (!t->layout)
		return false;
	t->count = (size_t)count;
	t->names = header_word(t, t->layout->names);
	t->streams = header_word(t, t->layout->streams);
	t->functions = header_word(t, t->layout->functions);
	return t->names < t->len && t->streams < t->len && t->functions < t->len &&
	       count <= (t->len - t->functions) / (2u * t->layout->begin_len);
}

struct go_table *go_table_new(struct image *img)
{
	const struct arch *arch = image_arch(img);
	struct image_section section;
	struct go_table *t;

	if ((arch != &arch_x86_64 && arch != &arch_aarch64) ||
	    (!image_section(img, ".gopclntab", &section) && !image_section(img, ".data.rel.ro.gopclntab", &section)))
		return NULL;
	t = memory_zeroed(1, sizeof(*t));
	t->arch = arch;
	t->data = section.data;
	t->len = section.len;
	t->fdes_left = FDES_RATE * (uint64_t)section.len;
	pthread_mutex_init(&t->lock, NULL);
	if (!read_header(t) || !find_text(t, img, section.vaddr)) {
		go_table_free(t);
		return NULL;
	}
	return t;
}

void go_table_free(struct go_table *t)
{
	if (!t)
		return;
	map_deinit(&t->fdes);
	arena_deinit(&t->arena);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* ---- rules ----------------------------------------------------------------------------------------- */

/* The rules every function begins with. */
static struct cfi_cie cie_of(const struct go_table *t)
{
	static const uint8_t x86_64[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset + 16, 2 };
	static const uint8_t aarch64[] = { DW_CFA_def_cfa, 31, 0 };
	bool linked = t->arch->lr >= 0;

	return (struct cfi_cie){
		.code_align = 1,
		.data_align = CFI_GO_DATA_ALIGN,
		.return_reg = linked ? (uint32_t)t->arch->lr : t->arch->ip,
		.instructions = linked ? aarch64 : x86_64,
		.instructions_len = linked ? sizeof(aarch64) : sizeof(x86_64),
	};
}

/* The stack pointer has gone down by @depth since the function was entered; a link register is then on top of the stack. */
static void put_depth(const struct go_table *t, struct writer *w, uint32_t depth)
{
	if (t->arch->lr < 0) {
		writer_u8(w, DW_CFA_def_cfa_offset);
		writer_uleb(w, depth + 8ULL);
		return;
	}
	writer_u8(w, DW_CFA_def_cfa_offset);
	writer_uleb(w, depth);
	writer_u8(w, depth ? DW_CFA_offset + (uint8_t)t->arch->lr : DW_CFA_same_value);
	writer_uleb(w, depth ? depth / -CFI_GO_DATA_ALIGN : (uint64_t)t->arch->lr);
}

static void put_advance(struct writer *w, uint64_t len)
{
	writer_u8(w, DW_CFA_advance_loc4);
	writer_u32(w, (uint32_t)len);
}

/*
 * Follow the stream at @offset over a function that has @len bytes up to the next one, some of them padding. How much of it the
 * stream describes; 0: it is malformed.
 */
static uint64_t put_depths(const struct go_table *t, struct writer *w, uint32_t offset, uint64_t len)
{
	struct reader r = reader_at(t, t->streams + offset);
	uint64_t at = 0, units = 0;
	int64_t depth = -1;

	while (at < len) {
		int64_t change = reader_zigzag(&r, "change");

		if (!change && at)
			break;
		depth += change;
		if (r.failed || depth < 0 || depth > FRAME_LEN_MAX || depth % 8 || w->len > t->fdes_left)
			return 0;
		if (at)
			put_advance(w, units * t->quantum);
		put_depth(t, w, (uint32_t)depth);
		units = reader_uleb(&r, "distance");
		if (!units || units > UINT32_MAX)
			return 0;
		at += units * t->quantum;
	}
	return r.failed ? 0 : MIN(at, len);
}

/*
 * Where stacks begin, there is no caller. Go says so of its signal handler too, for its own walks begin anew where the signal
 * interrupted; that is on the stack as usual.
 */
static bool is_root(const struct go_table *t, uint64_t record, const char *name)
{
	struct reader r = reader_at(t, record + t->layout->flag);

	return reader_u8(&r, "flags") & FLAG_TOP_FRAME && strncmp(name, "runtime.sigtramp", 16) != 0;
}

/* How many bytes of the function the instructions in @w are for; 0: there are none. */
static uint64_t make_fde(const struct go_table *t, size_t index, const struct go_function *f, struct writer *w)
{
	uint64_t begin, record;
	struct reader r;

	if (!entry_at(t, index, &begin, &record) || f->end - begin > UINT32_MAX)
		return 0;
	if (is_root(t, record, f->name)) {
		writer_u8(w, DW_CFA_undefined);
		writer_uleb(w, cie_of(t).return_reg);
		return f->end - begin;
	}
	r = reader_at(t, record + t->layout->begin_len + 12); /* after name, arguments, deferreturn */
	uint32_t stream = reader_u32(&r, "stream");

	return !r.failed && stream ? put_depths(t, w, stream, f->end - begin) : 0;
}

/* Made once, under the lock. What cannot be made has no bytes. */
static const struct fde *get_fde(struct go_table *t, size_t index, const struct go_function *f)
{
	struct writer w = { 0 };
	struct fde *fde;
	bool is_new;
	uint64_t *slot = map_put(&t->fdes, index, &is_new);

	if (!is_new)
		return (const struct fde *)(uintptr_t)*slot;
	fde = ARENA_NEW(&t->arena, struct fde);
	*slot = (uintptr_t)fde;
	uint64_t covers = make_fde(t, index, f, &w);
	bool fits = w.len <= t->fdes_left;

	t->fdes_left -= MIN(t->fdes_left, (uint64_t)w.len);
	if (covers && fits) {
		fde->covers = covers;
		fde->bytes = (const uint8_t *)arena_memdup(&t->arena, w.data, w.len);
		fde->len = w.len;
	}
	writer_deinit(&w);
	return fde;
}

bool go_table_fde(const struct go_table *t, size_t index, struct cfi_fde *ret)
{
	struct go_table *own = (struct go_table *)(uintptr_t)t; /* logically constant */
	const struct fde *fde;
	struct go_function f;

	if (!go_table_function(t, index, &f))
		return false;
	pthread_mutex_lock(&own->lock);
	fde = get_fde(own, index, &f);
	pthread_mutex_unlock(&own->lock);
	if (!fde->covers)
		return false;
	*ret = (struct cfi_fde){
		.begin = f.begin,
		.end = f.begin + fde->covers,
		.cie = cie_of(t),
		.from_go = true,
		.instructions = fde->bytes,
		.instructions_len = fde->len,
	};
	return true;
}
