/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.c - libdw knows DWARF's types and locations, and where speed does not matter it is the reader.
 *
 * Only locations of one operation count: a register, a register plus a number, the frame, an address. What needs more is not in
 * a place that an instruction's operand could name. (DWARF 5, 2.6 and 3.3.)
 */
#include "symbolize/debug/types.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH_MAX 32 /* typedefs, qualifiers and members inside each other */
#define LISTS_MAX 8  /* locations of one variable that hold at an address */

struct global {
	uint64_t addr;
	Dwarf_Die die;
};

struct unit_range {
	Dwarf_Addr start, end;
	Dwarf_Die unit;
};

struct debug_types {
	int fd; /* libdw unpacks compressed sections in place, so it gets the file for itself */
	Dwarf *dwarf;
	Dwarf_CFI *cfi[2];     /* .debug_frame of the debug file, .eh_frame of the code's; the second is ours to end */
	VEC(Dwarf_Die) known; /* [0] stands for "not known" */
	bool has_globals, has_units;
	VEC(struct unit_range) units;
	VEC(struct global) globals;
};

struct debug_types *debug_types_new(struct image *debug, struct image *code)
{
	int fd = open(image_path(debug), O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);

	if (!dwarf) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}

	struct debug_types *types = memory_zeroed(1, sizeof(*types));

	types->dwarf = dwarf;
	types->fd = fd;
	types->cfi[0] = dwarf_getcfi(dwarf);
	types->cfi[1] = code ? dwarf_getcfi_elf(image_elf(code)) : NULL;
	vec_push(&types->known, ((Dwarf_Die){ 0 }));
	return types;
}

void debug_types_free(struct debug_types *types)
{
	if (!types)
		return;
	if (types->cfi[1])
		dwarf_cfi_end(types->cfi[1]);
	vec_deinit(&types->known);
	vec_deinit(&types->globals);
	vec_deinit(&types->units);
	dwarf_end(types->dwarf);
	close(types->fd);
	free(types);
}

/* The number of @die; the few types of one report are looked through. */
static uint32_t number_of(struct debug_types *types, const Dwarf_Die *die)
{
	for (uint32_t i = 1; i < types->known.len; i++)
		if (types->known.items[i].addr == die->addr)
			return i;
	vec_push(&types->known, *die);
	return (uint32_t)types->known.len - 1;
}

/* ---- types ---- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

/* Without qualifiers and typedefs; false if that ends in nothing (void). */
static bool peel(const Dwarf_Die *type, bool typedefs, Dwarf_Die *ret)
{
	*ret = *type;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		switch (dwarf_tag(ret)) {
		case DW_TAG_typedef:
			if (!typedefs)
				return true;
			/* fallthrough */
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!type_of(ret, ret))
				return false;
			break;
		default:
			return true;
		}
	}
	return false;
}

