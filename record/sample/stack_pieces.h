/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_pieces.h - detects pieces of a thread's stack that are unchanged since they were last read.
 *
 * The outer frames of a deep stack stay the same for many samples and need not be passed on again. All bytes are compared, by a keyed hash of
 * each piece, so the old content need not be kept.
 *
 * One for each reader. The threads that were read last have a place each. Each place counts its turns, so that the receiver of the words can
 * tell whether it missed one (deep_stack.h).
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

/* Begin the stack of thread @tid. Returns its place and the number of this turn. */
void stack_pieces_begin(struct stack_pieces *p, uint32_t tid, uint32_t *ret_place, uint32_t *ret_turn);

/* Is the piece at @addr, whose content is @words, unchanged since the last turn that was kept? */
bool stack_pieces_same(struct stack_pieces *p, uint64_t addr, const uint64_t *words);

/* Keep the pieces since stack_pieces_begin() for comparison in the next turn; without this call they are dropped. */
void stack_pieces_keep(struct stack_pieces *p);

/* Forget all threads. */
void stack_pieces_forget(struct stack_pieces *p);

#endif
