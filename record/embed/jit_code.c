/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_code.c - a jitdump holds all code that a program ever made, up to hundreds of megabytes; so it is mapped, and only the
 * headers of its records are read.
 */
#include "record/embed/jit_code.h"

#include "formats/base/map.h"
#include "formats/base/page_guard.h"
#include "formats/base/vec.h"
#include "formats/perf/jitdump.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The addresses, and where code that was moved to one of them had been loaded. */
struct wanted {
	const uint64_t *addresses;
	size_t count;
	struct map origins; /* old addresses */
};

struct move {
	uint64_t old_ip, ip, len;
};

static bool is_wanted(const struct wanted *w, uint64_t ip, uint64_t len)
{
	return perf_map_hits(w->addresses, w->count, ip, len) || map_get(&w->origins, ip);
}

/* Moves follow each other in time, so from the last one on each says where the code was before. */
static void follow_moves(struct jitdump dump, struct wanted *w)
{
	VEC(struct move) moves = { 0 };
	struct jitdump_record rec;

	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_MOVE)
			vec_push(&moves, ((struct move){ rec.old_ip, rec.ip, rec.len }));
	}
	for (size_t i = moves.len; i--;) {
		const struct move *move = &moves.items[i];

		if (is_wanted(w, move->ip, move->len))
			map_put(&w->origins, move->old_ip, NULL);
	}
	vec_deinit(&moves);
}

static void put(struct writer *out, const struct jitdump_record *rec)
{
	writer_bytes(out, rec->bytes, rec->bytes_len);
}

/* A record that precedes the code it belongs to; kind UINT32_MAX: none. */
struct before {
	struct jitdump_record lines, unwinding;
};

static const struct before nothing_before = { { .kind = UINT32_MAX }, { .kind = UINT32_MAX } };

static void put_load(struct writer *out, const struct before *before, const struct jitdump_record *load)
{
	if (before->lines.kind == JITDUMP_DEBUG_INFO && before->lines.ip == load->ip)
		put(out, &before->lines);
	if (before->unwinding.kind == JITDUMP_UNWINDING)
		put(out, &before->unwinding);
	put(out, load);
}

static bool put_wanted(struct jitdump dump, const struct wanted *w, struct writer *out)
{
	struct before before = nothing_before;
	struct jitdump_record rec;
	size_t begin = out->len;

	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_DEBUG_INFO)
			before.lines = rec;
		else if (rec.kind == JITDUMP_UNWINDING)
			before.unwinding = rec;
		else if (rec.kind == JITDUMP_LOAD && is_wanted(w, rec.ip, rec.len))
			put_load(out, &before, &rec);
		else if (rec.kind == JITDUMP_MOVE && is_wanted(w, rec.ip, rec.len))
			put(out, &rec);
		if (rec.kind == JITDUMP_LOAD)
			before = nothing_before;
		if (out->len - begin > JIT_CODE_MAX)
			return false;
	}
	return true;
}

bool jit_code_filter(const void *data, size_t len, const uint64_t *addresses, size_t count,
		     struct writer *out)
{
	struct wanted wanted = { .addresses = addresses, .count = count };
	struct jitdump dump;
	size_t begin = out->len;
	struct err *err = jitdump_open(&dump, data, len);

	if (err) {
		err_free(err);
		return true;
	}
	follow_moves(dump, &wanted);
	writer_bytes(out, data, dump.header_len);
	bool whole = put_wanted(dump, &wanted, out);

	if (out->len == begin + dump.header_len)
		out->len = begin; /* only a header */
	map_deinit(&wanted.origins);
	return whole;
}

bool jit_code_from_dump(int fd, const struct perf_map *map, struct writer *out)
{
	struct page_guard guard;
	struct stat st;
	bool whole = true;
	size_t count;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return true;
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (data == MAP_FAILED)
		return true;
	uint64_t *addresses = perf_map_addresses(map, &count);

	page_guard_begin(&guard);
	whole = jit_code_filter(data, (size_t)st.st_size, addresses, count, out);
	page_guard_end(&guard);
	free(addresses);
	munmap(data, (size_t)st.st_size);
	return whole;
}

/* Copy code from the memory of its process or, if that has ended, from the copied pages; otherwise only its name is known. */
static void put_memory(const struct perf_map *map, uint64_t ip, uint64_t len, const char *name,
		       struct writer *out)
{
	bool present = task_memory_present(&map->memory, ip, len) == len;

	/* A line may claim memory that does not exist: copy nothing. */
	if (!present && len > (uint64_t)CODE_PAGES_MAX * CODE_PAGE_LEN)
		return;
	uint8_t *code = memory_alloc(len);
	size_t got = present ? task_memory_read(&map->memory, ip, code, len) : 0;

	if (!got && code_pages_read(&map->pages, ip, code, len))
		got = len;
	if (got)
		jitdump_put_load(out, map->inner_pid, ip, name, code, got);
	free(code);
}

bool jit_code_from_memory(const struct perf_map *map, uint16_t machine, const char *text,
			  size_t len, struct writer *out)
{
	size_t begin = out->len, header_end;
	const char *end = text + len;
	bool whole = true;

	if (map->memory.pagemap_fd < 0)
		return true;
	jitdump_put_header(out, machine, map->inner_pid, 0);
	header_end = out->len;
	for (const char *line = text; line < end && out->len - begin <= JIT_CODE_MAX;) {
		const char *eol = memchr(line, '\n', (size_t)(end - line));
		size_t line_len = (size_t)((eol ? eol : end) - line);
		char *copy = strndup(line, line_len);
		uint64_t ip, code_len;
		const char *name = copy ? perf_map_line(copy, &ip, &code_len) : NULL;

		if (name && code_len > JIT_CODE_MAX)
			whole = false;
		else if (name && code_len && ip <= INT64_MAX - code_len)
			put_memory(map, ip, code_len, name, out);
		free(copy);
		line += line_len + 1;
	}
	whole = whole && out->len - begin <= JIT_CODE_MAX;
	if (out->len == header_end)
		out->len = begin;
	return whole;
}

/* How many of @numbers, at least one, follow each other. */
static size_t run_of(const uint64_t *numbers, size_t count)
{
	size_t len = 1;

	while (len < count && numbers[len] == numbers[0] + len)
		len++;
	return len;
}

void jit_code_from_pages(const struct perf_map *map, uint16_t machine, struct writer *out)
{
	size_t count, run;
	uint64_t *numbers = code_pages_numbers(&map->pages, &count);
	uint8_t *code = memory_alloc((size_t)CODE_PAGES_MAX * CODE_PAGE_LEN);

	if (count)
		jitdump_put_header(out, machine, map->inner_pid, 0);
	for (size_t i = 0; i < count; i += run) {
		uint64_t ip = numbers[i] * CODE_PAGE_LEN;

		run = run_of(numbers + i, count - i);
		if (code_pages_read(&map->pages, ip, code, run * CODE_PAGE_LEN))
			jitdump_put_bytes(out, ip, code, run * CODE_PAGE_LEN);
	}
	free(code);
	free(numbers);
}
