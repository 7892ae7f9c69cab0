/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remarks.c - each reason to doubt with what helps against it, the worst first.
 */
#include "report/load/remarks.h"

#include "report/load/debug_package.h"

#include "formats/event_missed.h"
#include "formats/event_multiplexing.h"
#include "report/load/remedies.h"
#include "report/print/number.h"

#include <inttypes.h>
#include <string.h>

#define STACK_LEN_MAX 65528 /* the kernel's limit for PERF_SAMPLE_STACK_USER, perf_event_open(2) */
#define UNNAMED_SHARE 0.005 /* of the weight; less needs no remark */
#define BROKEN_SHARE  0.001
#define TURNS_NAMED   3 /* events that are named one by one */
#define WEIGHT_FILE (REMARK_LOST + 1)
#define WEIGHT_NOTE 0.0

struct judge {
	const struct trust *trust;
	const struct session *s;
	struct arena *arena;
	struct remarks *ret;
};

static void add(struct judge *r, double weight, const char *text)
{
	struct remark remark = { text, weight };

	vec_push(&r->ret->list, remark);
}

/* What stands at the end. */
#define NO_END                                                                               \
	"; what came later, counts of lost samples, kernel symbols and embedded code are missing"

/* Of the samples, how many: "1.2 %" */
static const char *of_samples(const struct judge *r, uint64_t count)
{
	return number_share(r->arena, (double)count / (double)MAX(r->s->stream.samples, 1));
}

static double share_of_samples(const struct judge *r, uint64_t count)
{
	return (double)count / (double)MAX(r->s->stream.samples, 1);
}

/* Frames that are not shown, though the walk has seen them. */
static void remark_depth(struct judge *r)
{
	if (r->s->stream.folded)
		add(r, share_of_samples(r, r->s->stream.folded),
		    arena_printf(r->arena,
				 "%s of stacks are deeper than %d frames: calls that repeat in them are shown once",
				 of_samples(r, r->s->stream.folded), UNWIND_FRAMES_MAX));
}