static bool is_pointer(const Dwarf_Die *type)
{
	int tag = dwarf_tag((Dwarf_Die *)type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static uint64_t size_of(const Dwarf_Die *type)
{
	Dwarf_Die die = *type;
	Dwarf_Word size;

	return dwarf_aggregate_size(&die, &size) == 0 ? size : 0;
}

/* The type behind pointer @type; a pointer to nothing (void) tells nothing. */
static struct debug_place pointee(struct debug_types *types, const Dwarf_Die *type)
{
	Dwarf_Die bare, target;

	if (!peel(type, true, &bare) || !is_pointer(&bare) || !type_of(&bare, &target) ||
	    !peel(&target, false, &target))
		return (struct debug_place){ 0 };
	return (struct debug_place){ .type = number_of(types, &target) };
}

static bool is_compound(const Dwarf_Die *type)
{
	int tag = dwarf_tag((Dwarf_Die *)type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The member of @type that holds byte *@offset, which is made relative to it; of a union the first. */
static bool member_at(const Dwarf_Die *type, uint64_t *offset, Dwarf_Die *ret)
{
	Dwarf_Die bare = *type, child;

	if (dwarf_child(&bare, &child) != 0)
		return false;
	do {
		Dwarf_Word start = 0;
		Dwarf_Attribute attr;
		Dwarf_Die inner;
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attr))
			dwarf_formudata(&attr, &start);
		else if (dwarf_hasattr(&child, DW_AT_declaration) || dwarf_hasattr(&child, DW_AT_external))
			continue; /* static */
		if (*offset < start || !type_of(&child, &inner) || *offset - start >= size_of(&inner))
			continue;
		*offset -= start;
		*ret = child;
		return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* An offset behind the end of a type means an element of an array of it. */
static uint64_t within(const Dwarf_Die *type, int64_t offset)
{
	uint64_t size = size_of(type);
	int64_t rest;

	if (!size || size > INT64_MAX)
		return offset < 0 ? 0 : (uint64_t)offset;
	rest = offset % (int64_t)size;
	return (uint64_t)(rest < 0 ? rest + (int64_t)size : rest);
}

/* The innermost type at @offset of @type: that of a member, or of an array's element. */
static bool innermost(const Dwarf_Die *type, uint64_t offset, Dwarf_Die *ret)
{
	Dwarf_Die member;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		if (!peel(type, true, ret))
			return false;
		type = ret;
		if (dwarf_tag(ret) == DW_TAG_array_type) {
			if (!type_of(ret, ret))
				return false;
			offset = within(ret, (int64_t)offset);
		} else if (is_compound(ret)) {
			if (!member_at(ret, &offset, &member) || !type_of(&member, ret))
				return false;
		} else {
			return offset == 0;
		}
	}
	return false;
}

bool debug_types_is_inside(struct debug_types *types, struct debug_place place)
{
	uint64_t size;

	if (!place.type || place.is_element)
		return place.type;
	size = size_of(&types->known.items[place.type]);
	/* "struct thing;" alone has no size */
	return place.offset >= 0 && (uint64_t)place.offset < size;
}

struct debug_place debug_types_follow(struct debug_types *types, struct debug_place place)
{
	Dwarf_Die at;

	if (!debug_types_is_inside(types, place))
		return (struct debug_place){ 0 };

	Dwarf_Die type = types->known.items[place.type];

	if (!innermost(&type, within(&type, place.offset), &at))
		return (struct debug_place){ 0 };
	return pointee(types, &at);
}

/* ---- scopes ---- */

/* From the unit inwards: what contains an address. */
struct scopes {
	Dwarf_Die items[DEPTH_MAX];
	unsigned len;
};

static bool is_scope(Dwarf_Die *die, uint64_t vaddr)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
		return dwarf_haspc(die, vaddr) > 0;
	default:
		return false;
	}
}

/* The child of the last scope that contains @vaddr, also inside namespaces. */
static bool descend(struct scopes *scopes, Dwarf_Die *parent, uint64_t vaddr, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child) != 0)
		return false;
	do {
		if (is_scope(&child, vaddr)) {
			scopes->items[scopes->len++] = child;
			return true;
		}
		if (dwarf_tag(&child) == DW_TAG_namespace && descend(scopes, &child, vaddr, depth + 1))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* By the units' own ranges: .debug_aranges does not list all, and clang writes none. */
static void index_units(struct debug_types *types)
{
	Dwarf_CU *cu = NULL;
	struct unit_range range;

	types->has_units = true;
	while (dwarf_get_units(types->dwarf, cu, &cu, NULL, NULL, &range.unit, NULL) == 0) {
		Dwarf_Addr base;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&range.unit, at, &base, &range.start, &range.end)) > 0)
			vec_push(&types->units, range);
	}
}

static bool unit_at(struct debug_types *types, uint64_t vaddr, Dwarf_Die *ret)
{
	if (!types->has_units)
		index_units(types);
	for (size_t i = 0; i < types->units.len; i++)
		if (vaddr >= types->units.items[i].start && vaddr < types->units.items[i].end) {
			*ret = types->units.items[i].unit;
			return true;
		}
	return false;
}

