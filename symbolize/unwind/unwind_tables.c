/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_tables.c - three memories in front of the sections.
 *
 * Addresses to mappings, by page: entries carry the generation of the address space, which no two
 * spaces share, so nothing is ever flushed. Module and address to rule: the memo. In front of both, the addresses
 * that were walked last, mapping and rule side by side: stacks have most of their callers in common.
 */
#include "symbolize/unwind/unwind_tables.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "symbolize/disasm.h"
#include "symbolize/elf/bundle_calls.h"
#include "symbolize/elf/cfi_record.h"
#include "symbolize/elf/code_starts.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/name/jit_files.h"
#include "symbolize/unwind/hotspot_frames.h"
#include "symbolize/unwind/cfi_program.h"
#include "symbolize/unwind/code_exits.h"
#include "symbolize/unwind/code_rows.h"
#include "symbolize/unwind/unwind_chain.h"
#include "symbolize/unwind/unwind_rule.h"
#include "symbolize/unwind/unwind_sigframe.h"

#include <stdlib.h>
#include <string.h>

/*
 * The memo: from module and link-time address to a rule, for every address that was ever looked up.
 *
 * One probe of 16 bytes per frame: key and result side by side, and the table dense enough to stay in the
 * second-level cache for tens of thousands of addresses. A zeroed memo is empty and ready.
 */

struct unwind_memo_slot {
	uint64_t key; /* 0: free */
	uintptr_t value; /* unwind_rule_pack() */
};

struct unwind_memo {
	struct unwind_memo_slot *slots;
	size_t nslots; /* a power of two, or 0 */
	size_t len;
	uint64_t misses;
};

/* Never 0. False if the module's number or the address is too large to be remembered. */
static inline bool unwind_memo_key(uint32_t module, uint64_t vaddr, uint64_t *ret)
{
	*ret = (uint64_t)(module + 1) << 48 | vaddr;
	return module < 0xffff && vaddr < 1ULL << 48;
}

static inline struct unwind_memo_slot *unwind_memo_slot(const struct unwind_memo *memo,
							uint64_t key)
{
	size_t i = ((key ^ key >> 32) * 0x9e3779b97f4a7c15ULL >> 32) & (memo->nslots - 1);

	while (memo->slots[i].key && memo->slots[i].key != key)
		i = (i + 1) & (memo->nslots - 1);
	return &memo->slots[i];
}

/* What is known of @key; false if it was never put. */
static inline bool unwind_memo_get(struct unwind_memo *memo, uint64_t key, struct unwind_rule *ret)
{
	const struct unwind_memo_slot *slot = memo->nslots ? unwind_memo_slot(memo, key) : NULL;

	if (!slot || !slot->key)
		return false;
	*ret = unwind_rule_unpack(slot->value);
	return true;
}

#define SLOTS_AT_FIRST 4096

/* At most 7 of 10 slots in use. */
static bool is_full(const struct unwind_memo *memo)
{
	return memo->len * 10 >= memo->nslots * 7;
}

static void grow(struct unwind_memo *memo)
{
	struct unwind_memo_slot *old = memo->slots;
	size_t nold = memo->nslots;

	memo->nslots = nold ? nold * 2 : SLOTS_AT_FIRST;
	memo->slots = memory_table(memo->nslots, sizeof(*memo->slots));
	for (size_t i = 0; i < nold; i++) {
		if (old[i].key)
			*unwind_memo_slot(memo, old[i].key) = old[i];
	}
	free(old);
}

/* Remember @rule, whose .cfi must outlive the memo, for a key that was not there. */
static void unwind_memo_put(struct unwind_memo *memo, uint64_t key, struct unwind_rule rule)
{
	if (is_full(memo))
		grow(memo);
	memo->len++;
	memo->misses++;
	*unwind_memo_slot(memo, key) = (struct unwind_memo_slot){
		.key = key,
		.value = unwind_rule_pack(rule),
	};
}

static void unwind_memo_deinit(struct unwind_memo *memo)
{
	free(memo->slots);
	*memo = (struct unwind_memo){ 0 };
}

#define PAGE_SHIFT   12
#define MAP_SLOTS    1024 /* pages of code that a recording's stacks touch at a time */
#define CALL_LEN_MAX 8  /* code in front of a return address that arch.ends_with_call() looks at */
#define ENTRY_LEN    64 /* of start code in assembly: sets a few registers and calls */
#define EXIT_STEPS   (4U << 20) /* instructions that are followed to where functions without rules return, in all */

struct map_slot_by_page {
	uint64_t page, generation;
	const struct space_map *map;
};

/* What is known of one module's file. */
struct table {
	bool looked_up, code_looked_up, whole_looked_up;
	struct image *image, *code;
	struct cfi_section *cfi;
	struct image *whole;
	struct cfi_section *whole_cfi; /* of the file here, where @cfi is that of a part */
	struct bundle_calls *calls;    /* of an image that the recorder cut down */
	struct symtab *symbols;        /* read when first needed */
	struct code_starts *starts;    /* the same */
	struct jit_map *jit;           /* of a MODULE_JIT; NULL if nothing is known */
	enum unwind_rule_kind without; /* what every address gets if there is no @cfi */
};

