/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_targets.c - a pass over the bytes that takes any that look like "call" or "lea" of an address in the code, and
 * in a file that is not moved also "mov" of one. Bytes in the
 * middle of an instruction may look so, too; few of their targets stand where a function may begin.
 */
#include "symbolize/elf/code_targets.h"

#include "formats/arch.h"
#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define CALL_LEN 5 /* e8 and a distance */
#define LEA_LEN	 7 /* 48 or 4c, 8d, register and "rip", distance */

#define EIGHT_LEN 12 /* eight of "mov"'s bytes before a number, and the numbers' last bytes */
#define PIECE_LEN ((size_t)16 << 10)

struct code_targets {
	VEC(uint64_t) items; /* ascending */
};

struct code {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr;
	bool fixed; /* numbers in it may be addresses */
};

static int32_t distance_at(const uint8_t *bytes)
{
	return (int32_t)four_bytes(bytes);
}

/*
 * How code ends that does not run into what follows, and what compilers fill up with. The last byte that a number stands for
 * may be any.
 */
struct code_bytes {
	uint8_t len, bytes[6], any; /* @any bytes more */
};

static const struct code_bytes ends[] = {
	{ 1, { 0xc3 }, 0 },			  /* ret */
	{ 1, { 0xcc }, 0 },			  /* int3 */
	{ 1, { 0xf4 }, 0 },			  /* hlt */
	{ 1, { 0x90 }, 0 },			  /* nop, of any length */
	{ 3, { 0x0f, 0x1f, 0x00 }, 0 },
	{ 4, { 0x0f, 0x1f, 0x40, 0x00 }, 0 },
	{ 5, { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 0 },
	{ 3, { 0x0f, 0x1f, 0x80 }, 4 },
	{ 4, { 0x0f, 0x1f, 0x84, 0x00 }, 4 },
	{ 1, { 0xe9 }, 4 },			  /* jmp */
	{ 1, { 0xeb }, 1 },
	{ 2, { 0x0f, 0x0b }, 0 },		  /* ud2 */
};

/* A call that never returns ends a function, too; most calls do not. */
static const struct code_bytes calls[] = {
	{ 1, { 0xe8 }, 4 },
	{ 2, { 0xff, 0x15 }, 4 }, /* through the GOT */
};

/* What a function begins with and code behind a call does not. */
static const struct code_bytes prologues[] = {
	{ 1, { 0x53 }, 0 }, /* push %rbx, %rbp, %r12 to %r15 */
	{ 1, { 0x55 }, 0 },
	{ 2, { 0x41, 0x54 }, 0 },
	{ 2, { 0x41, 0x55 }, 0 },
	{ 2, { 0x41, 0x56 }, 0 },
	{ 2, { 0x41, 0x57 }, 0 },
	{ 3, { 0x48, 0x83, 0xec }, 1 },	     /* sub ..., %rsp */
	{ 3, { 0x48, 0x81, 0xec }, 4 },
	{ 4, { 0xf3, 0x0f, 0x1e, 0xfa }, 0 }, /* endbr64 */
};

static bool is_behind(const struct code *code, size_t offset, const struct code_bytes *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = (size_t)list[i].len + list[i].any;

		if (offset >= len && memcmp(code->bytes + offset - len, list[i].bytes, list[i].len) == 0)
			return true;
	}
	return false;
}

static bool has_prologue(const struct code *code, size_t offset)
{
	for (size_t i = 0; i < ARRAY_LEN(prologues); i++) {
		size_t len = prologues[i].len;

		if (code->len - offset >= len && memcmp(code->bytes + offset, prologues[i].bytes, len) == 0)
			return true;
	}
	return false;
}

/* May a function begin at @offset? */
static bool may_begin(const struct code *code, size_t offset)
{
	return !offset || is_behind(code, offset, ends, ARRAY_LEN(ends)) ||
	       (has_prologue(code, offset) && is_behind(code, offset, calls, ARRAY_LEN(calls)));
}

static void mark(uint64_t *marks, const struct code *code, size_t end, int64_t distance)
{
	uint64_t offset = end + (uint64_t)distance;

	if (offset < code->len)
		marks[offset / 64] |= 1ULL << (offset % 64);
}

/* Those at @from to @to, where a whole "lea" has room. */
static void mark_calls(uint64_t *marks, const struct code *code, size_t from, size_t to)
{
	const uint8_t *p = code->bytes, *at = p + from, *end = p + to;

	for (; at < end && (at = memchr(at, 0xe8, (size_t)(end - at))); at++)
		mark(marks, code, (size_t)(at - p) + CALL_LEN, distance_at(at + 1));
}

static void mark_leas(uint64_t *marks, const struct code *code, size_t from, size_t to)
{
	const uint8_t *p = code->bytes, *at = p + from + 1, *end = p + to + 1;

	for (; at < end && (at = memchr(at, 0x8d, (size_t)(end - at))); at++)
		if ((at[-1] & 0xfb) == 0x48 && (at[1] & 0xc7) == 0x05)
			mark(marks, code, (size_t)(at - p) - 1 + LEA_LEN, distance_at(at + 2));
}

#define EACH_BYTE 0x0101010101010101ULL

