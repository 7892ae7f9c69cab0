/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_dump.c - the last stack of each thread: what precord dump shows, of any recording.
 */
#include "report/commands.h"
#include "formats/base/path.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/session.h"
#include "report/print/number.h"
#include "report/print/terminal.h"
#include "report/view/wait_frames.h"
#include "formats/stack_stop.h"

#include "formats/base/map.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAME_MOMENT_NS 100000000

struct dump_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	bool kernel;
};

static const struct opt dump_opts[] = {
	OPT_FLAG(struct dump_args, kernel, "kernel", 'k', "show the kernel's functions, too"),
	OPT_GROUP(struct dump_args, terminal, terminal_opts),
	OPT_GROUP(struct dump_args, filter, filter_opts),
	OPT_GROUP(struct dump_args, session, session_opts),
	OPT_END,
};

/* Of each of an interpreter's frames, innermost first. */
struct locals {
	const char **items;
	size_t len;
};

/* What was seen last of a thread. */
struct last {
	uint32_t pid, tid;
	const char *comm, *process;
	bool ended;
	bool seen;	 /* there is a sample */
	bool waits;	 /* it did not run then */
	uint64_t time_ns;
	uint32_t cpu, stack;
	uint8_t stop;
	const char *gil, *next_gil; /* of Python: "held" and the like; NULL: not known */
	struct locals locals, next; /* of the sample; of the one that is to come at @next_ns */
	uint64_t next_ns;
};

struct dump {
	struct session *s;
	const struct dump_args *args;
	struct map numbers; /* tid -> number in threads + 1 */
	VEC(struct last) threads;
	struct arena arena;
};

static struct last *last_of(struct dump *d, const struct walked_event *event)
{
	bool fresh;
	uint64_t *number = map_put(&d->numbers, event->ev->tid, &fresh);

	if (fresh || d->threads.items[*number - 1].pid != event->ev->pid) {
		vec_push(&d->threads, ((struct last){ .pid = event->ev->pid, .tid = event->ev->tid }));
		*number = d->threads.len;
	}

	struct last *last = &d->threads.items[*number - 1];

	if (!last->comm || strcmp(last->comm, event->thread->comm) != 0)
		last->comm = arena_strdup(&d->arena, event->thread->comm);
	if (!last->process || strcmp(last->process, event->thread->process) != 0)
		last->process = arena_strdup(&d->arena, event->thread->process);
	return last;
}

static bool has_script(const struct profile *p, uint32_t stack)
{
	for (; stack; stack = p->stacks.items[stack].parent)
		if (p->locations.items[p->stacks.items[stack].location].kind == PROFILE_FRAME_INTERPRETED)
			return true;
	return false;
}

/* An interpreter's stack may not have been read with the last sample, of a thread that runs: then the one before says more. */
static bool says_less(const struct dump *d, const struct last *last, const struct walked_event *event)
{
	return last->seen && event->ev->time_ns - last->time_ns < SAME_MOMENT_NS &&
	       has_script(d->s->profile, last->stack) && !has_script(d->s->profile, event->stack);
}

static void take_sample(struct dump *d, const struct walked_event *event)
{
	const struct recording *rec = d->s->recording;
	const struct event_sample *sample = &event->ev->sample;
	struct last *last = last_of(d, event);

	if (says_less(d, last, event))
		return;
	last->seen = true;
	last->waits = sample->event < rec->nevents && (derive_is_idle(rec, sample->event) ||
						       derive_is_off_cpu(rec, sample->event));
	last->time_ns = event->ev->time_ns;
	last->cpu = event->ev->cpu;
	last->stack = event->stack;
	last->stop = (uint8_t)event->chain->stop;
	last->gil = last->next_ns == event->ev->time_ns ? last->next_gil : NULL;
	last->locals = last->next_ns == event->ev->time_ns ? last->next : (struct locals){ 0 };
}

