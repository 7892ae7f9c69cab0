/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.h - the chain of transformers between the event stream and the profile: events in, weighted samples out.
 *
 *	events, with stacks ──► by period ──► samples as they were taken
 *	                   ├──► switches  ──► time that threads waited, with the stacks that waited
 *	                   ├──► wall      ──► the same, and time on a CPU
 *	                   └──► syscalls  ──► time in system calls
 *
 * A transformer is one file and one row of DERIVE_KINDS. Each sees every event that passes the filter or that it
 * wants, in order of time, and hands out what the profile is to hold. Not thread-safe.
 */
#ifndef REPORT_DERIVE_H
#define REPORT_DERIVE_H

#include "report/load/derive/derive_kind.h"

struct derive;

/*
 * The names of derived events that @glob means, into the list @added of a derive_request, each once. NULL: those that come when no
 * event is named. False if it means none; whether there is anything of that kind in the recording is not known yet.
 */
bool derive_want(const char **added, const char *glob);

struct derive *derive_new(const struct derive_request *request, const struct derive_out *out);
void derive_free(struct derive *d);

/* Does a transformer need @ev, though it lies before the window or belongs to another event? */
bool derive_wants(const struct derive *d, const struct event *ev);

/* Is @ev about another thread than its own, so that it is needed whichever thread it belongs to? */
bool derive_wants_anyones(const struct derive *d, const struct event *ev);

void derive_event(struct derive *d, const struct derive_event *event);

/* The stream ended: hand out what is not over yet. */
void derive_finish(struct derive *d);

/* The set of labels of @from: what a transformer knows of it beside its stack and thread. */
uint32_t derive_labels(struct profile *p, const struct derived *from);

/* After derive_finish(). All 0 unless waits were requested. */
struct profile_lives derive_lives(const struct derive *d);

#endif
