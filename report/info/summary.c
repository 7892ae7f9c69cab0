/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.c - the parts are printed one after another while lines are counted, so that the tables get what is left.
 */
#include "report/info/summary.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "report/info/facts_text.h"
#include "report/print/number.h"
#include "report/print/table.h"
#include "report/view/entry.h"
#include "report/view/runtime_work.h"
#include "report/view/own_code.h"
#include "report/view/trust.h"
#include "report/table/view_table.h"
#include "report/view/wait_question.h"
#include "report/load/derive/derive_kind.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES_MAX    10
#define PROGRAMS_MAX  5
#define LEAVES_WANTED 4 /* all remarks but the first give way to them */
#define ENTRIES_MAX   3    /* ways into the kernel that are named */
#define ENTRY_SHARE   0.02 /* of the weight, at least */
#define KERNEL_SHARE  0.3  /* of the weight: from here on the ways into the kernel are a question */
#define PROCESSES_MANY 20  /* from here on who started them is one */
#define NEXT_CHOSEN   2    /* lines that depend on the recording */
#define WAIT_LEAVES_MIN 4  /* where waiting is the question; of CPU time LEAVES_MIN, if there is room for it at all */
#define LEAVES_MIN    3
#define SCRIPTS_MAX   8
#define SCRIPTS_MIN   2
#define SCRIPTS_SHARE 0.05 /* of the samples: from here on scripts have a table */
#define PROGRAMS_MIN  2
#define TOP_LEAF_MAX  50                       /* bytes; longer names do not invite to be typed */
#define NEXT_LINES    4                        /* what to ask next, with its title */
#define PROMPT        1
#define TABLE_FRAME   2 /* its heading and the blank line below */
#define TITLED_FRAME  3
#define FIXED_LINES   (NEXT_LINES + 2 * TABLE_FRAME + 1 + PROMPT) /* around remarks and rows of tables */

struct page {
	FILE *out;
	const struct terminal *term;
	struct arena arena;
	const struct profile *p;
	const struct profile_facts *facts;
	const struct summary_input *in;
	uint32_t event;
	struct wait_question waits;
	bool waits_have_stacks;
	const char *top_leaf; /* MODULE:FUNCTION, NULL: none that can be asked about */
	unsigned used;        /* lines */
	bool leaf_is_own;     /* the first leaf is neither kernel nor library */
	double kernel;	      /* share of the ways into the kernel that were named */
	uint32_t processes;
	bool scripts;	      /* are much of what was sampled */
	unsigned nnext;	      /* what to ask next that is printed */
};

/* ---- lines ---- */

/*
 * Print @text, broken at blanks to fit; lines but the first begin with @indent blanks. With @out NULL it is only
 * measured. Returns how many lines it took.
 */
static unsigned wrap(struct page *page, FILE *out, const char *text, unsigned indent)
{
	size_t room = page->term->columns, column = strspn(text, " ");
	bool fresh = true; /* nothing on this line yet */
	unsigned lines = 1;

	text = text_escape(&page->arena, text);
	if (out)
		fprintf(out, "%*s", (int)column, "");
	for (text += column; *text; text += *text == ' ') {
		size_t len = strcspn(text, " ");
		const char *word = arena_memdup(&page->arena, text, len);
		size_t width = text_width(word) + !fresh;

		if (room && !fresh && column + width > room) {
			if (out)
				fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			lines++;
			fresh = true;
			width--;
		}
		if (out)
			fprintf(out, "%s%s", fresh ? "" : " ", word);
		column += width;
		fresh = false;
		text += len;
	}
	if (out)
		fputc('\n', out);
	return lines;
}

static void put_wrapped(struct page *page, const char *text, unsigned indent)
{
	page->used += wrap(page, page->out, text, indent);
}

static void put_blank(struct page *page)
{
	fputc('\n', page->out);
	page->used++;
}

static void put_title(struct page *page, const char *title)
{
	fprintf(page->out, "%s%s%s\n", page->term->colour ? "\033[1m" : "", title,
		page->term->colour ? "\033[0m" : "");
	page->used++;
}

/* ---- what was recorded ---- */