/* They come before their sample, but others may be in between. */
static void take_locals(struct dump *d, const struct walked_event *event)
{
	const struct event_managed *managed = &event->ev->managed;
	struct last *last = last_of(d, event);

	last->next_ns = event->ev->time_ns + 1;
	last->next = (struct locals){ 0 };
	last->next_gil = NULL;
	for (size_t i = 0; i < managed->nlabels; i++)
		if (managed->labels[i].text && strcmp(managed->labels[i].key, "gil") == 0)
			last->next_gil = strcmp(managed->labels[i].text, "held") == 0 ? "has the GIL" : NULL;
	if (!event_managed_has_locals(managed))
		return;
	last->next.len = managed->nframes;
	last->next.items = ARENA_ARRAY(&d->arena, const char *, managed->nframes);
	for (size_t i = 0; i < managed->nframes; i++) {
		const char *locals = managed->frames[i].locals;

		last->next.items[i] = locals ? arena_strdup(&d->arena, locals) : "";
	}
}

static struct err *visit(void *context, const struct walked_event *event)
{
	struct dump *d = context;

	switch (event->ev->kind) {
	case EVENT_SAMPLE:
		if (event->chain)
			take_sample(d, event);
		break;
	case EVENT_MANAGED:
		take_locals(d, event);
		break;
	case EVENT_FORK:
	case EVENT_COMM:
		last_of(d, event)->ended = false;
		break;
	case EVENT_EXIT:
		last_of(d, event)->ended = true;
		break;
	default:
		break;
	}
	return NULL;
}

/* ---- printing -------------------------------------------------------------------------------------- */

/* "handler (/srv/app.py:12)", "read (libc.so.6, read.c:26)": of native code the file is where it was built, which is nowhere here. */
static void put_line(const struct profile *p, const struct profile_location *at, uint32_t i)
{
	const struct profile_line *line = &p->lines.items[at->first_line + i];
	const char *file = profile_text(p, line->file);
	bool script = at->kind == PROFILE_FRAME_INTERPRETED;

	fputs("    ", stdout);
	text_put_escaped(stdout, profile_text(p, p->functions.items[line->function].name));
	fputs(" (", stdout);
	if (!script)
		text_put_escaped(stdout, profile_text(p, profile_module(p, at->module)->name));
	if (*file && !script)
		fputs(", ", stdout);
	text_put_escaped(stdout, script ? file : path_last_part(file));
	if (*file && line->line)
		printf(":%" PRIu32, line->line);
	fputs(")\n", stdout);
}

static void put_locals(const struct last *last, size_t frame)
{
	if (frame >= last->locals.len || !*last->locals.items[frame])
		return;
	fputs("        ", stdout);
	text_put_escaped(stdout, last->locals.items[frame]);
	fputc('\n', stdout);
}

static void put_stack(struct dump *d, const struct last *last)
{
	const struct profile *p = d->s->profile;
	size_t frame = 0;

	for (uint32_t stack = last->stack; stack; stack = p->stacks.items[stack].parent) {
		uint32_t number = p->stacks.items[stack].location;
		const struct profile_location *at = &p->locations.items[number];

		if (at->kind == PROFILE_FRAME_KERNEL && !d->args->kernel)
			continue;
		for (uint32_t i = 0; i < at->nlines; i++)
			put_line(p, at, i);
		if (at->kind == PROFILE_FRAME_INTERPRETED)
			put_locals(last, frame++);
	}
	if (!stack_stop_is_complete((enum stack_stop)last->stop))
		printf("    [%s]\n", stack_stop_name((enum stack_stop)last->stop));
}

