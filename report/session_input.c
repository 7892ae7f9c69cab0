/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_input.c - formats are told by their first bytes.
 */
#include "report/session_input.h"

#include "formats/perf_data.h"
#include "formats/trace_reader.h"
#include "symbolize/own_kernel.h"

#include <errno.h>
#include <string.h>

/* Symbols of the kernel are not in the file, but perhaps here. */
static struct err *open_perf_data(const char *path, struct trace_file file, struct event_source **ret)
{
	struct err *err = perf_data_open(path, file, ret);

	if (!err)
		own_kernel_name(perf_data_recording(*ret));
	return err;
}

struct err *session_input_open(const char *path, struct event_source **ret)
{
	struct trace_file file;
	struct err *err = trace_file_open(path, &file);

	if (err && err_errno(err) == ENOENT && strcmp(path, "precord.trace") == 0)
		return err_remedy(err, "record with 'precord -- COMMAND', or name a file with -i");
	if (err)
		return err;
	if (perf_data_is(&file))
		return open_perf_data(path, file, ret);
	return trace_reader_open_file(path, file, ret);
}

struct err *session_input_need_blocks(const struct session *s)
{
	struct err *err = session_need_trace(s);

	if (err || !perf_data_is_source(s->source))
		return err;
	return err_new(ERR_UNSUPPORTED,
		       "'%s' is perf.data: it has no parts whose bytes could be told apart",
		       s->args->input);
}
