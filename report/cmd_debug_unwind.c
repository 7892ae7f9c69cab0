/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_debug_unwind.c - one stack and how it was walked: by default the first that does not reach its root.
 *
 * Samples are numbered from 1 in time order, whatever filters say, so that a number means the same sample always.
 */
#include "formats/base/reader.h"
#include "formats/base/text.h"
#include "report/commands.h"
#include "report/load/remedies.h"
#include "report/load/session.h"
#include "report/rewrite/sample_extract.h"
#include "symbolize/unwind/unwind.h"
#include "symbolize/unwind/unwind_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one walk of a stack in words, frame by frame ---- */

/* . */

struct walk_text {
	struct session *s;
	const struct unwinder *unwinder; /* that filled @trace */
	const struct unwind_trace *trace;
	const struct unwind_chain *chain;
	const struct walked_event *event; /* its stack names the frames */
};

/* ---- a rule of an unwind table: "CFA = rsp + 24; rip at CFA - 8; rbp at CFA - 16" ---- */

enum operand {
	NONE,
	U8,
	S8,
	U16,
	S16,
	U32,
	S32,
	U64,
	ULEB,
	SLEB,
};

static const struct {
	const char *name;
	enum operand operand;
} operators[256] = {
	[0x03] = { "addr", U64 },    [0x06] = { "deref", NONE }, [0x08] = { "const1u", U8 },
	[0x09] = { "const1s", S8 },  [0x0a] = { "const2u", U16 }, [0x0b] = { "const2s", S16 },
	[0x0c] = { "const4u", U32 }, [0x0d] = { "const4s", S32 }, [0x0e] = { "const8u", U64 },
	[0x0f] = { "const8s", U64 }, [0x10] = { "constu", ULEB }, [0x11] = { "consts", SLEB },
	[0x12] = { "dup", NONE },    [0x13] = { "drop", NONE },	 [0x14] = { "over", NONE },
	[0x15] = { "pick", U8 },     [0x16] = { "swap", NONE },	 [0x17] = { "rot", NONE },
	[0x19] = { "abs", NONE },    [0x1a] = { "and", NONE },	 [0x1b] = { "div", NONE },
	[0x1c] = { "minus", NONE },  [0x1d] = { "mod", NONE },	 [0x1e] = { "mul", NONE },
	[0x1f] = { "neg", NONE },    [0x20] = { "not", NONE },	 [0x21] = { "or", NONE },
	[0x22] = { "plus", NONE },   [0x23] = { "plus_uconst", ULEB },
	[0x24] = { "shl", NONE },    [0x25] = { "shr", NONE },	 [0x26] = { "shra", NONE },
	[0x27] = { "xor", NONE },    [0x28] = { "bra", S16 },	 [0x29] = { "eq", NONE },
	[0x2a] = { "ge", NONE },     [0x2b] = { "gt", NONE },	 [0x2c] = { "le", NONE },
	[0x2d] = { "lt", NONE },     [0x2e] = { "ne", NONE },	 [0x2f] = { "skip", S16 },
	[0x94] = { "deref_size", U8 }, [0x96] = { "nop", NONE },
};

#define OP_LIT0	 0x30
#define OP_BREG0 0x70
#define OP_BREGX 0x92
#define NUMBERED 32 /* of each of the two */

/* "rbp", or "r77" for a number that @arch has no register for. */
static void rule_text_put_reg(FILE *out, const struct arch *arch, unsigned reg)
{
	if (reg < arch->nregs)
		fputs(arch->reg_names[reg], out);
	else
		fprintf(out, "r%u", reg);
}