/* What it did: "running on CPU 1", "waiting: lock". */
static const char *doing(struct dump *d, const struct last *last)
{
	const struct profile *p = d->s->profile;
	struct profile_sample row = { .stack = last->stack, .state = PROFILE_STATE_BLOCKED };

	if (!last->seen)
		return "not seen: it ran, or waited for a CPU, whenever it was looked at";
	if (!last->waits && last->cpu != EVENT_NO_CPU)
		return arena_printf(&d->arena, "running on CPU %" PRIu32, last->cpu);
	if (!last->waits)
		return "running";

	const char *call = wait_frames_syscall(p, &row);
	const char *kind = wait_kind_name(wait_frames_kind(p, &row));

	return *call ? arena_printf(&d->arena, "waiting: %s, in system call %s", kind, call) :
		       arena_printf(&d->arena, "waiting: %s", kind);
}

static int by_process(const void *a_, const void *b_)
{
	const struct last *a = a_, *b = b_;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return COMPARE(a->tid, b->tid);
}

static void name_stack(struct dump *d, uint32_t stack)
{
	for (; stack; stack = d->s->profile->stacks.items[stack].parent)
		loader_name(d->s->loader, d->s->profile->stacks.items[stack].location);
}

static void put_thread(struct dump *d, const struct last *last)
{
	name_stack(d, last->stack);
	printf("\nthread %" PRIu32 " \"", last->tid);
	text_put_escaped(stdout, last->comm);
	printf("\": %s%s%s\n", doing(d, last), last->gil ? ", " : "", last->gil ? last->gil : "");
	put_stack(d, last);
}

static void put_process(struct dump *d, size_t first, size_t count)
{
	const struct last *threads = &d->threads.items[first];

	printf("%sprocess %" PRIu32 " ", first ? "\n" : "", threads->pid);
	text_put_escaped(stdout, threads->process);
	printf(": %s\n", number_of(&d->arena, count, "thread"));
	for (size_t i = 0; i < count; i++)
		put_thread(d, &threads[i]);
}

/* Only what lives, of processes of which something was seen: others were not asked for. */
static void keep_living(struct dump *d)
{
	size_t kept = 0;

	qsort(d->threads.items, d->threads.len, sizeof(*d->threads.items), by_process);
	for (size_t i = 0, end; i < d->threads.len; i = end) {
		bool seen = false;

		for (end = i; end < d->threads.len && d->threads.items[end].pid == d->threads.items[i].pid; end++)
			seen |= d->threads.items[end].seen && !d->threads.items[end].ended;
		for (size_t at = i; seen && at < end; at++)
			if (!d->threads.items[at].ended)
				d->threads.items[kept++] = d->threads.items[at];
	}
	d->threads.len = kept;
}

static struct err *print_dump(struct session *s, void *args_)
{
	struct dump_args *args = args_;
	struct dump d = { .s = s, .args = args };
	struct loader_listener listener = { .event = visit, .context = &d };
	struct err *err = session_each(s, &args->filter, &listener);
	struct terminal term = terminal_open(&args->terminal);

	keep_living(&d);
	if (!err && !d.threads.len)
		err = err_new(ERR_UNSUPPORTED, "no live thread was seen");
	for (size_t i = 0, end; !err && i < d.threads.len; i = end) {
		for (end = i; end < d.threads.len && d.threads.items[end].pid == d.threads.items[i].pid;)
			end++;
		put_process(&d, i, end - i);
	}
	map_deinit(&d.numbers);
	vec_deinit(&d.threads);
	arena_deinit(&d.arena);
	return terminal_close(&term, err);
}

static struct err *dump_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct dump_args *dump = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	return session_run(&cmd_dump, &dump->session, print_dump, dump);
}

const struct command cmd_dump = {
	.name = "dump",
	.summary = "the last stack of each live thread",
	.operands = "",
	.needs = "events",
	.examples = "  preport dump -i now.trace         the last stack of each live thread\n"
		    "  preport dump -k --comm 'worker*'  with the kernel's functions\n",
	.manual = "precord(1)",
	.opts = dump_opts,
	.args_size = sizeof(struct dump_args),
	.run = dump_run,
};
