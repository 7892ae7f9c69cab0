/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.c - the table of transformers, and the loop over it.
 */
#include "report/load/derive/derive.h"

#include "formats/base/memory.h"
#include "report/load/derive/derive_kind.h"

#include <assert.h>
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name) &derive_##name,
static const struct derive_kind *const kinds[] = { DERIVE_KINDS(ROW) };
#undef ROW

#define ERRNO_MAX 4095 /* a call that returns -1 to -4095 has failed */

struct derive {
	struct derive_request request;
	struct derive_out out;
	void *states[ARRAY_LEN(kinds)]; /* NULL: not at work */
};

bool derive_is_off_cpu(const struct recording *rec, uint32_t index)
{
	const struct recording_event *event = &rec->events[index];

	return index < rec->nevents && event->samples && event->type == PERF_TYPE_SOFTWARE &&
	       event->config == PERF_COUNT_SW_CONTEXT_SWITCHES && strcmp(event->unit, "ns") == 0;
}

bool derive_is_idle(const struct recording *rec, uint32_t index)
{
	const struct recording_event *event = &rec->events[index];

	return event->samples && event->type == PERF_TYPE_SOFTWARE &&
	       event->config == PERF_COUNT_SW_DUMMY && strcmp(event->unit, "ns") == 0;
}

bool derive_is_tracepoint(const struct recording *rec, uint32_t index, const char *name)
{
	size_t len = strlen(name);

	if (index >= rec->nevents)
		return false;
	const struct recording_event *event = &rec->events[index];

	/* Modifiers and terms may follow: ":k", "/call-graph=no/". */
	return event->samples && event->type == PERF_TYPE_TRACEPOINT &&
	       strncmp(event->name, name, len) == 0 && event->name[len] != '_' && !isalnum((unsigned char)event->name[len]);
}

bool derive_is_every(const struct recording *rec, uint32_t index)
{
	return index < rec->nevents && !rec->events[index].is_freq && rec->events[index].rate <= 1;
}

uint32_t derive_find_every(const struct recording *rec, const char *name)
{
	for (uint32_t i = 0; i < rec->nevents; i++)
		if (derive_is_tracepoint(rec, i, name) && derive_is_every(rec, i))
			return i;
	return PROFILE_NONE;
}

uint32_t derive_error_text(struct profile *p, int64_t result)
{
	int number = result < 0 && result >= -ERRNO_MAX ? (int)-result : 0;
	const char *name = number ? strerrorname_np(number) : NULL;
	char text[40];

	if (!number)
		return 0;
	snprintf(text, sizeof(text), "error %d", number);
	return profile_string(p, name ? name : text);
}

bool derive_has_callers(const struct profile *p, uint32_t stack)
{
	return stack && p->stacks.items[stack].depth > 1;
}

bool derive_is_loss(const struct event *ev)
{
	return (ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES) && ev->lost.event != RECORDING_NO_EVENT;
}

static void add_name(const char **added, const char *name)
{
	size_t n = 0;

	while (added[n] && strcmp(added[n], name) != 0)
		n++;
	assert(n < DERIVE_ADDED_MAX);
	added[n] = name;
}

static bool is_meant(const struct derive_added *event, const char *glob)
{
	if (!glob)
		return event->unasked;
	return strcmp(glob, event->name) == 0 || (event->unasked && fnmatch(glob, event->name, 0) == 0);
}

bool derive_want(const char **added, const char *glob)
{
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		for (const struct derive_added *event = kinds[i]->adds; event->name; event++)
			if (is_meant(event, glob)) {
				add_name(added, event->name);
				found = true;
			}
	return found;
}

bool derive_is_wanted(const struct derive_request *request, const char *name)
{
	for (const char *const *added = request->added; *added; added++)
		if (strcmp(*added, name) == 0)
			return true;
	return false;
}