/* At most the width of the page, or of a screen where it has none. */
static const char *shortened(struct page *page, const char *text)
{
	size_t room = page->term->columns ? page->term->columns : 200;
	size_t len = 0;

	while (text[len] && len + 2 < room)
		len += MAX(text_char_len(text + len), 1);
	return text[len] ? arena_printf(&page->arena, "%.*s..", (int)len, text) : text;
}

static void put_recording(struct page *page)
{
	const struct profile_facts *facts = page->facts;
	struct arena *arena = &page->arena;
	const char *began = facts_text_began(facts, "%Y-%m-%d %H:%M UTC", arena);
	const char *text = facts->has_duration ?
				   arena_printf(arena, "%s: %s", facts->input,
						number_time(arena, facts->duration_ns)) :
				   arena_printf(arena, "%s: no times", facts->input);

	if (*facts->hostname)
		text = arena_printf(arena, "%s of %s", text, facts->hostname);
	if (facts->ncpus)
		text = arena_printf(arena, "%s, %s", text,
				    number_of(arena, facts->ncpus, "CPU"));
	if (*facts->os_release)
		text = arena_printf(arena, "%s, Linux %.*s", text,
				    (int)strcspn(facts->os_release, "-"), facts->os_release);
	if (*began)
		text = arena_printf(arena, "%s, %s", text, began);
	put_wrapped(page, text, 2);
	if (*facts->cmdline)
		put_wrapped(page, shortened(page, facts->cmdline), 2);
}

static const char *rate_text(struct page *page, const struct profile_value_type *event)
{
	if (!event->rate || strcmp(profile_text(page->p, event->name), DERIVE_OFF_CPU) == 0)
		return "";
	if (event->is_freq)
		return arena_printf(&page->arena, " at %" PRIu64 " Hz", event->rate);
	return arena_printf(&page->arena, " every %s", number_count(&page->arena, event->rate));
}

static void put_event(struct page *page)
{
	const struct profile *p = page->p;
	const struct profile_value_type *event = &p->types.items[page->event];
	const char *name = profile_text(p, event->name);
	struct profile_sum sum = profile_total(p, page->event);
	struct arena *arena = &page->arena;
	const char *of = arena_printf(arena, " of %s%s", name, rate_text(page, event));
	const char *unit = profile_text(p, event->unit);
	const char *text = number_sum(arena, &sum, strcmp(name, "samples") == 0 || !*unit ? "" : of, name, unit);

	if (*page->facts->filter)
		text = arena_printf(arena, "%s; only %s", text, page->facts->filter);
	put_wrapped(page, text, 2);
}

/* The event but @but with most samples, of those with fewer than the last one, or with a higher number and as many. */
static uint32_t next_event(const struct profile *p, uint32_t but, uint32_t last)
{
	uint64_t limit = last == PROFILE_NONE ? UINT64_MAX : profile_total(p, last).count;
	uint32_t best = PROFILE_NONE;
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->types.len; i++) {
		uint64_t count = profile_total(p, i).count;
		bool is_behind = count < limit || (count == limit && i > last);

		if (i != but && is_behind && count > most) {
			best = i;
			most = count;
		}
	}
	return best;
}

static const char *other_amount(struct page *page, uint32_t type)
{
	struct profile_sum sum = profile_total(page->p, type);

	if (profile_is_counted(&sum))
		return number_count(&page->arena, sum.count);
	return number_weight(&page->arena, sum.weight, profile_text(page->p, page->p->types.items[type].unit));
}

/* The heaviest first. */
static void put_other_events(struct page *page)
{
	const struct profile *p = page->p;
	const char *text = "";
	uint32_t i = PROFILE_NONE;

	while ((i = next_event(p, page->event, i)) != PROFILE_NONE)
		if (i != page->waits.event)
			text = arena_printf(&page->arena, "%s%s%s (%s)", text, *text ? ", " : "",
					    profile_text(p, p->types.items[i].name),
					    other_amount(page, i));
	if (*text)
		put_wrapped(page, arena_printf(&page->arena, "also sampled, see --by event and --event NAME: %s", text),
			    2);
}

