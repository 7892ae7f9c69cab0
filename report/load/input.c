/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - formats are recognised by their bytes; a name only breaks ties.
 */
#include "report/load/input.h"

#include "formats/base/path.h"
#include "formats/perf/perf_data.h"
#include "formats/perf/trace_dat.h"
#include "formats/profile/import/import_profile.h"
#include "formats/trace/trace_reader.h"
#include "symbolize/name/own_kernel.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Symbols of the kernel are not in the file, but perhaps here. */
static struct err *open_perf_data(const char *path, const char *folder, const char *kallsyms, struct trace_file file,
				  struct event_source **ret)
{
	struct err *err = perf_data_open(path, folder, file, ret);

	if (err)
		return err;
	if (!kallsyms) {
		own_kernel_name(perf_data_recording(*ret));
		return NULL;
	}
	err = own_kernel_name_from(kallsyms, perf_data_recording(*ret));
	if (err)
		event_source_close(*ret);
	return err;
}

/* Symbols of the kernel are in the file, unless @kallsyms is to have better ones. */
static struct err *open_trace_dat(const char *path, const char *kallsyms, struct trace_file file, struct event_source **ret)
{
	struct err *err = trace_dat_open(path, file, ret);
	size_t len;

	if (err)
		return err;
	if (!kallsyms) {
		const char *text = trace_dat_kallsyms(*ret, &len);

		own_kernel_name_by(text, len, trace_dat_recording(*ret));
		return NULL;
	}
	err = own_kernel_name_from(kallsyms, trace_dat_recording(*ret));
	if (err)
		event_source_close(*ret);
	return err;
}

/* perf record --kcore and --threads write a folder, in which "data" is the perf.data. */
static struct err *open_folder(const char *path, struct trace_file *ret)
{
	char data[PATH_MAX];

	if (snprintf(data, sizeof(data), "%s/data", path) >= (int)sizeof(data) || access(data, F_OK) != 0)
		return err_remedy(err_system(EISDIR, "cannot read '%s'", path),
				  "name a trace, or a folder that perf record --kcore or --threads wrote");
	return trace_file_open(data, ret);
}

static struct err *open_file(const char *path, struct trace_file *ret, bool *ret_folder)
{
	struct err *err = trace_file_open(path, ret);

	*ret_folder = err && err_errno(err) == EISDIR;
	if (*ret_folder) {
		err_free(err);
		err = open_folder(path, ret);
	}
	char part[PATH_MAX];

	if (err && err_errno(err) == ENOENT &&
	    snprintf(part, sizeof(part), "%s.part", path) < (int)sizeof(part) && access(part, F_OK) == 0)
		return err_remedy(err, "'%s' is what a recorder has written so far, or had when it was killed: -i '%s'",
				  part, part);
	if (err && err_errno(err) == ENOENT && strcmp(path, "precord.trace") == 0)
		return err_remedy(err, "record with 'precord -- COMMAND', or name a file with -i");
	return err;
}

struct err *input_open(const char *path, const char *kallsyms, struct diag *diag, struct input *ret)
{
	const char *shown = path_shown(path);
	struct trace_file file;
	bool is_folder;
	struct err *err = open_file(path, &file, &is_folder);

	*ret = (struct input){ 0 };
	if (err)
		return err;
	if (perf_data_is(&file))
		return open_perf_data(shown, is_folder ? path : NULL, kallsyms, file, &ret->source);
	if (trace_dat_is(&file))
		return open_trace_dat(shown, kallsyms, file, &ret->source);
	if (kallsyms) {
		trace_file_close(&file);
		return err_new(ERR_USAGE, "--kallsyms is for perf.data and trace.dat; '%s' has what names it needs", shown);
	}
	if (trace_reader_is(&file))
		return trace_reader_open_file(shown, file, &ret->source);
	err = import_profile(file.fd, shown, diag, &ret->profile, &ret->facts);
	trace_file_close(&file);
	return err;
}
