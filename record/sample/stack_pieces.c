/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_pieces.c - the hash is NH (Black et al., UMAC, 1999) over words of 64 bits with random keys: two different pieces
 * have the same hash with a probability of at most 2^-64, because the keys are secret.
 */
#include "record/sample/stack_pieces.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define WORDS  (STACK_PIECE_LEN / 8)
#define PIECES 512 /* of a thread, each where its address leads to; a stack's follow each other */

__extension__ typedef unsigned __int128 hash_t;

struct piece {
	uint64_t addr; /* 0: none */
	uint32_t turn;
	hash_t hash;
};

struct place {
	uint32_t tid, turn;
	uint64_t used; /* when, in turns of all */
	struct piece pieces[PIECES];
};

struct stack_pieces {
	uint64_t keys[WORDS];
	uint64_t turns;
	struct place places[STACK_PIECES_PLACES];
	struct place *now;
	size_t nnew;
	struct piece new[PIECES]; /* of this turn */
};

struct stack_pieces *stack_pieces_new(void)
{
	struct stack_pieces *p = memory_zeroed(1, sizeof(*p));

	/* Without random numbers the hash is as good, except against an attacker who knows the keys. */
	if (getrandom(p->keys, sizeof(p->keys), GRND_NONBLOCK) != sizeof(p->keys))
		for (size_t i = 0; i < ARRAY_LEN(p->keys); i++)
			p->keys[i] = (i + 1) * 0x9e3779b97f4a7c15;
	return p;
}

void stack_pieces_free(struct stack_pieces *p)
{
	free(p);
}

void stack_pieces_begin(struct stack_pieces *p, uint32_t tid, uint32_t *ret_place, uint32_t *ret_turn)
{
	struct place *place = p->places;

	for (size_t i = 0; i < STACK_PIECES_PLACES && place->tid != tid; i++)
		if (p->places[i].tid == tid || p->places[i].used < place->used)
			place = &p->places[i];
	if (place->tid != tid)
		memset(place->pieces, 0, sizeof(place->pieces));
	place->tid = tid;
	place->used = ++p->turns;
	p->now = place;
	p->nnew = 0;
	*ret_place = (uint32_t)(place - p->places);
	*ret_turn = place->turn;
}

static hash_t hash_of(const uint64_t *keys, const uint64_t *words)
{
	hash_t sum = 0;

	for (size_t i = 0; i < WORDS; i += 2)
		sum += (hash_t)(words[i] + keys[i]) * (words[i + 1] + keys[i + 1]);
	return sum;
}

bool stack_pieces_same(struct stack_pieces *p, uint64_t addr, const uint64_t *words)
{
	const struct piece *known = &p->now->pieces[addr / STACK_PIECE_LEN % PIECES];
	struct piece piece = { addr, p->now->turn, hash_of(p->keys, words) };

	if (p->nnew < PIECES)
		p->new[p->nnew++] = piece;
	return known->addr == addr && known->turn == piece.turn - 1 && known->hash == piece.hash;
}

void stack_pieces_keep(struct stack_pieces *p)
{
	for (size_t i = 0; i < p->nnew; i++)
		p->now->pieces[p->new[i].addr / STACK_PIECE_LEN % PIECES] = p->new[i];
	p->nnew = 0;
	p->now->turn++;
}

void stack_pieces_forget(struct stack_pieces *p)
{
	for (size_t i = 0; i < STACK_PIECES_PLACES; i++)
		memset(p->places[i].pieces, 0, sizeof(p->places[i].pieces));
}
