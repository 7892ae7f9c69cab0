/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h - a profile as collapsed stacks (Brendan Gregg's format): one line a distinct stack, frames from the
 * root to the leaf joined by ';', a blank, and the value. Lines are sorted.
 *
 * A stack that is incomplete begins with the reason, as a frame: "[snapshot ended]".
 */
#ifndef FORMATS_FOLDED_H
#define FORMATS_FOLDED_H

#include "formats/base/err.h"
#include "formats/profile/profile.h"

#include <stdio.h>

struct folded_options {
	uint32_t event;	 /* which event's samples */
	bool samples;	 /* count samples instead of summing weights */
	bool pid;	 /* "comm-PID" instead of "comm" in front */
	bool tid;	 /* "comm-PID/TID" */
	bool module;	 /* "function [module]" */
	bool lines;	 /* "function (file:line)" where the line is known */
	bool suffixes;	 /* "_[k]" behind kernel frames, "_[i]" behind inlined ones, "_[j]" behind JIT code */
};

/* Write @p, whose locations are all named. ERR_SYSTEM: @out cannot be written. */
MUST_USE struct err *folded_write(const struct profile *p, const struct folded_options *options,
				  FILE *out);

/* The names of one sample's frames as a line has them, root first; kept in @arena. The first is the process, "" if it is not known. */
size_t folded_frames(const struct profile *p, const struct profile_sample *sample,
		     const struct folded_options *options, struct arena *arena,
		     const char ***ret_frames);

#endif