/* CPU time that @event stands for; 0 if it does not tell. */
static uint64_t cpu_time(struct page *page)
{
	const struct profile *p = page->p;
	const struct profile_value_type *event = &p->types.items[page->event];
	struct profile_sum sum = profile_total(p, page->event);

	if (page->facts->lives.switches)
		return page->facts->lives.by_state[PROFILE_STATE_ON_CPU];
	if (strcmp(profile_text(p, event->unit), "ns") == 0)
		return strcmp(number_time_title(profile_text(p, event->name)), "waiting") == 0 ? 0 :
											 (uint64_t)MAX(sum.weight, 0);
	return event->is_freq && event->rate ? sum.count * 1000000000u / event->rate : 0;
}

static uint64_t blocked_ns(const struct profile_lives *lives)
{
	return lives->by_state[PROFILE_STATE_BLOCKED] + lives->by_state[PROFILE_STATE_EARLIER];
}

#define ACCOUNT_WHOLE 0.95 /* of the time of all threads: if the scheduler's account covers less, more may be missing in it */

/*
 * Ready to run, without a CPU. From when on a blocked thread could have run, records of switches do not tell; the scheduler's
 * account does, for all threads together.
 */
static uint64_t queued_ns(const struct profile_lives *lives, bool *ret_by_account)
{
	uint64_t queued_ns = lives->by_state[PROFILE_STATE_RUNNABLE];

	*ret_by_account = lives->account.threads && lives->account.wait_ns > queued_ns;
	return *ret_by_account ? MIN(lives->account.wait_ns, queued_ns + blocked_ns(lives)) : queued_ns;
}

static const char *part_of(struct page *page, uint64_t part_ns)
{
	return number_share(&page->arena,
			    (double)part_ns / (double)MAX(page->facts->lives.life_ns, 1));
}

/* How much of the waiting is no question, for lack of work. */
static const char *idle_text(struct page *page)
{
	if (!page->waits.idle_ns)
		return "";
	return arena_printf(&page->arena, " (%s for lack of work)", part_of(page, page->waits.idle_ns));
}

static bool has_idle(const struct profile *p)
{
	for (uint32_t i = 0; i < p->types.len; i++)
		if (strcmp(profile_text(p, p->types.items[i].name), DERIVE_IDLE) == 0)
			return true;
	return false;
}

/* What threads did that were not on a CPU. */
static const char *off_cpu_text(struct page *page)
{
	const struct profile_lives *lives = &page->facts->lives;
	bool by_account;
	uint64_t queued = queued_ns(lives, &by_account);
	uint64_t blocked = blocked_ns(lives) + lives->by_state[PROFILE_STATE_RUNNABLE] - queued;

	bool least = by_account && (double)lives->account.ns < ACCOUNT_WHOLE * (double)lives->life_ns;

	return arena_printf(&page->arena, "%s%s waiting for one%s, %s%s blocked%s%s", least ? "at least " : "",
			    part_of(page, queued), by_account ? " (by the scheduler's account)" : "", least ? "at most " : "",
			    part_of(page, blocked), idle_text(page),
			    page->waits.comes_first ? "" : "; see --event off-cpu, --event wall");
}

#define MOSTLY_IDLE 0.5 /* of the CPUs' time: from there on waiting may be the question */

/* Of a whole system whose switches were not recorded: how busy it was. */
static void put_busy(struct page *page, uint64_t cpu_ns)
{
	const struct profile_facts *facts = page->facts;
	uint64_t all_ns = facts->cpus_sampled * facts->duration_ns;
	double busy = all_ns ? MIN((double)cpu_ns / (double)all_ns, 1.0) : 0;

	if (!cpu_ns || !all_ns || *facts->filter)
		return;
	put_wrapped(page,
		    arena_printf(&page->arena, "%s for %s: %s%s busy%s", number_of(&page->arena, facts->cpus_sampled, "CPU"),
				 number_time(&page->arena, facts->duration_ns),
				 facts->lost_by_kernel || facts->lost_by_recorder ? "at least " : "",
				 number_share(&page->arena, busy),
				 busy < MOSTLY_IDLE ? "; record with --off-cpu to see what threads wait for" : ""),
		    2);
}

