/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c - adds up what was lost, cut, broken or left unnamed, and says why.
 */
#include "report/load/trust.h"

#include "formats/event_missed.h"
#include "formats/event_multiplexing.h"
#include "report/load/remedies.h"
#include "report/print/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STACK_LEN_MAX 65528 /* the kernel's limit for PERF_SAMPLE_STACK_USER, perf_event_open(2) */
#define UNNAMED_SHARE 0.005 /* of the weight; less needs no remark */
#define BROKEN_SHARE  0.001
#define TURNS_NAMED   3 /* events that are named one by one */

static void judge_stream(struct trust *trust, const struct session *s)
{
	const struct recording *rec = s->recording;
	const struct session_stream *stream = &s->stream;
	struct session_losses losses = session_losses(s);
	uint64_t throttled = 0, cut = 0, shortened = 0;

	for (size_t i = 0; i < rec->ncounts; i++) {
		throttled += rec->counts[i].throttled;
		cut += rec->counts[i].stacks_cut;
		shortened += rec->counts[i].stacks_shortened;
	}
	/* The counts at the end of the file and the events on the way tell the same; one may be missing. */
	trust->lost = losses.by_kernel + losses.by_recorder;
	trust->side_band = losses.side_band;
	trust->throttled = MAX(throttled, stream->throttles);
	trust->cut = MAX(cut, stream->cut);
	trust->shortened = MAX(shortened, stream->shortened);
	trust->complete_file = rec->complete && rec->damaged_at == 0;
}

static bool leaf_is_unnamed(const struct profile *p, uint32_t stack, uint32_t *ret_module)
{
	const struct profile_location *at;

	*ret_module = PROFILE_NONE;
	if (stack == 0)
		return true;
	at = &p->locations.items[p->stacks.items[stack].location];
	*ret_module = at->module;
	return at->nlines == 0 ||
	       p->functions.items[p->lines.items[at->first_line].function].unnamed;
}

/* Is the kernel in the middle of exec there? Then the old stack is gone, and the new one not there yet. */
static bool is_in_exec(const struct profile *p, uint32_t stack)
{
	static const char *const names[] = { "bprm_execve", "do_execveat_common", "begin_new_exec", "exec_mmap",
					     "load_elf_binary", "exec_binprm", "kernel_execve" };

	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];

		if (profile_module(p, at->module)->kind != PROFILE_KERNEL || !at->nlines)
			return false;
		uint32_t function = p->lines.items[at->first_line + at->nlines - 1].function;
		const char *name = profile_text(p, p->functions.items[function].name);

		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (strncmp(names[i], name, strlen(names[i])) == 0)
				return true;
	}
	return false;
}

static void judge_rows(struct trust *trust, const struct profile *p)
{
	int64_t *weights = memory_zeroed(p->modules.len + 1, sizeof(*weights));
	uint32_t module;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];
		enum unwind_stop stop = (enum unwind_stop)row->stop;

		if (stop == UNWIND_NO_STACK && is_in_exec(p, row->stack))
			stop = UNWIND_NOT_WALKED;
		trust->stops[stop] += row->count;
		if (!unwind_stop_is_complete(stop))
			trust->broken += row->count;
		else
			trust->complete += row->count;
		if (!leaf_is_unnamed(p, row->stack, &module)) {
			stats_add(&trust->named, row);
			continue;
		}
		stats_add(&trust->unnamed, row);
		if (module == PROFILE_NONE)
			continue;
		weights[module] += row->weight;
		if (trust->worst_module == PROFILE_NONE ||
		    weights[module] > weights[trust->worst_module])
			trust->worst_module = module;
	}
	free(weights);
}

void trust_judge(struct trust *trust, const struct session *s)
{
	*trust = (struct trust){ .samples = s->matched.count,
				 .worst_module = PROFILE_NONE,
				 .sums_only = s->imported };
	judge_stream(trust, s);
	judge_rows(trust, s->profile);
	/* A copy that ran on behind the end of its stack has lost nothing. */
	trust->cut = MIN(trust->cut, trust->stops[UNWIND_SNAPSHOT_ENDED] + trust->stops[UNWIND_SPLICED]);
}

static double part(int64_t some, int64_t others)
{
	return some ? (double)some / ((double)some + (double)others) : 0;
}

static double unnamed_share(const struct trust *trust)
{
	return part(trust->unnamed.weight, trust->named.weight);
}

const char *trust_line(const struct trust *trust, struct arena *arena)
{
	uint64_t whole = trust->samples > trust->cut ? trust->samples - trust->cut : 0;

	if (trust->sums_only)
		return "not known: sums without lost samples or broken stacks";
	return arena_printf(arena, "lost %s, throttled %s, cut %s, broken %s, unnamed %s",
			    trust->lost ? number_share(arena, part(trust->lost, trust->samples))
					: "0",
			    number_count(arena, trust->throttled),
			    number_share(arena, part(trust->cut + trust->shortened, whole)),
			    number_share(arena, part(trust->broken, trust->complete)),
			    number_share(arena, unnamed_share(trust)));
}

