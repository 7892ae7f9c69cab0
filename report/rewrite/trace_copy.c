/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_copy.c - reader to trace_rewrite, by way of report/print/output.
 */
#include "report/rewrite/trace_copy.h"

#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_rewrite.h"
#include "report/print/output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What stood in a damaged block is missing in the copy, which is whole: a note says so. A recording without its end has
 * no notes, and the copy lacks its end as well.
 */
static struct err *write_end(const struct trace_copy *copy, struct event_source *source,
			     struct trace_rewrite *rw)
{
	uint64_t damaged_at = event_source_recording(source)->damaged_at;
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct recording as = *copy->as;

	if (!damaged_at)
		return trace_rewrite_end(rw, &as);
	struct recording_note *notes = ARENA_ARRAY(&arena, struct recording_note, as.nnotes + 1);

	for (size_t i = 0; i < as.nnotes; i++)
		notes[i] = as.notes[i];
	notes[as.nnotes++] = (struct recording_note){
		.subject = "",
		.text = arena_printf(&arena,
				     "the recording that this is a copy of was damaged at offset "
				     "%" PRIu64 "; what stood there is missing",
				     damaged_at),
	};
	as.notes = notes;
	return trace_rewrite_end(rw, &as);
}

static struct err *copy_events(const struct trace_copy *copy, struct event_source *source,
			       struct trace_rewrite *rw)
{
	struct event ev;

	while (event_source_next(source, &ev)) {
		if (copy->event && !copy->event(copy->context, &ev))
			continue;
		struct err *err = trace_rewrite_event(rw, &ev);

		if (err)
			return err;
	}
	struct err *err = event_source_finish(source);

	return err ? err : write_end(copy, source, rw);
}

static struct err *copy_to(const struct trace_copy *copy, struct event_source *source, int fd)
{
	struct trace_rewrite *rw;
	struct err *err = trace_rewrite_begin(fd, copy->as, &rw);

	if (err)
		return err;
	err = copy_events(copy, source, rw);
	trace_rewrite_free(rw);
	return err;
}

/* Traces are their owner's alone, as precord makes them. */
static struct err *copy_to_output(const struct trace_copy *copy, struct event_source *source,
				  uint64_t *ret_len)
{
	struct output out;
	struct stat st;
	struct err *err = output_open(&out, copy->output);

	if (err)
		return err;
	int fd = fileno(out.stream);

	if (isatty(fd))
		err = err_remedy(err_new(ERR_USAGE, "will not write a trace to a terminal"),
				 "name a file with -o");
	if (!err)
		err = copy_to(copy, source, fd);
	if (!err && out.temporary && fchmod(fd, 0600) < 0)
		err = err_system(errno, "cannot protect '%s'", copy->output);
	if (!err && fstat(fd, &st) == 0)
		*ret_len = (uint64_t)st.st_size;
	if (!err)
		err = output_commit(&out);
	output_close(&out);
	return err;
}

struct err *trace_copy(const struct trace_copy *copy, uint64_t *ret_len)
{
	struct event_source *source;
	struct err *err = trace_reader_open(copy->input, &source);

	if (err)
		return err;
	err = copy_to_output(copy, source, ret_len);
	event_source_close(source);
	return err;
}

struct err *trace_copy_input(char **operands, int noperands, const char **input)
{
	if (noperands > 1)
		return err_new(ERR_USAGE, "one trace at a time, %d were given", noperands);
	if (noperands)
		*input = operands[0];
	if (strcmp(*input, "-") == 0)
		return err_remedy(err_new(ERR_USAGE, "the trace is read twice, a pipe cannot be"),
				  "give the name of a file");
	return NULL;
}
