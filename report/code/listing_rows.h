/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_rows.h - what a listing for people shows, row by row, before it is text or markup.
 *
 * Instructions, and between them: source lines, the beginnings of inlined calls and of loops, and one row for each
 * stretch of code without samples that is left out. Beside them arrows for jumps whose ends are both shown.
 */
#ifndef REPORT_LISTING_ROWS_H
#define REPORT_LISTING_ROWS_H

#include "report/code/annotate.h"

#define LISTING_LANES_MAX 6

enum listing_row_kind {
	LISTING_INSN,
	LISTING_SOURCE, /* position of the instructions that follow */
	LISTING_INLINE, /* an inlined call begins */
	LISTING_LOOP,   /* the head of a loop follows */
	LISTING_FOLD,   /* instructions without samples */
};

struct listing_row {
	enum listing_row_kind kind;
	uint32_t line;   /* the instruction, or the one that follows */
	uint32_t count;  /* of a fold: instructions */
	uint32_t loop;   /* of a loop */
	uint32_t frame;  /* of an inlined call: index in the line's frames */
	uint32_t indent; /* loops, and above instructions inlined calls, around it; at most 8 */
	struct profile_sum *sums; /* one for each event: of the block that the row begins, or the instruction; NULL: none */
};

/* One lane's part of an arrow in one row. */
enum {
	LISTING_ARROW_UP = 1,   /* goes on above */
	LISTING_ARROW_DOWN = 2, /* goes on below */
	LISTING_ARROW_END = 4,  /* turns to the code here */
	LISTING_ARROW_HEAD = 8, /* and this is where it leads */
	LISTING_ARROW_HEAVY = 16, /* a tenth of the function's branches or more came this way */
};

struct listing_rows {
	struct arena arena;
	VEC(struct listing_row) rows;
	unsigned lanes;  /* how many are in use; 0 is next to the code */
	uint8_t *arrows; /* .lanes for each row */
};

struct listing_rows_options {
	bool all;        /* long stretches without samples too */
	bool source;     /* rows of source positions */
	unsigned lanes;  /* at most, up to LISTING_LANES_MAX */
};

/* @listing must outlive @ret. Names the lines that are shown. */
void listing_rows_init(struct listing_rows *ret, const struct annotate *a,
		       struct annotate_listing *listing,
		       const struct listing_rows_options *options);
void listing_rows_deinit(struct listing_rows *rows);

/* Draw row @i's arrows: @rows->lanes + 1 columns, the last one '>' where an arrow leads here. @ret has room for 32 bytes. */
void listing_rows_arrows(const struct listing_rows *rows, size_t i, bool utf8, char ret[32]);

#endif
