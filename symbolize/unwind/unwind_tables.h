/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_tables.h - the rule at an address of a module, looked up once per distinct address.
 *
 * Rules are compiled when an address is first asked for: running the few instructions of one FDE is
 * cheaper than building a table that no stack touches. What was found is remembered by module and
 * link-time address, so that a change of mappings costs nothing.
 */
#ifndef SYMBOLIZE_UNWIND_TABLES_H
#define SYMBOLIZE_UNWIND_TABLES_H

#include "symbolize/module/module.h"
#include "symbolize/module/space.h"
#include "formats/perf/jitdump.h"
#include "symbolize/unwind/unwind_rule.h"

struct disasm;
struct unwind_tables;

struct unwind_tables *unwind_tables_new(struct module_table *modules, const struct arch *arch);
void unwind_tables_free(struct unwind_tables *t);

/* The rule for address @ip of the process, which @map holds. */
struct unwind_rule unwind_tables_find(struct unwind_tables *t, const struct space_map *map,
				      uint64_t ip);

struct unwind_exit {
	const struct cfi_rule *rule;
	uint64_t begin, end; /* of the function with a table's rule that it jumps to; 0: it returns */
};

/*
 * What the code from @ip on, the next instruction, does to the stack until it returns (code_exits.h); NULL if that is not known, else valid until
 * the next call. For addresses without a rule; to be checked.
 */
const struct unwind_exit *unwind_tables_exit(struct unwind_tables *t, struct space *space, const struct space_map *map, uint64_t ip);

/* Where the rule at an address comes from, for people. */
struct unwind_origin {
	const char *section; /* that holds the address, ".plt" for example; NULL if that is not known */
	const char *table;   /* ".eh_frame", ".debug_frame", ".gopclntab"; NULL: nothing covers the address */
	bool embedded;       /* both are those that the trace brought along */
	uint64_t begin, end; /* what the table's entry covers, link-time */
};

struct unwind_origin unwind_tables_origin(struct unwind_tables *t, const struct space_map *map,
					  uint64_t ip);

struct cfi_expr unwind_tables_expr(const struct unwind_tables *t, int32_t number);

/* The mapping of @space that holds @ip; NULL if none does. */
const struct space_map *unwind_tables_map(struct unwind_tables *t, struct space *space,
					  uint64_t ip);

/* An address of a process with all that is known of it. */
struct unwind_place {
	uint64_t ip, generation;     /* of the address space */
	const struct space_map *map; /* NULL if none holds @ip */
	uintptr_t rule;              /* private: unwind_tables_rule() tells */
};

#define UNWIND_PLACES 4096 /* that are at hand: stacks have most of their callers in common */

/* All of them: never moves. */
struct unwind_place *unwind_tables_places(struct unwind_tables *t);

/* Look up what is not among them, and put it there; valid until the next call. */
struct unwind_place *unwind_tables_fill(struct unwind_tables *t, struct space *space, uint64_t ip);

static inline struct unwind_place *unwind_place_slot(struct unwind_place *places, uint64_t ip)
{
	return &places[(ip ^ ip >> 12) % UNWIND_PLACES];
}

/* The place of @ip if it is in the table of @places, else NULL. */
static inline struct unwind_place *unwind_place_find(struct unwind_place *places,
						     uint64_t generation, uint64_t ip)
{
	struct unwind_place *place = unwind_place_slot(places, ip);

	return place->ip == ip && place->generation == generation && place->map ? place : NULL;
}

/* The rule at a place that has a mapping. */
static inline struct unwind_rule unwind_tables_rule(struct unwind_tables *t,
						    struct unwind_place *place)
{
	if (!place->rule)
		place->rule = unwind_rule_pack(unwind_tables_find(t, place->map, place->ip));
	return unwind_rule_unpack(place->rule);
}

/* Does a call instruction end at @vaddr of @mod? */
enum unwind_call {
	UNWIND_CALL_NO,
	UNWIND_CALL_YES,
	UNWIND_CALL_UNKNOWN, /* the code is not there to look at */
};

/* @ret_target, which may be NULL, is where a direct call leads in the process, 0 if it is none or not known. */
enum unwind_call unwind_tables_call(struct unwind_tables *t, const struct space_map *map,
				    uint64_t ip, uint64_t *ret_target);

/* Is @ip of @map that of an instruction that returns (x86-64)? */
bool unwind_tables_is_return(struct unwind_tables *t, const struct space_map *map, uint64_t ip);

/* Has the file of @map a table, for this address or others? */
bool unwind_tables_has_table(struct unwind_tables *t, const struct space_map *map);

/* What follows is of a sample that was taken at @time_ns in @space: code that was made at run time is what it was then. */
void unwind_tables_begin(struct unwind_tables *t, struct space *space, uint64_t time_ns);

/* Of code that was made at run time: its place (jit_map.h). */
uint64_t unwind_tables_jit_place(struct unwind_tables *t, const struct space_map *map, uint64_t ip);

/* The link-time address of @ip in @map; of code that was made at run time its place. */
static inline uint64_t unwind_tables_vaddr(struct unwind_tables *t, const struct space_map *map, uint64_t ip)
{
	return map->module->kind == MODULE_JIT ? unwind_tables_jit_place(t, map, ip) : ip - map->bias;
}

/* Did the recorder read what is at @vaddr of the runtime whose code @map is? It may be bytecode, which no mapping holds. */
bool unwind_tables_knows(struct unwind_tables *t, const struct space_map *map, uint64_t vaddr);

/* How the caller of such an address is found; JITDUMP_FRAME_UNKNOWN where nothing is known about it. @map may be NULL. */
enum jitdump_frame unwind_tables_frame(struct unwind_tables *t, const struct space_map *map, uint64_t vaddr);

/* Is @ip of @map, which may be NULL, in code that a JIT said it made? */
bool unwind_tables_is_jit_code(struct unwind_tables *t, const struct space_map *map, uint64_t ip);

/* Where the function that holds @ip of @map begins, by symbol; 0 if that is not known. */
uint64_t unwind_tables_function(struct unwind_tables *t, const struct space_map *map, uint64_t ip);

/* Its name as in the file, NULL if that is not known. */
const char *unwind_tables_function_name(struct unwind_tables *t, const struct space_map *map,
					uint64_t ip);

/* Is @ip of @map in a slot of the procedure linkage table? */
bool unwind_tables_is_slot(struct unwind_tables *t, const struct space_map *map, uint64_t ip);

/*
 * Is @ip of @map in the head of such a table on aarch64, which all slots lead to that are not bound yet? It pushes the link register
 * in the first of its steps; *@ret_pushed: it has.
 */
bool unwind_tables_is_plt_head(struct unwind_tables *t, const struct space_map *map, uint64_t ip,
			       bool *ret_pushed);

/* Code of a function from its first instruction on. */
struct unwind_code {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr; /* link-time, of the first byte */
};

/* Of the function whose rules hold at @ip of @map; false if its code, or where it begins, is not known. */
bool unwind_tables_code(struct unwind_tables *t, const struct space_map *map, uint64_t ip,
			struct unwind_code *ret);

/* What reads it; NULL on a processor for which nothing does. */
struct disasm *unwind_tables_disasm(struct unwind_tables *t);

/* How often a rule was asked for that the memo did not have yet. */
uint64_t unwind_tables_misses(const struct unwind_tables *t);

#endif
