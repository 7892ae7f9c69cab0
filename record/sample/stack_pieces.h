/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_pieces.h - which pieces of a thread's stack hold the same bytes as when they were read last.
 *
 * The outer frames of a deep stack stay for many samples; what is known of them need not be handed on again. All bytes are compared, by a keyed
 * hash of each piece, so that memory for what was read is not needed: nothing is taken for unchanged because of what lies around it.
 *
 * One for each reader. The threads that were read last have a place each, and what is known of a place counts its turns: the one who keeps
 * the words can tell whether it has all that came before (deep_stack.h).
 */
#ifndef RECORD_STACK_PIECES_H
#define RECORD_STACK_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_PIECE_LEN	    4096u /* bytes, at addresses that are multiples of it */
#define STACK_PIECES_PLACES 8

struct stack_pieces;

struct stack_pieces *stack_pieces_new(void);
void stack_pieces_free(struct stack_pieces *p);

/* The stack of thread @tid comes. Its place, and which turn there this is. */
void stack_pieces_begin(struct stack_pieces *p, uint32_t tid, uint32_t *ret_place, uint32_t *ret_turn);

/* Does the piece at @addr hold the same as in the last turn that was kept? @words: all of it. */
bool stack_pieces_same(struct stack_pieces *p, uint64_t addr, const uint64_t *words);

/* What was asked for since stack_pieces_begin() is what the next turn is compared with; otherwise it is forgotten. */
void stack_pieces_keep(struct stack_pieces *p);

/* Nothing is known any more of any thread. */
void stack_pieces_forget(struct stack_pieces *p);

#endif
