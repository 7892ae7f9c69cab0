/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_perf_data.c - a trace as the file that perf record would have written.
 *
 * All samples of an event have the same fields there, so the trace is read twice: once for which those are. How long a wait took
 * is known only at its end, while perf reads it from the sample at its beginning, as a period: that is found in the same way.
 */
#include "formats/base/map.h"
#include "formats/perf/perf_data_writer.h"
#include "report/commands.h"
#include "report/export/export.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/input.h"
#include "report/print/number.h"
#include "report/print/output.h"
#include "symbolize/elf/image.h"
#include "symbolize/unwind/unwind_chain.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FILE "perf.data"

struct perf_data_args {
	struct export_args export;
	bool chains;
};

static const struct opt perf_data_opts[] = {
	OPT_FLAG(struct perf_data_args, chains, "chains", 0,
		 "the unwound stacks as call chains, not registers and stack"),
	OPT_GROUP(struct perf_data_args, export, export_opts),
	OPT_END,
};

/* A thread and its wait. */
struct waiter {
	bool waits, sampled, ended; /* what has ended leaves its CPU once more, which is no wait */
	uint64_t since_ns;  /* when it left its CPU */
	uint64_t sample;    /* key of the sample of that; see sample_key() */
};

/* The lengths of waits, each by the sample that has its stack. */
struct waits {
	struct map numbers; /* tid -> index in all + 1 */
	VEC(struct waiter) all;
	struct map lengths_ns; /* sample_key() -> length */
	uint64_t without_ns;   /* of those that have no sample */
};

struct job {
	struct session *session;
	struct perf_data_writer *writer;
	bool chains, data_maps;
	VEC(uint64_t) kernel, user; /* of the current sample */
	uint64_t counts, managed;   /* samples with what is left out */
	struct waits waits;
};

/* ---- the first reading ---- */

/* A thread has one sample at a time; an equal key would be of an hour later to the nanosecond. */
static uint64_t sample_key(const struct event *ev)
{
	return ev->time_ns << 22 ^ ev->tid;
}

static struct waiter *waiter_of(struct waits *waits, uint32_t tid)
{
	bool is_new;
	uint64_t *number = map_put(&waits->numbers, tid, &is_new);

	if (is_new) {
		vec_push(&waits->all, (struct waiter){ 0 });
		*number = waits->all.len;
	}
	return &waits->all.items[*number - 1];
}

static void end_wait(struct waits *waits, struct waiter *waiter, uint64_t time_ns)
{
	uint64_t len_ns = time_ns > waiter->since_ns ? time_ns - waiter->since_ns : 0;

	if (waiter->waits && waiter->sampled)
		*map_put(&waits->lengths_ns, waiter->sample, NULL) = MAX(len_ns, 1);
	else if (waiter->waits)
		waits->without_ns += len_ns;
	waiter->waits = waiter->sampled = false;
}

/* The sample of a switch comes in front of it; of a thread that the recorder found waiting, behind, and of no CPU. */
static void note_wait(struct waits *waits, const struct recording *rec, const struct event *ev)
{
	bool is_sample = ev->kind == EVENT_SAMPLE && derive_is_off_cpu(rec, ev->sample.event);
	struct waiter *waiter;

	if (!is_sample && ev->kind != EVENT_SWITCH && ev->kind != EVENT_FORK && ev->kind != EVENT_EXIT)
		return;
	waiter = waiter_of(waits, ev->tid);
	if (ev->kind == EVENT_FORK)
		waiter->ended = false;
	if (waiter->ended)
		return;
	if (is_sample && !(waiter->waits && (waiter->sampled || ev->cpu != EVENT_NO_CPU))) {
		if (!waiter->waits)
			waiter->since_ns = ev->cpu == EVENT_NO_CPU ? rec->start_ns : ev->time_ns;
		waiter->waits |= ev->cpu == EVENT_NO_CPU;
		waiter->sampled = true;
		waiter->sample = sample_key(ev);
	} else if (ev->kind == EVENT_SWITCH && !ev->cpu_switch.in) {
		waiter->waits = true;
		waiter->since_ns = ev->time_ns;
	} else if (!is_sample) {
		end_wait(waits, waiter, ev->time_ns);
		waiter->ended = ev->kind == EVENT_EXIT;
	}
}

static bool has_waits(const struct recording *rec)
{
	for (uint32_t i = 0; i < rec->nevents; i++)
		if (derive_is_off_cpu(rec, i))
			return true;
	return false;
}

