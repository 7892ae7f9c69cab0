/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_chain.c - how frames are found and chains end, in words, and the names that begin a stack.
 */
#include "symbolize/unwind/unwind_chain.h"

#include "formats/base/compiler.h"

#include <string.h>

static const struct {
	const char *name, *remedy;
} stops[UNWIND_STOPS] = {
	[UNWIND_ROOT] = { "complete", NULL },
	[UNWIND_SPLICED] = { "completed by the kernel's frame-pointer walk", NULL },
	[UNWIND_SWITCHED] = { "completed by the kernel's walk of another stack", NULL },
	[UNWIND_SNAPSHOT_ENDED] = { "snapshot ended",
				    "record larger stack snapshots (-g dwarf), or build with "
				    "-fno-omit-frame-pointer; a page in the middle of a frame that was never "
				    "touched ends one, too" },
	[UNWIND_NO_TABLE] = { "no unwind table",
			      "build with -fasynchronous-unwind-tables or "
			      "-fno-omit-frame-pointer" },
	[UNWIND_NO_FRAME_POINTER] = { "no frame pointer",
				      "record with -g dwarf; let a JIT keep frame pointers (java "
				      "-XX:+PreserveFramePointer)" },
	[UNWIND_BAD_TABLE] = { "bad unwind table",
			       "install or build the file again; if it is sound, look with "
			       "'preport debug-unwind'" },
	[UNWIND_NO_BINARY] = { "binary missing",
			       "copy the binary to this machine and name its root with --symfs" },
	[UNWIND_32_BIT] = { "32-bit program", "build it for 64 bits; stacks of 32-bit programs are not followed" },
	[UNWIND_UNREADABLE] = { "unreadable memory",
				"the rule needs memory outside the snapshot, or a register that was not saved; "
				"'preport debug-unwind' shows one" },
	[UNWIND_OTHER_STACK] = { "another stack",
				 "below a signal handler with a stack of its own (sigaltstack), or C code that Go or Erlang calls, "
				 "lies another stack, which was not read at the moment of the sample: precord does so as root, once "
				 "it has seen a sample that needs it" },
	[UNWIND_NO_MAPPING] = { "address in no mapping", NULL },
	[UNWIND_NO_STACK] = { "no stack recorded",
			      "there is none in the middle of exec; otherwise record with -g dwarf or -g fp" },
	[UNWIND_TOO_DEEP] = { "deeper than 1024 frames that do not repeat", NULL },
	[UNWIND_ENTERING] = { "just entering the kernel",
			      "the kernel had not saved the caller's registers yet; sample a clock "
			      "(-e cpu-clock) to avoid it" },
	[UNWIND_EARLIER_STOP] = { "incomplete before preport strip removed the stacks",
				  "the trace before preport strip says why" },
	[UNWIND_NOT_WALKED] = { "no user part", NULL },
};

bool unwind_stop_is_complete(enum unwind_stop stop)
{
	return stop == UNWIND_ROOT || stop == UNWIND_SPLICED || stop == UNWIND_SWITCHED || stop == UNWIND_NOT_WALKED;
}

const char *unwind_stop_name(enum unwind_stop stop)
{
	return stops[stop].name;
}

const char *unwind_stop_remedy(enum unwind_stop stop)
{
	return stops[stop].remedy;
}

const char *unwind_stop_remedy_in(enum unwind_stop stop, const struct module *mod)
{
	if (stop == UNWIND_NO_FRAME_POINTER && mod && mod->kind == MODULE_JIT)
		return "let the JIT keep frame pointers (java -XX:+PreserveFramePointer)";
	return unwind_stop_remedy(stop);
}

const char *unwind_how_name(enum unwind_how how)
{
	static const char *const names[] = {
		[UNWIND_LEAF] = "leaf",
		[UNWIND_CFI] = "unwind table",
		[UNWIND_FP] = "frame pointer",
		[UNWIND_FP_UNCHECKED] = "frame pointer, unchecked",
		[UNWIND_LINK] = "return address of a leaf",
		[UNWIND_COPY] = "unwind table and a copy of a word that is not in the trace",
		[UNWIND_CODE] = "what the code does to the stack",
		[UNWIND_KERNEL_CHAIN] = "kernel",
		[UNWIND_EARLIER] = "unwinding before preport strip",
	};

	return names[how];
}

bool unwind_is_start_name(const char *name)
{
	static const char *const names[] = {
		"__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl",
		"generic_start_main",	  "start_thread",      "__clone",
		"clone",		  "clone3",	       "__clone3",
		"_start",		  "_start_c",	       "runtime.goexit",
		"runtime.goexit.abi0",
		/* What these call on the thread's own stack never returns. */
		"runtime.mcall",	  "runtime.morestack", "runtime.morestack.abi0",
	};

	for (size_t i = 0; name && i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

enum cfi_go unwind_go_kind(const char *name)
{
	static const struct {
		const char *name;
		enum cfi_go kind;
	} kinds[] = {
		{ "runtime.systemstack", CFI_GO_SYSTEM_STACK }, { "runtime.asmcgocall", CFI_GO_C },
		{ "runtime.nanotime1", CFI_GO_C },		{ "runtime.walltime", CFI_GO_C },
		{ "time.now", CFI_GO_C },			{ "runtime.mcall", CFI_GO_NO_RETURN },
		{ "runtime.morestack", CFI_GO_NO_RETURN },
	};
	size_t len = name ? strlen(name) : 0;

	if (len > 5 && strcmp(name + len - 5, ".abi0") == 0)
		len -= 5;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (len == strlen(kinds[i].name) && strncmp(name, kinds[i].name, len) == 0)
			return kinds[i].kind;
	return CFI_GO_NOTHING;
}