/*
 * Not dwarf_getscopes(): above an inlined call that goes on with the scopes of its definition, and the frame belongs to the
 * function that contains the code.
 */
static void find_scopes(struct debug_types *types, uint64_t vaddr, struct scopes *ret)
{
	ret->len = 0;
	if (!unit_at(types, vaddr, &ret->items[0]))
		return;
	ret->len = 1;
	while (ret->len < DEPTH_MAX) {
		Dwarf_Die last = ret->items[ret->len - 1];

		if (!descend(ret, &last, vaddr, 0))
			break;
	}
}

/* The function whose code it is; NULL if that is not known. */
static Dwarf_Die *function_of(struct scopes *scopes)
{
	for (unsigned i = 0; i < scopes->len; i++)
		if (dwarf_tag(&scopes->items[i]) == DW_TAG_subprogram)
			return &scopes->items[i];
	return NULL;
}

struct debug_place debug_types_returned(struct debug_types *types, uint64_t vaddr)
{
	struct scopes scopes;
	Dwarf_Die type, *function;

	find_scopes(types, vaddr, &scopes);
	function = function_of(&scopes);
	if (!function || !type_of(function, &type))
		return (struct debug_place){ 0 };
	return pointee(types, &type);
}

/* ---- variables ---- */

/* A variable's place, if it is one of those that an operand can name. */
struct location {
	enum { IN_REGISTER, AT_REGISTER, AT_FRAME, AT_ADDRESS, IS_SUM } kind;
	int reg;
	int64_t disp;
};

static bool read_location(const Dwarf_Op *ops, size_t count, struct location *ret)
{
	uint8_t atom = ops[0].atom;
	bool is_value = count == 2 && ops[1].atom == DW_OP_stack_value;

	if (count != 1 && !is_value)
		return false;
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		*ret = (struct location){ is_value ? IS_SUM : AT_REGISTER, atom - DW_OP_breg0,
					  (int64_t)ops[0].number };
		return true;
	}
	if (is_value)
		return false;
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
		*ret = (struct location){ IN_REGISTER, atom - DW_OP_reg0, 0 };
	else if (atom == DW_OP_fbreg)
		*ret = (struct location){ AT_FRAME, 0, (int64_t)ops[0].number };
	else if (atom == DW_OP_addr)
		*ret = (struct location){ AT_ADDRESS, 0, (int64_t)ops[0].number };
	else
		return false;
	return true;
}

/* What is looked for: a register's value or memory; and where the function's frame is. */
struct wanted {
	struct location loc;
	bool has_frame; /* frame base = register @frame_reg + @frame_disp */
	int frame_reg;
	int64_t frame_disp;
};

/*
 * The value or the memory that is looked for, against a variable of @type at @loc: its place, or no type. A register that
 * is looked for is one that holds a pointer.
 */
static struct debug_place meets(struct debug_types *types, const struct wanted *wanted,
				struct location loc, const Dwarf_Die *type)
{
	struct debug_place none = { 0 }, place;
	int64_t inside = 0;

	if (wanted->loc.kind == IN_REGISTER) {
		if (loc.reg != wanted->loc.reg || (loc.kind != IN_REGISTER && loc.kind != IS_SUM))
			return none;
		place = pointee(types, type);
		place.offset = wanted->loc.disp - loc.disp; /* of "register + 8" the register points 8 before */
		return place;
	}
	if (loc.kind == AT_FRAME && wanted->has_frame)
		loc = (struct location){ AT_REGISTER, wanted->frame_reg, wanted->frame_disp + loc.disp };
	if (loc.kind != wanted->loc.kind || loc.reg != wanted->loc.reg)
		return none;
	inside = wanted->loc.disp - loc.disp;
	if (inside < 0 || (uint64_t)inside >= size_of(type))
		return none;
	return (struct debug_place){ .type = number_of(types, type), .offset = inside };
}