/* What is left out is counted on the way. */
static struct err *survey(const char *path, struct perf_data_fields *fields, struct perf_data_plan *plan, struct job *job)
{
	CLEANUP(diag_deinit) struct diag diag = { 0 };
	bool waits = has_waits(plan->rec);
	struct input input;
	struct err *err = input_open(path, NULL, &diag, &input);
	struct event ev;

	if (err)
		return err;
	while (event_source_next(input.source, &ev)) {
		plan->switches |= ev.kind == EVENT_SWITCH;
		if (waits)
			note_wait(&job->waits, plan->rec, &ev);
		job->managed += ev.kind == EVENT_MANAGED && ev.managed.nframes;
		if (ev.kind != EVENT_SAMPLE || ev.sample.event >= plan->rec->nevents)
			continue;
		perf_data_fields_add(&fields[ev.sample.event], &ev.sample);
		job->counts += ev.sample.ncounts != 0;
	}
	for (size_t i = 0; i < job->waits.all.len; i++)
		end_wait(&job->waits, &job->waits.all.items[i], plan->rec->end_ns);
	err_free(event_source_finish(input.source)); /* it is reported when the events are read again */
	event_source_close(input.source);
	return NULL;
}

/* ---- the second ---- */

/* The pages that @segment takes up, in a file that is mapped @bias away from where it was linked to. */
static void set_pages(struct event_mmap *map, const struct image_segment *segment, uint64_t bias, uint64_t page_len)
{
	uint64_t lead = segment->vaddr & (page_len - 1), end = segment->vaddr + segment->file_len;

	map->start = segment->vaddr - lead + bias;
	map->end = ((end + page_len - 1) & ~(page_len - 1)) + bias;
	map->file_offset = segment->offset - MIN(lead, segment->offset);
	map->flags &= ~EVENT_MMAP_EXEC;
}

/*
 * perf's unwinder finds the tables of a file by the mappings of what is no code, which perf record --call-graph dwarf asks
 * for and precord does not need: they follow from the file's head.
 */
static void add_data_maps(struct job *job, const struct event *code)
{
	struct module_table *modules = job->session->binaries.modules;
	const struct event_mmap *map = &code->mmap;
	struct module *mod = module_table_file(modules, MODULE_FILE, map->path, map->build_id, map->build_id_len);
	struct image *img = module_whole_file(modules, mod);
	uint64_t bias, page_len = job->session->recording->page_size;
	const struct image_segment *segments;
	size_t count;

	img = img ? img : module_image(modules, mod);
	if (!img || !page_len || !image_bias(img, map->start, map->file_offset, &bias))
		return;
	segments = image_segments(img, &count);
	for (size_t i = 0; i < count; i++) {
		struct event data = *code;

		if (segments[i].exec || !segments[i].file_len)
			continue;
		set_pages(&data.mmap, &segments[i], bias, page_len);
		perf_data_writer_add(job->writer, &data, NULL);
	}
}

static void add_side(void *context, const struct event *ev)
{
	struct job *job = context;

	if (ev->kind == EVENT_SAMPLE)
		return;
	perf_data_writer_add(job->writer, ev, NULL);
	if (ev->kind == EVENT_MMAP && job->data_maps && ev->mmap.flags & EVENT_MMAP_EXEC && ev->mmap.path[0] == '/' &&
	    !(ev->mmap.flags & EVENT_MMAP_KERNEL))
		add_data_maps(job, ev);
}

/* The leaf is an address of its own, the others are return addresses, as in the kernel's chains. */
static struct perf_data_chain unwound(struct job *job, const struct unwind_chain *chain)
{
	job->kernel.len = job->user.len = 0;
	for (size_t i = 0; i < chain->nframes; i++) {
		if (chain->frames[i].kernel)
			vec_push(&job->kernel, chain->frames[i].ip);
		else
			vec_push(&job->user, chain->frames[i].ip);
	}
	return (struct perf_data_chain){ job->kernel.items, job->user.items, job->kernel.len, job->user.len };
}

static struct err *add_sample(void *context, const struct walked_event *event)
{
	struct job *job = context;
	struct perf_data_chain chain;
	const uint64_t *len_ns;
	struct event ev;