/* ---- remarks ---- */

#define WEIGHT_FILE (TRUST_LOST + 1)
#define WEIGHT_NOTE 0.0

struct remarks {
	const struct trust *trust;
	const struct session *s;
	struct arena *arena;
	struct trust_remarks *ret;
};

static void add(struct remarks *r, double weight, const char *text)
{
	struct trust_remark remark = { text, weight };

	vec_push(&r->ret->list, remark);
}

/* Of the samples, how many: "1.2 %" */
static const char *of_samples(const struct remarks *r, uint64_t count)
{
	return number_share(r->arena, (double)count / (double)MAX(r->s->stream.samples, 1));
}

static double share_of_samples(const struct remarks *r, uint64_t count)
{
	return (double)count / (double)MAX(r->s->stream.samples, 1);
}

static void remark_recording(struct remarks *r)
{
	const struct trust *trust = r->trust;
	uint32_t stack_len = r->s->recording->stack_len;

	if (r->s->recording->damaged_at)
		add(r, WEIGHT_FILE,
		    arena_printf(r->arena, "the file is damaged at offset %" PRIu64,
				 r->s->recording->damaged_at));
	else if (!trust->complete_file)
		add(r, WEIGHT_FILE,
		    "the file has no end: the recorder was killed, or the copy is cut");
	if (r->s->recording->late_events)
		add(r, WEIGHT_FILE,
		    arena_printf(r->arena,
				 "%s came out of order, since sorting them would take too much memory: addresses "
				 "near them may have been looked up in the wrong mappings",
				 number_of(r->arena, r->s->recording->late_events, "event")));
	if (trust->lost)
		add(r, TRUST_LOST,
		    arena_printf(r->arena,
				 "lost %s (%s): larger rings (precord -m) or a lower rate (-F)",
				 number_share(r->arena, part(trust->lost, trust->samples)),
				 number_count(r->arena, trust->lost)));
	if (trust->side_band)
		add(r, 1,
		    arena_printf(r->arena,
				 "lost %s of mappings, names and forks: some addresses may have no name; "
				 "larger rings (precord -m)",
				 number_of(r->arena, trust->side_band, "record")));
	if (trust->throttled)
		add(r, 1,
		    arena_printf(r->arena,
				 "throttled %s by the kernel: a lower rate (precord -F) avoids it",
				 number_of(r->arena, trust->throttled, "time")));
	if (trust->shortened)
		add(r, share_of_samples(r, trust->shortened),
		    arena_printf(r->arena,
				 "shortened %s of stacks under pressure: larger rings (precord -m)",
				 of_samples(r, trust->shortened)));
	if (!trust->cut)
		return;
	add(r, share_of_samples(r, trust->cut) / 2, /* most of them are put together again */
	    stack_len && stack_len < STACK_LEN_MAX
		    ? arena_printf(r->arena,
				   "cut %s of stacks at %u bytes: precord -g dwarf takes more",
				   of_samples(r, trust->cut), stack_len)
		    : arena_printf(r->arena,
				   "cut %s of stacks at 64 KiB, the kernel's limit: frame pointers "
				   "reach beyond it",
				   of_samples(r, trust->cut)));
}

static bool is_noted(const struct recording *rec, const char *words)
{
	for (size_t i = 0; i < rec->nnotes; i++)
		if (strstr(rec->notes[i], words))
			return true;
	return false;
}

/* Events that took turns at the counters, or found none, unless the recorder has said so, and why. */
static void remark_turns(struct remarks *r)
{
	const struct recording *rec = r->s->recording;
	const char *never = "", *wrong = "", *shared = "";
	double least = 1, most = 0;
	unsigned nshared = 0;

	for (uint32_t i = 0; i < rec->nevents; i++) {
		struct event_multiplexing turns = event_multiplexing_of(rec, i);
		double share = event_multiplexing_share(&turns);
		const char *name = rec->events[i].name;

		if (event_multiplexing_never(&turns)) {
			never = arena_printf(r->arena, "%s%s%s", never, *never ? ", " : "", name);
		} else if (turns.impossible) {
			wrong = arena_printf(r->arena, "%s%s%s", wrong, *wrong ? ", " : "", name);
		} else if (share < EVENT_MULTIPLEXING_WHOLE) {
			least = MIN(least, share);
			most = MAX(most, share);
			nshared++;
			shared = arena_printf(r->arena, "%s%s%s %s", shared, *shared ? ", " : "", name,
					      number_share(r->arena, share));
		}
	}
	if (*never && !is_noted(rec, RECORDING_NOTE_NEVER_TEXT))
		add(r, 1, arena_printf(r->arena, "not counted, which is not 0, for want of a counter: %s", never));
	if (*wrong)
		add(r, 1, arena_printf(r->arena, "more than a processor can count, so the PMU is wrong: %s", wrong));
	if (nshared > TURNS_NAMED)
		shared = arena_printf(r->arena, "%u events had one for %s to %s", nshared,
				      number_share(r->arena, least), number_share(r->arena, most));
	if (nshared && !is_noted(rec, RECORDING_NOTE_TURNS_TEXT))
		add(r, 1 - least,
		    arena_printf(r->arena,
				 "counters were taken in turns: %s of the time; record fewer events at once",
				 shared));
}