static struct debug_place try_variable(struct debug_types *types, const struct wanted *wanted,
				       uint64_t vaddr, Dwarf_Die *variable)
{
	struct debug_place none = { 0 };
	Dwarf_Op *ops[LISTS_MAX];
	size_t lens[LISTS_MAX];
	struct location loc;
	Dwarf_Attribute attr;
	Dwarf_Die type;

	if (!dwarf_attr_integrate(variable, DW_AT_location, &attr) || !type_of(variable, &type) ||
	    !peel(&type, false, &type))
		return none;

	int count = dwarf_getlocation_addr(&attr, vaddr, ops, lens, LISTS_MAX);

	for (int i = 0; i < count; i++) {
		if (!lens[i] || !read_location(ops[i], lens[i], &loc))
			continue;

		struct debug_place place = meets(types, wanted, loc, &type);

		if (place.type)
			return place;
	}
	return none;
}

/* Keep @place in *@best if it is better: the first, unless another is inside what it points to. */
static bool keep(struct debug_types *types, struct debug_place place, struct debug_place *best)
{
	if (!place.type)
		return false;
	if (debug_types_is_inside(types, place)) {
		*best = place;
		return true;
	}
	if (!best->type)
		*best = place;
	return false;
}

/* The canonical frame address as a register and a number, at @vaddr. */
static bool frame_address(struct debug_types *types, uint64_t vaddr, struct wanted *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(types->cfi); i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t count;
		bool found = false;

		if (!types->cfi[i] || dwarf_cfi_addrframe(types->cfi[i], vaddr, &frame) != 0)
			continue;
		if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1) {
			found = true;
			if (ops[0].atom == DW_OP_bregx) {
				ret->frame_reg = (int)ops[0].number;
				ret->frame_disp = (int64_t)ops[0].number2;
			} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
				ret->frame_reg = ops[0].atom - DW_OP_breg0;
				ret->frame_disp = (int64_t)ops[0].number;
			} else {
				found = false;
			}
		}
		free(frame);
		if (found)
			return true;
	}
	return false;
}

/* DW_AT_frame_base of @function: mostly the canonical frame address, or a register. */
static bool frame_base(struct debug_types *types, uint64_t vaddr, Dwarf_Die *function,
		       struct wanted *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t len;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, vaddr, &ops, &len, 1) != 1 || len != 1)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return frame_address(types, vaddr, ret);
	if (ops[0].atom < DW_OP_reg0 || ops[0].atom > DW_OP_reg31)
		return false;
	ret->frame_reg = ops[0].atom - DW_OP_reg0;
	ret->frame_disp = 0;
	return true;
}

/* Is this the best possible answer? */
static bool search_scope(struct debug_types *types, const struct wanted *wanted, uint64_t vaddr,
			 Dwarf_Die *scope, struct debug_place *best)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
		    keep(types, try_variable(types, wanted, vaddr, &child), best))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Innermost scope first, the unit's own variables last. */
static struct debug_place search(struct debug_types *types, uint64_t vaddr, struct location loc)
{
	struct debug_place best = { 0 };
	struct wanted wanted = { .loc = loc };
	struct scopes scopes;
	Dwarf_Die *function;

	find_scopes(types, vaddr, &scopes);
	function = function_of(&scopes);
	if (loc.kind == AT_REGISTER && function)
		wanted.has_frame = frame_base(types, vaddr, function, &wanted);
	for (unsigned i = scopes.len; i-- > 0;)
		if (search_scope(types, &wanted, vaddr, &scopes.items[i], &best))
			break;
	return best;
}

struct debug_place debug_types_pointed(struct debug_types *types, uint64_t vaddr, int reg, int64_t disp)
{
	return search(types, vaddr, (struct location){ IN_REGISTER, reg, disp });
}

struct debug_place debug_types_in_frame(struct debug_types *types, uint64_t vaddr, int reg, int64_t disp)
{
	return search(types, vaddr, (struct location){ AT_REGISTER, reg, disp });
}

