/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.c - the walk: look up, record the frame, step, until a step fails or says that this was the root.
 */
#include "symbolize/unwind/unwind.h"

#include "formats/base/memory.h"
#include "symbolize/unwind/kernel_entry.h"
#include "symbolize/unwind/unwind_fold.h"
#include "symbolize/unwind/unwind_splice.h"
#include "symbolize/unwind/unwind_trace.h"
#include "symbolize/unwind/unwind_walk.h"

#include <stdlib.h>
#include <string.h>

#define NO_STACK	    4096 /* nothing is below (mmap_min_addr) */

struct unwinder {
	struct module_table *modules;
	struct space_table *spaces;
	const struct arch *arch;
	struct unwind_options options;
	struct unwind_tables *tables;
	struct unwind_splices *splices;
	struct unwind_stats stats;
	struct unwind_frames frames;
	struct unwind_walk *walk; /* over a snapshot, in progress; else NULL */
	size_t period;            /* of the calls that repeat at the end of @frames and are folded; 0: none */
	size_t repeated;          /* frames of another turn so far */
	bool folded;              /* something was left out */
	struct module *gap;       /* NULL, or that of a function without a frame pointer: the kernel's chain leaves out callers of it */
	uint32_t saves_at[UNWIND_FRAMES_MAX];
	struct unwind_save saves[UNWIND_FRAMES_MAX];
};

struct unwinder *unwinder_new(struct module_table *modules, struct space_table *spaces,
			      const struct unwind_options *options)
{
	const struct recording *rec = module_table_recording(modules);
	struct unwinder *u = memory_zeroed(1, sizeof(*u));

	u->modules = modules;
	u->spaces = spaces;
	u->arch = rec && rec->arch ? rec->arch : arch_native();
	if (options)
		u->options = *options;
	u->tables = unwind_tables_new(modules, u->arch);
	if (!u->options.no_splice && !u->options.trace)
		u->splices = unwind_splices_new(u->arch);
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	unwind_tables_free(u->tables);
	unwind_splices_free(u->splices);
	free(u);
}

/* ---- frames ---------------------------------------------------------------------------------------- */

/* Where the instruction is that the frame executes: a return address lies behind its call. */
static uint64_t lookup_ip(uint64_t ip, bool exact)
{
	return exact ? ip : ip - 1;
}

static void fold(struct unwinder *u, const struct unwind_fold *fold)
{
	if (u->walk && u->splices)
		unwind_splices_give_up(u->splices);
	unwind_fold_apply(fold, &u->frames, u->walk);
	u->period = fold->period;
	u->folded = true;
	u->repeated = fold->begun;
}

/* There is no more room: leave out calls that repeat. False if none do. */
static bool make_room(struct unwinder *u)
{
	struct unwind_fold found;

	if (!unwind_fold_find(&u->frames, &found))
		return false;
	fold(u, &found);
	return true;
}

/* Calls that repeat are being folded, and there is one frame more. */
static void fold_on(struct unwinder *u)
{
	struct unwind_fold again;

	if (!unwind_fold_goes_on(&u->frames, u->period))
		u->period = 0;
	else if (++u->repeated == u->period && unwind_fold_again(&u->frames, u->period, &again))
		fold(u, &again);
}

/* Append a frame; false if there is no room. */
static inline bool add_frame(struct unwinder *u, struct unwind_frame frame)
{
	if (u->frames.len == UNWIND_FRAMES_MAX && !make_room(u))
		return false;
	if (u->walk)
		u->saves_at[u->frames.len] = (uint32_t)u->walk->nsaves;
	u->frames.items[u->frames.len++] = frame;
	if (u->period)
		fold_on(u);
	return true;
}

static bool add_kernel_frame(struct unwinder *u, uint64_t ip, bool exact)
{
	uint64_t at = lookup_ip(ip, exact);
	const struct space_map *map = space_table_find_kernel(u->spaces, at);

	return add_frame(u, (struct unwind_frame){
				    .ip = ip,
				    .vaddr = at,
				    .module = map ? map->module : module_table_unknown(u->modules),
				    .how = exact ? UNWIND_LEAF : UNWIND_KERNEL_CHAIN,
				    .kernel = true,
			    });
}

