/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_cache.c - an entry read at the first question about a file, merged with what is new and written at the end.
 *
 * Measured with 20,000 addresses: opening and reading the debug information of libjvm takes 3 s of CPU time, its entry some
 * hundredths. Files with less than DEBUG_MIN are read as fast as an entry would be found.
 */
#include "symbolize/name/line_cache.h"

#include "formats/base/sha256.h"
#include "formats/base/vec.h"
#include "symbolize/name/cache_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC	  "precache"
#define MAGIC_LEN 8
#define HEAD_LEN  (MAGIC_LEN + LINE_CACHE_STAMP_LEN + SHA256_LEN)
#define DEBUG_MIN (4u << 20)  /* bytes of a file */

/* To be raised when the same debug information is to be read another way. */
#define FORMAT 1

struct added {
	uint64_t begin, end;
	size_t first, count; /* of line_cache.frames */
};

struct line_cache {
	char *folder, *name, *path; /* @path: of the file with the debug information */
	uint8_t stamp[LINE_CACHE_STAMP_LEN];
	uint8_t *data; /* of the entry */
	struct line_table *table; /* NULL: there is none */
	VEC(struct added) added;
	VEC(struct debug_frame) frames;
};

/* ---- one entry's bytes ------------------------------------------------------------------------------ */

static void sum_of(const uint8_t *data, size_t len, uint8_t ret[SHA256_LEN])
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, data, len);
	sha256_finish(&hash, ret);
}

void line_cache_pack(const struct line_table_maker *maker,
		     const uint8_t stamp[LINE_CACHE_STAMP_LEN], struct writer *out)
{
	static const uint8_t room[SHA256_LEN];

	writer_bytes(out, MAGIC, MAGIC_LEN);
	writer_bytes(out, stamp, LINE_CACHE_STAMP_LEN);
	writer_bytes(out, room, sizeof(room));
	line_table_maker_finish(maker, out);
	sum_of(out->data + HEAD_LEN, out->len - HEAD_LEN, out->data + HEAD_LEN - SHA256_LEN);
}

