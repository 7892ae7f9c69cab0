/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox_tables.h - the tables of one thread in Firefox Profiler's format. They are columns; what refers to an entry
 * has its index:
 *
 *	samples.stack ──► stackTable (frame, prefix) ──► frameTable (address, line, func) ──► funcTable ──► resourceTable ──► libs
 *
 * Entries of the profile get numbers in the order in which the thread's samples meet them.
 */
#ifndef REPORT_FIREFOX_TABLES_H
#define REPORT_FIREFOX_TABLES_H

#include "formats/base/json_writer.h"
#include "report/view/frame_list.h"

#include "formats/base/map.h"

/* The colours of frames: which kind of code they are. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
};

/* Entries of the profile in the order of their numbers. */
struct firefox_table {
	struct map numbers; /* key -> number */
	VEC(uint64_t) keys;
};

/* A node of the stack table. */
struct firefox_node {
	uint32_t frame, prefix; /* prefix PROFILE_NONE: none */
};

struct firefox_tables {
	const struct profile *p; /* the only field to fill in; the rest starts out zeroed */
	struct frame_list list;
	struct firefox_table stacks;    /* by prefix and frame */
	VEC(struct firefox_node) nodes; /* of .stacks */
	struct firefox_table frames;    /* by location and how deep inlined; behind them reasons */
	struct firefox_table functions; /* by function; behind them reasons */
	struct firefox_table modules;
};

/* The number of the stack of @row; PROFILE_NONE for an empty one. */
uint32_t firefox_add_stack(struct firefox_tables *t, const struct profile_sample *row);

/*
 * Write all tables but the samples as members of the object that @json is in. The name of a function is the number of
 * the profile's string, that of a reason the number of profile strings and its own.
 */
void firefox_put_tables(struct json *json, struct firefox_tables *t);

/* Forget it all, for the next thread. */
void firefox_tables_clear(struct firefox_tables *t);
void firefox_tables_deinit(struct firefox_tables *t);

/* A number, or null for PROFILE_NONE. */
void firefox_put_or_null(struct json *json, uint32_t number);

/* A column that has the same @value, as JSON, in all @len rows. */
void firefox_put_same(struct json *json, const char *key, size_t len, const char *value);

#endif