static inline bool add_user_frame(struct unwinder *u, const struct space_map *map, uint64_t ip, bool exact,
			   enum unwind_how how)
{
	uint64_t at = lookup_ip(ip, exact);

	return add_frame(u, (struct unwind_frame){
				    .ip = ip,
				    .vaddr = map ? unwind_tables_vaddr(u->tables, map, at) : at,
				    .module = map ? map->module : module_table_unknown(u->modules),
				    .how = how,
			    });
}

static void add_kernel_part(struct unwinder *u, const struct event_sample *s)
{
	if (!s->nkernel_ips && s->mode == EVENT_MODE_KERNEL)
		add_kernel_frame(u, s->ip, /* exact= */ true);
	for (size_t i = 0; i < s->nkernel_ips; i++)
		add_kernel_frame(u, s->kernel_ips[i], /* exact= */ i == 0);
}

/* ---- the kernel's walk of the user stack ----------------------------------------------------------- */

/*
 * Does a frame begin its stack, although no step says so? A kernel's chain that just ends says nothing: the next function
 * may use the register for something else, as most C libraries do below main(); and musl has no rules at all.
 */
static bool is_start(struct unwinder *u, const struct space_map *map, const struct space_map *callee_map,
		     const struct unwind_frame *callee, uint64_t ip)
{
	struct unwind_rule rule;
	const char *name;

	if (!map)
		return false;
	rule = unwind_tables_find(u->tables, map, ip);
	if (rule.kind == UNWIND_RULE_START ||
	    (rule.kind == UNWIND_RULE_CFI && cfi_rule_is_root(rule.cfi)))
		return true;
	if (unwind_is_start_name(unwind_tables_function_name(u->tables, map, ip)))
		return true;
	/* Who else calls main()? */
	name = callee_map ? unwind_tables_function_name(u->tables, callee_map,
							 callee->vaddr + callee_map->bias) :
			    NULL;
	return name && strcmp(name, "main") == 0;
}

/* Is the newest frame seen to be the root? */
static bool last_is_start(struct unwinder *u, struct space *space)
{
	const struct unwind_frame *last = &u->frames.items[u->frames.len - 1];
	const struct unwind_frame *callee = u->frames.len > 1 ? last - 1 : NULL;
	uint64_t at = lookup_ip(last->ip, last->how == UNWIND_LEAF);
	const struct space_map *callee_map = NULL;

	if (callee && !callee->kernel)
		callee_map = unwind_tables_map(u->tables, space,
					       lookup_ip(callee->ip, callee->how == UNWIND_LEAF));
	return is_start(u, unwind_tables_map(u->tables, space, at), callee_map, callee, at);
}

/* Does a table say how to unwind from @at? */
static bool has_rule(struct unwinder *u, const struct space_map *map, uint64_t at)
{
	struct unwind_rule rule = unwind_tables_find(u->tables, map, at);

	return rule.kind == UNWIND_RULE_CFI && (!rule.cfi->from_code || map->module->kind == MODULE_JIT);
}

/* The end of the kernel's chain: @otherwise, unless the newest frame is seen to be the root. */
static enum stack_stop end_of_kernel_chain(struct unwinder *u, struct space *space, bool at_zero,
					    enum stack_stop otherwise)
{
	const struct unwind_frame *last = &u->frames.items[u->frames.len - 1];
	uint64_t at = lookup_ip(last->ip, last->how == UNWIND_LEAF);
	const struct space_map *map = unwind_tables_map(u->tables, space, at);

	if (u->gap)
		return otherwise;
	if (last_is_start(u, space))
		return STACK_STOP_SPLICED;
	/* By the ABIs, 0 ends a chain of frame pointers; where there are rules, code may have none. */
	if (at_zero && map && !has_rule(u, map, at))
		return STACK_STOP_SPLICED;
	return otherwise;
}

