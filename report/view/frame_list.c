/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_list.c - the profile's stacks lead from the leaf to the root, and its lines from the innermost function
 * outwards: the list is filled in that order and then turned round.
 */
#include "report/view/frame_list.h"

#include "formats/base/text.h"
#include "formats/stack_stop.h"

bool frame_is_needed(uint8_t stop)
{
	return stop < STACK_STOPS && !stack_stop_is_complete(stop);
}

static void turn_round(struct frame_list *list)
{
	for (size_t i = 0, j = list->frames.len; i + 1 < j; i++) {
		struct frame first = list->frames.items[i];

		list->frames.items[i] = list->frames.items[--j];
		list->frames.items[j] = first;
	}
}

void frame_list_fill(struct frame_list *list, const struct profile *p,
		     const struct profile_sample *row)
{
	list->frames.len = 0;
	list->stop = row->stop;
	for (uint32_t stack = row->stack; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];

		for (uint32_t i = 0; i < at->nlines; i++) {
			struct frame frame = { stack, at->first_line + i, at->nlines - 1 - i };

			vec_push(&list->frames, frame);
		}
	}
	if (frame_is_needed(row->stop))
		vec_push(&list->frames, ((struct frame){ row->stack, FRAME_REASON, 0 }));
	turn_round(list);
}

void frame_list_deinit(struct frame_list *list)
{
	vec_deinit(&list->frames);
}

const char *frame_reason(uint8_t stop, struct arena *arena)
{
	return arena_printf(arena, "[%s]", stack_stop_name(stop));
}

uint32_t frame_function(const struct frame_list *list, const struct frame *frame, const struct profile *p)
{
	if (frame->line == FRAME_REASON)
		return (uint32_t)p->functions.len + list->stop;
	return p->lines.items[frame->line].function;
}

const char *frame_name(const struct frame_list *list, const struct frame *frame,
		       const struct profile *p, struct arena *arena)
{
	if (frame->line == FRAME_REASON)
		return frame_reason(list->stop, arena);

	const struct profile_function *function =
		&p->functions.items[p->lines.items[frame->line].function];

	return text_escape(arena, profile_text(p, function->name));
}
