/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_kernel_chain.c - where in the kernel's walk of the user stack ours ended.
 *
 * The kernel followed frame pointers from the sampled one on, so its entry i + 1 was read at the i-th frame pointer
 * plus 8. Following them through the snapshot gives every entry a stack address, also under recursion, where the same
 * return address occurs many times.
 */
#include "symbolize/unwind/unwind_walk.h"

/* The pair at @fp: the return address must be @ip. *@ret is the next frame pointer. */
static bool follow(struct unwind_walk *w, uint64_t fp, uint64_t ip, uint64_t *ret)
{
	uint64_t found;

	if (unwind_stack_word(&w->stack, fp + 8, &found) != UNWIND_READ_OK ||
	    unwind_stack_word(&w->stack, fp, ret) != UNWIND_READ_OK)
		return false;
	return (found & w->code_mask) == ip;
}

static bool has_frame_pointer(const struct unwind_walk *w, const struct event_sample *s)
{
	return s->regs->mask >> w->arch->fp & 1;
}

size_t unwind_kernel_chain_at(struct unwind_walk *w, const struct event_sample *s, uint64_t missing)
{
	uint64_t fp = s->regs->values[w->arch->fp];

	for (size_t i = 1; has_frame_pointer(w, s) && i < s->nuser_ips; i++) {
		if (fp + 8 == missing)
			return i;
		if (!follow(w, fp, s->user_ips[i], &fp))
			break;
	}
	return 0;
}

size_t unwind_kernel_chain_leaves(struct unwind_walk *w, const struct event_sample *s, uint64_t last_ip)
{
	uint64_t fp = s->regs->values[w->arch->fp];

	for (size_t i = 1; has_frame_pointer(w, s) && i < s->nuser_ips; i++) {
		if (!unwind_stack_holds_pair(&w->stack, fp))
			return s->user_ips[i - 1] == last_ip ? i : 0;
		if (!follow(w, fp, s->user_ips[i], &fp))
			break;
	}
	return 0;
}

/* The frame pointer is what it was at the sample, or what saved it on the way up still lies there. */
size_t unwind_kernel_chain_outside(struct unwind_walk *w, const struct event_sample *s)
{
	uint64_t fp = s->regs->values[w->arch->fp];

	if (!unwind_knows(&w->state, w->arch->fp) || unwind_stack_holds_pair(&w->stack, w->state.regs[w->arch->fp]))
		return 0;
	for (size_t i = 1; has_frame_pointer(w, s) && i < s->nuser_ips; i++) {
		if (!unwind_stack_holds_pair(&w->stack, fp)) {
			bool same = fp == w->state.regs[w->arch->fp];

			return same && unwind_check_return(w, s->user_ips[i]) == UNWIND_CALL_YES ? i : 0;
		}
		if (!follow(w, fp, s->user_ips[i], &fp))
			break;
	}
	return 0;
}