static void put_operand(FILE *out, struct reader *r, enum operand operand)
{
	switch (operand) {
	case NONE:
		break;
	case U8:
		fprintf(out, " %u", reader_u8(r, "operand"));
		break;
	case S8:
		fprintf(out, " %d", (int8_t)reader_u8(r, "operand"));
		break;
	case U16:
		fprintf(out, " %u", reader_u16(r, "operand"));
		break;
	case S16:
		fprintf(out, " %d", (int16_t)reader_u16(r, "operand"));
		break;
	case U32:
		fprintf(out, " %" PRIu32, reader_u32(r, "operand"));
		break;
	case S32:
		fprintf(out, " %" PRId32, (int32_t)reader_u32(r, "operand"));
		break;
	case U64:
		fprintf(out, " %#" PRIx64, reader_u64(r, "operand"));
		break;
	case ULEB:
		fprintf(out, " %" PRIu64, reader_uleb(r, "operand"));
		break;
	case SLEB:
		fprintf(out, " %" PRId64, reader_sleb(r, "operand"));
		break;
	}
}

static void put_operator(FILE *out, const struct arch *arch, struct reader *r)
{
	unsigned op = reader_u8(r, "operator");
	uint64_t reg = op - OP_BREG0;

	if (op - OP_LIT0 < NUMBERED) {
		fprintf(out, "lit%u", op - OP_LIT0);
	} else if (op - OP_BREG0 < NUMBERED || op == OP_BREGX) {
		if (op == OP_BREGX)
			reg = reader_uleb(r, "register");
		rule_text_put_reg(out, arch, reg < UINT16_MAX ? (unsigned)reg : UINT16_MAX);
		fprintf(out, "%+" PRId64, reader_sleb(r, "offset"));
	} else if (operators[op].name) {
		fputs(operators[op].name, out);
		put_operand(out, r, operators[op].operand);
	} else {
		fprintf(out, "operator %#x", op);
	}
}

static void put_expression(FILE *out, const struct unwinder *u, const struct arch *arch,
			   int32_t number)
{
	struct cfi_expr expr = unwinder_expr(u, number);
	struct reader r;

	reader_init(&r, expr.bytes, expr.len, /* big_endian= */ false);
	fputc('(', out);
	for (const char *between = ""; reader_left(&r) && !r.failed; between = ", ") {
		fputs(between, out);
		put_operator(out, arch, &r);
	}
	fputc(')', out);
}

static void put_sum(FILE *out, int32_t offset)
{
	if (offset)
		fprintf(out, " %c %" PRId64, offset < 0 ? '-' : '+',
			offset < 0 ? -(int64_t)offset : (int64_t)offset);
}

static void put_where(FILE *out, const struct unwinder *u, const struct arch *arch,
		      const struct cfi_reg *reg)
{
	switch ((enum cfi_reg_kind)reg->kind) {
	case CFI_REG_UNDEFINED:
		fputs(" undefined", out);
		break;
	case CFI_REG_OFFSET:
		fputs(" at CFA", out);
		put_sum(out, reg->value);
		break;
	case CFI_REG_POPPED:
		fputs(" popped from CFA", out);
		put_sum(out, reg->value);
		break;
	case CFI_REG_VAL_OFFSET:
		fputs(" = CFA", out);
		put_sum(out, reg->value);
		break;
	case CFI_REG_REGISTER:
		fputs(" in ", out);
		rule_text_put_reg(out, arch, (unsigned)reg->value);
		break;
	case CFI_REG_EXPR:
		fputs(" at ", out);
		put_expression(out, u, arch, reg->value);
		break;
	case CFI_REG_VAL_EXPR:
		fputs(" = ", out);
		put_expression(out, u, arch, reg->value);
		break;
	}
}

/* @rule is one of those that @u uses. Expressions are printed as in DWARF, operator by operator. */
static void rule_text_put(FILE *out, const struct unwinder *u, const struct arch *arch, const struct cfi_rule *rule)
{
	fputs("CFA = ", out);
	if (rule->cfa_is_expr) {
		put_expression(out, u, arch, rule->cfa_value);
	} else {
		rule_text_put_reg(out, arch, rule->cfa_reg);
		put_sum(out, rule->cfa_value);
	}
	for (size_t i = 0; i < rule->nregs; i++) {
		fputs("; ", out);
		rule_text_put_reg(out, arch, rule->regs[i].reg);
		if (rule->regs[i].reg == rule->return_reg)
			fputs(" (return address)", out);
		put_where(out, u, arch, &rule->regs[i]);
	}
	fputs(rule->signal_frame ? "; signal frame" : "", out);
	fputs(rule->ra_signed ? "; return address signed" : "", out);
}

