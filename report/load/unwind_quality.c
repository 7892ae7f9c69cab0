/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_quality.c - counts along one pass over the events.
 */
#include "report/load/unwind_quality.h"

#define BUCKETS 40 /* stretches that the recording is divided into, of at least a second */

static struct unwind_quality_module *module_of(struct unwind_quality *unwind_quality, struct module *mod)
{
	while (unwind_quality->modules.len <= mod->id)
		vec_push(&unwind_quality->modules, ((struct unwind_quality_module){ 0 }));
	unwind_quality->modules.items[mod->id].mod = mod;
	return &unwind_quality->modules.items[mod->id];
}

static void count_chain(struct unwind_quality *unwind_quality, const struct unwind_chain *chain)
{
	unwind_quality->samples++;
	unwind_quality->stops[chain->stop]++;
	for (size_t i = 0; i < chain->nframes; i++) {
		struct unwind_quality_module *mod = module_of(unwind_quality, chain->frames[i].module);
		enum unwind_how how = chain->frames[i].how;

		mod->leaves += i == 0;
		mod->frames++;
		mod->unsure += !chain->frames[i].kernel &&
			       (how == UNWIND_FP_UNCHECKED || how == UNWIND_KERNEL_CHAIN);
	}
	if (!stack_stop_is_complete(chain->stop) && chain->stop_module) {
		struct unwind_quality_module *mod = module_of(unwind_quality, chain->stop_module);

		mod->broken++;
		mod->stops[chain->stop]++;
	}
}

/* The stretch that @ev falls into. */
static struct unwind_quality_loss *loss_of(struct unwind_quality *unwind_quality, const struct event *ev)
{
	uint64_t start_ns = unwind_quality->start_ns;
	uint64_t since_ns = ev->time_ns > start_ns ? ev->time_ns - start_ns : 0;
	struct unwind_quality_loss fresh = { .from_ns = since_ns - since_ns % unwind_quality->bucket_ns,
				    .cpu = ev->cpu };

	for (size_t i = unwind_quality->losses.len; i--;) {
		struct unwind_quality_loss *loss = &unwind_quality->losses.items[i];

		if (loss->from_ns == fresh.from_ns && loss->cpu == fresh.cpu)
			return loss;
	}
	vec_push(&unwind_quality->losses, fresh);
	return &unwind_quality->losses.items[unwind_quality->losses.len - 1];
}

static void count_trouble(struct unwind_quality *unwind_quality, const struct event *ev)
{
	if (ev->kind == EVENT_LOST && ev->lost.event == RECORDING_NO_EVENT)
		return; /* of the side-band: no samples */
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES) {
		struct unwind_quality_loss *loss = loss_of(unwind_quality, ev);

		*(ev->lost.by_recorder ? &loss->by_recorder : &loss->by_kernel) += ev->lost.count;
	} else if (ev->kind == EVENT_THROTTLE && ev->throttle.stopped && !ev->throttle.by_recorder) {
		loss_of(unwind_quality, ev)->throttles++;
	} else if (ev->kind == EVENT_SAMPLE && ev->sample.stack.shortened) {
		loss_of(unwind_quality, ev)->shortened++;
	}
}

static struct err *count_event(void *context, const struct walked_event *event)
{
	struct unwind_quality *unwind_quality = context;

	count_trouble(unwind_quality, event->ev);
	if (event->ev->kind == EVENT_SAMPLE)
		count_chain(unwind_quality, event->chain);
	return NULL;
}

static int compare_losses(const void *a, const void *b)
{
	const struct unwind_quality_loss *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return COMPARE(x->cpu, y->cpu);
}

struct err *unwind_quality_count(struct unwind_quality *unwind_quality, struct session *s, struct filter *filter)
{
	struct loader_listener listener = { .context = unwind_quality, .event = count_event };

	*unwind_quality = (struct unwind_quality){ .start_ns = s->recording ? s->recording->start_ns : 0 };
	unwind_quality->bucket_ns = MAX(session_duration_ns(s) / BUCKETS, 1000000000);

	struct err *err = session_each(s, filter, &listener);

	vec_sort(&unwind_quality->losses, compare_losses);
	return err;
}

void unwind_quality_deinit(struct unwind_quality *unwind_quality)
{
	vec_deinit(&unwind_quality->modules);
	vec_deinit(&unwind_quality->losses);
}