/*
 * Code that an interpreter runs lies in files that are mapped like data: Android's dex files, alone, beside compiled code or in a
 * package. simpleperf puts addresses in them into its chains.
 */
static bool holds_bytecode(const struct space_map *map)
{
	static const char *const ends[] = { ".dex", ".vdex", ".odex", ".oat", ".apk", ".jar" };
	const char *path = map->module->path;
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strcmp(path + len - end, ends[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Did the function at @at, whatever it stopped for, make the frame pointer lead to its own frame? Else the kernel went on by what the register held
 * before: that of some caller's frame, and leaves out those between; that is what a program without frame pointers does in a C library that has them.
 */
static bool keeps_frame_pointer(struct unwinder *u, const struct space_map *map, uint64_t at)
{
	struct unwind_rule rule = { .kind = UNWIND_RULE_NO_TABLE };

	if (map)
		rule = unwind_tables_find(u->tables, map, at);
	return rule.kind != UNWIND_RULE_CFI || cfi_rule_is_root(rule.cfi) || cfi_rule_follows_fp(rule.cfi, u->arch->fp, u->arch->lr >= 0);
}

/*
 * Append @s->user_ips from @first on, up to 0, where a walk ends, or to what is no code: the kernel follows
 * whatever is in the frame pointer. Of a walk that has come here by better means, what lies behind a gap is no part.
 */
static enum stack_stop add_kernel_chain(struct unwinder *u, struct space *space,
					 const struct event_sample *s, size_t first,
					 enum stack_stop otherwise)
{
	for (size_t i = first; i < s->nuser_ips; i++) {
		bool exact = i == 0;
		uint64_t ip = s->user_ips[i];
		uint64_t at = lookup_ip(ip, exact);
		const struct space_map *map = unwind_tables_map(u->tables, space, at);

		if (!exact && (!ip || !map || (!map->exec && !holds_bytecode(map))))
			return end_of_kernel_chain(u, space, i > 1 && !ip, otherwise);
		if (!add_user_frame(u, map, ip, exact, exact ? UNWIND_LEAF : UNWIND_KERNEL_CHAIN))
			return STACK_STOP_TOO_DEEP;
		if (!u->gap && !keeps_frame_pointer(u, map, at) && !last_is_start(u, space))
			u->gap = map->module;
		if (u->gap && first)
			return otherwise;
	}
	return end_of_kernel_chain(u, space, /* at_zero= */ false, otherwise);
}

/* The snapshot does not hold the next return address: go on with the kernel's chain if that is sound. */
static enum stack_stop continue_by_kernel(struct unwinder *u, struct unwind_walk *w,
					   const struct event_sample *s, enum stack_stop otherwise)
{
	size_t position = unwind_kernel_chain_at(w, s, w->stack.missing);

	return position ? add_kernel_chain(u, w->space, s, position, otherwise) : otherwise;
}

/* The kernel's chain from @position on, which is on another stack; 0: it has nothing there. */
static enum stack_stop switch_stacks(struct unwinder *u, struct unwind_walk *w, const struct event_sample *s,
				      size_t position, enum stack_stop otherwise)
{
	enum stack_stop stop = position ? add_kernel_chain(u, w->space, s, position, otherwise) : otherwise;

	return stop == STACK_STOP_SPLICED ? STACK_STOP_SWITCHED : stop;
}

/* The walk ended although the kernel's goes on: a function that switches stacks (Go's runtime.systemstack). */
static enum stack_stop continue_on_other_stack(struct unwinder *u, struct unwind_walk *w,
						const struct event_sample *s)
{
	size_t position = unwind_kernel_chain_leaves(w, s, u->frames.items[u->frames.len - 1].ip);

	return switch_stacks(u, w, s, position, STACK_STOP_NO_MAPPING);
}

/*
 * A function of Go's has called something on the thread's own stack, and the goroutine's is not there. The frame pointer still is the
 * goroutine's, which Go's unwinder follows too; the kernel has done so if C functions left that register alone.
 */
static enum stack_stop continue_on_goroutine(struct unwinder *u, struct unwind_walk *w,
					      const struct event_sample *s)
{
	size_t position = unwind_kernel_chain_outside(w, s);

	if (!position)
		position = unwind_kernel_chain_leaves(w, s, u->frames.items[u->frames.len - 1].ip);

	return switch_stacks(u, w, s, position, STACK_STOP_OTHER_STACK);
}

/* Does the frame begin where nothing was captured, and nothing of the same stack could follow? */
static bool is_on_other_stack(const struct unwind_walk *w)
{
	const struct event_stack *snapshot = w->stack.snapshot;
	uint64_t sp = w->state.regs[w->arch->sp];

	return sp < snapshot->base || sp > event_stack_reach(snapshot);
}

/*
 * The return address is at no address of the snapshot. Where the frame begins in it, and would end above it, the frame is larger than
 * what was captured, or has an untouched page in it, at which the kernel's copy ends. What may be more of this stack is
 * what pruning keeps pointers to (record/sample/prune.c).
 */
static enum stack_stop stop_outside(const struct unwind_walk *w)
{
	const struct event_stack *snapshot = w->stack.snapshot;
	uint64_t missing = w->stack.missing;

	/* A rule took the end of the frame from a word that pruning has dropped: it leads to no stack that is in the trace. */
	if (is_on_other_stack(w) || missing < NO_STACK)
		return STACK_STOP_OTHER_STACK;
	if (missing >= snapshot->end && missing - snapshot->end < EVENT_STACK_BEYOND &&
	    missing < space_next_code(w->space, snapshot->end))
		return STACK_STOP_SNAPSHOT_ENDED;
	return STACK_STOP_UNREADABLE;
}

/* The frame was found by a frame pointer, and its own, which its rule asks for, is not on this stack: pruning has dropped it. */
static bool has_lost_frame(const struct unwinder *u, const struct unwind_walk *w)
{
	enum unwind_how how = u->frames.items[u->frames.len - 1].how;
	bool by_fp = how == UNWIND_FP || how == UNWIND_FP_UNCHECKED;

	return by_fp && w->reads & w->fp && unwind_knows(&w->state, w->arch->fp) && w->state.regs[w->arch->fp] <= 1;
}

/* ---- our walk -------------------------------------------------------------------------------------- */

/*
 * A return address of 0 ends a stack whose start routine says nothing about it (coroutines, Go, musl), if nothing
 * that was called from elsewhere lies above. It might also have been a word without meaning, which pruning made 0, and in
 * the code of a JIT often is.
 */
static bool is_root_at_zero(struct unwind_walk *w, const struct unwind_frame *callee,
			    enum unwind_how how)
{
	bool no_fp = unwind_knows(&w->state, w->arch->fp) && !w->state.regs[w->arch->fp];

	if (w->state.regs[w->arch->ip] || !unwind_is_bottom(w))
		return false;
	return how == UNWIND_CFI || (no_fp && callee->module->kind != MODULE_JIT);
}

/* The caller's address lies in no code: is the newest frame the root, does the stack go on elsewhere, or what is wrong? */
static enum stack_stop end_of_code(struct unwinder *u, struct unwind_walk *w,
				    const struct event_sample *s, enum unwind_how how)
{
	if (is_root_at_zero(w, &u->frames.items[u->frames.len - 1], how) || last_is_start(u, w->space))
		return STACK_STOP_ROOT;
	return continue_on_other_stack(u, w, s);
}

/* The newest frame is that of what it interprets, where the recorder knows that. */
static void show_bytecode(struct unwinder *u, struct unwind_walk *w, const struct space_map *map)
{
	struct unwind_frame *frame = &u->frames.items[u->frames.len - 1];

	if (map->module->kind != MODULE_JIT)
		map = space_find_jit(w->space);
	if (!unwind_tables_knows(w->tables, map, w->bytecode))
		return;
	frame->vaddr = unwind_tables_vaddr(w->tables, map, w->bytecode);
	frame->module = map->module;
}

/* A step, and what became of it into the trace if there is one. */
static enum unwind_outcome traced_step(struct unwinder *u, struct unwind_walk *w,
				       struct unwind_place *place, enum unwind_how *ret_how,
				       enum stack_stop *ret_stop)
{
	enum unwind_outcome outcome;

	uint64_t fp = w->state.regs[w->arch->fp];

	if (w->trace)
		unwind_trace_step(w->trace, w, u->frames.len - 1);
	outcome = unwind_step_out(w, place, ret_how, ret_stop);
	/* A handler that has returned to the interpreter's frame has none of its own: the next one is that frame. */
	if (w->bytecode && (outcome != UNWIND_STEPPED || w->state.regs[w->arch->fp] != fp || !unwind_knows(&w->state, w->arch->fp)))
		show_bytecode(u, w, place->map);
	if (w->trace)
		unwind_trace_outcome(w->trace, outcome, *ret_how);
	return outcome;
}

/* The rule at @place if it is a usual one; else NULL. */
static inline const struct cfi_rule *usual_rule(struct unwind_walk *w, struct unwind_place *place)
{
	struct unwind_rule rule = { .kind = UNWIND_RULE_NO_TABLE };

	if (place->map)
		rule = unwind_tables_rule(w->tables, place);
	return rule.kind == UNWIND_RULE_CFI && rule.cfi->usual ? rule.cfi : NULL;
}

/* By far the most steps are from behind a call by a @usual rule on the only stack: these need nothing else. */
static inline enum unwind_outcome next_step(struct unwinder *u, struct unwind_walk *w, struct unwind_place *place,
					    const struct cfi_rule *usual, enum unwind_how *ret_how, enum stack_stop *ret_stop)
{
	enum unwind_outcome outcome;

	unwind_stack_watch(&w->stack);
	w->bytecode = 0;
	if (!usual || w->state.exact || w->stack.other || w->trace)
		return traced_step(u, w, place, ret_how, ret_stop);
	*ret_stop = STACK_STOP_BAD_TABLE;
	*ret_how = UNWIND_CFI;
	outcome = unwind_step(w, usual);
	return outcome == UNWIND_ELSEWHERE ? unwind_step_past(w, usual, ret_how) : outcome;
}

static inline struct unwind_place *place_of(struct unwind_walk *w, uint64_t at)
{
	struct unwind_place *place = unwind_place_find(w->places, w->generation, at);

	return place ? place : unwind_tables_fill(w->tables, w->space, at);
}

/* Does an entry of the file's table begin at @ip, of a start routine whose symbol the trace may lack? */
static bool begins_entry(struct unwind_walk *w, struct unwind_place *place, uint64_t ip)
{
	struct unwind_origin origin;

	if (place->map->module->kind != MODULE_FILE || unwind_tables_rule(w->tables, place).kind != UNWIND_RULE_START)
		return false;
	origin = unwind_tables_origin(w->tables, place->map, ip);
	return origin.table && origin.begin == unwind_tables_vaddr(w->tables, place->map, ip);
}

static bool is_of_trampoline(struct unwind_rule rule)
{
	return rule.kind == UNWIND_RULE_CFI ? rule.cfi->signal_frame : rule.kind == UNWIND_RULE_SIGFRAME;
}

static bool is_trampoline(struct unwind_walk *w, struct unwind_place *place)
{
	return place->map && is_of_trampoline(unwind_tables_rule(w->tables, place));
}

/* The same for one whose symbol the trace may lack: nothing was called where the handler returns to. */
static bool begins_trampoline(struct unwind_walk *w, const struct space_map *map, uint64_t ip)
{
	return is_of_trampoline(unwind_tables_find(w->tables, map, ip)) && unwind_check_return(w, ip) != UNWIND_CALL_YES;
}

/*
 * The newest frame's address was put in the place of a return address: that of a signal trampoline, or of a start routine. Then it is that of
 * the instruction itself, for the byte before belongs to no function, or to another one.
 */
static void look_up_as_entered(struct unwinder *u, struct unwind_walk *w, struct unwind_place *place)
{
	struct unwind_frame *frame = &u->frames.items[u->frames.len - 1];
	const struct space_map *map = place->map;

	if (frame->how == UNWIND_LEAF || !map)
		return;
	if (unwind_tables_function(w->tables, map, frame->ip) == frame->ip || begins_entry(w, place, frame->ip) ||
	    begins_trampoline(w, map, frame->ip))
		frame->vaddr = unwind_tables_vaddr(w->tables, map, frame->ip);
}

/* The caller's frame lies on the other stack: below a signal handler with a stack of its own. */
static void follow_stack(struct unwind_walk *w)
{
	uint64_t sp = w->state.regs[w->arch->sp];

	if (unwind_stack_holds(w->stack.other, sp) && !unwind_stack_holds(w->stack.snapshot, sp))
		unwind_stack_switch(&w->stack);
}

/* A system call leaves the address of the next instruction in rcx (AMD64 Architecture Programmer's Manual, SYSCALL). */
static bool is_behind_system_call(const struct unwind_walk *w)
{
	return w->arch == &arch_x86_64 && unwind_knows(&w->state, 2) && w->state.regs[2] == w->state.regs[w->arch->ip];
}

/* In the child, clone() and clone3() return on a stack that nothing has been called on, in code without a rule. */
static bool is_new_thread(const struct unwinder *u, struct unwind_walk *w, const struct event_sample *s)
{
	return (kernel_entry_is_first_exit(module_table_recording(u->modules), s) || is_behind_system_call(w)) && unwind_is_bottom(w);
}

/*
 * Is the newest frame, which has no rule, one that whoever made this stack has put there, as the one that its first function would return to
 * (boost.context's make_fcontext)? Only a table, or the code, is believed to lead to it.
 */
static bool is_put_in_place(const struct unwinder *u, struct unwind_walk *w)
{
	const struct unwind_frame *frame = &u->frames.items[u->frames.len - 1];

	return !w->state.exact && (frame->how == UNWIND_CFI || frame->how == UNWIND_CODE) && frame->module->kind == MODULE_FILE &&
	       unwind_was_put(w);
}

static enum stack_stop walk_user(struct unwinder *u, struct unwind_walk *w,
				  const struct event_sample *s)
{
	enum unwind_how how = UNWIND_LEAF;
	enum stack_stop stop = STACK_STOP_ROOT;

	for (size_t steps = 0; steps < UNWIND_STEPS_MAX; steps++) {
		uint64_t ip = w->state.regs[w->arch->ip];
		struct unwind_place *place = place_of(w, lookup_ip(ip, w->state.exact));
		const struct space_map *map = place->map;

		/* Where a signal interrupted, it was a call or a jump that led out of the code, to address 0 for example. */
		if (!w->state.exact && (!map || !map->exec)) {
			return end_of_code(u, w, s, how);
		}
		if (u->splices && unwind_splices_match(u->splices, w, how, &u->frames, &stop))
			return stop;
		if (!add_user_frame(u, map, ip, w->state.exact, how))
			return STACK_STOP_TOO_DEEP;

		const struct cfi_rule *usual = usual_rule(w, place);

		if (!usual && is_trampoline(w, place))
			look_up_as_entered(u, w, place);
		if (u->splices)
			unwind_splices_frame(u->splices, w);

		const struct event_stack *stack = w->stack.snapshot;

		w->steps = steps;
		w->kept = false;
		switch (next_step(u, w, place, usual, &how, &stop)) {
		case UNWIND_STEPPED:
			follow_stack(w);
			if (u->splices && (w->stack.snapshot != stack || w->kept))
				unwind_splices_give_up(u->splices);
			break;
		case UNWIND_IS_ROOT:
			look_up_as_entered(u, w, place);
			return STACK_STOP_ROOT;
		case UNWIND_BEYOND:
			return continue_by_kernel(u, w, s, STACK_STOP_SNAPSHOT_ENDED);
		case UNWIND_ELSEWHERE:
			if (w->stack.failed)
				return continue_by_kernel(u, w, s, stop_outside(w));
			return has_lost_frame(u, w) ? STACK_STOP_OTHER_STACK : STACK_STOP_UNREADABLE;
		case UNWIND_SWITCHES:
			return continue_on_goroutine(u, w, s);
		case UNWIND_BAD:
			return STACK_STOP_BAD_TABLE;
		case UNWIND_NO_WAY:
			if (steps ? last_is_start(u, w->space) || (stop == STACK_STOP_NO_TABLE && is_put_in_place(u, w)) :
				    is_new_thread(u, w, s))
				return STACK_STOP_ROOT;
			return stop != STACK_STOP_32_BIT && is_on_other_stack(w) ? STACK_STOP_OTHER_STACK : stop;
		}
	}
	return STACK_STOP_TOO_DEEP;
}

static void init_state(struct unwind_state *state, const struct arch *arch,
		       const struct event_regs *regs)
{
	memcpy(state->regs, regs->values, arch->nregs * sizeof(state->regs[0]));
	state->known = regs->mask & ((1ULL << arch->nregs) - 1);
	state->saved = 0;
	state->exact = true;
}

static enum stack_stop walk_snapshot(struct unwinder *u, const struct event *ev,
				      struct space *space)
{
	const struct recording *rec = module_table_recording(u->modules);
	const struct event_sample *s = &ev->sample;
	struct unwind_walk w;
	enum stack_stop stop;

	unwind_walk_init(&w, u->arch, u->tables, space, u->saves, u->saves_at);
	w.code_mask = arch_code_mask(u->arch, rec ? rec->code_mask : 0, space_end(space));
	unwind_stack_init(&w.stack, &s->stack);
	w.stack.other = s->other;
	w.trace = u->options.trace;
	w.stack.reads = w.trace ? &w.trace->reads : NULL;
	init_state(&w.state, u->arch, s->regs);
	if (u->splices)
		unwind_splices_begin(u->splices, &w, &u->frames, ev);
	u->walk = &w;
	stop = walk_user(u, &w, s);
	u->walk = NULL;
	if (w.skipped && stack_stop_is_complete(stop))
		stop = STACK_STOP_SKIPPED;
	if (u->splices)
		unwind_splices_end(u->splices, &w, &u->frames, stop);
	return stop;
}

/* ---- the whole chain ------------------------------------------------------------------------------- */

static bool has_regs(const struct unwinder *u, const struct event_sample *s)
{
	return s->regs && s->regs->mask >> u->arch->ip & 1 && s->regs->mask >> u->arch->sp & 1;
}

/* Of a frame of an interpreter the chain has what it interprets, which lies in no code. */
static const struct space_map *map_of_earlier(struct unwinder *u, struct space *space, uint64_t at)
{
	const struct space_map *map = unwind_tables_map(u->tables, space, at);

	if (map)
		return map;
	map = space_find_jit(space);
	return unwind_tables_knows(u->tables, map, at) ? map : NULL;
}

/* A chain that was unwound before its stack was taken out: as it is, and a mark behind its root. */
static enum stack_stop add_earlier_chain(struct unwinder *u, struct space *space,
					  const struct event_sample *s)
{
	for (size_t i = 0; i < s->nuser_ips; i++) {
		uint64_t ip = s->user_ips[i];

		if (ip <= RECORDING_ROOT_SKIPPED && i + 1 == s->nuser_ips)
			return ip == RECORDING_ROOT_SKIPPED ? STACK_STOP_SKIPPED : STACK_STOP_ROOT;
		if (!add_user_frame(u, map_of_earlier(u, space, lookup_ip(ip, !i)), ip,
				    /* exact= */ !i, i ? UNWIND_EARLIER : UNWIND_LEAF))
			return STACK_STOP_TOO_DEEP;
	}
	return s->nuser_ips ? STACK_STOP_EARLIER : STACK_STOP_NOT_WALKED;
}

/* Why the kernel's chain is all there is, if it does not reach the root: a snapshot was asked for, but the kernel took none. */
static enum stack_stop stop_of_kernel_chain(const struct recording *rec)
{
	return rec && rec->chain == RECORDING_CHAIN_DWARF ? STACK_STOP_NO_STACK : STACK_STOP_NO_FRAME_POINTER;
}

static enum stack_stop add_user_part(struct unwinder *u, const struct event *ev)
{
	const struct event_sample *s = &ev->sample;
	const struct recording *rec = module_table_recording(u->modules);
	struct space *space = space_table_get(u->spaces, ev->pid);
	uint64_t ip;

	unwind_tables_begin(u->tables, space, ev->time_ns);
	if (kernel_entry_has_stale_user(rec, s))
		return STACK_STOP_ENTERING;
	if (rec && rec->chain == RECORDING_CHAIN_UNWOUND)
		return add_earlier_chain(u, space, s);
	if (has_regs(u, s) && s->stack.end > s->stack.base)
		return walk_snapshot(u, ev, space);
	if (s->nuser_ips > (rec && rec->chain == RECORDING_CHAIN_FP ? 0 : 1))
		return add_kernel_chain(u, space, s, 0, stop_of_kernel_chain(rec));
	if (has_regs(u, s))
		ip = s->regs->values[u->arch->ip];
	else if (s->nuser_ips)
		ip = s->user_ips[0];
	else if (s->mode == EVENT_MODE_USER)
		ip = s->ip;
	else
		return STACK_STOP_NOT_WALKED;
	if (!add_user_frame(u, unwind_tables_map(u->tables, space, ip), ip, /* exact= */ true,
			    UNWIND_LEAF))
		return STACK_STOP_TOO_DEEP;
	return rec && rec->chain == RECORDING_CHAIN_NONE ? STACK_STOP_NOT_WALKED : STACK_STOP_NO_STACK;
}

/* Of a virtual machine's guest only the address is known, in an address space that is not the thread's. */
static bool is_of_guest(const struct event_sample *s)
{
	return s->mode == EVENT_MODE_GUEST_KERNEL || s->mode == EVENT_MODE_GUEST_USER;
}

static enum stack_stop add_guest(struct unwinder *u, const struct event_sample *s)
{
	add_frame(u, (struct unwind_frame){
			     .ip = s->ip,
			     .vaddr = s->ip,
			     .module = module_table_guest(u->modules, s->mode),
			     .how = UNWIND_LEAF,
		     });
	return STACK_STOP_NOT_WALKED;
}

static struct module *module_of_stop(const struct unwinder *u, enum stack_stop stop)
{
	if (stack_stop_is_complete(stop) || !u->frames.len)
		return NULL;
	return u->gap ? u->gap : u->frames.items[u->frames.len - 1].module;
}

void unwinder_walk(struct unwinder *u, const struct event *ev, struct unwind_chain *ret)
{
	enum stack_stop stop;

	u->frames.len = u->period = 0;
	u->folded = false;
	u->gap = NULL;
	if (u->options.trace)
		unwind_trace_begin(u->options.trace);
	if (is_of_guest(&ev->sample)) {
		stop = add_guest(u, &ev->sample);
	} else {
		add_kernel_part(u, &ev->sample);
		stop = add_user_part(u, ev);
	}
	u->stats.stacks++;
	u->stats.frames += u->frames.len;
	u->stats.stops[stop]++;
	*ret = (struct unwind_chain){
		.frames = u->frames.items,
		.nframes = u->frames.len,
		.stop = stop,
		.stop_module = module_of_stop(u, stop),
		.folded = u->folded,
	};
}

struct cfi_expr unwinder_expr(const struct unwinder *u, int32_t number)
{
	return unwind_tables_expr(u->tables, number);
}

const struct unwind_stats *unwinder_stats(const struct unwinder *u)
{
	struct unwind_stats *stats = (struct unwind_stats *)(uintptr_t)&u->stats;

	stats->memo_misses = unwind_tables_misses(u->tables);
	stats->spliced_frames = unwind_splices_frames(u->splices);
	return stats;
}