struct line_table *line_cache_unpack(const uint8_t *data, size_t len,
				     const uint8_t stamp[LINE_CACHE_STAMP_LEN])
{
	struct line_table *table = NULL;
	uint8_t sum[SHA256_LEN];

	if (len < HEAD_LEN || memcmp(data, MAGIC, MAGIC_LEN) != 0 ||
	    memcmp(data + MAGIC_LEN, stamp, LINE_CACHE_STAMP_LEN) != 0)
		return NULL;
	sum_of(data + HEAD_LEN, len - HEAD_LEN, sum);
	if (memcmp(data + HEAD_LEN - SHA256_LEN, sum, SHA256_LEN) != 0)
		return NULL;
	err_free(line_table_new(data + HEAD_LEN, len - HEAD_LEN, &table));
	return table;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static void add_file(struct sha256 *hash, const struct stat *st)
{
	const uint64_t facts[] = { (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
				   (uint64_t)st->st_mtim.tv_nsec };

	sha256_add(hash, facts, sizeof(facts));
}

/* The program counts by its file, so that a repaired one asks again. */
static void make_stamp(const struct stat *debug_file, uint8_t ret[LINE_CACHE_STAMP_LEN])
{
	static const char made_by[] = "preport " VERSION;
	const uint32_t format = FORMAT;
	struct stat program = { 0 };
	struct sha256 hash;

	(void)!stat("/proc/self/exe", &program);
	sha256_init(&hash);
	sha256_add(&hash, made_by, sizeof(made_by));
	sha256_add(&hash, &format, sizeof(format));
	add_file(&hash, &program);
	add_file(&hash, debug_file);
	sha256_finish(&hash, ret);
}

struct line_cache *line_cache_open(const char *folder, const struct image *img)
{
	char name[2 * 20 + 1];
	size_t id_len, len;
	const uint8_t *id = image_build_id(img, &id_len);
	struct line_cache *cache;
	struct stat st;

	if (!id_len || id_len > 20 || !image_path(img) || stat(image_path(img), &st) ||
	    !S_ISREG(st.st_mode) || st.st_size < DEBUG_MIN)
		return NULL;
	image_build_id_hex(id, id_len, name);
	cache = memory_zeroed(1, sizeof(*cache));
	cache->folder = memory_strdup(folder);
	cache->name = memory_strdup(name);
	cache->path = memory_strdup(image_path(img));
	make_stamp(&st, cache->stamp);
	cache->data = cache_folder_read(folder, name, &len);
	if (cache->data)
		cache->table = line_cache_unpack(cache->data, len, cache->stamp);
	return cache;
}

void line_cache_free(struct line_cache *cache)
{
	if (!cache)
		return;
	line_table_free(cache->table);
	vec_deinit(&cache->added);
	vec_deinit(&cache->frames);
	free(cache->data);
	free(cache->folder);
	free(cache->name);
	free(cache->path);
	free(cache);
}

size_t line_cache_find(const struct line_cache *cache, uint64_t vaddr,
		       struct debug_frame ret[DEBUG_INFO_FRAMES_MAX])
{
	return cache->table ? line_table_find(cache->table, vaddr, ret) : 0;
}

/* ---- what is new ----------------------------------------------------------------------------------- */

/* The table knows no difference between "" and nothing. */
static bool is_exact(const struct debug_frame *frame)
{
	return !(frame->linkage_name && !*frame->linkage_name) && !(frame->name && !*frame->name) &&
	       !(frame->file && !*frame->file) && !(frame->decl_file && !*frame->decl_file);
}

void line_cache_add(struct line_cache *cache, uint64_t begin, uint64_t end,
		    const struct debug_frame *frames, size_t nframes)
{
	static const struct debug_frame nothing;
	struct added added = { begin, end, cache->frames.len, nframes ? nframes : 1 };

	for (size_t i = 0; i < nframes; i++) {
		if (!is_exact(&frames[i]))
			return;
	}
	vec_append(&cache->frames, nframes ? frames : &nothing, added.count);
	vec_push(&cache->added, added);
}

static int by_begin(const void *a, const void *b)
{
	const struct added *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

static bool next_old(const struct line_cache *cache, size_t *number, uint64_t *ret_begin,
		     uint64_t *ret_end)
{
	return cache->table && line_table_range(cache->table, (*number)++, ret_begin, ret_end);
}

/* The old ranges and the new ones in order; a new one ends where the next of either begins. */
static void merge(const struct line_cache *cache, struct line_table_maker *maker)
{
	struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];
	uint64_t begin, end;
	size_t old = 0;
	bool more = next_old(cache, &old, &begin, &end);

	for (size_t i = 0; i < cache->added.len; i++) {
		const struct added *added = &cache->added.items[i];
		uint64_t until = added->end;

		for (; more && begin < added->begin; more = next_old(cache, &old, &begin, &end))
			line_table_maker_add(maker, begin, end, frames,
					     line_table_find(cache->table, begin, frames));
		if (more)
			until = MIN(until, begin);
		if (i + 1 < cache->added.len)
			until = MIN(until, added[1].begin);
		line_table_maker_add(maker, added->begin, until,
				     &cache->frames.items[added->first], added->count);
	}
	for (; more; more = next_old(cache, &old, &begin, &end))
		line_table_maker_add(maker, begin, end, frames,
				     line_table_find(cache->table, begin, frames));
}

struct err *line_cache_save(struct line_cache *cache)
{
	struct line_table_maker *maker;
	struct writer out = { 0 };
	struct err *err = NULL;

	if (!cache->added.len)
		return NULL;
	maker = line_table_maker_new();
	vec_sort(&cache->added, by_begin);
	merge(cache, maker);
	line_cache_pack(maker, cache->stamp, &out);
	if (out.len > CACHE_FILE_MAX)
		err = err_new(ERR_UNSUPPORTED,
			      "what '%s' says about all these addresses is not kept for the next run: "
			      "%zu MiB, where an entry of the cache has %u at most",
			      cache->path, out.len >> 20, CACHE_FILE_MAX >> 20);
	else
		err_free(cache_folder_write(cache->folder, cache->name, out.data, out.len));
	writer_deinit(&out);
	line_table_maker_free(maker);
	cache->added.len = cache->frames.len = 0;
	return err;
}
