/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one input and what was made of it: the profile and its facts, and what looking at its code needs.
 *
 * Its loader, which walks the events and names what it finds, is private.
 *
 *	static struct err *print(struct session *s, void *args_)
 *	{
 *		struct hot_args *args = args_;
 *		struct err *err = session_load(s, &args->filter);
 *
 *		... s->profile ...
 *	}
 *
 *	... session_run(&args->session, print, args) ...
 *
 * A command embeds a struct session_args and lists session_opts as an OPT_GROUP, which sets the defaults and
 * releases what the options gathered. Not thread-safe.
 */
#ifndef REPORT_SESSION_H
#define REPORT_SESSION_H

#include "formats/base/command.h"
#include "formats/base/diag.h"
#include "formats/event.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"
#include "report/load/session_event.h"
#include "report/load/stream_counts.h"
#include "report/print/progress.h"
#include "report/view/filter.h"
#include "symbolize/module/debuginfod.h"
#include "symbolize/name/demangle.h"

struct module;
struct module_table;
struct space_table;
struct symbolizer;

/* -i, --symfs, --debug-dir, --vmlinux, --kallsyms, --threads, --no-inline, --no-cache, --demangle, --debuginfod-time, --no-progress. */
struct session_args {
	const char *input; /* path, "-" for standard input; never NULL after session_args_init() */
	const char *symfs; /* NULL: "/" */
	struct opt_list debug_dirs;
	const char *vmlinux; /* NULL: looked for where it usually is */
	const char *kallsyms; /* a copy of /proc/kallsyms for a perf.data; NULL: the one here */
	bool inlines, cache, progress; /* all true from the start */
	enum demangle_how demangle;
	uint64_t debuginfod_time_ns;   /* that servers of debug information may take, all together */
	struct opt_list not_mine;      /* globs of files whose code is not the user's own */
	bool native; /* show the C frames of interpreters */
	uint64_t threads;	/* 0: one */
};

extern const struct opt session_opts[];

void session_args_init(struct session_args *args);
void session_args_deinit(struct session_args *args);

/* Which frames of each stack session_load() names; fewer are faster. */
enum session_names {
	SESSION_NAME_ALL,
	SESSION_NAME_CALLERS, /* the leaf's location and the one above */
	SESSION_NAME_LEAVES,
	SESSION_NAME_NONE,
};

struct session;

/* Whoever wants to know of events while they are read. Callbacks that are NULL are left out. */
struct session_listener {
	void *context;

	/* Every event in order of time, whatever the filter says. */
	void (*heard)(void *context, const struct event *ev);

	/* Each event that passes the filter, in order of time. An error ends the walk and is returned. */
	struct err *(*event)(void *context, struct session *s, const struct session_event *event);

	/* session_load() only: @sample is about to become one of the profile's; its data and labels may be set. */
	void (*sample)(void *context, struct session *s, const struct event *ev,
		       struct profile_sample *sample);

	/* session_load() only: it went into @row. */
	void (*row)(void *context, struct session *s, const struct event *ev, uint32_t row);

	/*
	 * It looks at address spaces as of the event, or at the frames of the chain: no other threads walk, which would be
	 * ahead of it.
	 */
	bool alone;
	/*
	 * With session_each(), where it is the only one: it wants no stacks. Samples come without chain and stack, whatever the
	 * filter says about functions and modules, which is left to .event().
	 */
	bool flat;
	bool prints; /* on the way, where a line of progress would be in between */

	struct session_listener *next; /* private */
};

struct session {
	const struct session_args *args;

	/* What is wanted; may be set between session_open() and session_load(). */
	enum session_names names;
	bool keep_times; /* fill profile->times, if the input has any */

	/* The input, as it was recognised. */
	struct event_source *source;	   /* NULL of a profile */
	const struct recording *recording; /* NULL of a profile: it was none */
	bool imported; /* it was a profile: there are no events, chains or code */

	/* The result. */
	struct profile *profile;       /* events are those of the recording, same numbers */
	struct profile_facts facts;    /* complete after session_load(); texts live as long as the session */
	struct stream_counts stream;   /* before filters */
	struct profile_sum matched;    /* samples that passed the filter, of all events */
	struct filter *filter;	       /* NULL before session_load() or session_each() */

	/* What looking at code needs. */
	struct module_table *modules;
	struct space_table *spaces;    /* as of the event that is handed out */
	struct symbolizer *symbolizer;

	struct arena arena; /* lives until session_close() */
	struct diag diag;   /* warnings; the command prints them with session_warn() */
	struct session_listener *listeners; /* private */
	struct loader *loader;		    /* private: what walks and names */
	struct debuginfod debuginfod;	    /* private: what servers were asked for */
	struct progress asking;		    /* private: the line about that */
};

/*
 * Open the input that @args names and get ready to read events; or read it, if it is a profile already (collapsed stacks,
 * pprof). @args must outlive the session.
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

/* Between session_open() and session_load() or session_each(): tell @listener, which must outlive those. */
void session_listen(struct session *s, struct session_listener *listener);

/*
 * Instead of session_load(): hand every event that passes @filter to @listener in time order. ERR_UNSUPPORTED: see
 * session_need(). The profile gets stacks and locations but no samples; name what you print with session_name().
 */
MUST_USE struct err *session_each(struct session *s, struct filter *filter,
				  struct session_listener *listener);

/* ERR_UNSUPPORTED: the input is a profile. It has no @what ("events", "code"), which @who needs; "" is the caller. */
MUST_USE struct err *session_need(const struct session *s, const char *what, const char *who);

/* ERR_UNSUPPORTED: the input is no trace of precord, which consists of blocks. */
MUST_USE struct err *session_need_blocks(const struct session *s);

/* What the interpreter says under @key of sample @ev, which a listener is being handed; false if nothing. */
bool session_managed_label(struct session *s, const struct event *ev, const char *key, struct profile_label *ret);

#define SESSION_NOWHERE UINT32_MAX

/*
 * The location of address @ip in process @pid, as mapped at the moment of the event that a visitor or listener is being
 * handed; SESSION_NOWHERE if nothing is mapped there. Not for visitors that are apart.
 */
uint32_t session_locate(struct session *s, uint32_t pid, uint64_t ip);

/* Name @location if it is not yet: s->profile->locations.items[@location].nlines is at least 1 afterwards. */
void session_name(struct session *s, uint32_t location);

/* Name every frame of the samples that were loaded, whatever s->names said. */
void session_name_all(struct session *s);

/* The module of s->profile that stands for @mod. */
uint32_t session_profile_module(struct session *s, struct module *mod);

/* The module behind a module of s->profile, for annotate and info. */
struct module *session_module(const struct session *s, uint32_t profile_module);

/* Files that were used though nothing tells that they are those that were recorded. */
uint64_t session_unverified(const struct session *s);

/* Fill s->facts with what the recording says before it is read; session_open() does. */
void session_set_origin(struct session *s);

/* Fill s->facts, all but .lives; session_load() does. */
void session_set_facts(struct session *s);

/* The first event that was on and never had a counter; NULL if there is none. */
const char *session_unheard_event(const struct session *s);

/* The event that tables are about unless the user says otherwise: the first with samples that passes the filter. */
uint32_t session_default_event(const struct session *s);

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

/*
 * How long was recorded: from enabling to disabling, or to the last event if the end is missing.
 */
uint64_t session_duration_ns(const struct session *s);

#endif