bool derive_next_piece(const struct derive_request *request, uint64_t from_ns, uint64_t to_ns, struct derive_pieces *pieces)
{
	const struct derive_window all = { request->from_ns, request->to_ns };
	bool is_point = from_ns == to_ns;

	from_ns = MAX(from_ns, all.from_ns);
	to_ns = MIN(to_ns, all.to_ns);
	while (pieces->next < MAX(request->nwindows, (size_t)1)) {
		const struct derive_window *window = request->nwindows ? &request->windows[pieces->next] : &all;

		pieces->at = (struct derive_window){ MAX(from_ns, window->from_ns), MIN(to_ns, window->to_ns) };
		pieces->next++;
		if (pieces->at.from_ns < pieces->at.to_ns)
			return true;
		if (is_point && pieces->at.from_ns == pieces->at.to_ns) {
			pieces->next = SIZE_MAX;
			return true;
		}
	}
	return false;
}

uint64_t derive_looked_at(const struct derive_request *request, uint64_t from_ns, uint64_t to_ns)
{
	struct derive_pieces pieces = { 0 };
	uint64_t sum = 0;

	while (derive_next_piece(request, from_ns, to_ns, &pieces))
		sum += pieces.at.to_ns - pieces.at.from_ns;
	return sum;
}

uint32_t derive_add_type(struct profile *p, const char *name)
{
	struct profile_value_type type = { .name = profile_string(p, name), .unit = profile_string(p, "ns") };

	for (uint32_t i = 0; i < p->types.len; i++)
		if (p->types.items[i].name == type.name)
			return i;
	return profile_add_value_type(p, &type);
}

struct derive *derive_new(const struct derive_request *request, const struct derive_out *out)
{
	struct derive *d = memory_zeroed(1, sizeof(*d));

	d->request = *request;
	d->out = *out;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		d->states[i] = kinds[i]->begin(&d->request, &d->out);
	return d;
}

void derive_free(struct derive *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i])
			kinds[i]->free(d->states[i]);
	free(d);
}

bool derive_wants(const struct derive *d, const struct event *ev)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->wants && kinds[i]->wants(d->states[i], ev))
			return true;
	return false;
}

bool derive_wants_anyones(const struct derive *d, const struct event *ev)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->wants_anyones && kinds[i]->wants_anyones(d->states[i], ev))
			return true;
	return false;
}

void derive_event(struct derive *d, const struct derive_event *event)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i])
			kinds[i]->event(d->states[i], event);
}

void derive_finish(struct derive *d)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->finish)
			kinds[i]->finish(d->states[i]);
}

struct profile_lives derive_lives(const struct derive *d)
{
	struct profile_lives lives = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->lives)
			kinds[i]->lives(d->states[i], &lives);
	return lives;
}

/* Who ended a wait: "name tid", or what is known of a CPU without a thread. */
static uint32_t waker_text(struct profile *p, uint32_t waker)
{
	const struct profile_thread *thread = &p->threads.items[waker];
	char text[64] = "[interrupt in idle]";

	if (thread->tid)
		snprintf(text, sizeof(text), "%.40s %" PRIu32, profile_text(p, thread->comm), thread->tid);
	return profile_string(p, text);
}

uint32_t derive_labels(struct profile *p, const struct derived *from)
{
	const struct {
		const char *key;
		uint32_t text;
	} texts[] = { { DERIVE_WAKER, from->waker == PROFILE_NONE ? 0 : waker_text(p, from->waker) },
		      { DERIVE_CALL, from->call },
		      { DERIVE_ERROR, from->error },
		      { DERIVE_FILE, from->file },
		      { DERIVE_LOCK, from->lock },
		      { DERIVE_OPERATION, from->operation } };
	struct profile_label labels[ARRAY_LEN(texts) + 2];
	uint32_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].text)
			labels[count++] = (struct profile_label){ .key = profile_string(p, texts[i].key), .text = texts[i].text };
	if (from->place)
		labels[count++] = (struct profile_label){ .key = profile_string(p, DERIVE_PLACE), .is_number = true,
							  .number = from->place };
	if (from->waker_stack)
		labels[count++] = (struct profile_label){ .key = profile_string(p, DERIVE_WAKER_STACK), .is_number = true,
							  .number = from->waker_stack };
	return profile_add_labels(p, labels, count);
}
