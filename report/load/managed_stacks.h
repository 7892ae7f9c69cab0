/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_stacks.h - puts the frames of an interpreter into the native stacks that they ran in.
 *
 *	native                      what the interpreter kept        merged
 *
 *	memcpy          libc                                         memcpy          libc
 *	array_copy      numpy.so                                     array_copy      numpy.so
 *	cfunction_call  python                                       scale           app.py:12
 *	EvalFrame       python      scale    app.py:12               handler         app.py:40
 *	                            handler  app.py:40  entry
 *	vectorcall      python                                       main            app.py:99
 *	EvalFrame       python      main     app.py:99  entry
 *	Py_RunMain      python
 *	_start          python
 *
 * Each call of the interpreter's loop on the native stack becomes the frames that it ran, up to the one that is marked as its
 * entry. The interpreter's own C frames are left out, unless they are asked for; so is how the program started, if nothing
 * but the interpreter and the C library took part. Where the numbers of calls do not fit, the frames of both stay, and that
 * is counted. Not thread-safe.
 */
#ifndef REPORT_MANAGED_STACKS_H
#define REPORT_MANAGED_STACKS_H

#include "formats/event.h"
#include "formats/profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct namer;
struct module;
struct managed_stacks;

/* Of samples that passed the filter. */
struct managed_counts {
	uint64_t merged;
	uint64_t mismatched; /* whole, but the native stack has another number of calls */
};

/* For the profile of @namer; @native: keep the interpreter's own C frames. @unknown stands for files of scripts. */
struct managed_stacks *managed_stacks_new(struct namer *namer, struct module *unknown, bool native);
void managed_stacks_free(struct managed_stacks *m);

/* To be called with each event in order of time; others than EVENT_MANAGED are ignored. */
void managed_stacks_event(struct managed_stacks *m, const struct event *ev);

/*
 * The stack of sample @ev with its interpreter's frames, if there are any; @stack is the native one. @complete: that
 * reaches its root.
 */
uint32_t managed_stacks_merge(struct managed_stacks *m, const struct event *ev, uint32_t stack,
			      bool complete);

/* What the interpreter said under @key of the sample that was merged last, if that is @ev; false if nothing. */
bool managed_stacks_label(const struct managed_stacks *m, const struct event *ev, const char *key,
			  struct profile_label *ret);

/*
 * Did the interpreter's frames lead on to the root, where the native stack of @ev, which was merged last, broke off? Then its
 * callers are all there, though C functions between them may not be.
 */
bool managed_stacks_completed(const struct managed_stacks *m, const struct event *ev);

struct managed_counts managed_stacks_counts(const struct managed_stacks *m);

#endif
