/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/event_list.h"

#define PID     7
#define MAP_LEN 0x10000

static struct recording_event cycles = {
	.name = "cycles", .unit = "events", .format = "", .samples = true
};

static const struct recording recording = {
	.tool = "",
	.cmdline = "",
	.hostname = "",
	.os_release = "",
	.cpu_model = "",
	.container = "",
	.arch = &arch_x86_64,
	.events = &cycles,
	.nevents = 1,
	.complete = true,
};

static const struct recording *get_recording(struct event_source *source)
{
	(void)source;
	return &recording;
}

static bool next_event(struct event_source *source, struct event *ret)
{
	struct event_list_source *list = (struct event_list_source *)(void *)source;

	if (!list->left)
		return false;
	*ret = *list->events++;
	list->left--;
	return true;
}

static struct err *finish(struct event_source *source)
{
	(void)source;
	return NULL;
}

static void close_source(struct event_source *source)
{
	(void)source;
}

static const struct event_source_ops ops = {
	.recording = get_recording, .next = next_event, .finish = finish, .close = close_source,
};

void event_list_init(struct event_list_source *list, const struct event *events, size_t count)
{
	*list = (struct event_list_source){ { &ops }, events, count };
}

struct event event_list_map(const char *path, uint64_t start, uint32_t flags, uint64_t time_ns)
{
	return (struct event){
		.kind = EVENT_MMAP,
		.time_ns = time_ns,
		.pid = PID,
		.tid = PID,
		.mmap = { .start = start, .end = start + MAP_LEN, .flags = flags, .path = path },
	};
}

struct event event_list_sample(uint64_t ip, uint64_t time_ns)
{
	return (struct event){
		.kind = EVENT_SAMPLE,
		.time_ns = time_ns,
		.pid = PID,
		.tid = PID,
		.sample = { .mode = EVENT_MODE_USER, .ip = ip, .period = 1 },
	};
}