struct unwind_tables {
	struct module_table *modules;
	const struct arch *arch;
	const struct unwind_sigframe *sigframe;
	struct cfi_rules *rules;
	VEC(struct table) tables; /* by module id */
	struct unwind_memo memo;
	struct map exits;      /* module and address: index in @found_exits, and 1; 0: there is none */
	VEC(struct unwind_exit) found_exits;
	uint64_t exit_steps;   /* that may still be taken */
	uint64_t time_ns; /* of the sample that is being walked */
	bool disasm_opened;
	struct disasm *disasm; /* opened when first needed; NULL: for this processor there is none */
	struct map_slot_by_page maps[MAP_SLOTS];
	struct unwind_place places[UNWIND_PLACES];
};

struct unwind_tables *unwind_tables_new(struct module_table *modules, const struct arch *arch)
{
	struct unwind_tables *t = memory_zeroed(1, sizeof(*t));

	t->modules = modules;
	t->arch = arch;
	t->sigframe = unwind_sigframe_of(arch);
	t->rules = cfi_rules_new();
	t->exit_steps = EXIT_STEPS;
	return t;
}

void unwind_tables_free(struct unwind_tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->tables.len; i++) {
		cfi_section_free(t->tables.items[i].cfi);
		cfi_section_free(t->tables.items[i].whole_cfi);
		bundle_calls_free(t->tables.items[i].calls);
		code_starts_free(t->tables.items[i].starts);
		symtab_free(t->tables.items[i].symbols);
		jit_map_free(t->tables.items[i].jit);
	}
	vec_deinit(&t->tables);
	cfi_rules_free(t->rules);
	disasm_close(t->disasm);
	unwind_memo_deinit(&t->memo);
	map_deinit(&t->exits);
	vec_deinit(&t->found_exits);
	free(t);
}

/* ---- mappings -------------------------------------------------------------------------------------- */

const struct space_map *unwind_tables_map(struct unwind_tables *t, struct space *space, uint64_t ip)
{
	uint64_t page = ip >> PAGE_SHIFT;
	uint64_t generation = space_generation(space);
	struct map_slot_by_page *slot = &t->maps[(page ^ page >> 10) % MAP_SLOTS];

	if (slot->page != page || slot->generation != generation || !slot->map) {
		slot->map = space_find(space, ip);
		slot->page = page;
		slot->generation = generation;
	}
	return slot->map;
}

struct unwind_place *unwind_tables_places(struct unwind_tables *t)
{
	return t->places;
}

struct unwind_place *unwind_tables_fill(struct unwind_tables *t, struct space *space, uint64_t ip)
{
	struct unwind_place *place = unwind_place_slot(t->places, ip);

	*place = (struct unwind_place){
		.ip = ip,
		.generation = space_generation(space),
		.map = unwind_tables_map(t, space, ip),
	};
	return place;
}

/* ---- files ----------------------------------------------------------------------------------------- */

static bool has_table(const struct module *mod)
{
	return mod->kind == MODULE_FILE || mod->kind == MODULE_VDSO;
}

static void look_up(struct unwind_tables *t, struct table *table, struct module *mod)
{
	struct image *img;

	table->looked_up = true;
	table->without = UNWIND_RULE_NO_TABLE;
	if (mod->kind == MODULE_JIT) {
		table->jit = jit_files_open(t->modules, mod);
		return;
	}
	img = module_image(t->modules, mod);
	if (img && image_arch(img) == t->arch) {
		table->image = img;
		table->cfi = cfi_section_new(img);
		table->calls = bundle_calls_new(img);
	} else {
		table->without = module_status(mod) == MODULE_32_BIT ? UNWIND_RULE_32_BIT : UNWIND_RULE_NO_FILE;
	}
}

/* Of a module that may have a file. */
static struct table *table_of(struct unwind_tables *t, struct module *mod)
{
	struct table *table;

	while (t->tables.len <= mod->id)
		vec_push(&t->tables, (struct table){ 0 });
	table = &t->tables.items[mod->id];
	if (!table->looked_up)
		look_up(t, table, mod);
	return table;
}

/* What a JIT said of the code at @ip at this time; NULL if nothing is known about it. */
static const struct jit_symbol *jit_symbol_at(struct unwind_tables *t, struct module *mod, uint64_t ip)
{
	const struct table *table = table_of(t, mod);

	return table->jit ? jit_map_find(table->jit, jit_map_at(table->jit, ip, t->time_ns)) : NULL;
}

void unwind_tables_begin(struct unwind_tables *t, struct space *space, uint64_t time_ns)
{
	const struct space_map *map = space_find_jit(space);
	const struct table *table = map && map->module->id < t->tables.len ? &t->tables.items[map->module->id] : NULL;

	t->time_ns = time_ns;
	if (table && table->jit)
		space_set_changes(space, jit_map_changes(table->jit, time_ns));
}

