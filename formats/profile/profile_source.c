/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_source.c - a file is recognised by its first bytes and read whole.
 */
#include "formats/profile/profile_source.h"

#include "formats/base/file_bytes.h"
#include "formats/profile/folded_read.h"
#include "formats/profile/pprof_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_AT    4096
#define FILE_LEN_MAX ((size_t)4 << 30)

struct profile_source {
	struct event_source source; /* first */
	struct recording recording;
};

static struct profile_source *of(struct event_source *source)
{
	return (struct profile_source *)source;
}

static const struct recording *source_recording(struct event_source *source)
{
	return &of(source)->recording;
}

static bool source_next(struct event_source *source, struct event *ret)
{
	(void)source;
	(void)ret;
	return false;
}

static struct err *source_finish(struct event_source *source)
{
	(void)source;
	return NULL;
}

static void source_close(struct event_source *source)
{
	arena_deinit(&of(source)->recording.arena);
	free(source);
}

static const struct event_source_ops ops = {
	.recording = source_recording,
	.next = source_next,
	.finish = source_finish,
	.close = source_close,
};

static bool is_profile(const uint8_t *data, size_t len)
{
	return pprof_is(data, len) || folded_is(data, len);
}

bool profile_source_is(const char *path)
{
	uint8_t start[LOOKED_AT];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		len = pread(fd, start, sizeof(start), 0);
	close(fd);
	return len > 0 && is_profile(start, (size_t)len);
}

/* Texts live in the profile's table, which may go before the recording. */
static void set_recording(struct recording *rec, const struct profile *p, const char *tool,
			  const struct pprof_facts *facts)
{
	*rec = (struct recording){
		.tool = tool,
		.cmdline = "",
		.hostname = "",
		.os_release = "",
		.cpu_model = "",
		.container = "",
		.arch = arch_native(),
		.wall_ns = facts->wall_ns,
		.end_ns = facts->duration_ns,
		.exit_status = -1,
		.complete = true,
		.nevents = p->types.len,
	};
	rec->events = ARENA_ARRAY(&rec->arena, struct recording_event, p->types.len + 1);
	for (uint32_t i = 0; i < p->types.len; i++) {
		const struct profile_value_type *event = &p->types.items[i];

		rec->events[i] = (struct recording_event){
			.name = arena_strdup(&rec->arena, profile_text(p, event->name)),
			.unit = arena_strdup(&rec->arena, profile_text(p, event->unit)),
			.samples = true,
			.leader = i,
			.format = "",
		};
	}
}

struct err *profile_source_open(const char *path, struct event_source **ret,
				struct profile **ret_profile)
{
	CLEANUP(writer_deinit) struct writer data = { 0 };
	struct pprof_facts facts = { 0 };
	struct err *err = file_bytes_read(path, FILE_LEN_MAX, &data);
	bool pprof = data.len && pprof_is(data.data, data.len);

	if (err)
		return err;

	struct profile *p = profile_new();

	err = pprof ? pprof_read(data.data, data.len, p, &facts)
		    : folded_read(data.data, data.len, p);
	if (!err && p->samples.len == 0)
		err = err_new(ERR_UNSUPPORTED, "it holds no samples");
	if (err) {
		profile_free(p);
		return err_wrap(err, pprof ? "'%s' is no usable pprof file"
					   : "'%s' is no usable file of collapsed stacks",
				path);
	}

	struct profile_source *source = memory_zeroed(1, sizeof(*source));

	source->source.ops = &ops;
	set_recording(&source->recording, p, pprof ? "pprof" : "collapsed stacks", &facts);
	*ret = &source->source;
	*ret_profile = p;
	return NULL;
}
