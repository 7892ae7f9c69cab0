/* SPDX-License-Identifier: Apache-2.0 */
#include "record/embed/code_pages.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

void code_pages_take(struct code_pages *p, const struct task_memory *memory, uint64_t ip)
{
	uint64_t number = ip / CODE_PAGE_LEN;
	uint8_t *copy;

	if (p->pages.len >= CODE_PAGES_MAX || map_get(&p->pages, number))
		return;
	copy = memory_alloc(CODE_PAGE_LEN);
	if (task_memory_read(memory, number * CODE_PAGE_LEN, copy, CODE_PAGE_LEN) != CODE_PAGE_LEN) {
		free(copy);
		copy = NULL;
	}
	*map_put(&p->pages, number, NULL) = (uintptr_t)copy;
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