#define ADDRESS "0x%016" PRIx64

static const struct arch *arch_of(const struct walk_text *walk)
{
	return walk->s->recording->arch;
}

static struct space *space_of(const struct walk_text *walk)
{
	return space_table_get(walk->s->binaries.spaces, walk->event->ev->pid);
}

/* ---- the sample ------------------------------------------------------------------------------------ */

static void put_sample(FILE *out, const struct walk_text *walk)
{
	const struct event *ev = walk->event->ev;
	const struct event_stack *stack = &ev->sample.stack;

	fprintf(out, "Sample %" PRIu64 ": ", walk->s->stream.samples);
	text_put_escaped(out, walk->event->thread->comm);
	fprintf(out, " %" PRId32 "/%" PRId32 "\n", (int32_t)ev->pid, (int32_t)ev->tid);
	if (stack->end > stack->base)
		fprintf(out,
			"Snapshot: " ADDRESS " to " ADDRESS ", %" PRIu64 " bytes, %zu words kept%s%s\n",
			stack->base, stack->end, stack->end - stack->base, stack->nwords,
			stack->cut ? ", cut by its size" : "",
			stack->shortened ? ", shortened by the recorder" : "");
	else
		fputs("Snapshot: none\n", out);
	if (ev->sample.other)
		fprintf(out, "The stack before: " ADDRESS " to " ADDRESS ", %" PRIu64 " bytes, %zu words kept%s\n",
			ev->sample.other->base, ev->sample.other->end, ev->sample.other->end - ev->sample.other->base,
			ev->sample.other->nwords, ev->sample.other->cut ? ", cut by its size" : "");
	fprintf(out, "Kernel's own walk: %zu user addresses\n", ev->sample.nuser_ips);
}

/* ---- a frame --------------------------------------------------------------------------------------- */

static void put_names(FILE *out, const struct walk_text *walk, uint32_t stack)
{
	const struct profile *p = walk->s->profile;
	const struct profile_location *location;
	uint32_t number = p->stacks.items[stack].location;

	loader_name(walk->s->loader, number);
	location = &p->locations.items[number];
	fputs("  function   ", out);
	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct profile_line *line = &p->lines.items[location->first_line + i];

		fputs(i ? ", inlined into " : "", out);
		text_put_escaped(out, profile_text(p, p->functions.items[line->function].name));
	}
	fputc('\n', out);
}

/* Is the byte before the return address looked up? Files are loaded at whole pages. */
static bool is_in_call(const struct unwind_frame *f)
{
	return f->how != UNWIND_LEAF && (f->ip - code_place_address(f->vaddr)) % 4096 == 1;
}

static void put_head(FILE *out, const struct walk_text *walk, size_t number, uint32_t stack)
{
	const struct unwind_frame *f = &walk->chain->frames[number];

	fprintf(out, "\n#%zu " ADDRESS " in ", number, f->ip);
	text_put_escaped(out, f->module->path);
	if (f->module->kind == MODULE_FILE || f->module->kind == MODULE_VDSO) /* has link-time addresses */
		fprintf(out, " + %#" PRIx64, f->vaddr);
	fputs(is_in_call(f) ? ", in the call\n" : "\n", out);
	put_names(out, walk, stack);
	fprintf(out, "  found by   %s%s\n", unwind_how_name(f->how),
		f->kernel ? ", in the kernel" : "");
}

static const char *kind_text(enum unwind_rule_kind kind)
{
	static const char *const texts[UNWIND_RULE_KINDS] = {
		[UNWIND_RULE_CFI] = "",
		[UNWIND_RULE_SIGFRAME] =
			"a signal trampoline, known by its code: registers are in the kernel's signal frame",
		[UNWIND_RULE_ERLANG] = "the next return address on the stack of the Erlang process",
		[UNWIND_RULE_START] = "none; a start routine, which has no caller",
		[UNWIND_RULE_NONE] = "the file's table has nothing for this address",
		[UNWIND_RULE_NO_TABLE] = "there is none for this code",
		[UNWIND_RULE_BAD] = "malformed for this address",
		[UNWIND_RULE_32_BIT] = "the file is of a 32-bit program",
		[UNWIND_RULE_NO_FILE] = "the file is not there, or has another build ID",
	};

	return texts[kind];
}

