/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - write beside, then rename: a reader never sees half a file, and a failure leaves the old one.
 */
#include "report/print/output.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* mkstemp() makes private files; a report is as public as the user's umask says. */
static void apply_umask(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, 0666 & ~mask))
		return; /* it stays private, which is the safe side */
}

/* Devices and pipes are written in place. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

struct err *output_open(struct output *out, const char *path)
{
	*out = (struct output){ 0 };
	if (!path || strcmp(path, "-") == 0) {
		out->stream = stdout;
		return NULL;
	}
	out->path = path;
	if (is_special(path)) {
		out->stream = fopen(path, "we");
		return out->stream ? NULL : err_system(errno, "cannot write '%s'", path);
	}
	if (asprintf(&out->temporary, "%s.XXXXXX", path) < 0)
		memory_exhausted(strlen(path));

	int fd = mkostemp(out->temporary, O_CLOEXEC);

	if (fd < 0) {
		free(out->temporary);
		out->temporary = NULL;
		return err_system(errno, "cannot create '%s'", path);
	}
	apply_umask(fd);
	out->stream = fdopen(fd, "w");
	if (!out->stream)
		memory_exhausted(BUFSIZ);
	return NULL;
}

struct err *output_commit(struct output *out)
{
	bool failed = fflush(out->stream) || ferror(out->stream);

	if (failed)
		return err_system(errno, "cannot write '%s'",
				  out->path ? out->path : "standard output");
	if (!out->temporary)
		return NULL;
	if (rename(out->temporary, out->path))
		return err_system(errno, "cannot create '%s'", out->path);
	free(out->temporary);
	out->temporary = NULL;
	return NULL;
}

void output_close(struct output *out)
{
	if (out->stream && out->stream != stdout)
		fclose(out->stream);
	if (out->temporary)
		unlink(out->temporary);
	free(out->temporary);
	*out = (struct output){ 0 };
}