/* Whether CPU or waiting is the question. */
static void put_waiting(struct page *page)
{
	const struct profile_lives *lives = &page->facts->lives;
	uint64_t cpu_ns = cpu_time(page);
	struct arena *arena = &page->arena;
	const char *text;

	if (page->facts->system_wide && !lives->switches) {
		put_busy(page, cpu_ns);
		return;
	}
	if (!lives->threads || !lives->life_ns || (!lives->switches && !cpu_ns && !has_idle(page->p)))
		return;
	cpu_ns = MIN(cpu_ns, lives->life_ns);
	text = arena_printf(arena, "%s, %s in all: %s on a CPU", number_of(arena, lives->threads, "thread"),
			    number_time(arena, lives->life_ns), part_of(page, cpu_ns));
	if (!lives->switches)
		text = arena_printf(arena, "%s, %s waiting; %s", text, part_of(page, lives->life_ns - cpu_ns),
				    has_idle(page->p) ? "see --event idle" :
							"record with --off-cpu to see for what");
	else
		text = arena_printf(arena, "%s, %s", text, off_cpu_text(page));
	uint64_t lost_ns = lives->by_state[PROFILE_STATE_LOST] + lives->by_state[PROFILE_STATE_LEFT_OUT];

	if (lives->switches && lost_ns)
		text = arena_printf(arena, "%s; of %s records were lost%s", text, part_of(page, lost_ns),
				    lives->by_state[PROFILE_STATE_LEFT_OUT] ? " or left out" : "");
	put_wrapped(page, text, 2);
}

/* Lines that are left for remarks if everything else has what it needs. */
static unsigned room_for_remarks(const struct page *page)
{
	unsigned needed = page->used + FIXED_LINES + LEAVES_WANTED + PROGRAMS_MIN;

	if (!page->term->lines)
		return UINT_MAX;
	return page->term->lines > needed ? page->term->lines - needed : 1;
}

static void put_remarks(struct page *page)
{
	const struct remarks *remarks = page->in->remarks;
	unsigned room = room_for_remarks(page);

	for (size_t i = 0; i < remarks->list.len; i++) {
		const char *text = arena_printf(&page->arena, "- %s", remarks->list.items[i].text);
		unsigned lines = wrap(page, NULL, text, 2);
		bool last = i + 1 == remarks->list.len;

		if (i && lines + !last > room) {
			put_wrapped(page, "- more: preport info", 2);
			return;
		}
		put_wrapped(page, text, 2);
		room -= MIN(lines, room);
	}
}

static bool is_way_in(const char *entry)
{
	return *entry != '[' && strcmp(entry, ENTRY_USER) != 0 && strcmp(entry, ENTRY_UNKNOWN) != 0;
}

/* Of @rows, or of all if that is NULL, the heaviest keys of level @by that are @worth a word, in one line behind @title. Their part of the whole. */
static double put_ways(struct page *page, enum view_by by, const bool *rows, const char *title, bool (*worth)(const char *key))
{
	struct view_spec spec = { .levels = { .items = { { by, 0 } }, .len = 1 }, .event = page->event, .rows = rows };
	struct profile_sum whole = profile_total(page->p, page->event);
	const char *text = "";
	unsigned named = 0;
	double part = 0;
	struct view view;

	view_build(&view, page->p, &spec);
	view_sort(&view, VIEW_SORT_WEIGHT);
	for (uint32_t i = 0; i < view.ntop && named < ENTRIES_MAX; i++) {
		const struct view_group *group = &view.groups.items[view.order.items[i]];
		const char *name = view_key(&view, group)->fields[0];
		struct stats_share share = stats_share(&group->sum, &whole);

		if (share.share < ENTRY_SHARE || !worth(name))
			continue;
		text = arena_printf(&page->arena, "%s%s%s %s", text, named++ ? ", " : "", name,
				    number_share(&page->arena, share.share));
		part += share.share;
	}
	view_deinit(&view);
	if (named)
		put_wrapped(page, arena_printf(&page->arena, "%s: %s", title, text), 2);
	return part;
}

/* It answers "slow because of page faults, system calls, interrupts, garbage collection or compilation". */
static void put_ways_in(struct page *page)
{
	const struct profile *p = page->p;
	bool *in_kernel = memory_zeroed(p->samples.len + 1, sizeof(*in_kernel));
	struct runtime_work *work = runtime_work_new(p);

	for (size_t i = 0; i < p->samples.len; i++)
		in_kernel[i] = entry_is_kernel(p, p->samples.items[i].stack);
	page->kernel += put_ways(page, VIEW_ENTRY, in_kernel, "kernel by", is_way_in);
	if (runtime_work_is_seen(work))
		put_ways(page, VIEW_RUNTIME, /* rows= */ NULL, "runtime", runtime_work_is_overhead);
	runtime_work_free(work);
	free(in_kernel);
}

