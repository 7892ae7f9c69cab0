/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep_stack.h - lets a snapshot that was cut by its size go on with the rest of the stack, which was read behind it (other_stack.h).
 *
 * Of pieces that are the same as the last time, only that is handed on: their words are kept here, pruned, for each place of a thread
 * (stack_pieces.h). For one thread that empties rings.
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
 * After prune_sample(), which filled @stack: let it go on with @rest, which belongs to the same sample of @proc. Addresses of code that are new go
 * to @front. False: nothing was done, for words that @rest refers to did not come here.
 */
bool deep_stacks_add(struct deep_stacks *s, const struct process *proc, const struct other_stack *rest, struct prune *prune,
		     struct attach_front *front, struct event_stack *stack);

#endif
