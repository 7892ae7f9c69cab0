/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_claims.h - each sample of a ring gets one answer, from who claims it first: the reader of stacks, or the recorder that takes
 * it out of the ring.
 *
 *	   answered      owed by the reader      unclaimed
 *	[ sample sample | sample    sample   | sample  sample ]
 *	                                      end
 *
 * Samples are claimed in the ring's order. What the reader has claimed and not yet answered is owed: it can be settled once, by the
 * reader or by who gives up waiting for it. sample_claims_pass() and sample_claims_end() are thread-safe; callers hold one lock for the others.
 */
#ifndef RECORD_SAMPLE_CLAIMS_H
#define RECORD_SAMPLE_CLAIMS_H

#include "record/sample/sample_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_CLAIMS_MAX 8

struct sample_claims {
	_Atomic uint64_t end; /* in the ring: samples that end here or before are claimed */
	size_t count;
	struct sample_head owed[SAMPLE_CLAIMS_MAX];
};

/* Samples before @end have been answered. */
void sample_claims_init(struct sample_claims *c, uint64_t end);

/* Up to where samples are claimed. */
uint64_t sample_claims_end(const struct sample_claims *c);

/* The recorder takes out the sample that ends at @end. True: nobody has claimed it, and the recorder answers. */
bool sample_claims_pass(struct sample_claims *c, uint64_t end);

/* The reader will answer @sample, which ends at @end. False: the recorder has taken it out. At most SAMPLE_CLAIMS_MAX are owed at a time. */
bool sample_claims_owe(struct sample_claims *c, const struct sample_head *sample, uint64_t end);

/* True once for what is owed at @pos: the caller answers it now. */
bool sample_claims_settle(struct sample_claims *c, uint64_t pos);

/* True while a sample older than @before_ns is owed: *@ret is it, and the caller answers it now. */
bool sample_claims_expire(struct sample_claims *c, uint64_t before_ns, struct sample_head *ret);

#endif
