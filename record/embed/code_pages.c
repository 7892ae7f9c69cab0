/* SPDX-License-Identifier: Apache-2.0 */
#include "record/embed/code_pages.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD_LEN    2048 /* the code goes on in the next page, if it begins within so many bytes */
#define BRANCHES_MAX 16 /* that are followed from one address */
#define EMPTY_LEN    16 /* zeros at an address: no code had been put there */

static uint8_t *page_at(const uint64_t *slot)
{
	return slot ? (uint8_t *)(uintptr_t)*slot : NULL;
}

static bool is_empty(const uint8_t *page, size_t from)
{
	static const uint8_t nothing[EMPTY_LEN];

	return page && memcmp(page + from, nothing, MIN(EMPTY_LEN, CODE_PAGE_LEN - from)) == 0;
}

/* Copy the page of @ip; NULL: it cannot be copied, or was copied before. */
static const uint8_t *take_page(struct code_pages *p, const struct task_memory *memory, uint64_t ip)
{
	uint64_t number = ip / CODE_PAGE_LEN;
	uint64_t *slot = map_get(&p->pages, number);
	uint8_t *copy = page_at(slot);

	if (slot ? !is_empty(copy, ip % CODE_PAGE_LEN) : p->pages.len >= CODE_PAGES_MAX)
		return NULL;
	if (!copy)
		copy = memory_alloc(CODE_PAGE_LEN);
	if (task_memory_read(memory, number * CODE_PAGE_LEN, copy, CODE_PAGE_LEN) != CODE_PAGE_LEN) {
		free(copy);
		copy = NULL;
	}
	*map_put(&p->pages, number, NULL) = (uintptr_t)copy;
	return copy;
}

/* jmp, or a branch on a condition, with 32 bits of distance. Bytes that only look like it cost a page. */
static bool branch_at(const uint8_t *code, uint64_t ip, uint64_t *ret)
{
	size_t len = code[0] == 0xe9 ? 1 : code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 2 : 0;
	int32_t distance;

	if (!len)
		return false;
	memcpy(&distance, code + len, sizeof(distance));
	*ret = ip + len + sizeof(distance) + (uint64_t)(int64_t)distance;
	return true;
}

void code_pages_take(struct code_pages *p, const struct task_memory *memory, uint64_t ip, struct code_area area)
{
	const uint8_t *page = take_page(p, memory, ip);
	unsigned followed = 0;
	uint64_t target;

	if (ip + AHEAD_LEN < area.end)
		take_page(p, memory, ip + AHEAD_LEN);

	for (size_t at = ip % CODE_PAGE_LEN; page && at + 6 <= CODE_PAGE_LEN && followed < BRANCHES_MAX; at++) {
		if (!branch_at(page + at, ip / CODE_PAGE_LEN * CODE_PAGE_LEN + at, &target) || target < area.start || target >= area.end)
			continue;
		followed++;
		take_page(p, memory, target);
	}
}

uint64_t *code_pages_numbers(const struct code_pages *p, size_t *ret_count)
{
	uint64_t *numbers = memory_zeroed(p->pages.len + 1, sizeof(*numbers));
	const struct map_slot *slot;
	size_t count = 0;

	for (size_t pos = 0; (slot = map_next(&p->pages, &pos));) {
		if (slot->value)
			numbers[count++] = slot->key;
	}
	qsort(numbers, count, sizeof(*numbers), vec_u64_ascending);
	*ret_count = count;
	return numbers;
}

bool code_pages_read(const struct code_pages *p, uint64_t ip, void *ret, size_t len)
{
	uint8_t *to = ret;

	while (len) {
		size_t from = ip % CODE_PAGE_LEN, part = MIN(len, CODE_PAGE_LEN - from);
		const uint64_t *page = map_get(&p->pages, ip / CODE_PAGE_LEN);

		if (!page || !*page)
			return false;
		memcpy(to, (const uint8_t *)(uintptr_t)*page + from, part);
		to += part;
		ip += part;
		len -= part;
	}
	return true;
}

void code_pages_deinit(struct code_pages *p)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&p->pages, &pos));)
		free((void *)(uintptr_t)slot->value);
	map_deinit(&p->pages);
}
