/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.c - counts along one pass over the events.
 */
#include "report/tally.h"

#define BUCKETS 40 /* stretches that the recording is divided into, of at least a second */

static struct tally_module *tally_of(struct tally *tally, struct module *mod)
{
	while (tally->modules.len <= mod->id)
		vec_push(&tally->modules, ((struct tally_module){ 0 }));
	tally->modules.items[mod->id].mod = mod;
	return &tally->modules.items[mod->id];
}

static void count_chain(struct tally *tally, const struct unwind_chain *chain)
{
	tally->samples++;
	tally->user_stacks += chain->stop != UNWIND_NOT_WALKED && chain->stop != UNWIND_ENTERING;
	tally->stops[chain->stop]++;
	for (size_t i = 0; i < chain->nframes; i++) {
		struct tally_module *mod = tally_of(tally, chain->frames[i].module);
		enum unwind_how how = chain->frames[i].how;

		mod->leaves += i == 0;
		mod->frames++;
		mod->unsure += !chain->frames[i].kernel &&
			       (how == UNWIND_FP_UNCHECKED || how == UNWIND_KERNEL_CHAIN);
		tally->hows[how]++;
	}
	if (!unwind_stop_is_complete(chain->stop) && chain->stop_module) {
		struct tally_module *mod = tally_of(tally, chain->stop_module);

		mod->broken++;
		mod->stops[chain->stop]++;
	}
}

/* The stretch that @ev falls into. */
static struct tally_loss *loss_of(struct tally *tally, uint64_t start_ns, const struct event *ev)
{
	uint64_t since_ns = ev->time_ns > start_ns ? ev->time_ns - start_ns : 0;
	struct tally_loss fresh = { .from_ns = since_ns - since_ns % tally->bucket_ns,
				    .cpu = ev->cpu };

	for (size_t i = tally->losses.len; i--;) {
		struct tally_loss *loss = &tally->losses.items[i];

		if (loss->from_ns == fresh.from_ns && loss->cpu == fresh.cpu)
			return loss;
	}
	vec_push(&tally->losses, fresh);
	return &tally->losses.items[tally->losses.len - 1];
}

static void count_trouble(struct tally *tally, uint64_t start_ns, const struct event *ev)
{
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES) {
		struct tally_loss *loss = loss_of(tally, start_ns, ev);

		*(ev->lost.by_recorder ? &loss->by_recorder : &loss->by_kernel) += ev->lost.count;
	} else if (ev->kind == EVENT_THROTTLE && ev->throttle.stopped) {
		loss_of(tally, start_ns, ev)->throttles++;
	} else if (ev->kind == EVENT_SAMPLE && ev->sample.stack.shortened) {
		loss_of(tally, start_ns, ev)->shortened++;
	}
}

static struct err *count_event(void *context, struct session *s, const struct session_event *event)
{
	struct tally *tally = context;

	count_trouble(tally, s->recording->start_ns, event->ev);
	if (event->ev->kind == EVENT_SAMPLE)
		count_chain(tally, event->chain);
	return NULL;
}

static int compare_losses(const void *a, const void *b)
{
	const struct tally_loss *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

struct err *tally_count(struct tally *tally, struct session *s, struct filter *filter)
{
	struct session_visitor visitor = { .event = count_event, .context = tally };

	*tally = (struct tally){ 0 };
	tally->bucket_ns = MAX(session_duration_ns(s) / BUCKETS, 1000000000);

	struct err *err = session_each(s, filter, &visitor);

	vec_sort(&tally->losses, compare_losses);
	return err;
}

void tally_deinit(struct tally *tally)
{
	vec_deinit(&tally->modules);
	vec_deinit(&tally->losses);
}
