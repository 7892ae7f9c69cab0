/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_order.c - a binary heap by time; records of the same time stay as they are in the file.
 */
#include "formats/perf/perf_data_order.h"

static bool is_before(const struct perf_data_waiting *a, const struct perf_data_waiting *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

void perf_data_order_put(struct perf_data_order *order, const struct perf_data_waiting *waiting)
{
	struct perf_data_waiting item = *waiting;
	size_t i = order->heap.len;

	item.number = order->number++;
	vec_push(&order->heap, item);
	while (i && is_before(&item, &order->heap.items[(i - 1) / 2])) {
		order->heap.items[i] = order->heap.items[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	order->heap.items[i] = item;
	order->youngest_ns = MAX(order->youngest_ns, item.time_ns);
}

void perf_data_order_round(struct perf_data_order *order)
{
	order->final_ns = order->round_youngest_ns;
	order->round_youngest_ns = order->youngest_ns;
}

void perf_data_order_end(struct perf_data_order *order)
{
	order->final_ns = UINT64_MAX;
}

/* Put @item where the first was, or further down. */
static void sift_down(struct perf_data_order *order, struct perf_data_waiting item)
{
	struct perf_data_waiting *items = order->heap.items;
	size_t len = order->heap.len, i = 0, child;

	while ((child = 2 * i + 1) < len) {
		if (child + 1 < len && is_before(&items[child + 1], &items[child]))
			child++;
		if (!is_before(&items[child], &item))
			break;
		items[i] = items[child];
		i = child;
	}
	items[i] = item;
}

bool perf_data_order_take(struct perf_data_order *order, bool pressed, struct perf_data_waiting *ret)
{
	if (!order->heap.len || (!pressed && order->heap.items[0].time_ns > order->final_ns))
		return false;
	*ret = order->heap.items[0];
	order->heap.len--;
	if (order->heap.len)
		sift_down(order, order->heap.items[order->heap.len]);
	order->nlate += ret->time_ns && ret->time_ns < order->taken_ns;
	order->taken_ns = MAX(order->taken_ns, ret->time_ns);
	return true;
}

void perf_data_order_deinit(struct perf_data_order *order)
{
	vec_deinit(&order->heap);
}
