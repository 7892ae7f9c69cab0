/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_files.c - a file gets its time-stamped name when it is complete, so a program that waits for it never reads half a
 * file.
 */
#include "record/output/output_files.h"

#include "formats/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define BLOCK_AGE_NS        2000000000ULL  /* longer as the recording grows, see journal_init() */
#define FLIGHT_BLOCK_AGE_NS 10000000000ULL /* blocks in memory die with it anyway */
#define STAMP_MAX           32
#define SAME_NAME_MAX       1000

/* ---- the file that is being written -------------------------------------------------------------------- */

static struct err *take_block(void *output, const struct trace_block *block, const uint8_t *data, size_t len)
{
	(void)block;
	return trace_output_write(output, data, len);
}

/* Begin a file at @start_ns in @out, which is open and outlives the writer. */
static struct err *begin_file(struct output_files *v, struct trace_output *out, uint64_t start_ns)
{
	const struct trace_sink sink = { take_block, out };
	uint64_t whole_start_ns = v->recording->start_ns;

	v->writer = trace_writer_new_to(&sink);
	trace_writer_set_streams(v->writer, v->args.nstreams);
	v->recording->start_ns = start_ns;
	struct err *err = trace_writer_begin(v->writer, v->recording);

	v->recording->start_ns = whole_start_ns;
	return err;
}

static void add_sizes(struct trace_sizes *to, const struct trace_sizes *sizes)
{
	to->total += sizes->total;
	to->samples += sizes->samples;
	to->stacks += sizes->stacks;
	to->side_band += sizes->side_band;
	to->images += sizes->images;
	to->symbols += sizes->symbols;
	to->other += sizes->other;
	to->nsamples += sizes->nsamples;
}

/* Subtract @base from the counts. */
static void subtract(struct recording_count *rows, const struct recording_count *base,
		     size_t nrows)
{
	for (size_t i = 0; base && i < nrows; i++) {
		rows[i].samples -= base[i].samples;
		rows[i].lost_kernel -= MIN(base[i].lost_kernel, rows[i].lost_kernel);
		rows[i].lost_recorder -= base[i].lost_recorder;
		rows[i].throttled -= base[i].throttled;
		rows[i].missed -= MIN(base[i].missed, rows[i].missed); /* an estimate */
		rows[i].stacks_cut -= base[i].stacks_cut;
		rows[i].stacks_shortened -= base[i].stacks_shortened;
		rows[i].value -= MIN(base[i].value, rows[i].value);
		rows[i].enabled_ns -= MIN(base[i].enabled_ns, rows[i].enabled_ns);
		rows[i].running_ns -= MIN(base[i].running_ns, rows[i].running_ns);
	}
}

static struct recording_note note_of(const struct diag_entry *entry, struct arena *arena)
{
	const char *text = entry->message;

	if (entry->facts)
		return *(const struct recording_note *)entry->facts;
	if (entry->hint)
		text = arena_printf(arena, "%s; %s", entry->message, entry->hint);
	return (struct recording_note){ .subject = "", .text = text };
}

/* Notes: the plan's, then the warnings reported while recording. */
static void add_notes(struct recording *rec, const struct event_plan *plan, const struct diag *diag)
{
	size_t count = plan->nnotes;

	for (struct diag_entry *entry = diag->entries; entry; entry = entry->next)
		count++;
	rec->nnotes = 0;
	rec->notes = ARENA_ARRAY(&rec->arena, struct recording_note, count);
	for (size_t i = 0; i < plan->nnotes; i++)
		rec->notes[rec->nnotes++] = (struct recording_note){ .subject = "", .text = plan->notes[i] };
	for (struct diag_entry *entry = diag->entries; entry; entry = entry->next)
		rec->notes[rec->nnotes++] = note_of(entry, &rec->arena);
}

/* Complete the file in v->writer: images, the counts since @base, notes. */
static struct err *end_file(struct output_files *v, const struct recording_count *base)
{
	struct recording end = *v->recording;
	struct err *err = attach_write(v->attach, v->writer, v->diag, &v->attached);