/* What most of the waiting is for: it answers "slow because of locks, disk or sleep" by itself. */
static void put_wait_kinds(struct page *page)
{
	struct wait_question *waits = &page->waits;
	struct profile_sum sum = profile_total(page->p, waits->event);
	bool named[WAIT_KINDS] = { [WAIT_ON_CPU] = true, [WAIT_EARLIER] = true, [WAIT_LOST] = true, [WAIT_LEFT_OUT] = true };
	const char *text = "";

	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		enum wait_kind most = WAIT_ON_CPU;

		for (enum wait_kind kind = 0; kind < WAIT_KINDS; kind++)
			if (!named[kind] && waits->by_kind[kind] > waits->by_kind[most])
				most = kind;

		double share = (double)waits->by_kind[most] / (double)MAX(sum.weight, 1);

		if (named[most] || share < ENTRY_SHARE)
			break;
		named[most] = true;
		text = arena_printf(&page->arena, "%s%s%s %s", text, *text ? ", " : "", wait_kind_name(most),
				    number_share(&page->arena, share));
	}
	if (*text)
		put_wrapped(page, arena_printf(&page->arena, "waits for: %s", text), 2);
}

static void put_trust(struct page *page)
{
	struct trust trust;

	trust_judge(&trust, page->p, page->facts);
	put_wrapped(page, arena_printf(&page->arena, "trust: %s", trust_line(&trust, &page->arena)),
		    2);
	put_remarks(page);
}

/* ---- tables ---- */

static void put_table(struct page *page, const struct table *table)
{
	table_print_text(table, page->term, page->out);
	page->used += (unsigned)table_rows(table) + 1;
}

/* A location where samples of @group were taken, of a view that notes each row's group; NULL: none. */
static const struct profile_location *location_of(const struct view *view, const struct view_group *group)
{
	const struct profile *p = view->profile;
	uint32_t number = (uint32_t)(group - view->groups.items);

	for (size_t i = 0; i < p->samples.len; i++) {
		uint32_t stack = p->samples.items[i].stack;

		if (view->spec.group_of[i] != number || !stack)
			continue;
		const struct profile_location *leaf = &p->locations.items[p->stacks.items[stack].location];

		if (leaf->nlines)
			return leaf;
	}
	return NULL;
}

static bool is_own(const struct page *page, const struct profile_location *at)
{
	return at && own_code_is(page->p, (uint32_t)(at - page->p->locations.items), at->first_line);
}

static bool has_code(const struct page *page, const struct profile_location *at)
{
	return at && page->in->has_code && at->module != PROFILE_NONE &&
	       page->in->has_code(page->in->context, at->module, at->vaddr);
}

/*
 * The function to look at: among those that matter as much as half of the first, the heaviest with a name and code that
 * is not a library's, whose instructions the user cannot change.
 */
static const char *find_top_leaf(struct page *page, const struct view *view)
{
	for (uint32_t i = 0; i < view->ntop; i++) {
		const struct view_group *group = &view->groups.items[view->order.items[i]];
		const struct view_group *first = &view->groups.items[view->order.items[0]];
		const struct view_key *key = view_key(view, group);

		if (group->sum.weight < first->sum.weight / 2)
			return NULL;
		if (key->unnamed || *key->fields[0] == '[' ||
		    text_escape(&page->arena, key->fields[0]) != key->fields[0])
			continue;
		const struct profile_location *at = location_of(view, group);

		if (is_own(page, at) && has_code(page, at))
			return arena_printf(&page->arena, "%s:%s", key->fields[1], key->fields[0]);
	}
	return NULL;
}

static void look_at_leaves(struct page *page, const struct view *view)
{
	page->top_leaf = find_top_leaf(page, view);
	if (view->ntop)
		page->leaf_is_own = is_own(page, location_of(view, &view->groups.items[view->order.items[0]]));
}

/* The heaviest rows of @view, which it sorts. */
static void put_view(struct page *page, struct view *view, const struct view_table_options *options)
{
	struct table table;

	view_sort(view, VIEW_SORT_WEIGHT);
	table_init(&table, &page->arena);
	view_table_fill(&table, view, options);
	put_table(page, &table);
	table_deinit(&table);
}

