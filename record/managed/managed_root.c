/* SPDX-License-Identifier: Apache-2.0 */
#include "record/managed/managed_root.h"

#include "formats/base/compiler.h"

#define TRIED_MAX  128	       /* pointers in one view: about a quarter of a millisecond */
#define LEN_MAX	   (1u << 20)  /* bytes that are searched: interpreters have tens of thousands */
#define ROUNDS_MAX 64
#define USER_END   (1ull << 56) /* no address of a program lies beyond */

void managed_root_init(struct managed_root *root, const struct managed_host *host)
{
	const struct managed_binary *binary = host->binary;

	root->begin = (binary->zeroed_vaddr + host->bias + 7) & ~(uint64_t)7;
	root->end = root->begin + MIN(binary->zeroed_len, (uint64_t)LEN_MAX);
	root->next = root->begin;
	root->rounds = 0;
}

static bool may_point(uint64_t value)
{
	return value >= MANAGED_PAGE_LEN && value < USER_END && value % 8 == 0;
}

uint64_t managed_root_search(struct managed_root *root, struct managed_view *view, managed_root_fn *accept,
			     void *context)
{
	unsigned tried = 0;

	if (root->rounds == ROUNDS_MAX)
		return 0;
	for (; root->next + 8 <= root->end && tried < TRIED_MAX && !view->failed; root->next += 8) {
		uint64_t value;

		if (!managed_view_try(view, root->next, &value, sizeof(value)) || !may_point(value))
			continue;
		tried++;
		if (accept(context, view, root->next, value))
			return root->next;
	}
	if (root->next + 8 > root->end) {
		root->next = root->begin;
		root->rounds++;
	}
	return 0;
}
