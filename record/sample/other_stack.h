/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_stack.h - the part of a stack that a snapshot lacks, read from the thread's memory: the stack that it was on before it switched to
 * this one, or the rest of this one, if the snapshot ends because of its size or at an untouched page inside a large frame.
 *
 *	a signal handler with a stack of its own   the kernel's signal frame: the interrupted stack pointer, and, as proof, where
 *	                                           the handler's stack lies (struct rt_sigframe)
 *	C code that Go calls                       two words of runtime.asmcgocall(): the goroutine, and how far below the end of its
 *	                                           stack it was; the goroutine (struct g) must say the same
 *	Go's race detector                         the goroutine, by whose thread's stack the return address into racecall() is found; a
 *	                                           callee has saved the register that has the goroutine's stack pointer, or not touched it
 *	C that Erlang's machine calls              its code (OTP 25, x86-64): the return address into it is followed by a load of the stack
 *	                                           pointer from the process, or from a register; a callee has saved that which has
 *	                                           either, or not touched it
 *
 *	frame pointers that lead to another stack  the stack that the program's runtime left and returns to
 *
 * At most EVENT_OTHER_STACK_MAX bytes are read, or OTHER_STACK_DEEP_MAX behind a snapshot, only of pages that are present. The words that show the
 * switch are read again with it: if they have changed since the snapshot, the thread has run on and nothing is read.
 */
#ifndef RECORD_OTHER_STACK_H
#define RECORD_OTHER_STACK_H

#include "formats/event.h"
#include "formats/process/process_table.h"
#include "record/sample/stack_pieces.h"
#include "record/task/task_memory.h"

struct perf_record;

#define OTHER_STACK_DEEP_MAX  (1u << 20) /* bytes of the rest of a deep stack */
#define OTHER_STACK_WORDS_MAX (OTHER_STACK_DEEP_MAX / 8)
#define OTHER_STACK_PIECES    (OTHER_STACK_DEEP_MAX / STACK_PIECE_LEN + 1)

/* Words from the stack pointer up as they were copied by the kernel. */
struct other_stack_snapshot {
	const struct arch *arch;
	const uint8_t *bytes;
	uint64_t base; /* of the first byte, a multiple of 8 */
	size_t nwords;
	const struct process *proc; /* NULL, or the process, for its code mappings */
	uint64_t fp;		    /* frame pointer */
	uint64_t process;	    /* the register that has the process in code of Erlang's machine */
	uint64_t goroutine;	    /* and that which has the goroutine in Go's code */
	uint64_t race;		    /* and the stack pointer of one that has called the race detector */
	bool whole;		    /* of the largest size: no smaller one was requested */
	bool cut;		    /* by its size */
};

/* The snapshot of a sample; false: it has none. */
bool other_stack_snapshot_of(const struct perf_record *rec, const struct process *proc, struct other_stack_snapshot *ret);

#define OTHER_STACK_PROOF 4 /* words */

/* Where another stack was left. */
struct other_stack_place {
	uint64_t sp;
	uint64_t goroutine;   /* 0: not Go, or it is the rest of the same stack */
	uint64_t process;     /* of Erlang; 0 likewise */
	uint64_t end;	      /* of the same stack, if this is its rest; 0: another stack */
	uint64_t depth;	      /* of the goroutine's stack, in bytes; without @goroutine it is not asked again */
	uint64_t proof_at;    /* address of these words of the snapshot */
	uint64_t proof[OTHER_STACK_PROOF];
	bool deep; /* the whole rest of the same stack up to @end, directly behind a truncated snapshot */
};

/* Nonzero words of another stack; those that are not addresses may be omitted. */
struct other_stack {
	uint64_t base, end;
	bool cut; /* there is more of it */
	bool deep; /* the snapshot goes on at @base */
	/* Then also: pieces, from that of @base on, whose words are unchanged since the last turn at this place. */
	uint32_t place, turn;
	uint64_t same[OTHER_STACK_PIECES / 64 + 1];
	size_t nwords; /* of the others */
	uint32_t slots[OTHER_STACK_WORDS_MAX];
	uint64_t words[OTHER_STACK_WORDS_MAX];
};

/*
 * The first place in @snapshot, from word *@slot on, that looks like a switch from another stack; *@slot is then behind it. False: there is
 * none. A signal frame is certain; a goroutine must be confirmed from memory.
 */
bool other_stack_find(const struct other_stack_snapshot *snapshot, size_t *slot, struct other_stack_place *ret);

/* May it go on, in its stack or in one that frame pointers lead to, should its stack end where that is? What a look for that end is worth. */
bool other_stack_may_go_on(const struct other_stack_snapshot *snapshot);

/* Where @snapshot continues on a stack that ends at @end; false: it does not, or frame pointers show that the stack ends in it. */
bool other_stack_rest(const struct other_stack_snapshot *snapshot, uint64_t end, struct other_stack_place *ret);

/* Where the Erlang process that called the sampled C code left its stack; false: there is none. */
bool other_stack_find_erlang(const struct task_memory *mem, const struct other_stack_snapshot *snapshot, struct other_stack_place *ret);

/* Where the goroutine that has called Go's race detector left its stack (x86-64); false: there is none. */
bool other_stack_find_race(const struct task_memory *mem, const struct other_stack_snapshot *snapshot, struct other_stack_place *ret);

/* May other_stack_find_race() find one, as far as the snapshot shows? */
bool other_stack_may_be_race(const struct other_stack_snapshot *snapshot);

/*
 * Where frame pointers lead out of the stack, which ends at @end: the function in whose frame the last of them lies has saved that of the stack it left (SBCL's
 * call_into_lisp). False: they do not, or no code address is found there.
 */
bool other_stack_find_linked(const struct other_stack_snapshot *snapshot, uint64_t end, struct other_stack_place *ret);

/* Is the snapshot truncated by its size, and its rest at @place long enough, but not too long, to be read whole as a deep stack? */
bool other_stack_is_deep(const struct other_stack_snapshot *snapshot, const struct other_stack_place *place);

/* Where the stack of the sampled goroutine ends, which @snapshot does not reach; 0: it is none, or its stack is deeper than 16 MiB. */
uint64_t other_stack_goroutine_end(const struct task_memory *mem, const struct other_stack_snapshot *snapshot);

/* Is there a goroutine at @place? It may have run on meanwhile. */
bool other_stack_is_goroutine(const struct task_memory *mem, uint64_t goroutine);

/* Read it. False: it is not there, or the thread has run on. @pieces, for a deep stack: after stack_pieces_begin(). */
bool other_stack_read(const struct task_memory *mem, struct other_stack_place place, struct stack_pieces *pieces, struct other_stack *ret);

static inline bool other_stack_is_same(const struct other_stack *stack, size_t piece)
{
	return stack->same[piece / 64] >> (piece % 64) & 1;
}

#endif
