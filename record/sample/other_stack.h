/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_stack.h - what a snapshot lacks: the stack that the thread left for this one, found by what the switch keeps, or the rest of this one,
 * where the kernel cut it by its size, or at a page that was never touched, in the middle of a large frame; read from memory.
 *
 *	a signal handler with a stack of its own   the kernel's signal frame: the interrupted stack pointer, and, as proof, where
 *	                                           the handler's stack lies (struct rt_sigframe)
 *	C code that Go calls                       two words of runtime.asmcgocall(): the goroutine, and how far below the end of its
 *	                                           stack it was; the goroutine (struct g) must say the same
 *	C that Erlang's machine calls              its code (OTP 25, x86-64): the return address into it is followed by a load of the stack
 *	                                           pointer from the process, or from a register; a callee has saved that which has
 *	                                           either, or not touched it
 *
 *	frame pointers that lead out of it        the stack that the program's runtime has left, and returns to
 *
 * At most EVENT_OTHER_STACK_MAX bytes are read, or OTHER_STACK_DEEP_MAX behind a snapshot, only of pages that are present. What tells of the switch is read once more together with
 * it: if it has changed since the snapshot, the thread has gone on, and nothing is read.
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
	const struct process *proc; /* NULL, or what knows its code */
	uint64_t fp;		    /* frame pointer */
	uint64_t process;	    /* the register that has the process in code of Erlang's machine */
	bool whole;		    /* as large as the kernel could have made it: no smaller size was requested */
	bool cut;		    /* by its size */
};

/* That of a sample; false: it has none. */
bool other_stack_snapshot_of(const struct perf_record *rec, const struct process *proc, struct other_stack_snapshot *ret);

#define OTHER_STACK_PROOF 4 /* words */

/* Where another stack was left. */
struct other_stack_place {
	uint64_t sp;
	uint64_t goroutine;   /* 0: something else says so, or it is the rest of the same stack */
	uint64_t process;     /* of Erlang; 0 likewise */
	uint64_t end;	      /* of the same stack, of which the rest is meant; 0: of another one */
	uint64_t depth;	      /* of the goroutine's stack, in bytes */
	uint64_t proof_at;    /* address of these words of the snapshot */
	uint64_t proof[OTHER_STACK_PROOF];
	bool deep; /* all of the same stack up to @end, right behind a snapshot that its size has cut */
};

/* Other than zero words of another stack; those that are no addresses may be left out. */
struct other_stack {
	uint64_t base, end;
	bool cut; /* there is more of it */
	bool deep; /* the snapshot goes on at @base */
	/* Then also: pieces, from the one that has @base on, whose words are those that the last turn at this place had there. */
	uint32_t place, turn;
	uint64_t same[OTHER_STACK_PIECES / 64 + 1];
	size_t nwords; /* of the others */
	uint32_t slots[OTHER_STACK_WORDS_MAX];
	uint64_t words[OTHER_STACK_WORDS_MAX];
};

/*
 * The first place in @snapshot, from word *@slot on, that looks as if the thread had had another stack before, and *@slot is behind it; false:
 * there is none. A signal frame is one for sure; that there is a goroutine, its memory has to confirm.
 */
bool other_stack_find(const struct other_stack_snapshot *snapshot, size_t *slot, struct other_stack_place *ret);

/* May it go on, in its stack or in one that frame pointers lead to, should its stack end where that is? What a look for that end is worth. */
bool other_stack_may_go_on(const struct other_stack_snapshot *snapshot);

/* Where @snapshot goes on, of a stack that lies in memory up to @end; false: it does not, or its frame pointers say that the stack ends in it. */
bool other_stack_rest(const struct other_stack_snapshot *snapshot, uint64_t end, struct other_stack_place *ret);

/* Where the Erlang process has left its stack that has called the C code in whose midst the sample was taken; false: none has. */
bool other_stack_find_erlang(const struct task_memory *mem, const struct other_stack_snapshot *snapshot, struct other_stack_place *ret);

/*
 * Where frame pointers lead out of the stack, which ends at @end: the function in whose frame the last of them lies has saved that of the stack it left (SBCL's
 * call_into_lisp). False: they do not, or what lies behind them is no code.
 */
bool other_stack_find_linked(const struct other_stack_snapshot *snapshot, uint64_t end, struct other_stack_place *ret);

/* Was it cut by its size, and is there so much more that @place, the rest, is to be read as a deep one, all of it, and not too much for that? */
bool other_stack_is_deep(const struct other_stack_snapshot *snapshot, const struct other_stack_place *place);

/* Is there a goroutine where @place says? It may have gone on meanwhile. */
bool other_stack_is_goroutine(const struct task_memory *mem, uint64_t goroutine);

/* False: it is not there, or the thread has gone on. @pieces, of a deep one: after stack_pieces_begin(). */
bool other_stack_read(const struct task_memory *mem, struct other_stack_place place, struct stack_pieces *pieces, struct other_stack *ret);

static inline bool other_stack_is_same(const struct other_stack *stack, size_t piece)
{
	return stack->same[piece / 64] >> (piece % 64) & 1;
}

#endif