static void remark_recording(struct judge *r)
{
	const struct trust *trust = r->trust;
	uint32_t stack_len = r->s->recording->stack_len;

	if (r->s->recording->bad_records)
		add(r, WEIGHT_FILE,
		    arena_printf(r->arena, "the file is damaged: %s could not be read, the first at offset %" PRIu64 "%s",
				 number_of(r->arena, r->s->recording->bad_records, "record"), r->s->recording->damaged_at,
				 r->s->recording->complete ? "" : ", and the end is missing" NO_END));
	else if (r->s->recording->damaged_at)
		add(r, WEIGHT_FILE,
		    arena_printf(r->arena, "the file is damaged at offset %" PRIu64 "%s",
				 r->s->recording->damaged_at,
				 r->s->recording->complete ? "" : ", and the end is missing" NO_END));
	else if (!trust->complete_file)
		add(r, WEIGHT_FILE,
		    "the end of the file is missing: the recorder was killed, or the copy is incomplete" NO_END);
	if (r->s->recording->late_events)
		add(r, WEIGHT_FILE,
		    arena_printf(r->arena,
				 "%s came out of order, since sorting them would take too much memory: addresses "
				 "near them may have been looked up in the wrong mappings",
				 number_of(r->arena, r->s->recording->late_events, "event")));
	if (trust->lost)
		add(r, REMARK_LOST,
		    arena_printf(r->arena,
				 "lost %s (%s): larger rings (precord -m) or a lower rate (-F)",
				 number_share(r->arena, trust_lost(trust)),
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
	remark_depth(r);
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

static bool is_noted(const struct profile_facts *facts, enum recording_note_kind kind)
{
	for (size_t i = 0; i < facts->nnotes; i++)
		if (facts->notes[i].kind == kind)
			return true;
	return false;
}

/* Events that were multiplexed, or never counted, unless the recorder has noted that, and why. */
static void remark_turns(struct judge *r)
{
	const struct recording *rec = r->s->recording;
	const char *never = "", *wrong = "", *shared = "";
	double least = 1, most = 0;
	unsigned nshared = 0;

	for (uint32_t i = 0; i < rec->nevents; i++) {
		struct event_multiplexing multiplexing = event_multiplexing_of(rec, i);
		double share = event_multiplexing_share(&multiplexing);
		const char *name = rec->events[i].name;

		if (event_multiplexing_never(&multiplexing)) {
			never = arena_printf(r->arena, "%s%s%s", never, *never ? ", " : "", name);
		} else if (multiplexing.impossible) {
			wrong = arena_printf(r->arena, "%s%s%s", wrong, *wrong ? ", " : "", name);
		} else if (share < EVENT_MULTIPLEXING_WHOLE) {
			least = MIN(least, share);
			most = MAX(most, share);
			nshared++;
			shared = arena_printf(r->arena, "%s%s%s %s", shared, *shared ? ", " : "", name,
					      number_share(r->arena, share));
		}
	}
	if (*never && !is_noted(&r->s->facts, RECORDING_NOTE_NEVER))
		add(r, 1, arena_printf(r->arena, "not counted (unknown, not 0), no counter was free: %s", never));
	if (*wrong)
		add(r, 1, arena_printf(r->arena, "more than a processor can count, so the PMU is faulty: %s", wrong));
	if (nshared > TURNS_NAMED)
		shared = arena_printf(r->arena, "%u events were counted %s to %s", nshared,
				      number_share(r->arena, least), number_share(r->arena, most));
	if (nshared && !is_noted(&r->s->facts, RECORDING_NOTE_MULTIPLEXED))
		add(r, 1 - least,
		    arena_printf(r->arena,
				 "events were multiplexed: %s of the time; record fewer events at once",
				 shared));
}

/* A bias that nothing else shows: what ran while the counter was silent is missing. */
static void remark_missed(struct judge *r)
{
	const struct recording *rec = r->s->recording;
	struct event_missed missed;

	for (uint32_t i = 0; i < rec->nevents; i++) {
		if (!event_missed_of(rec, i, &missed))
			continue;
		double share = 1 - (double)missed.came / (double)missed.implied;

		add(r, REMARK_LOST,
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

static void remark_broken(struct judge *r)
{
	const struct trust *trust = r->trust;
	uint64_t all = trust->broken + trust->complete;

	for (int stop = 0; stop < STACK_STOPS; stop++) {
		double share = (double)trust->stops[stop] / (double)MAX(all, 1);
		const char *remedy = remedy_for_stop(r->s, (enum stack_stop)stop);

		if (stack_stop_is_complete((enum stack_stop)stop) || share < BROKEN_SHARE)
			continue;
		add(r, share,
		    arena_printf(r->arena, "broken %s: %s%s%s", number_share(r->arena, share),
				 stack_stop_name((enum stack_stop)stop), remedy ? "; " : "",
				 remedy ? remedy : ""));
	}
}

static const char *naming_remedy(const struct judge *r, uint32_t module)
{
	const struct module *mod = session_module(r->s, module);

	switch (mod->kind) {
	case MODULE_JIT:
		return remedy_for_jit(r->s, module, mod->pid);
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
		return r->s->recording->ksyms_remedy ? r->s->recording->ksyms_remedy :
						       "record as root, or with kernel.kptr_restrict=0";
	case MODULE_UNKNOWN:
		return "code in no known mapping";
	case MODULE_GUEST:
		return "code of a virtual machine's guest, whose symbols are not read";
	default:
		break;
	}
	if (module_status(mod) == MODULE_READY)
		return arena_printf(r->arena, "stripped; %s",
				    debug_package_remedy(DEBUG_PACKAGE_OS_RELEASE, mod->path, r->arena));
	return arena_printf(r->arena, "%s", module_files_note(mod));
}

static void remark_unnamed(struct judge *r)
{
	double share = trust_unnamed(r->trust);
	const struct profile *p = r->s->profile;
	uint32_t worst = r->trust->worst_module;

	if (share < UNNAMED_SHARE || worst == PROFILE_NONE)
		return;
	add(r, share,
	    arena_printf(r->arena, "unnamed %s, most in %s: %s", number_share(r->arena, share),
			 profile_text(p, profile_module(p, worst)->name),
			 naming_remedy(r, worst)));
}

/* Worst first; as they were added if equally bad. */
static void sort(struct remarks *remarks)
{
	for (size_t i = 1; i < remarks->list.len; i++) {
		struct remark remark = remarks->list.items[i];
		size_t at = i;

		for (; at && remarks->list.items[at - 1].weight < remark.weight; at--)
			remarks->list.items[at] = remarks->list.items[at - 1];
		remarks->list.items[at] = remark;
	}
}

static void remark_unverified(struct judge *r)
{
	uint64_t count = binaries_unverified(&r->s->binaries);

	if (count)
		add(r, WEIGHT_NOTE,
		    arena_printf(r->arena,
				 "no build ID was recorded for %s: the file now at its path is used unverified",
				 number_of(r->arena, count, "file")));
}

void remarks_init(struct remarks *remarks, const struct session *s, struct arena *arena)
{
	struct trust trust;
	struct judge r = { &trust, s, arena, remarks };

	*remarks = (struct remarks){ 0 };
	trust_judge(&trust, s->profile, &s->facts);
	if (s->recording) {
		remark_recording(&r);
		remark_missed(&r);
		remark_turns(&r);
	}
	remark_broken(&r);
	remark_unnamed(&r);
	remark_unverified(&r);
	for (size_t i = 0; i < s->facts.nnotes; i++)
		add(&r, WEIGHT_NOTE, recording_note_text(&s->facts.notes[i], arena));
	sort(remarks);
}

void remarks_deinit(struct remarks *remarks)
{
	vec_deinit(&remarks->list);
}
