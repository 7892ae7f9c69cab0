/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - the newest intervals of a recording that goes on, as one profile.
 *
 * A recorder writes them into a folder, each a trace of its own (precord --switch-output), and removes the oldest; nothing
 * else connects the two.
 */
#ifndef REPORT_LIVE_H
#define REPORT_LIVE_H

#include "formats/profile/facts.h"
#include "formats/profile/profile.h"
#include "report/load/session.h"

struct live;

/* Of @folder; options, and what passes, are @args and @filter, which is never bound itself. All must outlive @ret. */
struct live *live_new(const char *folder, const struct session_args *args, const struct filter *filter);
void live_free(struct live *live);

/* Look for new intervals. True: live_profile() is another one; the one before lasts until the next look. */
bool live_look(struct live *live);

/* The sum of all intervals that are there, named; NULL: none has had a sample yet. */
const struct profile *live_profile(const struct live *live);
const struct profile_facts *live_facts(const struct live *live);

/* "last 12 s, decaying" */
const char *live_state(const struct live *live);

/* Older samples weigh half as much for each LIVE_HALF_LIFE_S that passed, or all the same; takes effect at once. */
#define LIVE_HALF_LIFE_S 10
void live_turn_decay(struct live *live);

/* All intervals as one trace at @path, which must not be there. Errors are those of trace_join(). */
MUST_USE struct err *live_save(const struct live *live, const char *path);

/* Why an interval could not be read, the last one; NULL: all could. */
const char *live_trouble(const struct live *live);

#endif
