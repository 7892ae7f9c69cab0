/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_debug_unwind.c - one stack and how it was walked: by default the first that does not reach its root.
 *
 * Samples are numbered from 1 in time order, whatever filters say, so that a number means the same sample always.
 */
#include "report/commands.h"
#include "report/rewrite/sample_extract.h"
#include "report/load/session.h"
#include "report/print/walk_text.h"
#include "symbolize/unwind/unwind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
	search->text_is_broken = !unwind_stop_is_complete(chain.stop);
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
	broken = !unwind_stop_is_complete(event->chain->stop);
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
	.opts = debug_opts,
	.args_size = sizeof(struct debug_args),
	.run = debug_run,
};
