/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_stop.h - why a recorded stack stops where it does: at its root, or before.
 *
 * The unwinder finds it out, the profile keeps it for each of its rows.
 */
#ifndef FORMATS_STACK_STOP_H
#define FORMATS_STACK_STOP_H

#include <stdbool.h>

enum stack_stop {
	STACK_STOP_ROOT,             /* complete: return address undefined, or a known start routine */
	STACK_STOP_SPLICED,          /* the snapshot ended, the rest is the kernel's chain down to its end */
	STACK_STOP_SWITCHED,         /* the rest is the kernel's chain on another stack, down to its end */
	STACK_STOP_SKIPPED,          /* the root, but callers on a stack of the program's own were left out: Haskell's */
	STACK_STOP_SNAPSHOT_ENDED,   /* it would go on beyond the bytes that were captured */
	STACK_STOP_NO_TABLE,         /* no rule for this address and no frame pointer */
	STACK_STOP_NO_FRAME_POINTER, /* only frame pointers lead on from here, and there is none: a JIT's code, or the
					kernel's chain, where it ends without a sign that this is the root */
	STACK_STOP_BAD_TABLE,        /* malformed rule or a loop */
	STACK_STOP_NO_BINARY,        /* the module's file is not there, or has another build ID */
	STACK_STOP_32_BIT,           /* the module is of a 32-bit program */
	STACK_STOP_UNREADABLE,       /* a rule reads memory that is not stack */
	STACK_STOP_OTHER_STACK,      /* the frame lies on another stack, of which nothing was captured */
	STACK_STOP_NO_MAPPING,       /* the address lies in no known mapping */
	STACK_STOP_NO_STACK,         /* no snapshot was captured: only the leaf is known, and what the kernel's chain has */
	STACK_STOP_TOO_DEEP,         /* more frames than the unwinder follows (UNWIND_FRAMES_MAX, UNWIND_STEPS_MAX) */
	STACK_STOP_ENTERING,         /* into the kernel: the user's registers were not saved yet */
	STACK_STOP_EARLIER,          /* before the root; preport strip took the stack out, and the reason with it */
	STACK_STOP_NOT_WALKED,       /* there is no user part (kernel thread), or it was not asked for */
	STACK_STOPS                  /* how many there are */
};

/* Does a stack that stops so reach its root? */
bool stack_stop_is_complete(enum stack_stop stop);

/* A short phrase, "snapshot ended". */
const char *stack_stop_name(enum stack_stop stop);

/* The same for stacks that are not complete; NULL for the others. */
const char *stack_stop_reason(enum stack_stop stop);

/* What the user can do about it; NULL: nothing. */
const char *stack_stop_remedy(enum stack_stop stop);

#endif
