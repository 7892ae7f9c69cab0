/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiply_trace.c - makes a large trace of a small one.
 *
 *	multiply_trace --each N FROM TO     every sample N times in a row, a nanosecond apart
 *	multiply_trace --rounds N FROM TO   the whole recording N times, one after the other
 *
 * The first has the same stacks, the second also the size that a longer recording would have: every block stands
 * alone and holds its stacks anew. Processes that ran from the beginning are told once.
 */
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
	const char *from;
	uint64_t each, rounds, shift_ns;
	struct trace_rewrite *to;
};

static struct err *write_event(struct job *job, struct event *ev)
{
	uint64_t count = ev->kind == EVENT_SAMPLE ? job->each : 1;
	struct err *err = NULL;

	ev->time_ns += ev->time_ns ? job->shift_ns : 0;
	for (uint64_t i = 0; i < count && !err; i++) {
		err = trace_rewrite_event(job->to, ev);
		ev->time_ns++;
	}
	return err;
}

/* One round; the next begins where it ends. */
static struct err *write_round(struct job *job, bool first)
{
	struct event_source *source;
	struct err *err = trace_reader_open(job->from, &source);
	uint64_t last_ns = 0, first_ns = 0;
	struct event ev;

	while (!err && event_source_next(source, &ev)) {
		if (!ev.time_ns && !first)
			continue;
		first_ns = first_ns ? first_ns : ev.time_ns;
		last_ns = MAX(last_ns, ev.time_ns);
		err = write_event(job, &ev);
	}
	if (!err)
		err = event_source_finish(source);
	event_source_close(source);
	job->shift_ns += last_ns - first_ns + 1000000;
	return err;
}

static struct err *write_all(struct job *job, int fd, struct event_source *source)
{
	struct recording as = *event_source_recording(source);
	struct err *err = trace_rewrite_begin(fd, &as, &job->to);

	for (uint64_t i = 0; i < job->rounds && !err; i++)
		err = write_round(job, i == 0);
	for (size_t i = 0; i < as.ncounts; i++)
		as.counts[i].samples *= job->each * job->rounds;
	if (as.end_ns)
		as.end_ns = as.start_ns + (as.end_ns - as.start_ns) * job->rounds;
	return err ? err : trace_rewrite_end(job->to, &as);
}

static struct err *multiply(struct job *job, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct event_source *source;
	struct err *err;

	if (fd < 0)
		return err_system(errno, "cannot create '%s'", path);
	err = trace_reader_open(job->from, &source);
	if (!err) {
		err = write_all(job, fd, source);
		trace_rewrite_free(job->to);
		event_source_close(source);
	}
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	struct job job = { .each = 1, .rounds = 1 };
	struct err *err;

	if (argc == 5 && strcmp(argv[1], "--each") == 0)
		job.each = strtoull(argv[2], NULL, 10);
	else if (argc == 5 && strcmp(argv[1], "--rounds") == 0)
		job.rounds = strtoull(argv[2], NULL, 10);
	if (argc != 5 || !job.each || !job.rounds) {
		fprintf(stderr, "usage: multiply_trace --each N|--rounds N FROM TO\n");
		return 2;
	}
	job.from = argv[3];
	err = multiply(&job, argv[4]);
	if (!err)
		return 0;
	fprintf(stderr, "multiply_trace: %s\n", err_message(err));
	err_free(err);
	return 1;
}