	end.arena = (struct arena){ 0 };
	end.counts = drain_counts(v->drain, &end.arena, &end.ncounts);
	subtract(end.counts, base, end.ncounts);
	add_notes(&end, v->plan, v->diag);
	if (!err)
		err = trace_writer_end(v->writer, &end);
	arena_deinit(&end.arena);
	add_sizes(&v->finished, trace_writer_sizes(v->writer));
	trace_writer_free(v->writer);
	v->writer = NULL;
	return err;
}

/* The first error; @later is dropped if there is one. */
static struct err *first_of(struct err *err, struct err *later)
{
	if (!err)
		return later;
	err_free(later);
	return err;
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* NAME.YYYYMMDDhhmmsscc, as perf names them, @hundredths later. */
static char *stamped_name(const char *file, unsigned int hundredths)
{
	struct timespec now;
	struct tm tm;
	char stamp[STAMP_MAX], *name;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec += (long)(hundredths % 100) * 10000000;
	now.tv_sec += hundredths / 100 + now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	localtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm);
	if (asprintf(&name, "%s.%s%02ld", file, stamp, now.tv_nsec / 10000000) < 0)
		memory_exhausted(strlen(file));
	return name;
}

static struct err *drop_oldest(struct output_files *v)
{
	struct err *err = NULL;

	while (!err && v->args.max_files && v->names.len > v->args.max_files) {
		err = trace_output_remove(&v->output, v->names.items[0]);
		if (err)
			err = err_wrap(err, "--max-files");
		free(v->names.items[0]);
		vec_remove(&v->names, 0, 1);
	}
	return err;
}

/* The file in @out is complete: put the time into its name. */
static struct err *stamp(struct output_files *v, struct trace_output *out)
{
	struct err *err = NULL;
	bool exists = true;
	char *name = NULL;

	for (unsigned int i = 0; exists && !err && i < SAME_NAME_MAX; i++) {
		free(name);
		name = stamped_name(v->output.name, i);
		err = trace_output_place(out, name, &exists);
	}
	if (!err && exists)
		err = err_new(ERR_SYSTEM, "there are files of all names up to '%s'", name);
	if (err) {
		free(name);
		return err;
	}
	vec_push(&v->names, name);
	return drop_oldest(v);
}

/* ---- one file after another ------------------------------------------------------------------------------ */

/* Counts from now on belong to the next file. */
static void rebase(struct output_files *v)
{
	struct arena arena = { 0 };
	size_t nrows;
	const struct recording_count *rows = drain_counts(v->drain, &arena, &nrows);

	free(v->base);
	v->base = memory_zeroed(nrows + 1, sizeof(*rows));
	if (nrows)
		memcpy(v->base, rows, nrows * sizeof(*rows));
	arena_deinit(&arena);
}

static struct err *next_file(struct output_files *v, uint64_t now_ns)
{
	v->recording->end_ns = now_ns;
	struct err *err = end_file(v, v->base);

	if (!err)
		err = stamp(v, &v->output);
	if (err)
		return err;
	attach_forget(v->attach);
	rebase(v);
	v->start_ns = now_ns;
	err = trace_output_again(&v->output);
	if (!err)
		err = begin_file(v, &v->output, now_ns);
	return err ? err : journal_turn(&v->journal, v->writer);
}

/* ---- a flight recorder ----------------------------------------------------------------------------------- */

/* Begin the log's next chapter with the processes of now. */
static struct err *next_chapter(struct output_files *v, uint64_t now_ns)
{
	struct arena arena = { 0 };
	size_t nrows;
	const struct recording_count *rows = drain_counts(v->drain, &arena, &nrows);
	struct trace_sink sink = flight_log_sink(v->log);
	struct trace_writer *writer = trace_writer_new_to(&sink);
	struct err *err = trace_writer_round(v->log_writer, 0, 0);