uint64_t unwind_tables_jit_place(struct unwind_tables *t, const struct space_map *map, uint64_t ip)
{
	const struct table *table = table_of(t, map->module);

	return table->jit ? jit_map_at(table->jit, ip, t->time_ns) : ip - map->bias;
}

/* The code in front of return address @ip, if its JIT wrote that down or it was in memory. */
static const uint8_t *jit_code_before(struct unwind_tables *t, struct module *mod, uint64_t ip,
				      size_t need)
{
	const struct jit_symbol *symbol = jit_symbol_at(t, mod, ip - 1);
	const struct table *table = table_of(t, mod);
	const uint8_t *code;
	size_t len;

	if (symbol && symbol->code)
		return ip - symbol->start < need ? NULL : symbol->code + (ip - symbol->start - need);
	code = table->jit ? jit_map_bytes(table->jit, ip - need, &len) : NULL;
	return code && len >= need ? code : NULL;
}

/* Did the recorder read, in the tables of its runtime, what a call that returns to @ip is in? */
static bool is_known_call(struct unwind_tables *t, struct module *mod, uint64_t ip)
{
	const struct table *table = table_of(t, mod);
	const struct jit_place *place = table->jit ? jit_map_place(table->jit, jit_map_at(table->jit, ip - 1, t->time_ns)) : NULL;

	return place && place->frame == JITDUMP_FRAME_SAVED && place->count;
}

/*
 * At least @need bytes of code at @vaddr, from the image that unwinds or, failing that, from any other; *@ret_len says how many there
 * are.
 */
static const uint8_t *code_and_len(struct unwind_tables *t, struct module *mod, uint64_t vaddr,
				   size_t need, size_t *ret_len)
{
	struct table *table;
	const uint8_t *code = NULL;
	size_t len = 0;

	*ret_len = 0;

	if (!has_table(mod))
		return NULL;
	table = table_of(t, mod);
	if (table->image)
		code = image_bytes_at(table->image, vaddr, &len);
	*ret_len = code ? len : 0;
	if (*ret_len >= need)
		return code;
	if (!table->code_looked_up) {
		table->code_looked_up = true;
		table->code = mod->kind == MODULE_FILE ? module_code(t->modules, mod) : NULL;
	}
	code = table->code ? image_bytes_at(table->code, vaddr, &len) : NULL;
	*ret_len = code ? len : 0;
	return *ret_len >= need ? code : NULL;
}

static const uint8_t *code_at(struct unwind_tables *t, struct module *mod, uint64_t vaddr,
			      size_t need)
{
	size_t len;

	return code_and_len(t, mod, vaddr, need, &len);
}

bool unwind_tables_is_return(struct unwind_tables *t, const struct space_map *map, uint64_t ip)
{
	const uint8_t *code = map->mapped && t->arch == &arch_x86_64 ? code_at(t, map->module, ip - map->bias, 1) : NULL;

	return code && *code == 0xc3;
}

bool unwind_tables_has_table(struct unwind_tables *t, const struct space_map *map)
{
	return has_table(map->module) && table_of(t, map->module)->cfi;
}

/* What the recorder found out about the code, which it may not have sent along. */
static enum bundle_call recorded_call(struct unwind_tables *t, const struct space_map *map,
				      uint64_t vaddr, uint64_t *ret_target)
{
	const struct table *table = has_table(map->module) ? table_of(t, map->module) : NULL;

	return table && table->calls ? bundle_calls_find(table->calls, vaddr, ret_target)
				     : BUNDLE_CALL_UNKNOWN;
}

static enum bundle_call call_at(struct unwind_tables *t, const struct space_map *map,
				uint64_t vaddr, uint64_t *ret_target)
{
	bool jit = map->module->kind == MODULE_JIT;
	const uint8_t *code = jit ? jit_code_before(t, map->module, vaddr, CALL_LEN_MAX) :
				    code_at(t, map->module, vaddr - CALL_LEN_MAX, CALL_LEN_MAX);
	int64_t distance;

	if (!code)
		return jit && is_known_call(t, map->module, vaddr) ? BUNDLE_CALL_YES : BUNDLE_CALL_UNKNOWN;
	if (!t->arch->ends_with_call(code, CALL_LEN_MAX))
		return jit ? BUNDLE_CALL_UNKNOWN : BUNDLE_CALL_NO; /* an interpreter pushes and jumps */
	if (t->arch->direct_call(code, CALL_LEN_MAX, &distance))
		*ret_target = vaddr + (uint64_t)distance;
	return BUNDLE_CALL_YES;
}

enum unwind_call unwind_tables_call(struct unwind_tables *t, const struct space_map *map,
				    uint64_t ip, uint64_t *ret_target)
{
	uint64_t target = 0;
	enum bundle_call call;

	if (!map->mapped && map->module->kind != MODULE_JIT)
		return UNWIND_CALL_UNKNOWN;
	call = recorded_call(t, map, ip - map->bias, &target);
	if (call == BUNDLE_CALL_UNKNOWN)
		call = call_at(t, map, ip - map->bias, &target);
	if (ret_target)
		*ret_target = target ? target + map->bias : 0;
	if (call == BUNDLE_CALL_UNKNOWN)
		return UNWIND_CALL_UNKNOWN;
	return call == BUNDLE_CALL_YES ? UNWIND_CALL_YES : UNWIND_CALL_NO;
}

