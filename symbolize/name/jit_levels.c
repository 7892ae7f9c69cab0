/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_levels.c - a segment tree over the ends of all pieces: each node has the highest level that covers all of it, and the highest of
 * any part of it.
 */
#include "symbolize/name/jit_levels.h"

#include "formats/base/bisect.h"
#include "formats/base/compiler.h"
#include "formats/base/vec.h"

#include <stdlib.h>

/* Levels are 1 more than they are, 0 is none. */
struct node {
	uint8_t all, any;
};

struct tree {
	VEC(uint64_t) ends; /* ascending, each once: leaf i is [ends[i], ends[i + 1]) */
	struct node *nodes; /* the children of i are 2 i and 2 i + 1 */
	size_t nleaves;	    /* a power of two */
};

static void tree_init(struct tree *t, const struct jit_level_piece *pieces, size_t npieces)
{
	size_t count = 0;

	for (size_t i = 0; i < npieces; i++) {
		vec_push(&t->ends, pieces[i].start);
		vec_push(&t->ends, pieces[i].end);
	}
	vec_sort(&t->ends, vec_u64_ascending);
	for (size_t i = 0; i < t->ends.len; i++) {
		if (!count || t->ends.items[count - 1] != t->ends.items[i])
			t->ends.items[count++] = t->ends.items[i];
	}
	t->ends.len = count;
	for (t->nleaves = 1; t->nleaves < count;)
		t->nleaves *= 2;
	t->nodes = memory_zeroed(2 * t->nleaves, sizeof(*t->nodes));
}

static void tree_deinit(struct tree *t)
{
	vec_deinit(&t->ends);
	free(t->nodes);
}

static size_t leaf_of(const struct tree *t, uint64_t addr)
{
	return BISECT(t->ends.len, i, t->ends.items[i] < addr);
}

/* The leaves [begin, end) and a part of the tree: node @node, which has @len leaves from @first on. */
struct part {
	size_t begin, end, node, first, len;
};

static bool is_outside(const struct part *p)
{
	return p->begin >= p->first + p->len || p->end <= p->first;
}

static bool is_inside(const struct part *p)
{
	return p->begin <= p->first && p->first + p->len <= p->end;
}

static struct part half(const struct part *p, size_t which)
{
	return (struct part){ p->begin, p->end, 2 * p->node + which, p->first + which * p->len / 2, p->len / 2 };
}

/* The depth is that of the tree, 64 at most. */
static uint8_t highest(const struct tree *t, struct part p)
{
	const struct node *node = &t->nodes[p.node];

	if (is_outside(&p))
		return 0;
	if (is_inside(&p))
		return node->any;
	uint8_t low = highest(t, half(&p, 0)), high = highest(t, half(&p, 1));

	return MAX(node->all, MAX(low, high));
}

static void cover(struct tree *t, struct part p, uint8_t level)
{
	struct node *node = &t->nodes[p.node];

	if (is_outside(&p))
		return;
	node->any = MAX(node->any, level);
	if (is_inside(&p)) {
		node->all = MAX(node->all, level);
		return;
	}
	cover(t, half(&p, 0), level);
	cover(t, half(&p, 1), level);
}

static struct part whole(const struct tree *t, uint64_t start, uint64_t end)
{
	return (struct part){ leaf_of(t, start), leaf_of(t, end), 1, 0, t->nleaves };
}

static uint8_t level_at(const struct tree *t, uint64_t ip)
{
	size_t behind = BISECT(t->ends.len, i, t->ends.items[i] <= ip);

	return behind ? highest(t, (struct part){ behind - 1, behind, 1, 0, t->nleaves }) : 0;
}

void jit_levels_find(struct jit_level_piece *pieces, size_t npieces, struct jit_level_address *addresses, size_t naddresses)
{
	struct tree tree = { 0 };
	size_t next = 0;

	tree_init(&tree, pieces, npieces);
	for (size_t i = 0; i <= npieces; i++) {
		for (; next < naddresses && (addresses[next].npieces <= i || i == npieces); next++) {
			uint8_t level = level_at(&tree, addresses[next].ip);

			addresses[next].level = level ? level - 1 : 0;
		}
		if (i == npieces)
			break;
		struct jit_level_piece *piece = &pieces[i];
		uint8_t below = highest(&tree, whole(&tree, piece->start, piece->end));

		piece->level = MIN(below && piece->again ? below - 1U : below, CODE_PLACE_UNKNOWN);
		cover(&tree, whole(&tree, piece->start, piece->end), (uint8_t)(piece->level + 1));
	}
	tree_deinit(&tree);
}