	if (event->ev->kind != EVENT_SAMPLE)
		return NULL;
	ev = *event->ev;
	len_ns = derive_is_off_cpu(job->session->recording, ev.sample.event) ? map_get(&job->waits.lengths_ns, sample_key(&ev)) : NULL;
	if (len_ns)
		ev.sample.period = *len_ns;
	if (job->chains)
		chain = unwound(job, event->chain);
	perf_data_writer_add(job->writer, &ev, job->chains ? &chain : NULL);
	return NULL;
}

static void say_left_out(const struct session *s, const struct job *job)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	uint64_t cut = perf_data_writer_cut(job->writer);

	if (job->counts)
		fprintf(stderr, "preport: left out: the counts of other events that %s carry; 'preport --metric' has them\n",
			number_of(&arena, job->counts, "sample"));
	if (job->managed)
		fprintf(stderr, "preport: left out: %s of interpreters, for which perf.data has no place\n",
			number_of(&arena, job->managed, "stack"));
	if (job->waits.without_ns)
		fprintf(stderr, "preport: left out: %s of waits that have no stack\n", number_time(&arena, job->waits.without_ns));
	if (cut)
		fprintf(stderr, "preport: left out: %s of stacks that are larger than a record\n", number_of(&arena, cut, "word"));
	if (s->recording->njit_maps)
		fputs("preport: names of code made at run time are not part of perf.data: perf looks for /tmp/perf-PID.map\n", stderr);
}

static struct err *write_events(struct session *s, struct perf_data_args *args, const struct perf_data_plan *plan, struct job *job,
				FILE *out)
{
	struct loader_listener listener = { .context = job, .heard = add_side, .event = add_sample };
	struct err *err = perf_data_writer_open(plan, out, &job->writer);

	if (!err)
		err = session_each(s, &args->export.filter, &listener);
	if (!err)
		err = perf_data_writer_finish(job->writer);
	return err;
}

static struct err *export_events(struct session *s, void *args_)
{
	struct perf_data_args *args = args_;
	struct job job = { .session = s, .chains = args->chains };
	struct perf_data_fields *fields = ARENA_ARRAY(&s->arena, struct perf_data_fields, s->recording->nevents + 1);
	struct perf_data_plan plan = {
		.rec = s->recording,
		.fields = fields,
		.snapshots = !args->chains && s->recording->chain == RECORDING_CHAIN_DWARF,
	};
	CLEANUP(output_close) struct output out = { 0 };

	job.data_maps = plan.snapshots;

	struct err *err = survey(s->args->input, fields, &plan, &job);

	if (!err)
		err = output_open(&out, args->export.output);
	/* Readable only by its owner, like the files of perf record. */
	if (!err && out.path && fchmod(fileno(out.stream), 0600) != 0)
		err = err_system(errno, "cannot keep '%s' to its owner", out.path);
	if (!err)
		err = write_events(s, args, &plan, &job, out.stream);
	if (!err)
		err = output_commit(&out);
	if (!err)
		say_left_out(s, &job);
	perf_data_writer_free(job.writer);
	map_deinit(&job.waits.numbers);
	map_deinit(&job.waits.lengths_ns);
	vec_deinit(&job.waits.all);
	vec_deinit(&job.kernel);
	vec_deinit(&job.user);
	return err;
}

static struct err *perf_data_run(void *args, char **operands, int noperands, int *ret_status)
{
	static const struct export_file file = { DEFAULT_FILE, "perf report -i" };
	struct perf_data_args *perf_data = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (strcmp(perf_data->export.session.input, "-") == 0)
		return err_remedy(err_new(ERR_USAGE, "perf-data reads its input twice, which standard input cannot be"),
				  "name a file with -i");
	return export_run_code(&cmd_perf_data, args, export_events, &file);
}

const struct command cmd_perf_data = {
	.name = "perf-data",
	.summary = "convert the recording to perf.data, for perf and tools that read its files",
	.operands = "",
	.needs = "events",
	.details = "With registers and stacks, as perf record --call-graph dwarf has them, or with --chains the stacks that\n"
		   "were unwound here. On a terminal the file is perf.data unless -o names another.",
	.examples = "  preport perf-data -o perf.data && perf report -i perf.data\n"
		    "  preport perf-data --chains -o perf.data && perf report -i perf.data --no-children\n",
	.manual = "preport(1)",
	.opts = perf_data_opts,
	.args_size = sizeof(struct perf_data_args),
	.run = perf_data_run,
};
