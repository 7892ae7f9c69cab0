/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_corpus.c - makes the first inputs of fuzz_trace.
 *
 *	trace_corpus tests/data/fuzz/trace
 */
#include "formats/base/writer.h"
#include "formats/trace/trace_attached.h"
#include "formats/trace/trace_encoder.h"
#include "formats/trace/trace_recording.h"
#include "formats/trace/trace_writer.h"
#include "tests/unit/event_maker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int create(const char *folder, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void must(struct err *err)
{
	if (!err)
		return;
	fprintf(stderr, "trace_corpus: %s\n", err_message(err));
	exit(1);
}

/* The content of a block, behind the letter that names its kind. */
static void save_content(const char *folder, const char *name, char kind, struct writer *content)
{
	int fd = create(folder, name);

	if (write(fd, &kind, 1) != 1 ||
	    write(fd, content->data, content->len) != (ssize_t)content->len) {
		perror(name);
		exit(1);
	}
	close(fd);
	writer_reset(content);
}

static void save_contents(const char *folder, const struct recording *rec)
{
	struct writer content = { 0 };

	trace_header_put(&content, rec, 1);
	save_content(folder, "header", 'H', &content);
	trace_image_put(&content, &rec->images[0]);
	save_content(folder, "image", 'I', &content);
	trace_kernel_code_put(&content, &rec->kernel_code);
	save_content(folder, "kernel-code", 'C', &content);
	trace_jit_map_put(&content, &rec->jit_maps[0]);
	save_content(folder, "jit-map", 'J', &content);
	trace_ksyms_put(&content, rec->ksyms, rec->nksyms);
	save_content(folder, "ksyms", 'K', &content);
	trace_end_put(&content, rec);
	save_content(folder, "end", 'N', &content);
	writer_deinit(&content);
}

static void save_events(const char *folder, const char *name, size_t count)
{
	struct trace_encoder *enc = trace_encoder_new(&arch_x86_64);
	struct event_maker maker = { .state = count };
	struct writer content = { 0 };
	size_t lens[TRACE_COLUMNS];
	struct event ev;

	for (size_t i = 0; i < count; i++) {
		maker_any(&maker, &ev);
		trace_encoder_add(enc, &ev);
	}
	trace_encoder_finish(enc, &content, lens);
	save_content(folder, name, 'E', &content);
	writer_deinit(&content);
	trace_encoder_free(enc);
	maker_deinit(&maker);
}

static void save_file(const char *folder, const struct recording *rec)
{
	int fd = create(folder, "file");
	struct trace_writer *w = trace_writer_new(fd);
	struct event_maker maker = { .state = 1 };
	struct event ev;

	must(trace_writer_begin(w, rec));
	for (int i = 0; i < 12; i++) {
		maker_any(&maker, &ev);
		must(trace_writer_event(w, &ev));
		if (i % 4 == 3)
			must(trace_writer_round(w, ev.time_ns, 0));
	}
	must(trace_writer_image(w, &rec->images[0]));
	must(trace_writer_ksyms(w, rec->ksyms, rec->nksyms));
	must(trace_writer_kernel_code(w, &rec->kernel_code));
	must(trace_writer_jit_map(w, &rec->jit_maps[0]));
	must(trace_writer_end(w, rec));
	trace_writer_free(w);
	maker_deinit(&maker);
	close(fd);
}

int main(int argc, char **argv)
{
	struct recording rec;

	if (argc != 2) {
		fprintf(stderr, "usage: trace_corpus FOLDER\n");
		return 2;
	}
	maker_recording(&rec);
	save_contents(argv[1], &rec);
	save_events(argv[1], "events-few", 5);
	save_events(argv[1], "events-many", 60);
	save_file(argv[1], &rec);
	arena_deinit(&rec.arena);
	return 0;
}
