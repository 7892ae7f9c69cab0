/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one input and what was made of it: the profile and its facts, and what looking at its code needs.
 *
 *	static struct err *print(struct session *s, void *args_)
 *	{
 *		struct hot_args *args = args_;
 *		struct err *err = session_load(s, &args->filter);
 *
 *		... s->profile ...
 *	}
 *
 *	... session_run(&cmd_hot, &args->session, print, args) ...
 *
 * Not thread-safe.
 */
#ifndef REPORT_SESSION_H
#define REPORT_SESSION_H

#include "formats/base/diag.h"
#include "formats/event.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"
#include "report/load/binaries.h"
#include "report/load/loader.h"
#include "report/load/namer.h"
#include "report/load/session_args.h"

struct session {
	const struct session_args *args;

	/* What is wanted; may be set between session_open() and session_load(). */
	unsigned names;	 /* frames of each stack: NAMER_LEAVES and the like; all unless it is set */
	bool keep_times; /* fill profile->times, if the input has any */
	bool keep_spans; /* fill profile->spans, if switches were recorded and waits are wanted */

	/* The input, as it was recognised. */
	struct event_source *source;	   /* NULL of a profile */
	const struct recording *recording; /* NULL of a profile: it was none */
	bool imported; /* it was a profile: there are no events or chains */
	struct module **imported_modules; /* of a profile: by their numbers there; NULL for most (imported_code.h) */

	/* What walks and names, and looking at code needs. */
	struct binaries binaries;
	struct loader *loader; /* NULL of a profile */

	/* The result. */
	struct profile *profile;       /* events are those of the recording, same numbers */
	struct profile_facts facts;    /* complete after session_load(); texts live as long as the session */
	struct stream_counts stream;   /* before filters */
	struct profile_sum matched;    /* samples that passed the filter, of all events */
	struct filter *filter;	       /* NULL before session_load() or session_each() */

	struct arena arena; /* lives until session_close() */
	struct diag diag;   /* warnings; the command prints them with session_warn() */
};

/*
 * Open the input that @args names and get ready to read events; or read it, if it is a profile already (collapsed stacks,
 * pprof). @s must stay where it is; @args must outlive it.
 *
 * Whatever happens, session_close() releases @s. ERR_SYSTEM, ERR_CORRUPT, ERR_UNSUPPORTED: as the reader says.
 */
MUST_USE struct err *session_open(struct session *s, const struct session_args *args);

/* The same on a source that is open; session_close() closes it. */
void session_open_source(struct session *s, const struct session_args *args,
			 struct event_source *source);
void session_close(struct session *s);

/*
 * Read all events, unwind the samples that pass @filter (which this binds; it must outlive the session), and fill
 * and name the profile. A damaged end of the input is a warning in s->diag, not an error, as long as there was something.
 *
 * ERR_USAGE: see filter_bind(). ERR_UNSUPPORTED: no sample is there, or none passes the filter; the message names it.
 */
MUST_USE struct err *session_load(struct session *s, struct filter *filter);

/*
 * Instead of session_load(): hand every event that passes @filter to @listener in time order. ERR_UNSUPPORTED: see
 * session_need(). The profile gets stacks and locations but no samples; name what you print with loader_name().
 */
MUST_USE struct err *session_each(struct session *s, struct filter *filter,
				  struct loader_listener *listener);

/* ERR_UNSUPPORTED: the input is a profile. It has no @what ("events", "code"), which @who needs; "" is the caller. */
MUST_USE struct err *session_need(const struct session *s, const char *what, const char *who);

/* Name every frame of the samples that were loaded, whatever s->names said. */
void session_name_all(struct session *s);

/* The module behind a module of s->profile, for annotate and info. */
struct module *session_module(const struct session *s, uint32_t profile_module);

/* Samples that are missing, and who had no room for them. */
struct session_losses {
	uint64_t by_kernel, by_recorder; /* samples */
	uint64_t side_band; /* records of mappings, names and forks: some addresses may have no name */
};

/*
 * The counts at the end of the file and the events on the way tell the same, and one may be missing. The counts know
 * more: the last losses, and which part of them was of other processes on the same CPU.
 */
struct session_losses session_losses(const struct session *s);

/* How long was recorded: from enabling to disabling, or to the last event if the end is missing. */
uint64_t session_duration_ns(const struct session *s);

/* Print the warnings to stderr, once. */
void session_warn(struct session *s);

/* What a command does with its session; @args are the command's. */
typedef struct err *session_fn(struct session *s, void *args);

/*
 * The whole life of @command's session: opened as @session says, refused if it lacks what @command needs, given to @work, its warnings printed, left to the end of the
 * process, which is near. Who goes on afterwards calls session_open() and session_close().
 */
MUST_USE struct err *session_run(const struct command *command, const struct session_args *session,
				 session_fn *work, void *args);

#endif
