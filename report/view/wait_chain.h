/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_chain.h - what a thread really waited for: what the one who woke it did meanwhile, and so on.
 *
 *	A  ├──────── waits for a lock ────────┤◄─ woken by B
 *	B  ├ runs ┼─── waits for a lock ───┤◄┼─ woken by C
 *	C  ├───── sleeps ──────────────────┤
 *
 *	A waits in wait_for_lock	1.20 s
 *	  B waits in hold_outer		1.19 s	what B did during the waits of A
 *	    C waits in pause_ms		1.18 s
 *	  B runs			  10 ms
 *
 * Threads of one name and functions of one name are one row below each other. Who waits for a timer or a disk was woken by
 * an interrupt, in whatever ran at that moment: there a chain ends, and so it does at a thread that is on it already.
 */
#ifndef REPORT_WAIT_CHAIN_H
#define REPORT_WAIT_CHAIN_H

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "formats/profile/profile.h"

#define WAIT_CHAIN_DEPTH 16	  /* rows below each other */
#define WAIT_CHAIN_STEPS 10000000 /* waits that are looked at in all */

struct wait_chain_row {
	unsigned depth;
	const char *thread, *function; /* @function: NULL where it runs */
	const char *kind;	       /* "lock", "run queue", ...; "" where it runs */
	uint64_t waits, ns, longest_ns;
};

/* Zeroed, it is empty. */
struct wait_chain {
	struct arena arena;
	VEC(struct wait_chain_row) rows; /* each before those below it; of one depth, most time first */
	uint64_t waits, ns; /* of those whose chains they are */
	bool with_wakers;   /* any is known */
	bool cut;	    /* WAIT_CHAIN_STEPS were not enough */
};

/*
 * The chains of the waits of thread @who, its number or name (a glob), or in function @who; of samples of @event in @p, which
 * is named and has times.
 */
void wait_chain_collect(struct wait_chain *chain, const struct profile *p, uint32_t event, const char *who);
void wait_chain_deinit(struct wait_chain *chain);

#endif