static void put_table(FILE *out, const struct walk_text *walk, const struct unwind_trace_step *step)
{
	const struct unwind_origin *origin = &step->origin;

	fputs("  table      ", out);
	if (origin->table)
		fprintf(out, "%s%s, %#" PRIx64 " to %#" PRIx64, origin->table,
			origin->embedded ? " embedded in the trace" : " of the file", origin->begin,
			origin->end);
	if (origin->section) {
		fputs(origin->table ? ", in " : "in ", out);
		text_put_escaped(out, origin->section);
	}
	if (step->rule.kind != UNWIND_RULE_CFI)
		fprintf(out, "%s%s", origin->table || origin->section ? ": " : "",
			kind_text(step->rule.kind));
	fputc('\n', out);
	if (step->rule.kind != UNWIND_RULE_CFI)
		return;
	fputs("  rule       ", out);
	rule_text_put(out, walk->unwinder, arch_of(walk), step->rule.cfi);
	fputc('\n', out);
}

#define REGS_A_LINE 3

static void put_regs(FILE *out, const struct walk_text *walk, const struct unwind_state *state)
{
	const struct arch *arch = arch_of(walk);
	unsigned shown = 0;

	for (unsigned reg = 0; reg < arch->nregs; reg++) {
		bool saved = state->saved >> reg & 1;

		if (!saved && !(state->known >> reg & 1))
			continue;
		fputs(shown == 0 ? "  registers  " : shown % REGS_A_LINE ? "  " : "\n             ", out);
		shown++;
		rule_text_put_reg(out, arch, reg);
		fprintf(out, saved ? " at " ADDRESS : " = " ADDRESS, state->regs[reg]);
	}
	fputs(shown ? "\n" : "", out);
}

/* What a word may mean: an address in code, or in the stack. */
static void put_meaning(FILE *out, const struct walk_text *walk, uint64_t word)
{
	const struct event_stack *stack = &walk->event->ev->sample.stack;
	const struct space_map *map = space_find(space_of(walk), word);

	if (!word) {
		fputs(walk->s->recording->raw_stacks ? "" : "  (zero, or no address and not kept)", out);
	} else if (map && map->exec) {
		fputs("  ", out);
		text_put_escaped(out, map->module->name);
		fprintf(out, " + %#" PRIx64, word - map->bias);
	} else if (word >= stack->base && word - stack->base < stack->end - stack->base) {
		fprintf(out, "  stack + %#" PRIx64, word - stack->base);
	}
}

/* Was the word looked at before in this step? What tries several ways does so. */
static bool was_read(const struct unwind_read_word *reads, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++) {
		if (reads[i].address == address)
			return true;
	}
	return false;
}

static void put_reads(FILE *out, const struct walk_text *walk, const struct unwind_trace_step *step)
{
	const struct unwind_read_word *reads = &walk->trace->reads.items[step->first_read];

	for (size_t i = 0; i < step->nreads; i++) {
		const struct unwind_read_word *read = &reads[i];

		if (was_read(reads, i, read->address))
			continue;
		fprintf(out, "%s" ADDRESS ": ", i ? "             " : "  read       ", read->address);
		if (read->read == UNWIND_READ_OK) {
			fprintf(out, ADDRESS, read->word);
			put_meaning(out, walk, read->word);
		} else {
			fputs(read->read == UNWIND_READ_BEYOND ? "beyond the snapshot"
							       : "no part of this stack",
			      out);
		}
		fputc('\n', out);
	}
}

