/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_strip.c - takes out of a trace what another reader need not have: words of stacks and registers, names, the
 * recorder's command line, the host.
 *
 * Nothing is blanked in place: a new file is written from what is to stay, so what was taken is in no part of it.
 */
#include "report/commands.h"
#include "report/load/session.h"
#include "report/rewrite/strip_names.h"
#include "report/rewrite/trace_copy.h"
#include "symbolize/unwind/unwind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct strip_args {
	struct session_args session;
	const char *output;
	bool stacks, names, command_lines, host;
};

static const struct opt strip_opts[] = {
	OPT_STR(struct strip_args, output, "output", 'o', "FILE",
		"write to FILE instead of TRACE with .stripped in its name"),
	OPT_FLAG(struct strip_args, stacks, "stacks", 0,
		 "call chains instead of registers and words of stacks"),
	OPT_FLAG(struct strip_args, names, "names", 0,
		 "numbers for names of threads, files and functions, and no command line"),
	OPT_FLAG(struct strip_args, command_lines, "command-lines", 0,
		 "no command line of the recorder"),
	OPT_FLAG(struct strip_args, host, "host", 0, "no host name, container and processor model"),
	OPT_GROUP(struct strip_args, session, session_opts),
	OPT_END,
};

/* ---- chains ---------------------------------------------------------------------------------------- */

/* The user part of every sample's chain, in the order of samples. */
struct chains {
	VEC(uint64_t) ips;
	VEC(size_t) ends; /* of each sample's: index behind its last */
	bool unwound;     /* there are snapshots; otherwise the recorder's own chains stay as they are */
	bool no_names;    /* --names: what is interpreted has none any more */
	size_t next;      /* sample that is copied next */
};

static void chains_deinit(struct chains *chains)
{
	vec_deinit(&chains->ips);
	vec_deinit(&chains->ends);
}

/* What happens to events on their way. */
struct passage {
	struct chains chains;     /* --stacks */
	struct strip_names names; /* --names */
	bool take_chains, rename, take_cmdlines;
};

static void passage_deinit(struct passage *passage)
{
	chains_deinit(&passage->chains);
	strip_names_deinit(&passage->names);
}

/* Of a frame of an interpreter, what it interprets, as a return address: only the walk over the stack finds that. */
static uint64_t address_of(const struct chains *chains, const struct unwind_frame *frame, bool leaf)
{
	uint64_t ip = frame->ip, vaddr = code_place_address(frame->vaddr);

	if (chains->no_names || frame->module->kind != MODULE_JIT || vaddr == ip || vaddr == ip - 1)
		return ip;
	return vaddr + !leaf;
}

static struct err *keep_chain(void *context, const struct walked_event *event)
{
	struct chains *chains = context;
	size_t begin = chains->ips.len;

	if (event->ev->kind != EVENT_SAMPLE)
		return NULL;
	for (size_t i = 0; i < event->chain->nframes; i++) {
		const struct unwind_frame *frame = &event->chain->frames[i];
		bool leaf = chains->ips.len == begin;

		if (!frame->kernel)
			vec_push(&chains->ips, address_of(chains, frame, leaf));
	}
	if (chains->ips.len > begin && unwind_stop_is_complete(event->chain->stop))
		vec_push(&chains->ips, 0); /* as RECORDING_CHAIN_UNWOUND has it */
	vec_push(&chains->ends, chains->ips.len);
	return NULL;
}

/* The chain in the place of registers and stack. */
static void take_chain(struct chains *chains, struct event *ev)
{
	if (ev->kind != EVENT_SAMPLE || chains->next == chains->ends.len)
		return;
	size_t begin = chains->next ? chains->ends.items[chains->next - 1] : 0;
	size_t end = chains->ends.items[chains->next++];

	ev->sample.regs = NULL;
	ev->sample.stack = (struct event_stack){ 0 };
	ev->sample.other = NULL;
	if (!chains->unwound)
		return;
	ev->sample.user_ips = chains->ips.items + begin;
	ev->sample.nuser_ips = end - begin;
}

static bool pass(void *context, struct event *ev)
{
	struct passage *passage = context;

	if (passage->take_chains)
		take_chain(&passage->chains, ev);
	if (passage->take_cmdlines && ev->kind == EVENT_PROCESS)
		ev->process.cmdline = "";
	if (passage->rename)
		strip_names_event(&passage->names, ev);
	return true;
}

/* ---- the command ----------------------------------------------------------------------------------- */

/* "run.trace" -> "run.stripped.trace". */
static const char *default_output(struct session *s, const char *input)
{
	size_t len = strlen(input), suffix = strlen(".trace");
	bool has = len > suffix && strcmp(input + len - suffix, ".trace") == 0;

	return arena_printf(&s->arena, "%.*s.stripped%s", (int)(has ? len - suffix : len), input,
			    has ? ".trace" : "");
}

static void change_header(const struct strip_args *args, struct recording *as)
{
	if (args->command_lines)
		as->cmdline = "";
	if (args->host)
		as->hostname = as->cpu_model = as->container = "";
	if (args->stacks) {
		if (as->chain == RECORDING_CHAIN_DWARF)
			as->chain = RECORDING_CHAIN_UNWOUND;
		as->stack_len = 0;
		as->raw_stacks = false;
	}
}

static struct err *strip(struct session *s, void *args_)
{
	const struct strip_args *args = args_;
	CLEANUP(passage_deinit) struct passage passage = {
		.chains.unwound = s->recording->chain == RECORDING_CHAIN_DWARF,
		.chains.no_names = args->names,
		.take_chains = args->stacks,
		.rename = args->names,
		.take_cmdlines = args->command_lines,
	};
	struct loader_listener listener = { .event = keep_chain, .context = &passage.chains };
	struct filter everything = { 0 };
	struct recording as = *s->recording;
	struct trace_copy copy = {
		.input = args->session.input,
		.output = args->output ? args->output : default_output(s, args->session.input),
		.as = &as,
		.event = pass,
		.context = &passage,
	};
	uint64_t len = 0;
	struct err *err = NULL;

	if (args->names && s->recording->raw_stacks && !args->stacks)
		return err_remedy(err_new(ERR_USAGE, "'%s' holds application data, in which names cannot be found",
					  copy.input),
				  "say --stacks as well");
	if (args->stacks)
		err = session_each(s, &everything, &listener);
	if (err)
		return err;
	change_header(args, &as);
	if (args->names)
		strip_names_recording(&passage.names, &as, &s->diag);
	err = trace_copy(&copy, &len);
	if (!err)
		fprintf(stderr, "preport: '%s': %" PRIu64 " bytes\n", copy.output, len);
	return err;
}

static struct err *strip_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct strip_args *args = args_;
	struct err *err = trace_copy_input(operands, noperands, &args->session.input);

	(void)ret_status;
	if (!err && !args->stacks && !args->names && !args->command_lines && !args->host)
		err = err_remedy(err_new(ERR_USAGE, "nothing to remove was given"),
				 "choose --stacks, --names, --command-lines or --host");
	return err ? err : session_run(&cmd_strip, &args->session, strip, args);
}

const struct command cmd_strip = {
	.name = "strip",
	.summary = "remove sensitive data from a trace before sharing it",
	.operands = "[TRACE]",
	.needs = "events",
	.opts = strip_opts,
	.args_size = sizeof(struct strip_args),
	.run = strip_run,
};
