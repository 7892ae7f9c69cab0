/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune_trace.c - a trace with whole stacks (precord --raw-stacks) as precord would have written it without:
 * the same samples both ways, so that what pruning changes can be seen.
 *
 * Usage: prune_trace RAW PRUNED
 */
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "record/sample/prune.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pruner {
	struct mapped_files files;
	struct process_table processes;
	struct prune prune;
	struct perf_record record;
	uint8_t bytes[PERF_RECORD_LEN_MAX + OTHER_STACK_DEEP_MAX];
	struct event_stack other;
	uint32_t slots[EVENT_STACK_MAX / 8];
	uint64_t words[EVENT_STACK_MAX / 8];
	uint64_t words_before, words_after;
};

static void must(struct err *error)
{
	if (error)
		errx(1, "%s", err_message(error));
}

/* The bytes of the snapshot as the kernel gave them, from the stack pointer up. */
static void restore_stack(struct pruner *p, const struct event_stack *stack)
{
	struct perf_record *rec = &p->record;
	uint64_t sp = rec->regs.values[p->prune.arch->sp];
	size_t skip = (size_t)(stack->base - sp);

	memset(p->bytes, 0, sizeof(p->bytes));
	rec->stack = NULL;
	rec->stack_len = rec->stack_room = 0;
	if (stack->end == stack->base)
		return;
	if (skip > 7 || skip + (stack->end - stack->base) > sizeof(p->bytes))
		errx(1, "a snapshot of %" PRIu64 " bytes at %#" PRIx64, stack->end - stack->base,
		     sp);
	for (size_t i = 0; i < stack->nwords; i++)
		memcpy(p->bytes + skip + 8 * (size_t)stack->slots[i], &stack->words[i], 8);
	rec->stack = p->bytes;
	rec->stack_len = skip + (size_t)(stack->end - stack->base);
	rec->stack_room = stack->cut ? rec->stack_len : rec->stack_len + 8;
}

/* The chain up to entry @n, with a mark there. */
static const uint64_t *mark_astray(struct pruner *p, const struct event_sample *sample, size_t n)
{
	if (n >= PERF_RECORD_WORDS_MAX)
		errx(1, "a chain of %zu", n);
	memcpy(p->record.words, sample->user_ips, n * sizeof(*sample->user_ips));
	p->record.words[n] = EVENT_IP_ASTRAY;
	return p->record.words;
}

/* As the recorder does. */
static const struct event_stack *prune_other(struct pruner *p, const struct process *proc, const struct event_stack *from)
{
	bool code;

	p->other = *from;
	p->other.slots = p->slots;
	p->other.words = p->words;
	p->other.nwords = 0;
	for (size_t i = 0; i < from->nwords; i++) {
		if (!prune_keeps_other(&p->prune, proc, from->words[i], &code))
			continue;
		p->slots[p->other.nwords] = from->slots[i];
		p->words[p->other.nwords++] = from->words[i];
	}
	return &p->other;
}

static void prune_event(struct pruner *p, struct event *ev)
{
	const struct process *proc = process_table_look(&p->processes, ev->pid);
	struct perf_record *rec = &p->record;
	struct event_sample *sample = &rec->event.sample;
	size_t n = ev->sample.nuser_ips != 0;

	rec->event = *ev;
	p->words_before += ev->sample.stack.nwords;
	while (n < sample->nuser_ips && process_is_code(proc, sample->user_ips[n]))
		n++;
	if (n < sample->nuser_ips && sample->user_ips[n])
		sample->user_ips = mark_astray(p, sample, n);
	sample->nuser_ips = MIN(n + 1, sample->nuser_ips);
	if (ev->sample.regs) {
		rec->regs = *ev->sample.regs;
		sample->regs = &rec->regs;
		restore_stack(p, &ev->sample.stack);
		p->prune.other_start = ev->sample.other ? ev->sample.other->base : 0;
		p->prune.other_end = ev->sample.other ? ev->sample.other->end : 0;
		prune_sample(&p->prune, proc, PRUNE_ALL, rec);
		if (ev->sample.other)
			sample->other = prune_other(p, proc, ev->sample.other);
	}
	p->words_after += sample->stack.nwords;
	*ev = rec->event;
}

static void copy_attachments(struct trace_writer *w, const struct recording *rec)
{
	for (size_t i = 0; i < rec->nimages; i++)
		must(trace_writer_image(w, &rec->images[i]));
	must(trace_writer_ksyms(w, rec->ksyms, rec->nksyms));
	if (rec->kernel_code.status != RECORDING_CODE_UNKNOWN)
		must(trace_writer_kernel_code(w, &rec->kernel_code));
	for (size_t i = 0; i < rec->njit_maps; i++)
		must(trace_writer_jit_map(w, &rec->jit_maps[i]));
	must(trace_writer_end(w, rec));
}

static void follow(struct pruner *p, const struct event *ev)
{
	bool code = ev->kind == EVENT_MMAP && ev->mmap.flags & EVENT_MMAP_EXEC &&
		    !(ev->mmap.flags & EVENT_MMAP_KERNEL);

	if (code)
		process_table_map(&p->processes, ev->pid, &ev->mmap,
				  mapped_files_get(&p->files, &ev->mmap, NULL));
	else
		process_table_event(&p->processes, ev);
}

static void copy_events(struct pruner *p, struct event_source *source, struct trace_writer *w)
{
	struct event ev;

	while (event_source_next(source, &ev)) {
		if (ev.kind == EVENT_SAMPLE)
			prune_event(p, &ev);
		else
			follow(p, &ev);
		must(trace_writer_event(w, &ev));
		/* Events come in order here. */
		must(trace_writer_round(w, ev.time_ns, UINT64_MAX));
	}
	must(event_source_finish(source));
}

int main(int argc, char **argv)
{
	struct pruner *p = memory_zeroed(1, sizeof(*p));
	struct event_source *source;
	int fd = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0)
		err(2, "usage: prune_trace RAW PRUNED");
	must(trace_reader_open(argv[1], &source));
	struct recording rec = *event_source_recording(source);
	struct trace_writer *w = trace_writer_new(fd);

	if (!rec.raw_stacks)
		errx(1, "'%s' does not hold whole stacks", argv[1]);
	mapped_files_init(&p->files, sizeof(struct mapped_file), NULL);
	process_table_init(&p->processes);
	p->prune.arch = rec.arch;
	p->prune.code_mask = rec.code_mask;
	rec.raw_stacks = false;
	must(trace_writer_begin(w, &rec));
	copy_events(p, source, w);
	copy_attachments(w, &rec);
	printf("%" PRIu64 " of %" PRIu64 " words kept\n", p->words_after, p->words_before);
	trace_writer_free(w);
	event_source_close(source);
	process_table_deinit(&p->processes);
	mapped_files_deinit(&p->files);
	free(p);
	return close(fd) ? 1 : 0;
}