static const struct symtab_entry *symbol_of(struct table *table, uint64_t vaddr)
{
	if (!table->image)
		return NULL;
	if (!table->symbols)
		table->symbols = symtab_new(table->image);
	return symtab_find(table->symbols, vaddr);
}

static const struct symtab_entry *symbol_at(struct unwind_tables *t, const struct space_map *map,
					    uint64_t ip)
{
	if (!map->mapped || !has_table(map->module))
		return NULL;
	return symbol_of(table_of(t, map->module), ip - map->bias);
}

uint64_t unwind_tables_function(struct unwind_tables *t, const struct space_map *map, uint64_t ip)
{
	const struct symtab_entry *entry = symbol_at(t, map, ip);

	return entry ? entry->vaddr + map->bias : 0;
}

const char *unwind_tables_function_name(struct unwind_tables *t, const struct space_map *map,
					uint64_t ip)
{
	const struct symtab_entry *entry = symbol_at(t, map, ip);

	return entry ? entry->name : NULL;
}

bool unwind_tables_is_slot(struct unwind_tables *t, const struct space_map *map, uint64_t ip)
{
	const char *name = unwind_tables_function_name(t, map, ip);
	const char *at = name ? strrchr(name, '@') : NULL;

	return at && strcmp(at, "@plt") == 0;
}

/*
 * The head as the ABI shows it and bfd, gold, lld and mold write it (ELF for the Arm 64-bit Architecture, "Procedure Linkage
 * Table"); "bti c" may stand before it. It has no symbol, and in a trace no section.
 */
static bool is_plt_head(struct unwind_tables *t, struct module *mod, uint64_t vaddr)
{
	static const struct {
		uint32_t mask, code;
	} head[] = {
		{ 0xffffffff, 0xa9bf7bf0 }, /* stp x16, x30, [sp, #-16]! */
		{ 0x9f00001f, 0x90000010 }, /* adrp x16, page of .got.plt[2] */
		{ 0xffc003ff, 0xf9400211 }, /* ldr x17, [x16, #...] */
		{ 0xffc003ff, 0x91000210 }, /* add x16, x16, #... */
		{ 0xffffffff, 0xd61f0220 }, /* br x17 */
	};
	const uint8_t *code = code_at(t, mod, vaddr, 4 * ARRAY_LEN(head));
	struct reader r;

	if (!code)
		return false;
	reader_init(&r, code, 4 * ARRAY_LEN(head), /* big_endian= */ false);
	for (size_t i = 0; i < ARRAY_LEN(head); i++) {
		if ((reader_u32(&r, "instruction") & head[i].mask) != head[i].code)
			return false;
	}
	return true;
}

bool unwind_tables_is_plt_head(struct unwind_tables *t, const struct space_map *map, uint64_t ip,
			       bool *ret_pushed)
{
	static const uint8_t bti_c[] = { 0x5f, 0x24, 0x03, 0xd5 };
	uint64_t vaddr = ip - map->bias;
	const uint8_t *code;

	*ret_pushed = false;
	if (t->arch != &arch_aarch64 || !map->mapped)
		return false;
	if (is_plt_head(t, map->module, vaddr))
		return true;
	code = code_at(t, map->module, vaddr, sizeof(bti_c));
	if (code && memcmp(code, bti_c, sizeof(bti_c)) == 0 && is_plt_head(t, map->module, vaddr + 4))
		return true;
	for (uint64_t done = 4; done <= 16 && !*ret_pushed; done += 4)
		*ret_pushed = is_plt_head(t, map->module, vaddr - done);
	return *ret_pushed;
}

/* ---- rules ----------------------------------------------------------------------------------------- */

static bool is_trampoline(struct unwind_tables *t, struct module *mod, uint64_t vaddr)
{
	const uint8_t *code = code_at(t, mod, vaddr, t->sigframe->code_len);

	return code && memcmp(code, t->sigframe->code, t->sigframe->code_len) == 0;
}

/* @vaddr may be the trampoline's first byte, the one before (a return address less 1), or the system call. */
static bool near_trampoline(struct unwind_tables *t, struct module *mod, uint64_t vaddr)
{
	return is_trampoline(t, mod, vaddr + 1) || is_trampoline(t, mod, vaddr) ||
	       is_trampoline(t, mod, vaddr - t->sigframe->syscall_offset);
}

/*
 * Trampolines are looked for where there is no rule, where the function ends here (what looks like a
 * call in the last instruction may be a trampoline behind it), and where the architecture's own rule
 * is of no use: link registers are what the kernel's rule gives for the interrupted address.
 */
static bool may_be_trampoline(const struct unwind_tables *t, const struct cfi_fde *fde,
			      uint64_t vaddr)
{
	return fde->end == vaddr + 1 || (fde->cie.signal_frame && t->arch->lr >= 0);
}

