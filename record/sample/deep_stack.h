/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep_stack.h - extends a truncated snapshot by the rest of the stack, which was read from memory (other_stack.h).
 *
 * Unchanged pieces are only marked as such: their pruned words are kept here, for each thread's place (stack_pieces.h). Used by one
 * thread that reads rings.
 */
#ifndef RECORD_DEEP_STACK_H
#define RECORD_DEEP_STACK_H

#include "record/embed/attach.h"
#include "record/sample/other_stack.h"
#include "record/sample/prune.h"

struct deep_stacks;

struct deep_stacks *deep_stacks_new(void);
void deep_stacks_free(struct deep_stacks *s);

/*
 * After prune_sample(), which filled @stack: append @rest, of the same sample of @proc. New code addresses go to @front. False: nothing was
 * done, because words that @rest refers to are missing here.
 */
bool deep_stacks_add(struct deep_stacks *s, const struct process *proc, const struct other_stack *rest, struct prune *prune,
		     struct attach_front *front, struct event_stack *stack);

#endif