/* Has any sample of @event a stack? */
static bool has_stacks(const struct page *page, uint32_t event)
{
	for (size_t i = 0; i < page->p->samples.len; i++) {
		if (page->p->samples.items[i].type == event && page->p->samples.items[i].stack)
			return true;
	}
	return false;
}

/*
 * Innermost functions, or programs where there are no stacks. Waits of threads without work are no row: put_waiting() said
 * how many there are.
 */
static void put_leaves(struct page *page, uint32_t event, unsigned limit)
{
	enum view_by by = has_stacks(page, event) ? VIEW_LEAF : VIEW_PROGRAM;
	struct view_spec spec = { .levels = { .items = { { by, 0 } }, .len = 1 },
				  .event = event,
				  .idle = page->waits.idle };
	struct view_table_options options = { .limit = limit, .brief = true, .without_idle = true };
	struct view view;

	spec.group_of = memory_zeroed(page->p->samples.len + 1, sizeof(*spec.group_of));
	for (size_t i = 0; i < page->p->samples.len; i++)
		spec.group_of[i] = PROFILE_NONE;
	view_build(&view, page->p, &spec);
	put_view(page, &view, &options);
	if (event == page->event)
		look_at_leaves(page, &view);
	view_deinit(&view);
	free(spec.group_of);
}

/* Innermost functions of scripts, where interpreters were sampled: most leaves are in C that says nothing to their authors. */
static void put_scripts(struct page *page, unsigned limit)
{
	struct view_spec spec = { .levels = { .items = { { VIEW_SCRIPT, 0 } }, .len = 1 },
				  .event = page->event };
	struct view_table_options options = { .limit = limit, .brief = true };
	struct view view;

	view_build(&view, page->p, &spec);
	put_view(page, &view, &options);
	put_blank(page);
	view_deinit(&view);
}

/* Is precord itself among the processes of @group? */
static bool has_recorder(const struct page *page, const struct view *view,
			 const struct view_group *group)
{
	for (uint32_t i = 0; i < group->count; i++) {
		const struct view_group *process =
			&view->groups.items[view->order.items[group->first + i]];

		if (view_group_is_of(view, process, page->facts->recorder_pid))
			return true;
	}
	return false;
}

static void add_program(struct page *page, struct table *table, const struct view *view,
			const struct view_group *group)
{
	struct stats_share share = stats_share(&group->sum, &view->whole);
	bool recorder = has_recorder(page, view, group);
	const char *which;

	if (group->count == 1) {
		const struct view_group *only =
			&view->groups.items[view->order.items[group->first]];

		const char *pid = view_key(view, only)->fields[1];

		which = *pid ? arena_printf(&page->arena, "pid %s%s", pid, recorder ? ", the recorder" : "") : "";
	} else {
		which = arena_printf(&page->arena, "%s processes%s",
				     number_count(&page->arena, group->count),
				     recorder ? ", one is the recorder" : "");
	}
	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, number_share(&page->arena, share.share), NULL);
	if (!share.uncounted) {
		table_add_cell(table, number_interval(&page->arena, &share), NULL);
		table_add_cell(table, number_count(&page->arena, share.count), NULL);
	}
	table_add_cell(table, view_key(view, group)->fields[0], NULL);
	table_add_cell(table, which, NULL);
}

static void print_programs(struct page *page, const struct view *view, unsigned limit)
{
	static const struct table_column share = { "share", "share", TABLE_RIGHT, TABLE_KEEP, true };
	static const struct table_column counts[] = {
		{ "95 % range", "range", TABLE_RIGHT, TABLE_KEEP, true },
		{ "samples", "samples", TABLE_RIGHT, TABLE_KEEP, true },
	};
	static const struct table_column names[] = {
		{ "program", "program", TABLE_LEFT, TABLE_CUT_END, false },
		{ "", "which", TABLE_LEFT, TABLE_KEEP, false },
	};
	struct table table;

	table_init(&table, &page->arena);
	table_add_column(&table, &share);
	if (profile_is_counted(&view->whole))
		table_add_columns(&table, counts, ARRAY_LEN(counts));
	table_add_columns(&table, names, ARRAY_LEN(names));
	for (uint32_t i = 0; i < view->ntop && i < limit; i++)
		add_program(page, &table, view, &view->groups.items[view->order.items[i]]);
	put_table(page, &table);
	put_blank(page);
	table_deinit(&table);
}