/*
 * makecontext() and the like put the address of a start routine where a return address belongs. Less 1, it
 * lies in front of the routine, in padding that no function covers. Nothing called it: it is the root.
 */
static bool is_start_routine(struct unwind_tables *t, struct module *mod, uint64_t vaddr)
{
	const struct table *table = table_of(t, mod);
	const uint8_t *code = code_at(t, mod, vaddr + 1 - CALL_LEN_MAX, CALL_LEN_MAX);
	struct cfi_fde fde;

	return cfi_section_find(table->cfi, vaddr + 1, &fde) && fde.begin == vaddr + 1 && code &&
	       !t->arch->ends_with_call(code, CALL_LEN_MAX);
}

/* Where the kernel lets a program or its loader begin: what comes before is not a caller, but its arguments. */
static bool is_entry(struct unwind_tables *t, struct module *mod, uint64_t vaddr)
{
	const struct table *table = table_of(t, mod);
	uint64_t entry = image_entry(table->image);

	return entry && vaddr >= entry && vaddr - entry < ENTRY_LEN;
}

/*
 * The rules that came with code of a JIT are for where perf puts both in a file, so that it is the distance between their first
 * entry and the code that counts.
 */
static bool find_jit_fde(const struct jit_symbol *symbol, uint64_t ip, struct cfi_fde *ret, uint64_t *ret_vaddr)
{
	const struct cfi_bytes bytes = { .data = symbol->frames, .len = symbol->frames_len };
	struct cfi_record rec;
	struct cfi_cie cie;
	bool first = true;

	for (uint64_t at = 0; symbol->frames && cfi_record_at(&bytes, at, &rec) && !rec.is_end; at = rec.end) {
		if (rec.is_cie || !cfi_record_cie(&bytes, rec.cie_offset, &cie) ||
		    !cfi_record_fde(&bytes, &rec, &cie, ret))
			continue;
		if (first)
			*ret_vaddr = ip - symbol->start + ret->begin;
		first = false;
		if (*ret_vaddr >= ret->begin && *ret_vaddr < ret->end)
			return true;
	}
	return false;
}

/* Those of an object are for where its code was loaded. */
static bool find_object_fde(const struct jit_map *map, const struct jit_symbol *symbol, uint64_t ip, struct cfi_fde *ret)
{
	const struct cfi_section *rules = jit_map_rules(map, symbol);

	return rules && cfi_section_find(rules, ip, ret);
}

bool unwind_tables_is_jit_code(struct unwind_tables *t, const struct space_map *map, uint64_t ip)
{
	return map && map->module->kind == MODULE_JIT && jit_symbol_at(t, map->module, ip);
}

/* What the recorder read of @vaddr in its runtime; NULL if it did not. */
static const struct jit_place *place_at(struct unwind_tables *t, const struct space_map *map, uint64_t vaddr)
{
	const struct table *table = map && map->module->kind == MODULE_JIT ? table_of(t, map->module) : NULL;

	return table && table->jit ? jit_map_place(table->jit, jit_map_at(table->jit, vaddr, t->time_ns)) : NULL;
}

bool unwind_tables_knows(struct unwind_tables *t, const struct space_map *map, uint64_t vaddr)
{
	const struct table *table = map && map->module->kind == MODULE_JIT ? table_of(t, map->module) : NULL;

	if (vaddr != code_place_address(vaddr) && table && table->jit && jit_map_find(table->jit, vaddr))
		return true;
	return place_at(t, map, vaddr);
}

enum jitdump_frame unwind_tables_frame(struct unwind_tables *t, const struct space_map *map, uint64_t vaddr)
{
	const struct jit_place *place = place_at(t, map, vaddr);

	return place ? place->frame : JITDUMP_FRAME_UNKNOWN;
}

/* The rule that the code of @symbol itself says; @frame_len as in code_rows.h. */
static bool find_code_rule(struct unwind_tables *t, const struct jit_symbol *symbol, uint64_t ip, uint32_t frame_len,
			   uint32_t *ret)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	if (!symbol || !symbol->code || !unwind_tables_disasm(t))
		return false;
	const struct code_rows_function f = { hotspot_frames_code(symbol, &arena), symbol->len, symbol->start,
					      frame_len };

	return code_rows_find(t->rules, t->disasm, &f, ip, ret);
}

/* The rule of a place whose frame the recorder read. The code around it may have pushed more than the frame holds. */
static bool find_place_rule(struct unwind_tables *t, const struct jit_symbol *symbol, struct jit_place place,
			    uint64_t ip, uint32_t *ret)
{
	uint32_t code;

	if (place.frame == JITDUMP_FRAME_SAVED && t->arch == &arch_x86_64 && find_code_rule(t, symbol, ip, place.frame_len, &code))
		hotspot_frames_add_pushes(&place, cfi_rules_get(t->rules, code));
	return hotspot_frames_place_rule(t->rules, t->arch, &place, ret);
}