/* A unit that is not the code's may define what it declares: all units' variables with an address, once. */
static void index_globals(struct debug_types *types)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, child;
	struct location loc;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t len;

	types->has_globals = true;
	while (dwarf_get_units(types->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		if (dwarf_child(&unit, &child) != 0)
			continue;
		do {
			if (dwarf_tag(&child) == DW_TAG_variable &&
			    dwarf_attr_integrate(&child, DW_AT_location, &attr) &&
			    dwarf_getlocation(&attr, &ops, &len) == 0 && len &&
			    read_location(ops, len, &loc) && loc.kind == AT_ADDRESS)
				vec_push(&types->globals,
					 ((struct global){ (uint64_t)loc.disp, child }));
		} while (dwarf_siblingof(&child, &child) == 0);
	}
}

struct debug_place debug_types_global(struct debug_types *types, uint64_t vaddr, uint64_t addr)
{
	struct location loc = { AT_ADDRESS, 0, (int64_t)addr };
	struct debug_place place = search(types, vaddr, loc); /* those of functions, too */
	Dwarf_Die type;

	if (!place.type && !types->has_globals)
		index_globals(types);
	for (size_t i = 0; i < types->globals.len && !place.type; i++) {
		struct global *global = &types->globals.items[i];

		if (addr >= global->addr && type_of(&global->die, &type) &&
		    peel(&type, false, &type) && addr - global->addr < size_of(&type))
			place = (struct debug_place){ .type = number_of(types, &type),
						      .offset = (int64_t)(addr - global->addr) };
	}
	return place;
}

/* ---- in words ---- */

static const char *keyword(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

static const char *type_name(const Dwarf_Die *type, struct arena *arena, int depth)
{
	Dwarf_Die bare, inner;
	const char *name;

	if (depth > DEPTH_MAX || !peel(type, false, &bare))
		return "void";
	name = dwarf_diename(&bare);
	if (is_pointer(&bare) || dwarf_tag(&bare) == DW_TAG_array_type) {
		const char *of = type_of(&bare, &inner) ? type_name(&inner, arena, depth + 1) : "void";

		if (dwarf_tag(&bare) == DW_TAG_array_type)
			return arena_printf(arena, "%s[]", of);
		return arena_printf(arena, dwarf_tag(&bare) == DW_TAG_pointer_type ? "%s *" : "%s &", of);
	}
	if (dwarf_tag(&bare) == DW_TAG_subroutine_type)
		return "(function)";
	if (!name)
		return arena_printf(arena, "%s(unnamed)", keyword(dwarf_tag(&bare)));
	return arena_printf(arena, "%s%s", keyword(dwarf_tag(&bare)), name);
}

const char *debug_types_name(struct debug_types *types, uint32_t type, struct arena *arena)
{
	return type ? type_name(&types->known.items[type], arena, 0) : "";
}

const char *debug_types_field(struct debug_types *types, struct debug_place place, struct arena *arena)
{
	Dwarf_Die type, bare, member;
	const char *path = "";

	if (!place.type)
		return path;
	type = types->known.items[place.type];

	uint64_t offset = within(&type, place.offset);

	for (int depth = 0; depth < DEPTH_MAX && peel(&type, true, &bare); depth++) {
		if (dwarf_tag(&bare) == DW_TAG_array_type && *path) {
			path = arena_printf(arena, "%s[]", path);
			if (!type_of(&bare, &type))
				break;
			offset = within(&type, (int64_t)offset);
		} else if (is_compound(&bare) && member_at(&bare, &offset, &member)) {
			const char *name = dwarf_diename(&member);

			if (name) /* an unnamed union's members are the struct's own */
				path = arena_printf(arena, "%s%s%s", path, *path ? "." : "", name);
			if (!type_of(&member, &type))
				break;
		} else {
			break;
		}
	}
	return path;
}
