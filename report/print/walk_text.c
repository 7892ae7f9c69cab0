/* SPDX-License-Identifier: Apache-2.0 */
#include "report/print/walk_text.h"

#include "formats/base/text.h"
#include "report/print/rule_text.h"

#include <inttypes.h>

#define ADDRESS "0x%016" PRIx64

static const struct arch *arch_of(const struct walk_text *walk)
{
	return walk->s->recording->arch;
}

static struct space *space_of(const struct walk_text *walk)
{
	return space_table_get(walk->s->spaces, walk->event->ev->pid);
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

	session_name(walk->s, number);
	location = &p->locations.items[number];
	fputs("  function   ", out);
	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct profile_line *line = &p->lines.items[location->first_line + i];

		fputs(i ? ", inlined into " : "", out);
		text_put_escaped(out, profile_text(p, p->functions.items[line->function].name));
	}
	fputc('\n', out);
}

static void put_head(FILE *out, const struct walk_text *walk, size_t number, uint32_t stack)
{
	const struct unwind_frame *f = &walk->chain->frames[number];

	fprintf(out, "\n#%zu " ADDRESS " in ", number, f->ip);
	text_put_escaped(out, f->module->path);
	if (f->module->kind == MODULE_FILE || f->module->kind == MODULE_VDSO) /* has link-time addresses */
		fprintf(out, " + %#" PRIx64, f->vaddr);
	fputs(f->ip != code_place_address(f->vaddr) && f->how != UNWIND_LEAF ? ", in the call\n" : "\n", out);
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
	const char *remedy = unwind_stop_remedy_in(chain->stop, chain->stop_module);

	if (chain->folded)
		fprintf(out, "\nThe chain is deeper than %d frames: calls that repeat are shown once.\n", UNWIND_FRAMES_MAX);
	fprintf(out, "\nEnd: %s", unwind_stop_name(chain->stop));
	if (chain->stop_module) {
		fputs(", in ", out);
		text_put_escaped(out, chain->stop_module->path);
		if (chain->stop == UNWIND_NO_BINARY)
			fprintf(out, " (%s)", module_files_note(chain->stop_module));
	}
	fprintf(out, "\n%s%s%s", remedy ? "What would help: " : "", remedy ? remedy : "",
		remedy ? "\n" : "");
}

void walk_text_put(FILE *out, const struct walk_text *walk)
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