static struct unwind_rule compile_jit(struct unwind_tables *t, struct module *mod, uint64_t ip)
{
	const struct jit_symbol *symbol = jit_symbol_at(t, mod, ip);
	const struct table *table = table_of(t, mod);
	const struct jit_place *place = table->jit ? jit_map_place(table->jit, jit_map_at(table->jit, ip, t->time_ns)) : NULL;
	struct cfi_fde fde;
	uint64_t vaddr;
	uint32_t rule;
	bool found = false;

	if (place && place->frame == JITDUMP_FRAME_ERLANG && t->arch == &arch_x86_64)
		return (struct unwind_rule){ .kind = UNWIND_RULE_ERLANG };
	if (place && place->frame == JITDUMP_FRAME_OUTERMOST)
		return (struct unwind_rule){ .kind = UNWIND_RULE_START };
	if (place && find_place_rule(t, symbol, *place, ip, &rule))
		found = true;
	else if (symbol && hotspot_frames_rule(t->rules, t->arch, symbol, &rule))
		found = true;
	else if (symbol && find_jit_fde(symbol, ip, &fde, &vaddr))
		found = cfi_program_find(t->rules, t->arch, &fde, vaddr, &rule);
	else if (symbol && find_object_fde(table->jit, symbol, ip, &fde))
		found = cfi_program_find(t->rules, t->arch, &fde, ip, &rule);
	if (!found && !find_code_rule(t, symbol, ip, /* frame_len= */ 0, &rule))
		return (struct unwind_rule){ .kind = UNWIND_RULE_NO_TABLE };
	return (struct unwind_rule){ UNWIND_RULE_CFI, cfi_rules_get(t->rules, rule) };
}

/* The C library's start files have no unwind rows for what runs before main() and after it. */
static bool is_without_rows(const struct image *img, uint64_t vaddr)
{
	const char *section = image_section_at(img, vaddr);

	return section && (strcmp(section, ".init") == 0 || strcmp(section, ".fini") == 0);
}

/* What the recorder did not take along may be in the file here. To find nothing takes a look at all of its rows. */
static bool find_in_file(struct unwind_tables *t, struct module *mod, uint64_t vaddr,
			 struct cfi_fde *ret)
{
	struct table *table = table_of(t, mod);

	if (!table->whole_looked_up) {
		struct image *img = module_whole_file(t->modules, mod);

		table->whole_looked_up = true;
		table->whole = img;
		table->whole_cfi = img && image_arch(img) == t->arch ? cfi_section_new(img) : NULL;
	}
	if (!table->whole_cfi || is_without_rows(table->whole, vaddr) ||
	    !cfi_section_find(table->whole_cfi, vaddr, ret))
		return false;
	mod->rows_from_file = true;
	return true;
}

/* Where the function that holds @vaddr begins, by symbol or by who calls it; 0 if that is not known. */
static uint64_t function_start(struct table *table, uint64_t vaddr)
{
	const struct symtab_entry *symbol = symbol_of(table, vaddr);

	if (symbol || !table->image)
		return symbol ? symbol->vaddr : 0;
	if (!table->starts)
		table->starts = code_starts_new(table->image, table->symbols);
	return code_starts_find(table->starts, vaddr);
}

/*
 * What a function without a rule does to the stack, from its first instruction to @vaddr: of C libraries and programs that
 * were built without tables and without frame pointers (musl).
 */
static struct unwind_rule rule_by_code(struct unwind_tables *t, struct module *mod, uint64_t vaddr,
				       enum unwind_rule_kind otherwise)
{
	struct code_rows_function f = { .vaddr = function_start(table_of(t, mod), vaddr) };
	uint32_t rule;

	if (!f.vaddr || !unwind_tables_disasm(t))
		return (struct unwind_rule){ .kind = otherwise };
	f.code = code_and_len(t, mod, f.vaddr, (size_t)(vaddr - f.vaddr) + 1, &f.len);
	if (!f.code || !code_rows_find(t->rules, t->disasm, &f, vaddr, &rule))
		return (struct unwind_rule){ .kind = otherwise };
	return (struct unwind_rule){ UNWIND_RULE_CFI, cfi_rules_get(t->rules, rule) };
}

/*
 * By Go's own table, or its linker's data alignment. LLVM has the same for aarch64: there Go's functions are those with names of the form
 * package.function, which a few in assembler (gcWriteBarrier) have not.
 */
static bool is_go(const struct unwind_tables *t, const struct cfi_fde *fde, const struct symtab_entry *symbol)
{
	if (fde->from_go)
		return true;
	return fde->cie.data_align == CFI_GO_DATA_ALIGN && (t->arch->lr < 0 || (symbol && strchr(symbol->name, '.')));
}

/*
 * The same rule with what is known of the function besides: Go's have rules in .debug_frame or Go's own table. All of Go's that call anything
 * have a frame pointer.
 */
