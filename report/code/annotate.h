/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate.h - functions' instructions, each with the samples that fell on it.
 *
 * Samples count where they were taken, as the leaf. A function that was inlined is shown inside the functions
 * that contain it. Every event that has samples is a column of sums; functions are ranked by the first.
 */
#ifndef REPORT_ANNOTATE_H
#define REPORT_ANNOTATE_H

#include "report/load/branches.h"
#include "report/code/flow.h"
#include "report/view/measures.h"
#include "report/load/session.h"
#include "report/print/stats.h"
#include "symbolize/disasm.h"
#include "symbolize/name/symbolizer.h"

struct annotate_event {
	uint32_t event;           /* of the profile */
	const char *name;
	struct profile_sum total; /* of all samples that passed the filter */
};

/* Samples of one event on one address. */
struct annotate_hit {
	uint64_t vaddr;
	uint32_t column; /* of annotate.events */
	struct profile_sum sum;
};

/* A function that has code of its own. */
struct annotate_function {
	uint32_t module;     /* of the profile */
	uint64_t vaddr, len; /* len 0: not known */
	const char *name;
	struct profile_sum *sums; /* one for each event */
	VEC(struct annotate_hit) hits; /* ascending by address and column, each pair once */
};

struct annotate {
	struct session *s;
	const struct measures *const *measures;  /* to be summed up for each instruction: set before annotate_find() */
	unsigned nmeasures;
	const struct branches *branches; /* by location, finished; NULL: none. Set before annotate_list() */
	VEC(struct annotate_event) events;       /* those with samples, in the recording's order */
	VEC(struct annotate_function) functions; /* heaviest first, ties by name and address */
};

/*
 * Find the functions that @wanted means: a name or glob, MODULE:NAME, FILE:LINE, or an address (0x…,
 * MODULE:0x…). The session needs no names but those of leaves.
 *
 * ERR_USAGE: no sampled function is meant by it (near names in the remedy), or the name is ambiguous.
 */
MUST_USE struct err *annotate_find(struct annotate *a, struct session *s, const char *wanted);

/* Find the @count functions with the most samples in their own code, of all that were sampled. */
void annotate_find_hot(struct annotate *a, struct session *s, size_t count);
void annotate_deinit(struct annotate *a);

/*
 * Where samples of @event land that were not taken exactly, as a sentence; NULL if they are exact or nothing is known.
 */
const char *annotate_skid(const struct annotate *a, const struct annotate_event *event);

/* One instruction of the listing. */
struct annotate_line {
	struct disasm_insn insn;
	const uint8_t *code;      /* insn.len bytes */
	struct profile_sum *sums; /* one for each event; NULL: no samples */
	bool named;               /* what follows is filled in: annotate_name() */
	const char *callee; /* function that a direct call or jump leads to; NULL if none or not known */
	const struct symbol_frame *frames; /* the innermost inlined call first, as of symbolizer_find() */
	size_t nframes;
};

/* The recorded branches of one instruction. */
struct annotate_branch {
	double taken;              /* that leave from it */
	struct stats_ratio missed; /* of those where that is known */
	struct stats_ratio cycles; /* since the branch before, of those where they are known */
	double entered;            /* that lead to it */
};

/* Branches between two instructions, by line. */
struct annotate_jump {
	uint32_t from, to;
	double count;
};

struct annotate_listing {
	const struct annotate_function *function;
	struct arena arena;
	VEC(struct annotate_line) lines;
	struct flow_insn *insns;          /* the same for flow.h, one for each line */
	struct flow *flow;
	struct profile_sum *block_sums;   /* nevents for each block */
	struct profile_sum *loop_sums;    /* nevents for each loop, with those inside it */
	struct profile_sum *elsewhere;    /* one for each event: on addresses that the listing does not have */
	const char *origin; /* of the code, in words, where that is not simply its file; NULL: it is */
	uint64_t level;    /* that the function's place has above its address, code_place.h */
	uint64_t code_len; /* bytes listed; less than the function has if only those travelled */
	double *measured;    /* for each line the sums of annotate.measures, one behind the other; NULL if there are none */
	size_t measured_len; /* of one line */
	struct annotate_branch *branches; /* one for each line; NULL: the recording has none */
	VEC(struct annotate_jump) jumps;  /* ascending */
	double taken;                     /* that leave from here, with those to elsewhere */
	struct stats_ratio missed;        /* of all of them */
};

/*
 * Disassemble @function, which must outlive @ret. Belongs to @a's session.
 * ERR_UNSUPPORTED: its code is not there, and the remedy says how to get it.
 */
MUST_USE struct err *annotate_list(struct annotate *a, const struct annotate_function *function,
				   enum disasm_syntax syntax, struct annotate_listing *ret);
/* How many recorded branches led from instruction @from to @to. */
double annotate_jump_count(const struct annotate_listing *listing, uint32_t from, uint32_t to);

/* Part of annotate_list(): fill in .branches and what follows. */
void annotate_place_branches(const struct annotate *a, struct annotate_listing *listing);

void annotate_listing_deinit(struct annotate_listing *listing);

/* Find out the source position, the inlined calls and the callee of a line; naming only what is shown is faster. */
void annotate_name(const struct annotate *a, const struct annotate_listing *listing,
		   struct annotate_line *line);

/* The source position of a line that is named; NULL and 0 if not known. */
static inline const char *annotate_file(const struct annotate_line *line)
{
	return line->nframes && line->frames[0].line ? line->frames[0].file : NULL;
}

static inline uint32_t annotate_line_number(const struct annotate_line *line)
{
	return line->nframes ? line->frames[0].line : 0;
}

/* Are both named, and at one source position? @a may be NULL. */
bool annotate_same_source(const struct annotate_line *a, const struct annotate_line *b);

#endif
