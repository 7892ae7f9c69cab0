/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - variables and types of one file, by way of libdw: which variable is in a register or in the frame at an
 * address, and which member of a type lies at an offset.
 *
 * A type is a number that lasts as long as the object; 0 is "not known". Nothing is read before it is asked for. Not
 * thread-safe.
 */
#ifndef DEBUG_TYPES_H
#define DEBUG_TYPES_H

#include "formats/base/arena.h"
#include "symbolize/elf/image.h"

#include <stdbool.h>
#include <stdint.h>

struct debug_types;

/* A place inside something of a type: @offset bytes from its beginning. */
struct debug_place {
	uint32_t type; /* 0: not known */
	int64_t offset;
	bool is_element; /* of an array, which element is not known: the offset counts within one */
};

/*
 * The types that @debug describes; @code, perhaps the same, has the unwind tables of the code that they are of. Both
 * must outlive the result. NULL if there is no debug information that libdw reads.
 */
struct debug_types *debug_types_new(struct image *debug, struct image *code);
void debug_types_free(struct debug_types *types);

/*
 * What lies @disp behind where register @reg (DWARF's number) points at link-time address @vaddr, if a variable that is a
 * pointer lives in it there, or is a number away from it. Of several variables one that points to where @disp is inside.
 */
struct debug_place debug_types_pointed(struct debug_types *types, uint64_t vaddr, int reg, int64_t disp);

/* The variable that lies in memory at register @reg + @disp when the instruction at @vaddr runs. */
struct debug_place debug_types_in_frame(struct debug_types *types, uint64_t vaddr, int reg, int64_t disp);

/* The variable of the file at link-time address @addr, as code at @vaddr sees it. */
struct debug_place debug_types_global(struct debug_types *types, uint64_t vaddr, uint64_t addr);

/* What the pointer that lies at @place points to. */
struct debug_place debug_types_follow(struct debug_types *types, struct debug_place place);

/* What the pointer that the function at @vaddr returns points to. */
struct debug_place debug_types_returned(struct debug_types *types, uint64_t vaddr);

/* Does @place lie inside its type? A pointer may lead beyond what it points to, as from a member to what contains it. */
bool debug_types_is_inside(struct debug_types *types, struct debug_place place);

/* "struct list_head", "int", "char[]". */
const char *debug_types_name(struct debug_types *types, uint32_t type, struct arena *arena);

/* The member at @place with those that it is in: "list.next", "name[]"; "" for a type without members. */
const char *debug_types_field(struct debug_types *types, struct debug_place place, struct arena *arena);

#endif
