/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_chain.c - how frames are found, in words, and the names that begin a stack.
 */
#include "symbolize/unwind/unwind_chain.h"

#include "formats/base/compiler.h"

#include <string.h>

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
		[UNWIND_BELOW] = "what runs Haskell code, without its callers",
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
		"runtime.goexit.abi0",    "runtime.rt0_go",    "runtime.rt0_go.abi0",
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
		{ "runtime.morestack", CFI_GO_NO_RETURN },	{ "racecall", CFI_GO_RACE },
	};
	size_t len = name ? strlen(name) : 0;

	if (len > 5 && strcmp(name + len - 5, ".abi0") == 0)
		len -= 5;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (len == strlen(kinds[i].name) && strncmp(name, kinds[i].name, len) == 0)
			return kinds[i].kind;
	return CFI_GO_NOTHING;
}
