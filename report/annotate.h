/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate.h - a function's instructions, each with the samples that fell on it.
 *
 * Samples count where they were taken, as the leaf. A function that was inlined is shown inside the functions
 * that contain it.
 */
#ifndef REPORT_ANNOTATE_H
#define REPORT_ANNOTATE_H

#include "report/session.h"
#include "report/stats.h"
#include "symbolize/disasm.h"

/* Samples on one address. */
struct annotate_hit {
	uint64_t vaddr;
	struct profile_sum sum;
};

/* A function that has code of its own. */
struct annotate_function {
	uint32_t module;     /* of the profile */
	uint64_t vaddr, len; /* len 0: not known */
	const char *name;
	struct profile_sum sum;
	VEC(struct annotate_hit) hits; /* ascending */
};

struct annotate {
	struct session *s;
	uint32_t event;
	struct profile_sum total;                /* of all samples that passed the filter */
	VEC(struct annotate_function) functions; /* heaviest first, ties by name and address */
};

/*
 * Find the functions that @wanted means: a name or glob, MODULE:NAME, FILE:LINE, or an address (0x…,
 * MODULE:0x…).
 *
 * ERR_USAGE: no sampled function is meant by it (near names in the remedy), or the name is ambiguous.
 */
MUST_USE struct err *annotate_find(struct annotate *a, struct session *s, const char *wanted);
void annotate_deinit(struct annotate *a);

/* One line of the listing. */
struct annotate_line {
	struct disasm_insn insn;
	struct profile_sum sum;
	const char *file; /* NULL if not known */
	uint32_t line;
	bool is_target; /* a jump inside the function leads here */
	const char *
		callee; /* function that a direct call or jump leads to; NULL if none or not known */
	const uint8_t *code; /* insn.len bytes */
};

struct annotate_listing {
	VEC(struct annotate_line) lines;
	uint64_t code_len; /* bytes listed; less than the function has if only those travelled */
	struct profile_sum elsewhere; /* samples on addresses that the listing does not have */
};

/*
 * Disassemble @function. Belongs to @a's session.
 * ERR_UNSUPPORTED: its code is not there, and the remedy says how to get it.
 */
MUST_USE struct err *annotate_list(struct annotate *a, const struct annotate_function *function,
				   enum disasm_syntax syntax, struct annotate_listing *ret);
void annotate_listing_deinit(struct annotate_listing *listing);

#endif