static void put_outcome(FILE *out, const struct unwind_trace_step *step)
{
	static const char *const texts[] = {
		[UNWIND_STEPPED] = "to the caller, by ",
		[UNWIND_IS_ROOT] = "none: this is the root",
		[UNWIND_BEYOND] = "none: the return address is not in the snapshot",
		[UNWIND_SWITCHES] = "none: the function had switched to this stack, and the one before is not in the trace",
		[UNWIND_ELSEWHERE] = "none: it takes memory or a register that is not known",
		[UNWIND_BAD] = "none: the rule cannot be right",
		[UNWIND_NO_WAY] = "none: no rule, and no frame pointer or return address that is checked",
	};

	fprintf(out, "  step       %s%s\n", texts[step->outcome],
		step->outcome == UNWIND_STEPPED ? unwind_how_name(step->how) : "");
}

static void put_step(FILE *out, const struct walk_text *walk, const struct unwind_trace_step *step)
{
	put_table(out, walk, step);
	put_regs(out, walk, &step->state);
	put_reads(out, walk, step);
	put_outcome(out, step);
}

static void put_end(FILE *out, const struct walk_text *walk)
{
	const struct unwind_chain *chain = walk->chain;
	const char *remedy = remedy_for_stop_in(walk->s, chain->stop, chain->stop_module);

	if (chain->folded)
		fprintf(out, "\nThe chain is deeper than %d frames: calls that repeat are shown once.\n", UNWIND_FRAMES_MAX);
	fprintf(out, "\nEnd: %s", stack_stop_name(chain->stop));
	if (chain->stop_module) {
		fputs(", in ", out);
		text_put_escaped(out, chain->stop_module->path);
		if (chain->stop == STACK_STOP_NO_BINARY)
			fprintf(out, " (%s)", module_files_note(chain->stop_module));
	}
	fprintf(out, "\n%s%s%s", remedy ? "What would help: " : "", remedy ? remedy : "",
		remedy ? "\n" : "");
}

static void walk_text_put(FILE *out, const struct walk_text *walk)
{
	const struct profile_stack *stacks = walk->s->profile->stacks.items;
	uint32_t stack = walk->event->stack;
	size_t step = 0;

	put_sample(out, walk);
	for (size_t i = 0; i < walk->chain->nframes; i++) {
		put_head(out, walk, i, stack);
		stack = stacks[stack].parent;
		if (step < walk->trace->steps.len && walk->trace->steps.items[step].frame == i)
			put_step(out, walk, &walk->trace->steps.items[step++]);
	}
	put_end(out, walk);
}

/* ---- the command ---- */

#define LISTED_MAX 16 /* numbers of other broken samples that are shown */

struct debug_args {
	struct session_args session;
	struct filter filter;
	uint64_t sample, cut; /* 0: not given */
	const char *cut_path; /* the operand; NULL: not given */
};

static const struct opt debug_opts[] = {
	OPT_UINT(struct debug_args, sample, "sample", 0, "N",
		 "show sample N, counted from 1 in order of time"),
	OPT_UINT(struct debug_args, cut, "cut", 0, "N",
		 "write sample N alone to FILE, without any data of the application"),
	OPT_GROUP(struct debug_args, filter, filter_opts),
	OPT_GROUP(struct debug_args, session, session_opts),
	OPT_END,
};

/* One pass over the samples. */
struct search {
	struct session *s;
	const struct debug_args *args;
	struct unwinder *unwinder; /* tells @trace */
	struct unwind_trace trace;
	char *text; /* the walk that will be shown; NULL: none yet */
	size_t text_len;
	bool text_is_broken; /* it does not reach its root */
	bool done;           /* the sample that was asked for was there */
	uint64_t passed, nbroken;
	uint64_t broken[LISTED_MAX];
};

static void render(struct search *search, const struct walked_event *event)
{
	struct session *s = search->s;
	struct unwind_chain chain;
	struct walk_text walk = {
		.s = s,
		.trace = &search->trace,
		.chain = &chain,
		.event = event,
	};
	FILE *out;

	if (!search->unwinder)
		search->unwinder =
			unwinder_new(s->binaries.modules, s->binaries.spaces,
				     &(struct unwind_options){ .trace = &search->trace });
	walk.unwinder = search->unwinder;
	unwinder_walk(search->unwinder, event->ev, &chain);
	free(search->text);
	search->text = NULL;
	out = open_memstream(&search->text, &search->text_len);
	if (!out)
		memory_exhausted(1);
	walk_text_put(out, &walk);
	fclose(out);
	search->text_is_broken = !stack_stop_is_complete(chain.stop);
}