/* 0x80 in each byte of @bytes that is 0. */
static uint64_t zero_bytes(uint64_t bytes)
{
	uint64_t low = 0x7f * EACH_BYTE;

	return ~(((bytes & low) + low) | bytes | low);
}

static uint64_t eight_bytes(const uint8_t *p)
{
	return four_bytes(p) | (uint64_t)four_bytes(p + 4) << 32;
}

/* The bits that the highest bytes of all addresses in @code share, where they are addresses of four bytes. */
static uint8_t shared_bits(const struct code *code)
{
	uint64_t last = code->vaddr + code->len - 1;
	uint8_t mask = 0xff;

	while (((code->vaddr ^ last) >> 24) & mask)
		mask = (uint8_t)(mask << 1);
	return mask;
}

/* Before byte @i, do others make it "mov" of a number to a register, or is it that itself? */
static bool is_move(const uint8_t *p, size_t i)
{
	return (p[i] & 0xf8) == 0xb8 || (i >= 2 && p[i - 2] == 0x48 && p[i - 1] == 0xc7);
}

/* Eight places at once: has one a byte as before a number, 0xb8 to 0xbf or 0xc0 to 0xc7, and the number an address's highest byte? */
static void mark_moves(uint64_t *marks, const struct code *code, size_t from, size_t to)
{
	uint64_t shared = shared_bits(code) * EACH_BYTE, high = (code->vaddr >> 24 & 0xff) * EACH_BYTE & shared;
	const uint8_t *p = code->bytes;

	for (size_t i = from; i < to && code->len >= EIGHT_LEN; i += 8) {
		i = MIN(i, code->len - EIGHT_LEN); /* at the end some once more */
		uint64_t kinds = eight_bytes(p + i) & 0xf8 * EACH_BYTE;
		uint64_t found = (zero_bytes(kinds ^ 0xb8 * EACH_BYTE) | zero_bytes(kinds ^ 0xc0 * EACH_BYTE)) &
				 zero_bytes((eight_bytes(p + i + 4) & shared) ^ high);

		for (; found; found &= found - 1) {
			size_t at = i + (size_t)__builtin_ctzll(found) / 8;

			if (is_move(p, at))
				mark(marks, code, 0, distance_at(p + at + 1) - (int64_t)code->vaddr);
		}
	}
}

/* One byte in fifty may begin something: memchr() passes over the others many times faster than a look at each. Pieces stay in the cache. */
static void mark_targets(uint64_t *marks, const struct code *code)
{
	size_t last = code->len < LEA_LEN ? 0 : code->len - LEA_LEN + 1;

	for (size_t from = 0; from < last; from += PIECE_LEN) {
		size_t to = MIN(from + PIECE_LEN, last);

		mark_calls(marks, code, from, to);
		mark_leas(marks, code, from, to);
		if (code->fixed)
			mark_moves(marks, code, from, to);
	}
}

/* A bit for each byte of code: targets then come once each and in order, however many calls lead there. */
static void scan(struct code_targets *t, const struct code *code)
{
	size_t nmarks = code->len / 64 + 1;
	uint64_t *marks = memory_zeroed(nmarks, sizeof(*marks));

	mark_targets(marks, code);
	for (size_t i = 0; i < nmarks; i++) {
		for (uint64_t left = marks[i]; left; left &= left - 1) {
			size_t offset = 64 * i + (size_t)__builtin_ctzll(left);

			if (may_begin(code, offset))
				vec_push(&t->items, code->vaddr + offset);
		}
	}
	free(marks);
}

uint64_t code_targets_cost(const struct image *img)
{
	uint64_t len = 0;
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count && image_arch(img) == &arch_x86_64; i++) {
		if (segments[i].exec)
			len += MIN(segments[i].file_len, CODE_TARGETS_LEN_MAX);
	}
	return MIN(len, CODE_TARGETS_LEN_MAX);
}

/* Segments that are in order leave nothing to sort. */
static bool is_sorted(const struct code_targets *t)
{
	for (size_t i = 1; i < t->items.len; i++)
		if (t->items.items[i - 1] > t->items.items[i])
			return false;
	return true;
}

static void *make_targets(struct image *img)
{
	struct code_targets *t = memory_zeroed(1, sizeof(*t));
	size_t count, left = (size_t)code_targets_cost(img);
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count && left; i++) {
		struct code code = { .vaddr = segments[i].vaddr, .fixed = image_is_fixed(img) };

		if (segments[i].exec)
			code.bytes = image_bytes_at(img, code.vaddr, &code.len);
		code.len = code.bytes ? MIN(code.len, left) : 0;
		left -= code.len;
		scan(t, &code);
	}
	if (!is_sorted(t))
		vec_sort(&t->items, vec_u64_ascending);
	return t;
}

static void free_targets(void *targets)
{
	struct code_targets *t = targets;

	vec_deinit(&t->items);
	free(t);
}

const struct code_targets *code_targets_of(struct image *img)
{
	return image_derived(img, make_targets, free_targets);
}

const uint64_t *code_targets_list(const struct code_targets *t, size_t *ret_count)
{
	*ret_count = t->items.len;
	return t->items.items;
}
