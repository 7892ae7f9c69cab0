/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_rewrite.c - an events source and a recording to a trace_writer.
 */
#include "formats/trace/trace_rewrite.h"

#include "formats/base/memory.h"
#include "formats/trace/trace_writer.h"

#include <stdlib.h>

#define BLOCK_AGE_NS (UINT64_MAX / 2) /* blocks end when they are full */

struct trace_rewrite {
	struct trace_writer *writer;
	uint64_t time_ns; /* of the last event */
};

void trace_rewrite_free(struct trace_rewrite *rw)
{
	if (!rw)
		return;
	trace_writer_free(rw->writer);
	free(rw);
}

struct err *trace_rewrite_begin(int fd, const struct recording *as, struct trace_rewrite **ret)
{
	struct trace_rewrite *rw = memory_zeroed(1, sizeof(*rw));
	struct err *err;

	rw->writer = trace_writer_new(fd);
	err = trace_writer_begin(rw->writer, as);
	if (err) {
		trace_rewrite_free(rw);
		return err;
	}
	*ret = rw;
	return NULL;
}

struct err *trace_rewrite_event(struct trace_rewrite *rw, const struct event *ev)
{
	/* What came before is in the file or in the open block: no older event follows. */
	if (ev->time_ns > rw->time_ns) {
		struct err *err = trace_writer_round(rw->writer, ev->time_ns, BLOCK_AGE_NS);

		if (err)
			return err;
		rw->time_ns = ev->time_ns;
	}
	return trace_writer_event(rw->writer, ev);
}

/* Images first, as a recorder does it. */
static struct err *put_attachments(struct trace_writer *w, const struct recording *as)
{
	struct err *err = NULL;

	for (size_t i = 0; i < as->nimages && !err; i++)
		err = trace_writer_image(w, &as->images[i]);
	for (size_t i = 0; i < as->nlines && !err; i++)
		err = trace_writer_lines(w, &as->lines[i]);
	if (!err && as->nksyms)
		err = trace_writer_ksyms(w, as->ksyms, as->nksyms);
	if (!err && as->kernel_code.status != RECORDING_CODE_UNKNOWN)
		err = trace_writer_kernel_code(w, &as->kernel_code);
	for (size_t i = 0; i < as->njit_maps && !err; i++)
		err = trace_writer_jit_map(w, &as->jit_maps[i]);
	return err;
}

struct err *trace_rewrite_end(struct trace_rewrite *rw, const struct recording *as)
{
	struct err *err = put_attachments(rw->writer, as);

	if (err)
		return err;
	return as->complete ? trace_writer_end(rw->writer, as) : trace_writer_stop(rw->writer);
}
