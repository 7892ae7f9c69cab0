/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_stop.c - the reasons in words, and what helps.
 */
#include "formats/stack_stop.h"

#include <stddef.h>

static const struct {
	const char *name, *remedy;
} stops[STACK_STOPS] = {
	[STACK_STOP_ROOT] = { "complete", NULL },
	[STACK_STOP_SPLICED] = { "completed by the kernel's frame-pointer walk", NULL },
	[STACK_STOP_SWITCHED] = { "completed by the kernel's walk of another stack", NULL },
	[STACK_STOP_SKIPPED] = { "complete but for Haskell's callers",
		"Haskell code (GHC) has its callers on a stack of its own, in the heap, which is not read: only "
		"its own profiler (ghc -prof) knows them" },
	[STACK_STOP_SNAPSHOT_ENDED] = { "snapshot ended",
		"record larger stack snapshots (-g dwarf), or build with -fno-omit-frame-pointer; a page "
		"in the middle of a frame that was never touched ends one, too" },
	[STACK_STOP_NO_TABLE] = { "no unwind table",
		"build with -fasynchronous-unwind-tables or -fno-omit-frame-pointer" },
	[STACK_STOP_NO_FRAME_POINTER] = { "no frame pointer",
		"record stack snapshots (precord -g dwarf; perf record --call-graph dwarf), or build with "
		"-fno-omit-frame-pointer" },
	[STACK_STOP_BAD_TABLE] = { "bad unwind table",
		"install or build the file again; if it is sound, look with 'preport debug-unwind'" },
	[STACK_STOP_NO_BINARY] = { "binary missing",
		"copy the binary to this machine and name its root with --symfs" },
	[STACK_STOP_32_BIT] = { "32-bit program",
		"build it for 64 bits; stacks of 32-bit programs are not followed" },
	[STACK_STOP_UNREADABLE] = { "unreadable memory",
		"the rule needs memory outside the snapshot, or a register that was not saved; 'preport "
		"debug-unwind' shows one" },
	[STACK_STOP_OTHER_STACK] = { "another stack",
		"below a signal handler with a stack of its own (sigaltstack), or C code that Go or "
		"Erlang calls, lies another stack, which was not read at the moment of the sample: "
		"precord does so as root, once it has seen a sample that needs it" },
	[STACK_STOP_NO_MAPPING] = { "address in no mapping", NULL },
	[STACK_STOP_NO_STACK] = { "no stack recorded",
		"there is none in the middle of exec; otherwise record with stacks (precord -g dwarf or -g fp; "
		"perf record --call-graph dwarf or fp)" },
	[STACK_STOP_TOO_DEEP] = { "deeper than 1024 frames that do not repeat", NULL },
	[STACK_STOP_ENTERING] = { "just entering the kernel",
		"the kernel had not saved the caller's registers yet; sample a clock (-e cpu-clock) to "
		"avoid it" },
	[STACK_STOP_EARLIER] = { "incomplete before preport strip removed the stacks",
		"the trace before preport strip says why" },
	[STACK_STOP_NOT_WALKED] = { "no user part", NULL },
};

bool stack_stop_is_complete(enum stack_stop stop)
{
	return stop == STACK_STOP_ROOT || stop == STACK_STOP_SPLICED || stop == STACK_STOP_SWITCHED ||
	       stop == STACK_STOP_SKIPPED ||
	       stop == STACK_STOP_NOT_WALKED;
}

const char *stack_stop_name(enum stack_stop stop)
{
	return stops[stop].name;
}

const char *stack_stop_reason(enum stack_stop stop)
{
	return stack_stop_is_complete(stop) ? NULL : stack_stop_name(stop);
}

const char *stack_stop_remedy(enum stack_stop stop)
{
	return stops[stop].remedy;
}