static struct err *visit(void *context, const struct walked_event *event)
{
	struct search *search = context;
	uint64_t number = search->s->stream.samples;
	bool broken;

	if (event->ev->kind != EVENT_SAMPLE)
		return NULL;
	search->passed++;
	if (search->args->cut && number == search->args->cut) {
		search->done = true;
		return sample_extract_write(search->s, event->ev, search->args->cut_path);
	}
	if (search->args->cut)
		return NULL;
	broken = !stack_stop_is_complete(event->chain->stop);
	if (search->args->sample) {
		if (number == search->args->sample)
			render(search, event);
		return NULL;
	}
	if (broken && search->nbroken++ < LISTED_MAX)
		search->broken[search->nbroken - 1] = number;
	if (!search->text || (broken && !search->text_is_broken))
		render(search, event);
	return NULL;
}

static void print_broken(const struct search *search)
{
	printf("\n%" PRIu64 " of %" PRIu64 " samples do not reach their root", search->nbroken,
	       search->passed);
	for (uint64_t i = 0; i < MIN(search->nbroken, LISTED_MAX); i++)
		printf("%s%" PRIu64, i ? ", " : ": ", search->broken[i]);
	puts(search->nbroken > LISTED_MAX ? ", ..." : "");
}

static struct err *not_there(const struct session *s, uint64_t number)
{
	if (number > s->stream.samples)
		return err_new(ERR_USAGE, "there is no sample %" PRIu64 ", the last one is %" PRIu64,
			       number, s->stream.samples);
	return err_new(ERR_USAGE, "sample %" PRIu64 " does not pass the filters", number);
}

static struct err *show(struct session *s, void *args_)
{
	struct debug_args *args = args_;
	struct search search = { .s = s, .args = args };
	struct loader_listener listener = { .event = visit, .context = &search };
	struct err *err = session_each(s, &args->filter, &listener);

	if (!err && args->cut && !search.done)
		err = not_there(s, args->cut);
	else if (!err && args->sample && !search.text)
		err = not_there(s, args->sample);
	else if (!err && !search.text && !args->cut)
		err = err_new(ERR_UNSUPPORTED, "no sample passes the filters");
	if (!err && search.text)
		fwrite(search.text, 1, search.text_len, stdout);
	if (!err && search.text && !args->sample)
		print_broken(&search);
	free(search.text);
	unwinder_free(search.unwinder);
	unwind_trace_deinit(&search.trace);
	return err;
}

static struct err *check_operands(const struct debug_args *args, char **operands, int noperands)
{
	if (noperands > (args->cut ? 1 : 0))
		return err_new(ERR_USAGE, "unexpected operand '%s'", operands[args->cut ? 1 : 0]);
	if (args->cut && !noperands)
		return err_remedy(err_new(ERR_USAGE, "--cut needs a file to write"),
				  "preport debug-unwind --cut N FILE");
	if (args->cut && args->sample)
		return err_new(ERR_USAGE, "--cut names the sample, --sample is not needed");
	return NULL;
}

static struct err *debug_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct debug_args *debug = args;
	struct err *err = check_operands(debug, operands, noperands);

	(void)ret_status;
	debug->cut_path = noperands ? operands[0] : NULL;
	return err ? err : session_run(&cmd_debug_unwind, &debug->session, show, debug);
}

const struct command cmd_debug_unwind = {
	.name = "debug-unwind",
	.summary = "show how a stack was unwound, frame by frame",
	.operands = "[FILE]",
	.needs = "events",
	.examples = "  preport debug-unwind --sample 17        the 17th sample, frame by frame\n"
		    "  preport debug-unwind --cut 17 17.trace  this sample as a file of its own\n",
	.manual = "preport-debug-unwind(1)",
	.opts = debug_opts,
	.args_size = sizeof(struct debug_args),
	.run = debug_run,
};
