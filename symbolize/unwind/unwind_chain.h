/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_chain.h - what a walk finds: frames, how each was found, and why the chain ended; and what people call that.
 */
#ifndef SYMBOLIZE_UNWIND_CHAIN_H
#define SYMBOLIZE_UNWIND_CHAIN_H

#include "formats/stack_stop.h"
#include "symbolize/module/module.h"
#include "symbolize/unwind/cfi_rule.h"

/* How a frame was found. */
enum unwind_how {
	UNWIND_LEAF,         /* the sampled instruction itself */
	UNWIND_CFI,          /* by call frame information */
	UNWIND_FP,           /* by frame pointer, checked: the return address follows a call */
	UNWIND_FP_UNCHECKED, /* by frame pointer; the code was not there to check */
	UNWIND_LINK, /* link register or word at the stack pointer of a leaf without rules, checked */
	UNWIND_COPY, /* by CFI, with a copy of a word that the rule could not find; checked */
	UNWIND_CODE, /* by a rule read off the code of a JIT, checked */
	UNWIND_BELOW, /* what runs Haskell code, whose callers are on a stack of their own and left out */
	UNWIND_KERNEL_CHAIN, /* from the kernel's frame-pointer walk */
	UNWIND_EARLIER,      /* before the stacks were taken out of the trace; how is not known any more */
};

/* Of a chain. Where there are more, calls that repeat are left out (unwind_fold.h). */
#define UNWIND_FRAMES_MAX 1024
/* Frames that are walked at the most, those left out included: a snapshot has room for half as many return addresses. */
#define UNWIND_STEPS_MAX 16384

struct unwind_frame {
	uint64_t ip;    /* in the process: the leaf, or a return address */
	uint64_t vaddr; /* in the module, adjusted into the call instruction for return addresses */
	struct module *module; /* never NULL */
	enum unwind_how how;
	bool kernel;
};

/* From the leaf to the root. */
struct unwind_chain {
	struct unwind_frame *frames; /* the unwinder's, valid until its next call */
	size_t nframes;
	enum stack_stop stop;
	struct module *stop_module; /* where it stopped; NULL at the root */
	bool folded; /* calls that repeat are left out */
};

/* Is @name, which may be NULL, a function of the C library or a runtime that begins a stack, where no rule says so? */
bool unwind_is_start_name(const char *name);

/* What does Go's function @name, which may be NULL, do with stacks? */
enum cfi_go unwind_go_kind(const char *name);

const char *unwind_how_name(enum unwind_how how);

#endif