/* Profiles of other tools may name no process. */
static bool has_programs(const struct view *view)
{
	return view->ntop > 1 ||
	       (view->ntop && *view_key(view, &view->groups.items[view->order.items[0]])->fields[0]);
}

/* A line that is too long goes without its @hint, and where the screen is full the first is enough. */
static void put_next_line(struct page *page, const char *what, const char *hint)
{
	struct arena *arena = &page->arena;
	const struct terminal *term = page->term;
	const char *text = arena_printf(arena, "  %s %s", facts_text_command(page->facts, arena), what);
	const char *hinted = arena_printf(arena, "%s%s", text, hint);

	if (wrap(page, NULL, hinted, 4) == 1)
		text = hinted;
	if (!page->nnext || !term->lines || page->used + wrap(page, NULL, text, 4) + PROMPT <= term->lines)
		put_wrapped(page, text, 4);
	page->nnext++;
}

static void put_next_of_waits(struct page *page)
{
	put_next_line(page, "waits", " (how long they take, and for what)");
	if (page->waits_have_stacks)
		put_next_line(page, "--event off-cpu --tree", " (who waits, by caller)");
	else
		put_next_line(page, "--event off-cpu --by program,state", " (who waits, and how)");
	if (!page->waits.alone)
		put_next_line(page, "--by leaf", " (what is computed)");
}

/* Are scripts much of what was sampled? Beside a build a table of its few Python samples says nothing. */
static bool has_scripts(const struct page *page)
{
	const struct profile_facts *facts = page->facts;
	uint64_t of_scripts = facts->managed > facts->managed_unread ? facts->managed - facts->managed_unread : 0;

	return of_scripts && (double)of_scripts >= SCRIPTS_SHARE * (double)profile_total(page->p, page->event).count;
}

static bool has_type(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->types.len; i++)
		if (strcmp(profile_text(p, p->types.items[i].name), name) == 0)
			return true;
	return false;
}

static void put_next(struct page *page)
{
	const char *top = page->top_leaf;

	put_title(page, "next");
	if (page->waits.comes_first) {
		put_next_of_waits(page);
		return;
	}
	if (has_idle(page->p))
		put_next_line(page, "--event idle --by script-line", " (where threads wait)");
	if (has_type(page->p, DERIVE_SYSCALLS))
		put_next_line(page, "syscalls", " (how many, how long, which failed)");
	if (page->kernel >= KERNEL_SHARE)
		put_next_line(page, "--by entry,mine", " (who enters the kernel, and how)");
	if (page->processes >= PROCESSES_MANY)
		put_next_line(page, "processes", " (started by whom, and the cost)");
	if (page->nnext < NEXT_CHOSEN && !page->leaf_is_own)
		put_next_line(page, page->scripts ? "--by script-line" : "--by mine", " (your own code only)");
	else if (page->nnext < NEXT_CHOSEN && page->scripts)
		put_next_line(page, "--by script-line", " (or line, caller, total, process)");
	else if (page->nnext < NEXT_CHOSEN)
		put_next_line(page, "--by caller", " (or total, line, process)");
	if (page->nnext < NEXT_CHOSEN && top && strlen(top) <= TOP_LEAF_MAX)
		put_next_line(page, arena_printf(&page->arena, "annotate %s", text_shell_word(&page->arena, top)), "");
	else if (page->nnext < NEXT_CHOSEN && !page->leaf_is_own)
		put_next_line(page, "--by caller", " (or total, line, process)");
	put_next_line(page, "flamegraph", " (writes flame.html)");
}

/* Lines for tables on a screen; as many as one likes elsewhere. */
static unsigned room_for_tables(const struct page *page)
{
	const struct terminal *term = page->term;
	unsigned taken = page->used + NEXT_LINES + PROMPT;

	if (!term->lines)
		return UINT_MAX;
	return term->lines > taken ? term->lines - taken : 0;
}

/* Of each table. */
struct rows {
	unsigned leaves, scripts, programs;
};

