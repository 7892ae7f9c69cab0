/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_chain.h - what a walk finds: frames, how each was found, and why the chain ended; and what people call that.
 */
#ifndef SYMBOLIZE_UNWIND_CHAIN_H
#define SYMBOLIZE_UNWIND_CHAIN_H

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
	UNWIND_KERNEL_CHAIN, /* from the kernel's frame-pointer walk */
	UNWIND_EARLIER,      /* before the stacks were taken out of the trace; how is not known any more */
};

/* Why a chain ended. */
enum unwind_stop {
	UNWIND_ROOT,    /* complete: return address undefined, or a known start routine */
	UNWIND_SPLICED, /* the snapshot ended, the rest is the kernel's chain down to its end */
	UNWIND_SWITCHED, /* the rest is the kernel's chain on another stack, down to its end */
	UNWIND_SNAPSHOT_ENDED, /* it would go on beyond the bytes that were captured */
	UNWIND_NO_TABLE,       /* no rule for this address and no frame pointer */
	UNWIND_NO_FRAME_POINTER, /* only frame pointers lead on from here, and there is none: a JIT's code, or the
				    kernel's chain, where it ends without a sign that this is the root */
	UNWIND_BAD_TABLE,      /* malformed rule or a loop */
	UNWIND_NO_BINARY,      /* the module's file is not there, or has another build ID */
	UNWIND_32_BIT,         /* the module is of a 32-bit program */
	UNWIND_UNREADABLE,     /* a rule asks for memory that is not stack */
	UNWIND_OTHER_STACK,    /* the frame lies on another stack, of which nothing was captured */
	UNWIND_NO_MAPPING,     /* the address lies in no known mapping */
	UNWIND_NO_STACK,       /* nothing was captured: only the leaf is known */
	UNWIND_TOO_DEEP,       /* more than UNWIND_FRAMES_MAX that do not repeat, or UNWIND_STEPS_MAX in all */
	UNWIND_ENTERING,       /* into the kernel: the user's registers were not saved yet */
	UNWIND_EARLIER_STOP,   /* it stopped so before the stacks were taken out; why is not known any more */
	UNWIND_NOT_WALKED,     /* no user part was asked for or there is none (kernel thread) */
	UNWIND_STOPS           /* how many there are */
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
	enum unwind_stop stop;
	struct module *stop_module; /* where it stopped; NULL at the root */
	bool folded; /* calls that repeat are left out */
};

/* Does a chain that ended so have all its frames, as far as there are any? */
bool unwind_stop_is_complete(enum unwind_stop stop);

/* Is @name, which may be NULL, a function of the C library or a runtime that begins a stack, where no rule says so? */
bool unwind_is_start_name(const char *name);

/* What does Go's function @name, which may be NULL, do with stacks? */
enum cfi_go unwind_go_kind(const char *name);

/* One short phrase, "snapshot ended" for example, and what the user can do about it (NULL: nothing). */
const char *unwind_stop_name(enum unwind_stop stop);
const char *unwind_stop_remedy(enum unwind_stop stop);
/* What would help where the walk stopped in @mod, which may be NULL. */
const char *unwind_stop_remedy_in(enum unwind_stop stop, const struct module *mod);
const char *unwind_how_name(enum unwind_how how);

#endif