	trace_writer_set_streams(writer, v->args.nstreams);
	if (!err) {
		flight_log_begin_chapter(v->log, now_ns, rows, nrows);
		err = trace_writer_begin(writer, v->recording);
	}
	arena_deinit(&arena);
	trace_writer_free(v->log_writer);
	v->log_writer = writer;
	if (!err)
		err = journal_turn(&v->journal, writer);
	if (!err)
		err = trace_writer_round(writer, 0, 0);
	flight_log_snapshot_ends(v->log);
	return err;
}

/* Write everything in memory to @out. */
static struct err *write_log(struct output_files *v, struct trace_output *out)
{
	const struct recording_count *base;
	struct err *err = trace_writer_round(v->log_writer, 0, 0);

	if (!err)
		err = begin_file(v, out, flight_log_start(v->log, &base));
	if (!err)
		err = flight_log_write(v->log, v->writer);
	return err ? err : end_file(v, base);
}

/* Write a snapshot to a time-stamped file; FILE itself is written at the end. */
static struct err *flight_snapshot(struct output_files *v, uint64_t now_ns)
{
	struct trace_output out;
	struct err *err = trace_output_beside(&v->output, "snapshot", &out);

	v->recording->end_ns = now_ns;
	if (!err)
		err = write_log(v, &out);
	if (!err)
		err = stamp(v, &out);
	trace_writer_free(v->writer);
	v->writer = NULL;
	trace_output_close(&out);
	return err;
}

/* ---- the public functions ---------------------------------------------------------------------------------- */

/* Reject options that would have no effect. */
static struct err *check_args(const struct output_files_args *args)
{
	if (args->max_files && !args->switches && !args->flight_len)
		return err_remedy(err_new(ERR_USAGE, "--max-files is for files with a time in their names"),
				  "give --switch-output or --overwrite, too");
	if (args->flight_len && (args->switch_len || args->switch_time_ns))
		return err_remedy(err_new(ERR_USAGE, "--overwrite writes on a signal, not by size or time"),
				  "for files of a time or size, leave --overwrite out; for a flight recorder, "
				  "give --switch-output=signal or nothing");
	return NULL;
}

static struct err *check_pipe(const struct output_files *v)
{
	if (v->output.dir_fd >= 0 || !output_files_can_snapshot(v))
		return NULL;
	return err_remedy(err_new(ERR_USAGE, "several files do not go into a pipe or a device"),
			  "give -o FILE, or leave --switch-output and --overwrite out");
}

/* The first chapter: the running processes are written to it as events. */
static struct err *begin_log(struct output_files *v)
{
	v->log = flight_log_new(v->args.flight_len);
	flight_log_begin_chapter(v->log, v->start_ns, NULL, 0);
	flight_log_snapshot_ends(v->log);

	struct trace_sink sink = flight_log_sink(v->log);

	v->log_writer = trace_writer_new_to(&sink);
	trace_writer_set_streams(v->log_writer, v->args.nstreams);
	return trace_writer_begin(v->log_writer, v->recording);
}

struct err *output_files_open(struct output_files *v, const struct output_files_args *args, const char *path,
			 struct recording *recording, const struct event_plan *plan,
			 struct attach *attach, struct diag *diag)
{
	*v = (struct output_files){
		.args = *args,
		.path = path,
		.plan = plan,
		.recording = recording,
		.diag = diag,
		.attach = attach,
		.start_ns = recording->start_ns,
	};
	struct err *err = check_args(args);

	v->output = TRACE_OUTPUT_NONE;
	if (!err)
		err = trace_output_open(path, &v->output);
	v->output.stop = args->stop;
	if (!err)
		err = check_pipe(v);
	if (!err)
		err = args->flight_len ? begin_log(v) : begin_file(v, &v->output, v->start_ns);
	journal_init(&v->journal, v->log ? v->log_writer : v->writer, output_files_can_snapshot(v),
		     v->log ? FLIGHT_BLOCK_AGE_NS : BLOCK_AGE_NS);
	return err;
}

