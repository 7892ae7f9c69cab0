/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_symbols.c - the addresses cut the line of all addresses into gaps; of each gap three symbols can matter.
 */
#include "symbolize/elf/near_symbols.h"

#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdlib.h>

#define FILTER_BITS 65536

/* Of the symbols that begin above one address, at the next one or below, and cover neither. */
struct gap {
	uint64_t highest, lowest; /* 0 and UINT64_MAX: there is none */
	uint64_t reach, reach_from; /* the one that ends last */
};

struct near_symbols {
	const uint64_t *addresses;
	size_t count;
	struct gap *gaps;    /* in front of each address, and behind the last */
	unsigned shift;	     /* an address' place is found by its upper bits */
	uint32_t *firsts;    /* of each place: the first address there or above */
	size_t nplaces;
	struct map chosen;
	uint64_t filter[FILTER_BITS / 64]; /* of the chosen ones */
};

/* About two places for each address. */
static void index_places(struct near_symbols *n)
{
	uint64_t low = n->addresses[0], span = n->addresses[n->count - 1] - low;

	while (span >> n->shift > 2 * n->count)
		n->shift++;
	n->nplaces = (size_t)(span >> n->shift) + 1;
	n->firsts = memory_alloc((n->nplaces + 1) * sizeof(*n->firsts));
	for (size_t place = 0, i = 0; place <= n->nplaces; place++) {
		while (i < n->count && (n->addresses[i] - low) >> n->shift < place)
			i++;
		n->firsts[place] = (uint32_t)i;
	}
}

struct near_symbols *near_symbols_new(const uint64_t *addresses, size_t count)
{
	struct near_symbols *n = memory_zeroed(1, sizeof(*n));

	n->addresses = addresses;
	n->count = count;
	n->gaps = memory_zeroed(count + 1, sizeof(*n->gaps));
	for (size_t i = 0; i <= count; i++)
		n->gaps[i].lowest = UINT64_MAX;
	if (count)
		index_places(n);
	return n;
}

void near_symbols_free(struct near_symbols *n)
{
	if (!n)
		return;
	free(n->gaps);
	free(n->firsts);
	map_deinit(&n->chosen);
	free(n);
}

/* The first address at @vaddr or above; the count of all if there is none. */
static size_t next_address(const struct near_symbols *n, uint64_t vaddr)
{
	if (!n->count || vaddr > n->addresses[n->count - 1])
		return n->count;
	if (vaddr <= n->addresses[0])
		return 0;

	size_t i = n->firsts[(vaddr - n->addresses[0]) >> n->shift];

	while (n->addresses[i] < vaddr)
		i++;
	return i;
}

static bool covers(const struct near_symbols *n, size_t address, uint64_t vaddr, uint64_t len)
{
	return address < n->count && n->addresses[address] - vaddr < len;
}

static uint64_t filter_bit(uint64_t vaddr)
{
	return (vaddr ^ vaddr >> 16) % FILTER_BITS;
}

static void choose(struct near_symbols *n, uint64_t vaddr)
{
	uint64_t bit = filter_bit(vaddr);

	n->filter[bit / 64] |= 1ULL << bit % 64;
	map_put(&n->chosen, vaddr, NULL);
}

bool near_symbols_may_matter(const struct near_symbols *n, uint64_t vaddr, uint64_t len)
{
	size_t i = next_address(n, vaddr);
	const struct gap *gap = &n->gaps[i];

	return covers(n, i, vaddr, len) || vaddr > gap->highest || vaddr < gap->lowest || vaddr + len > gap->reach;
}

void near_symbols_note(struct near_symbols *n, uint64_t vaddr, uint64_t len)
{
	size_t i = next_address(n, vaddr);
	struct gap *gap = &n->gaps[i];

	gap->highest = MAX(gap->highest, vaddr);
	gap->lowest = MIN(gap->lowest, vaddr);
	if (covers(n, i, vaddr, len)) {
		choose(n, vaddr);
	} else if (vaddr + len > gap->reach) {
		gap->reach = vaddr + len;
		gap->reach_from = vaddr;
	}
}

void near_symbols_choose(struct near_symbols *n)
{
	uint64_t below = 0, above = UINT64_MAX;

	for (size_t i = 0; i < n->count; i++) {
		const struct gap *gap = &n->gaps[i];

		below = MAX(below, gap->highest);
		choose(n, below);
		choose(n, gap->reach_from);
	}
	for (size_t i = n->count; i > 0; i--) {
		above = MIN(above, n->gaps[i].lowest);
		choose(n, above);
	}
}

bool near_symbols_matters(const struct near_symbols *n, uint64_t vaddr)
{
	uint64_t bit = filter_bit(vaddr);

	return n->filter[bit / 64] >> bit % 64 & 1 && map_get(&n->chosen, vaddr);
}
