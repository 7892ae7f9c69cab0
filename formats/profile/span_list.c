/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_list.c - spans are kept as they come until there are too many.
 */
#include "formats/profile/span_list.h"

#include "formats/base/compiler.h"

#include <stdbool.h>
#include <stdlib.h>

#define NOT_KNOWN UINT32_MAX /* PROFILE_NONE, which profile.h has, above this */

#define SPANS_MAX     (1u << 20)
#define STEP_FIRST_NS 1000

void span_list_deinit(struct span_list *list)
{
	vec_deinit(&list->spans);
}

static int compare_spans(const void *a, const void *b)
{
	const struct profile_span *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return COMPARE(x->from_ns, y->from_ns);
}

/* From the beginning of @first to the end of @next; where there is a gap, the filter left out what was there. */
static uint64_t extent_ns(const struct profile_span *first, const struct profile_span *next)
{
	return next->from_ns - first->from_ns + next->len_ns;
}

static void join(struct profile_span *to, const struct profile_span *next)
{
	to->count = to->count && next->count ? to->count + next->count : 0;
	to->len_ns = extent_ns(to, next);
	to->run_ns += next->run_ns;
	to->waker = NOT_KNOWN;
}

static void join_short(struct span_list *list)
{
	struct profile_span *spans = list->spans.items;
	size_t kept = 0;

	for (size_t i = 1; i < list->spans.len; i++) {
		if (spans[i].thread != spans[kept].thread || extent_ns(&spans[kept], &spans[i]) >= list->step_ns) {
			spans[++kept] = spans[i];
			continue;
		}
		join(&spans[kept], &spans[i]);
	}
	list->spans.len = kept + 1;
}

void span_list_fit(struct span_list *list, size_t max)
{
	if (!list->spans.len)
		return;
	vec_sort(&list->spans, compare_spans);
	while (list->spans.len > max && list->step_ns <= UINT64_MAX / 2) {
		list->step_ns = list->step_ns ? list->step_ns * 2 : STEP_FIRST_NS;
		join_short(list);
	}
}

void span_list_add(struct span_list *list, const struct profile_span *span)
{
	if (list->spans.len >= MAX(list->room, SPANS_MAX)) {
		span_list_fit(list, SPANS_MAX / 2);
		list->room = 2 * list->spans.len; /* many threads: not at once again */
	}

	struct profile_span *last = list->spans.len ? &list->spans.items[list->spans.len - 1] : NULL;

	if (last && !last->count && !span->count && last->thread == span->thread && last->from_ns + last->len_ns == span->from_ns)
		join(last, span);
	else
		vec_push(&list->spans, *span);
}