/* Programs give way first. */
static struct rows rows_that_fit(const struct page *page, bool with_programs)
{
	unsigned room = room_for_tables(page), parts = page->scripts ? 2 : 1;
	struct rows rows = { LEAVES_MAX, page->scripts ? SCRIPTS_MAX : 0, with_programs ? PROGRAMS_MAX : 0 };

	if (room == UINT_MAX)
		return rows;
	if (room < parts * LEAVES_MIN + PROGRAMS_MIN + (parts + 1) * TABLE_FRAME)
		rows.programs = 0;
	room -= MIN(room, (parts + (rows.programs ? 1 : 0)) * TABLE_FRAME);
	if (rows.programs)
		rows.programs = MAX(MIN(room * 2 / (5 * parts), PROGRAMS_MAX), PROGRAMS_MIN);
	room -= MIN(room, rows.programs);
	if (rows.scripts)
		rows.scripts = MAX(MIN(room / 2, SCRIPTS_MAX), SCRIPTS_MIN);
	room -= MIN(room, rows.scripts);
	rows.leaves = MAX(MIN(room, LEAVES_MAX), LEAVES_MIN);
	return rows;
}

static void put_cpu_tables(struct page *page)
{
	struct view_spec spec = {
		.levels = { .items = { { VIEW_PROGRAM, 0 }, { VIEW_PROCESS, 0 } }, .len = 2 },
		.event = page->event,
	};
	struct view view;
	struct rows rows;

	view_build(&view, page->p, &spec);
	view_sort(&view, VIEW_SORT_WEIGHT);
	page->processes = (uint32_t)view.groups.len - view.ntop;
	rows = rows_that_fit(page, has_programs(&view));
	put_leaves(page, page->event, rows.leaves);
	put_blank(page);
	if (rows.scripts)
		put_scripts(page, rows.scripts);
	if (rows.programs)
		print_programs(page, &view, rows.programs);
	view_deinit(&view);
}

static void put_titled_leaves(struct page *page, const char *title, uint32_t event, unsigned limit)
{
	const char *name = profile_text(page->p, page->p->types.items[event].name);

	put_title(page, arena_printf(&page->arena, "%s (%s)", title, name));
	put_leaves(page, event, limit);
	put_blank(page);
}

/* Where threads wait, and if there is room, what they compute. */
static void put_wait_tables(struct page *page)
{
	unsigned room = room_for_tables(page), leaves = LEAVES_MAX, cpu_leaves = page->waits.alone ? 0 : LEAVES_MAX;

	if (!cpu_leaves || room < WAIT_LEAVES_MIN + LEAVES_MIN + 2 * TITLED_FRAME) {
		cpu_leaves = 0;
		leaves = MIN(MAX(room, WAIT_LEAVES_MIN + TITLED_FRAME) - TITLED_FRAME, LEAVES_MAX);
	} else if (room != UINT_MAX) {
		room -= 2 * TITLED_FRAME;
		cpu_leaves = MIN(MAX(room / 3, LEAVES_MIN), LEAVES_MAX);
		leaves = MIN(room - cpu_leaves, LEAVES_MAX);
	}
	put_titled_leaves(page, page->waits_have_stacks ? "where threads wait" : "who waits", page->waits.event, leaves);
	if (cpu_leaves)
		put_titled_leaves(page, "what they compute", page->event, cpu_leaves);
}

void summary_show(const struct summary_input *input, const struct terminal *term, FILE *out)
{
	struct page page = {
		.out = out, .term = term, .in = input, .p = input->profile, .facts = input->facts
	};

	page.event = input->facts->first_type;
	wait_question_init(&page.waits, page.p, page.facts);
	page.scripts = has_scripts(&page);
	page.waits_have_stacks = has_stacks(&page, page.waits.event);
	put_recording(&page);
	put_waiting(&page);
	if (page.waits.comes_first)
		put_wait_kinds(&page);
	put_event(&page);
	put_other_events(&page);
	if (!page.waits.comes_first)
		put_ways_in(&page);
	put_trust(&page);
	put_blank(&page);
	if (page.waits.comes_first)
		put_wait_tables(&page);
	else
		put_cpu_tables(&page);
	put_next(&page);
	wait_question_deinit(&page.waits);
	arena_deinit(&page.arena);
}
