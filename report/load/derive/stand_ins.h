/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stand_ins.h - spans with a stack stand for spans without one, where the recorder took one stack in N.
 *
 * Spans of one thread are alike if they are of one kind (what that is, the transformer says) and the longer of two took less
 * than four times as long as the shorter: what one long span waited for is never guessed from many short ones. The time of
 * those without a stack goes to those with one that are alike, in proportion to their lengths, so that sums stay what
 * they are. Time of which not even the single spans are known (STAND_INS_ANY_LENGTH) is divided as that of the others of
 * its kind is. Zeroed, it is empty.
 *
 * Spans that are alike are a stratum. With n spans l_i that have a stack, K = sum l_i, and m spans u_j that have none, U = sum u_j, the
 * estimate U p of the time at one stack, p = its part of K, differs from the truth with variance F p (1 - p), where
 *
 *	F = U^2 sum l_i^2 / K^2  +  sum u_j^2
 *	    what n spans leave open  what m spans vary by themselves
 *
 * Each span with a stack carries F l_i / K of it (struct derived's variance), so that sums over a row are F p, as stats.h has it.
 */
#ifndef REPORT_STAND_INS_H
#define REPORT_STAND_INS_H

#include "formats/base/vec.h"
#include "report/load/derive/derive_kind.h"

#define STAND_INS_ANY_KIND   UINT32_MAX
#define STAND_INS_ANY_LENGTH UINT64_MAX /* of many spans, of all lengths that others have */

struct stand_in;
struct without_stack;

/* Of one thread. */
struct stand_ins {
	VEC(struct stand_in) with;
	VEC(struct without_stack) without;
};

void stand_ins_deinit(struct stand_ins *s);

/* @span, of whole length @len_ns, has a stack and was handed out. */
void stand_ins_keep(struct stand_ins *s, uint32_t kind, uint64_t len_ns, const struct derived *span);

/* @span has no stack (both may be any), and is left to stand_ins_share_out(). */
void stand_ins_add(struct stand_ins *s, uint32_t kind, uint64_t len_ns, const struct derived *span);

/*
 * Hand out the time of all spans without a stack by @put: as more weight of those that stand for them or, where there is
 * none, as a span of its own. Both are forgotten. Returns how much went to others, in nanoseconds.
 */
uint64_t stand_ins_share_out(struct stand_ins *s, void (*put)(void *context, const struct derived *span), void *context);

#endif
