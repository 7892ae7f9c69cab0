/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h - walks the events of a recording once, makes a profile of their stacks, and names it.
 *
 * Whoever wants to know of events on the way is a listener. Not thread-safe.
 */
#ifndef REPORT_LOADER_H
#define REPORT_LOADER_H

#include "formats/event.h"
#include "formats/profile/profile.h"
#include "report/load/event_walk.h"
#include "report/view/filter.h"

/* What the stream said about itself while it was read, before filters. */
struct stream_counts {
	uint64_t managed[EVENT_MANAGED_STATES]; /* stacks of interpreters by what came of reading them */
	uint64_t events; /* of every kind */
	uint64_t samples;
	uint64_t lost_records;    /* by the kernel, of any kind, from rings of samples */
	uint64_t lost_side_band;  /* by the kernel: mappings, names, forks; no samples */
	uint64_t lost_samples;    /* by the kernel, known to be samples */
	uint64_t dropped_samples; /* by the recorder */
	uint64_t throttles;       /* times that an event was stopped */
	uint64_t branches; /* in stacks of them, with samples */
	uint64_t with_branches, with_address, with_weight; /* samples */
	uint64_t cut, shortened;  /* stacks: ended by the snapshot's size; by the recorder */
	uint64_t folded; /* stacks without some repeated calls, which did not fit */
	uint64_t first_ns,
		last_ns; /* time of the first and last event of any kind; 0 if there are none */
};

struct binaries;
struct loader;
struct session_args;

/* Callbacks that are NULL are left out; those of samples have the address spaces and names as of then. */
struct loader_listener {
	void *context;

	/* Every event in order of time, whatever the filter says. */
	void (*heard)(void *context, const struct event *ev);

	/* loader_each() only: each event that passes the filter, in order of time. An error ends the walk and is returned. */
	struct err *(*event)(void *context, const struct walked_event *event);

	/* loader_load() only: @sample is about to become one of the profile's; its data and labels may be set. */
	void (*sample)(void *context, const struct event *ev, struct profile_sample *sample);

	/* loader_load() only: it went into @row. */
	void (*row)(void *context, const struct event *ev, uint32_t row);

	/* .sample() and .row() look at address spaces as of the event: no other threads walk, which would be ahead of it. */
	bool alone;
	/* loader_each(): it wants no stacks. Samples come without, whatever the filter says about functions and modules. */
	bool flat;
	bool prints; /* on the way, where a line of progress would be in between */

	struct loader_listener *next; /* private */
};

/* What a loader works on: all of it is the caller's and outlives the loader. */
struct loader_input {
	const struct session_args *args;
	struct event_source *source;
	const struct recording *recording;
	struct binaries *binaries;
	struct profile *profile;      /* to be filled; has the recording's events, same numbers */
	struct stream_counts *stream; /* to be counted, before filters */
	struct diag *diag;
};

struct loader *loader_new(const struct loader_input *input);
void loader_free(struct loader *l);

/* Before the walk: tell @listener, which must outlive it. @l is NULL of a profile: there is nothing to tell. */
void loader_listen(struct loader *l, struct loader_listener *listener);

/* What of the profile is filled beside its samples. */
struct loader_keep {
	bool times; /* profile.times */
	bool spans; /* profile.spans */
};

/*
 * Fill the profile with the samples that pass @filter, which is bound; *@ret_matched is their sum. Names are looked up on the
 * way if several threads walk and loader_name_rows() will want @depth frames of each stack. A damaged end of the input is a
 * warning, not an error, as long as there was something.
 */
MUST_USE struct err *loader_load(struct loader *l, struct filter *filter, unsigned depth, const struct loader_keep *keep,
				 struct profile_sum *ret_matched);

/* Instead: hand what passes @filter to @listener. The profile gets stacks and locations, without names, but no samples. */
MUST_USE struct err *loader_each(struct loader *l, struct filter *filter, struct loader_listener *listener);

/* After loader_load(): name @depth frames of each row's stack, from the leaf on (NAMER_ALL). */
void loader_name_rows(struct loader *l, unsigned depth);

/* After loader_name_rows(), once: what waits were for becomes a label (wait_labels.h). */
void loader_label_waits(struct loader *l);

/* Name @location if it is not yet: it has at least 1 line afterwards. */
void loader_name(struct loader *l, uint32_t location);

/* What threads did with their time, of waits that were loaded; all 0 of others. */
struct profile_lives loader_lives(const struct loader *l);

/* Stacks of interpreters that do not fit the native ones. */
uint64_t loader_managed_mismatched(const struct loader *l);

/* What the interpreter says under @key of sample @ev, which a listener is being handed; false if nothing. */
bool loader_managed_label(const struct loader *l, const struct event *ev, const char *key, struct profile_label *ret);

/* The location of address @ip in process @pid, as mapped at the event that a listener is being handed; PROFILE_NONE: nothing is. */
uint32_t loader_locate(struct loader *l, uint32_t pid, uint64_t ip);

/* The module of the profile that stands for @mod, and the other way round. */
uint32_t loader_profile_module(struct loader *l, struct module *mod);
struct module *loader_module(const struct loader *l, uint32_t profile_module);

#endif