static const struct cfi_rule *add_go_kind(struct unwind_tables *t, struct table *table, const struct cfi_fde *fde, uint64_t vaddr,
					  const struct cfi_rule *rule)
{
	const struct symtab_entry *symbol = symbol_of(table, vaddr);
	enum cfi_go kind = unwind_go_kind(symbol ? symbol->name : NULL);
	bool keeps_fp = is_go(t, fde, symbol);
	size_t len = sizeof(*rule) + rule->nregs * sizeof(rule->regs[0]);
	struct cfi_rule *copy;

	if (kind == CFI_GO_NOTHING && !keeps_fp)
		return rule;
	copy = memory_zeroed(1, len);
	memcpy(copy, rule, len);
	copy->go = kind;
	copy->keeps_fp = keeps_fp;
	copy->usual = false;
	rule = cfi_rules_get(t->rules, cfi_rules_add(t->rules, copy));
	free(copy);
	return rule;
}

static struct unwind_rule compile(struct unwind_tables *t, struct module *mod, uint64_t vaddr)
{
	struct table *table = table_of(t, mod);
	bool found, in_file = false;
	struct cfi_fde fde;
	uint32_t rule;

	if (mod->kind == MODULE_JIT)
		return compile_jit(t, mod, vaddr);
	if (table->without != UNWIND_RULE_NO_TABLE)
		return (struct unwind_rule){ .kind = table->without };
	found = table->cfi && cfi_section_find(table->cfi, vaddr, &fde);
	if ((!found || may_be_trampoline(t, &fde, vaddr)) && near_trampoline(t, mod, vaddr))
		return (struct unwind_rule){ .kind = UNWIND_RULE_SIGFRAME };
	if (!found && table->cfi && (is_entry(t, mod, vaddr) || is_start_routine(t, mod, vaddr)))
		return (struct unwind_rule){ .kind = UNWIND_RULE_START };
	if (!found) /* last, for it sorts all rows of the file */
		found = in_file = find_in_file(t, mod, vaddr, &fde);
	if (!found && !table->cfi)
		return rule_by_code(t, mod, vaddr, table->without);
	if (!found)
		return rule_by_code(t, mod, vaddr, cfi_section_has_holes(table->cfi) ? UNWIND_RULE_BAD : UNWIND_RULE_NONE);
	if (!cfi_program_find(t->rules, t->arch, &fde, vaddr, &rule)) {
		cfi_section_note_malformed(in_file ? table->whole_cfi : table->cfi);
		return rule_by_code(t, mod, vaddr, UNWIND_RULE_BAD);
	}

	const struct cfi_rule *cfi = cfi_rules_get(t->rules, rule);

	if (fde.from_go || fde.from_debug_frame)
		cfi = add_go_kind(t, table, &fde, vaddr, cfi);
	return (struct unwind_rule){ UNWIND_RULE_CFI, cfi };
}

struct unwind_rule unwind_tables_find(struct unwind_tables *t, const struct space_map *map,
				      uint64_t ip)
{
	struct unwind_rule rule = { .kind = UNWIND_RULE_NO_TABLE };
	uint64_t vaddr = unwind_tables_vaddr(t, map, ip), key;

	if (!has_table(map->module) && map->module->kind != MODULE_JIT)
		return rule;
	if (!map->mapped && map->module->kind != MODULE_JIT)
		return (struct unwind_rule){ .kind = table_of(t, map->module)->without };
	if (!unwind_memo_key(map->module->id, vaddr, &key))
		return compile(t, map->module, ip - map->bias);
	if (unwind_memo_get(&t->memo, key, &rule))
		return rule;
	rule = compile(t, map->module, ip - map->bias);
	unwind_memo_put(&t->memo, key, rule);
	return rule;
}

/* ---- the way out ---- */

/* Code of a file is followed in it, by link-time addresses; that of a JIT wherever it leads in the process. */
struct exit_context {
	struct unwind_tables *tables;
	struct space *space;
	struct module *module; /* NULL: a JIT's code */
};

static const uint8_t *jit_code_at(struct unwind_tables *t, struct module *mod, uint64_t ip, size_t *ret_len)
{
	const struct jit_symbol *symbol = jit_symbol_at(t, mod, ip);
	const struct table *table = table_of(t, mod);

	if (symbol && symbol->code) {
		*ret_len = (size_t)(symbol->len - (ip - symbol->start));
		return symbol->code + (ip - symbol->start);
	}
	return table->jit ? jit_map_bytes(table->jit, ip, ret_len) : NULL;
}

static const uint8_t *exit_code(void *context, uint64_t vaddr, size_t *ret_len)
{
	const struct exit_context *c = context;
	const struct space_map *map;

	if (c->module)
		return code_and_len(c->tables, c->module, vaddr, 1, ret_len);
	map = unwind_tables_map(c->tables, c->space, vaddr);
	if (!map)
		return NULL;
	if (map->module->kind == MODULE_JIT)
		return jit_code_at(c->tables, map->module, vaddr, ret_len);
	return map->mapped ? code_and_len(c->tables, map->module, vaddr - map->bias, 1, ret_len) : NULL;
}