void output_files_close(struct output_files *v)
{
	journal_deinit(&v->journal);
	trace_writer_free(v->writer);
	trace_writer_free(v->log_writer);
	flight_log_free(v->log);
	trace_output_close(&v->output);
	for (size_t i = 0; i < v->names.len; i++)
		free(v->names.items[i]);
	vec_deinit(&v->names);
	free(v->base);
}

bool output_files_can_snapshot(const struct output_files *v)
{
	return v->args.switches || v->args.flight_len;
}

bool output_files_can_go_on(const struct output_files *v)
{
	return v->log || v->writer;
}

uint64_t output_files_next_ns(const struct output_files *v)
{
	return v->args.switch_time_ns && !v->log ? v->start_ns + v->args.switch_time_ns
						 : UINT64_MAX;
}

struct err *output_files_tick(struct output_files *v, uint64_t now_ns)
{
	if (v->log)
		return flight_log_chapter_is_full(v->log) ? next_chapter(v, now_ns) : NULL;
	if (now_ns >= output_files_next_ns(v) ||
	    (v->args.switch_len && trace_writer_sizes(v->writer)->total >= v->args.switch_len))
		return next_file(v, now_ns);
	return NULL;
}

struct err *output_files_snapshot(struct output_files *v, uint64_t now_ns)
{
	return v->log ? flight_snapshot(v, now_ns) : next_file(v, now_ns);
}

struct err *output_files_finish(struct output_files *v)
{
	struct err *err = v->log ? write_log(v, &v->output) : end_file(v, v->base);

	if (err)
		return first_of(err, output_files_salvage(v)); /* a full disk: keep what was written */
	err = v->args.switches && !v->log ? stamp(v, &v->output)
					  : trace_output_place(&v->output, NULL, NULL);
	v->complete = v->placed = !err;
	return err;
}

/* Of a flight recorder, only complete blocks: the others may be half written. */
static const struct recording_count *begin_abandoned(struct output_files *v)
{
	const struct recording_count *base = v->base;
	struct err *err = NULL;

	if (!v->writer && v->log && v->output.fd >= 0) {
		err = begin_file(v, &v->output, flight_log_start(v->log, &base));
		if (!err)
			err = flight_log_write(v->log, v->writer);
	}
	err_free(err); /* complete the file with what was written */
	return base;
}

void output_files_abandon(struct output_files *v, const char *why)
{
	struct recording_note note = { .subject = "", .text = why };
	const struct recording_count *base = begin_abandoned(v);
	struct recording end;

	if (!v->writer)
		return;
	end = *v->recording;
	end.arena = (struct arena){ 0 };
	end.counts = v->drain ? drain_counts(v->drain, &end.arena, &end.ncounts) : NULL;
	subtract(end.counts, base, end.ncounts);
	end.notes = &note;
	end.nnotes = 1;
	err_free(trace_writer_end_now(v->writer, &end));
	err_free(output_files_salvage(v));
}

struct err *output_files_salvage(struct output_files *v)
{
	struct err *err = NULL;
	struct stat st;

	/* Without a complete header the file is unreadable. */
	if (v->output.fd < 0 || (fstat(v->output.fd, &st) == 0 && S_ISREG(st.st_mode) && !st.st_size))
		return NULL;
	err = trace_output_place(&v->output, NULL, NULL);
	v->placed = !err;
	return err;
}

struct trace_sizes output_files_sizes(const struct output_files *v)
{
	struct trace_sizes sizes = v->finished;

	if (v->writer)
		add_sizes(&sizes, trace_writer_sizes(v->writer));
	return sizes;
}

const char *output_files_last_path(const struct output_files *v, struct arena *arena)
{
	bool stamped = v->args.switches && !v->log && v->names.len;
	const char *slash = strrchr(v->path, '/');

	if (!stamped)
		return v->path;
	return arena_printf(arena, "%.*s%s", slash ? (int)(slash + 1 - v->path) : 0, v->path,
			    v->names.items[v->names.len - 1]);
}
