/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_losses.c - a list: there are few, and those before a thread's last account are not looked at.
 */
#include "report/load/derive/switch_losses.h"

#include "formats/event.h"

#define CPUS_MAX 65536 /* of a file; of more, losses are since any time */

void switch_losses_deinit(struct switch_losses *l)
{
	vec_deinit(&l->items);
	vec_deinit(&l->newest);
}

void switch_losses_record(struct switch_losses *l, uint32_t cpu, uint64_t time_ns)
{
	if (cpu >= CPUS_MAX)
		return;
	while (l->newest.len <= cpu)
		vec_push(&l->newest, 0);
	l->newest.items[cpu] = MAX(l->newest.items[cpu], time_ns);
}

void switch_losses_add(struct switch_losses *l, uint32_t cpu, uint64_t time_ns)
{
	uint64_t from_ns = cpu < l->newest.len ? l->newest.items[cpu] : 0;

	vec_push(&l->items, ((struct switch_loss){ cpu, MIN(from_ns, time_ns), time_ns }));
	switch_losses_record(l, cpu, time_ns);
}

bool switch_losses_find(const struct switch_losses *l, size_t known, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
			uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	bool found = false;

	for (size_t i = known; i < l->items.len; i++) {
		const struct switch_loss *at = &l->items.items[i];

		if (at->from_ns >= to_ns || at->to_ns <= from_ns ||
		    (cpu != EVENT_NO_CPU && at->cpu != EVENT_NO_CPU && at->cpu != cpu))
			continue;
		*ret_from_ns = found ? MIN(*ret_from_ns, at->from_ns) : at->from_ns;
		*ret_to_ns = found ? MAX(*ret_to_ns, at->to_ns) : at->to_ns;
		found = true;
	}
	return found;
}