/* A bias that nothing else shows: what ran while the counter was silent is missing. */
static void remark_missed(struct remarks *r)
{
	const struct recording *rec = r->s->recording;
	struct event_missed missed;

	for (uint32_t i = 0; i < rec->nevents; i++) {
		if (!event_missed_of(rec, i, &missed))
			continue;
		double share = 1 - (double)missed.came / (double)missed.implied;

		add(r, TRUST_LOST,
		    arena_printf(r->arena,
				 "%s: %s of the samples that its count implies never came%s, for the counter "
				 "does not always interrupt: record with -e cpu-clock",
				 rec->events[i].name, number_share(r->arena, share),
				 missed.everywhere     ? ""
				 : missed.ncpus == 1 ? arena_printf(r->arena, " on CPU %" PRIu32, missed.cpu)
						     : arena_printf(r->arena, " on %" PRIu32 " CPUs",
								    missed.ncpus)));
	}
}

static void remark_broken(struct remarks *r)
{
	const struct trust *trust = r->trust;
	uint64_t all = trust->broken + trust->complete;

	for (int stop = 0; stop < UNWIND_STOPS; stop++) {
		double share = (double)trust->stops[stop] / (double)MAX(all, 1);
		const char *remedy = remedy_for_stop(r->s, (enum unwind_stop)stop);

		if (unwind_stop_is_complete((enum unwind_stop)stop) || share < BROKEN_SHARE)
			continue;
		add(r, share,
		    arena_printf(r->arena, "broken %s: %s%s%s", number_share(r->arena, share),
				 unwind_stop_name((enum unwind_stop)stop), remedy ? "; " : "",
				 remedy ? remedy : ""));
	}
}

static const char *naming_remedy(const struct remarks *r, const struct module *mod)
{
	switch (mod->kind) {
	case MODULE_JIT:
		return remedy_for_jit(r->s, mod->pid);
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
		return r->s->recording->ksyms_remedy ? r->s->recording->ksyms_remedy :
						       "record as root, or with kernel.kptr_restrict=0";
	case MODULE_UNKNOWN:
		return "code in no known mapping";
	default:
		break;
	}
	if (module_status(mod) == MODULE_READY)
		return "stripped; install its debug symbols, or set DEBUGINFOD_URLS";
	return arena_printf(r->arena, "%s", module_files_note(mod));
}

static void remark_unnamed(struct remarks *r)
{
	double share = unnamed_share(r->trust);
	const struct profile *p = r->s->profile;
	uint32_t worst = r->trust->worst_module;

	if (share < UNNAMED_SHARE || worst == PROFILE_NONE)
		return;
	add(r, share,
	    arena_printf(r->arena, "unnamed %s, most in %s: %s", number_share(r->arena, share),
			 profile_text(p, profile_module(p, worst)->name),
			 naming_remedy(r, session_module(r->s, worst))));
}

/* Worst first; as they were added if equally bad. */
static void sort(struct trust_remarks *remarks)
{
	for (size_t i = 1; i < remarks->list.len; i++) {
		struct trust_remark remark = remarks->list.items[i];
		size_t at = i;

		for (; at && remarks->list.items[at - 1].weight < remark.weight; at--)
			remarks->list.items[at] = remarks->list.items[at - 1];
		remarks->list.items[at] = remark;
	}
}

static void remark_unverified(struct remarks *r)
{
	uint64_t count = session_unverified(r->s);

	if (count)
		add(r, WEIGHT_NOTE,
		    arena_printf(r->arena,
				 "no build ID was recorded for %s: what is at the path now is taken on trust",
				 number_of(r->arena, count, "file")));
}

void trust_remark(const struct trust *trust, const struct session *s, struct arena *arena,
		  struct trust_remarks *ret)
{
	struct remarks r = { trust, s, arena, ret };

	*ret = (struct trust_remarks){ 0 };
	remark_recording(&r);
	remark_missed(&r);
	remark_turns(&r);
	remark_broken(&r);
	remark_unnamed(&r);
	remark_unverified(&r);
	for (size_t i = 0; i < s->recording->nnotes; i++)
		add(&r, WEIGHT_NOTE, s->recording->notes[i]);
	sort(ret);
}