/* Of what was not sampled itself the trace has no rule, but the file here may. */
static bool find_entry(struct unwind_tables *t, struct module *mod, uint64_t vaddr, struct cfi_fde *ret)
{
	const struct table *table = table_of(t, mod);

	return table->cfi && (cfi_section_find(table->cfi, vaddr, ret) || find_in_file(t, mod, vaddr, ret));
}

static const struct cfi_rule *table_rule(struct unwind_tables *t, struct module *mod, uint64_t vaddr)
{
	struct cfi_fde fde;
	uint32_t rule;

	if (!find_entry(t, mod, vaddr, &fde) || !cfi_program_find(t->rules, t->arch, &fde, vaddr, &rule))
		return NULL;
	return cfi_rules_get(t->rules, rule);
}

static const struct cfi_rule *exit_rule(void *context, uint64_t vaddr)
{
	const struct exit_context *c = context;
	const struct space_map *map;

	if (c->module)
		return table_rule(c->tables, c->module, vaddr);
	map = unwind_tables_map(c->tables, c->space, vaddr);
	return map && map->mapped && has_table(map->module) ? table_rule(c->tables, map->module, vaddr - map->bias) : NULL;
}

/* The function of a file that holds @target, by its table. */
static void set_function(struct exit_context *context, uint64_t target, struct unwind_exit *ret)
{
	struct unwind_tables *t = context->tables;
	const struct space_map *map = context->module ? NULL : unwind_tables_map(t, context->space, target);
	struct cfi_fde fde;

	if (!map || !find_entry(t, map->module, target - map->bias, &fde))
		return;
	ret->begin = fde.begin + map->bias;
	ret->end = fde.end + map->bias;
}

/* 1 more than the exit's index; 0: there is no way out. */
static uint64_t find_exit(struct unwind_tables *t, struct exit_context *context, uint64_t vaddr)
{
	const struct code_exits_source source = { exit_code, exit_rule, !context->module, context->module && exit_rule(context, vaddr), context };
	struct unwind_exit exit = { 0 };
	struct code_exit found;

	if (!unwind_tables_disasm(t) || !code_exits_find(t->rules, t->disasm, &source, vaddr, &t->exit_steps, &found))
		return 0;
	exit.rule = cfi_rules_get(t->rules, found.rule);
	if (found.target)
		set_function(context, found.target, &exit);
	vec_push(&t->found_exits, exit);
	return t->found_exits.len;
}

const struct unwind_exit *unwind_tables_exit(struct unwind_tables *t, struct space *space, const struct space_map *map, uint64_t ip)
{
	bool jit = map->module->kind == MODULE_JIT, is_new;
	struct exit_context context = { t, space, jit ? NULL : map->module };
	uint64_t vaddr = jit ? ip : ip - map->bias, key;

	if ((!jit && (!has_table(map->module) || !map->mapped)) || !unwind_memo_key(map->module->id, vaddr, &key))
		return NULL;
	uint64_t *number = map_put(&t->exits, key, &is_new);

	if (is_new)
		*number = find_exit(t, &context, vaddr);
	return *number ? &t->found_exits.items[*number - 1] : NULL;
}

struct unwind_origin unwind_tables_origin(struct unwind_tables *t, const struct space_map *map,
					  uint64_t ip)
{
	struct unwind_origin origin = { 0 };
	const struct table *table;
	struct cfi_fde fde;

	if (!map || !map->mapped || !has_table(map->module))
		return origin;
	table = table_of(t, map->module);
	if (!table->image)
		return origin;
	origin.section = image_section_at(table->image, ip - map->bias);
	origin.embedded = module_image_is_embedded(map->module, table->image);
	if (!table->cfi || !cfi_section_find(table->cfi, ip - map->bias, &fde))
		return origin;
	origin.table = fde.from_go ? ".gopclntab" : fde.from_debug_frame ? ".debug_frame" : ".eh_frame";
	origin.begin = fde.begin;
	origin.end = fde.end;
	return origin;
}

bool unwind_tables_code(struct unwind_tables *t, const struct space_map *map, uint64_t ip,
			struct unwind_code *ret)
{
	const struct table *table;
	struct cfi_fde fde;

	if (!map || !map->mapped || !has_table(map->module))
		return false;
	table = table_of(t, map->module);
	if (!table->cfi || !cfi_section_find(table->cfi, ip - map->bias, &fde))
		return false;
	ret->vaddr = fde.begin;
	ret->bytes = code_and_len(t, map->module, fde.begin, 1, &ret->len);
	ret->len = MIN(ret->len, fde.end - fde.begin);
	return ret->bytes;
}

struct disasm *unwind_tables_disasm(struct unwind_tables *t)
{
	if (!t->disasm_opened && t->arch == &arch_x86_64)
		err_free(disasm_open(t->arch, DISASM_INTEL, &t->disasm));
	t->disasm_opened = true;
	return t->disasm;
}

struct cfi_expr unwind_tables_expr(const struct unwind_tables *t, int32_t number)
{
	return cfi_rules_expr(t->rules, (uint32_t)number);
}

uint64_t unwind_tables_misses(const struct unwind_tables *t)
{
	return t->memo.misses;
}
