/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c - adds up what was lost, cut, broken or left unnamed, and says why.
 */
#include "report/trust.h"

#include "report/number.h"
#include "report/tally.h"

#include <stdlib.h>

#define STACK_LEN_MAX 65528 /* the kernel's limit for PERF_SAMPLE_STACK_USER, perf_event_open(2) */
#define UNNAMED_SHARE 0.005 /* of the weight; less needs no remark */
#define BROKEN_SHARE  0.001

static void judge_stream(struct trust *trust, const struct session *s)
{
	const struct recording *rec = s->recording;
	const struct session_stream *stream = &s->stream;
	uint64_t lost = 0, throttled = 0, cut = 0, shortened = 0;

	for (size_t i = 0; i < rec->ncounts; i++) {
		lost += rec->counts[i].lost_kernel + rec->counts[i].lost_recorder;
		throttled += rec->counts[i].throttled;
		cut += rec->counts[i].stacks_cut;
		shortened += rec->counts[i].stacks_shortened;
	}
	/* The counts at the end of the file and the events on the way tell the same; one may be missing. */
	trust->lost =
		MAX(lost, stream->lost_records + stream->lost_samples + stream->dropped_samples);
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

static void judge_rows(struct trust *trust, const struct profile *p)
{
	uint64_t *weights = memory_zeroed(p->modules.len + 1, sizeof(*weights));
	uint32_t module;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];
		enum unwind_stop stop = (enum unwind_stop)row->stop;

		trust->stops[stop] += row->count;
		if (tally_is_broken(stop))
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
	*trust = (struct trust){ .samples = s->matched.count, .worst_module = PROFILE_NONE };
	judge_stream(trust, s);
	judge_rows(trust, s->profile);
}

static double part(uint64_t some, uint64_t others)
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

	return arena_printf(arena, "lost %s, throttled %s, cut %s, broken %s, unnamed %s",
			    trust->lost ? number_share(arena, part(trust->lost, trust->samples))
					: "0",
			    number_count(arena, trust->throttled),
			    number_share(arena, part(trust->cut + trust->shortened, whole)),
			    number_share(arena, part(trust->broken, trust->complete)),
			    number_share(arena, unnamed_share(trust)));
}

/* ---- remarks ---- */

struct remarks {
	const char **list;
	size_t len;
};

static void add(struct remarks *remarks, const char *text)
{
	if (remarks->len + 1 < TRUST_REMARKS_MAX)
		remarks->list[remarks->len++] = text;
}

static void remark_recording(const struct trust *trust, const struct session *s,
			     struct arena *arena, struct remarks *remarks)
{
	if (!trust->complete_file)
		add(remarks, "the file has no end: the recorder was killed, or the copy is cut; "
			     "what is there is whole");
	if (trust->lost)
		add(remarks,
		    arena_printf(arena,
				 "lost %s of samples: larger rings (precord -m), a lower "
				 "rate (-F) or smaller snapshots (-g dwarf,16384) keep them",
				 number_share(arena, part(trust->lost, trust->samples))));
	if (trust->throttled)
		add(remarks, arena_printf(arena,
					  "throttled %s: the kernel stopped sampling for a while; "
					  "a lower rate (precord -F) avoids it",
					  number_of(arena, trust->throttled, "time")));
	if (trust->shortened)
		add(remarks,
		    arena_printf(arena,
				 "shortened %s under pressure: larger rings (precord -m) or a "
				 "lower rate (-F) keep them whole",
				 number_of(arena, trust->shortened, "stack")));
	if (trust->cut && s->recording->stack_len && s->recording->stack_len < STACK_LEN_MAX)
		add(remarks,
		    arena_printf(arena,
				 "cut %s at %u bytes: precord -g dwarf takes the largest "
				 "snapshot there is",
				 number_of(arena, trust->cut, "stack"), s->recording->stack_len));
	else if (trust->cut)
		add(remarks, arena_printf(arena,
					  "cut %s at the kernel's limit of 64 KiB; frame pointers "
					  "would reach further (-fno-omit-frame-pointer)",
					  number_of(arena, trust->cut, "stack")));
}

static void remark_broken(const struct trust *trust, struct arena *arena, struct remarks *remarks)
{
	bool said[UNWIND_STOPS] = { 0 };
	uint64_t all = trust->broken + trust->complete;

	if (part(trust->broken, trust->complete) < BROKEN_SHARE)
		return;
	for (int n = 0; n < UNWIND_STOPS; n++) {
		int worst = -1;

		for (int stop = 0; stop < UNWIND_STOPS; stop++) {
			if (said[stop] || !tally_is_broken((enum unwind_stop)stop))
				continue;
			if (worst < 0 || trust->stops[stop] > trust->stops[worst])
				worst = stop;
		}
		if (worst < 0 || trust->stops[worst] == 0)
			return;
		said[worst] = true;

		const char *remedy = unwind_stop_remedy((enum unwind_stop)worst);

		add(remarks,
		    arena_printf(arena, "broken %s: %s%s%s",
				 number_share(arena, (double)trust->stops[worst] / (double)all),
				 unwind_stop_name((enum unwind_stop)worst), remedy ? "; " : "",
				 remedy ? remedy : ""));
	}
}

static void remark_unnamed(const struct trust *trust, const struct session *s, struct arena *arena,
			   struct remarks *remarks)
{
	const char *note = NULL, *name;

	if (unnamed_share(trust) < UNNAMED_SHARE || trust->worst_module == PROFILE_NONE)
		return;
	name = profile_text(s->profile, s->profile->modules.items[trust->worst_module].name);
	note = module_files_note(session_module(s, trust->worst_module));
	add(remarks, arena_printf(arena, "unnamed %s, most in '%s': %s",
				  number_share(arena, unnamed_share(trust)), name,
				  note && *note ? note : "install its debug symbols"));
}

void trust_remarks(const struct trust *trust, const struct session *s, struct arena *arena,
		   const char *ret[TRUST_REMARKS_MAX])
{
	struct remarks remarks = { .list = ret };

	remark_recording(trust, s, arena, &remarks);
	remark_broken(trust, arena, &remarks);
	remark_unnamed(trust, s, arena, &remarks);
	for (size_t i = 0; i < s->recording->nnotes; i++)
		add(&remarks, s->recording->notes[i]);
	ret[remarks.len] = NULL;
}
