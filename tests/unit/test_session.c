/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_session.c - from a trace to the profile: stacks as they were recorded, whatever was reused on the way.
 */
#include "formats/trace/trace_writer.h"
#include "report/load/session.h"
#include "report/view/trust.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE      0x100000u
#define CODE_LEN  0x100000u
#define SAMPLES   2000
#define DEPTH_MAX 12
#define THREADS   70 /* more than have their last path remembered */
#define START_NS  1000000000u

struct made {
	uint32_t tid, depth;
	uint64_t ips[DEPTH_MAX]; /* leaf first */
};

static struct made made[SAMPLES];

static void write_sample(struct trace_writer *w, uint64_t i)
{
	struct event ev = { .kind = EVENT_SAMPLE, .time_ns = START_NS + i * 1000, .pid = 100 };

	ev.tid = made[i].tid;
	ev.cpu = (uint32_t)i % 4;
	ev.sample = (struct event_sample){ .mode = EVENT_MODE_USER,
					   .ip = made[i].ips[0],
					   .period = 1000,
					   .nuser_ips = made[i].depth,
					   .user_ips = made[i].ips };
	CHECK_OK(trace_writer_event(w, &ev));
}

static void write_mapping(struct trace_writer *w)
{
	struct event ev = { .kind = EVENT_MMAP, .cpu = EVENT_NO_CPU, .pid = 100, .tid = 100 };

	ev.mmap = (struct event_mmap){
		.start = CODE, .end = CODE + CODE_LEN, .flags = EVENT_MMAP_EXEC, .path = "//anon"
	};
	CHECK_OK(trace_writer_event(w, &ev));
}

/* Stacks that share callers with the one before in their thread, more or less. */
static void make_samples(void)
{
	unsigned seed = 7;

	for (size_t i = 0; i < SAMPLES; i++) {
		struct made *m = &made[i];

		m->tid = 100 + (uint32_t)rand_r(&seed) % THREADS;
		m->depth = 1 + (uint32_t)rand_r(&seed) % DEPTH_MAX;
		for (uint32_t d = 0; d < m->depth; d++)
			m->ips[d] = CODE + 0x1000 + (uint32_t)rand_r(&seed) % 3 * 16 +
				    (m->depth - d) * 0x100;
	}
}

static const char *write_trace_with(uint64_t lost_kernel, uint64_t lost_side_band)
{
	const char *path = test_path("session.trace");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct trace_writer *w = trace_writer_new(fd);
	struct recording_event event = {
		.name = "cpu-clock", .unit = "ns", .format = "", .samples = true
	};
	struct recording_count count = { .samples = SAMPLES,
					 .lost_kernel = lost_kernel,
					 .cpu = EVENT_NO_CPU };
	struct recording rec = { .tool = "test",
				 .cmdline = "",
				 .hostname = "",
				 .os_release = "",
				 .cpu_model = "",
				 .container = "",
				 .arch = &arch_x86_64,
				 .start_ns = START_NS,
				 .chain = RECORDING_CHAIN_FP,
				 .events = &event,
				 .nevents = 1 };

	CHECK(fd >= 0);
	CHECK_OK(trace_writer_begin(w, &rec));
	write_mapping(w);
	for (size_t i = 0; i < SAMPLES; i++)
		write_sample(w, i);
	struct event lost = { .kind = EVENT_LOST,
			      .time_ns = START_NS,
			      .lost = { .event = RECORDING_NO_EVENT, .count = lost_side_band } };

	for (int i = 0; i < 4 && lost_side_band; i++)
		CHECK_OK(trace_writer_event(w, &lost));
	rec.end_ns = START_NS + SAMPLES * 1000;
	rec.counts = &count;
	rec.ncounts = 1;
	CHECK_OK(trace_writer_end(w, &rec));
	trace_writer_free(w);
	close(fd);
	return path;
}

static const char *write_trace(void)
{
	return write_trace_with(500, 0);
}

/* The samples with the stack of @want in its thread. */
static uint64_t expected(const struct made *want)
{
	uint64_t count = 0;

	for (size_t i = 0; i < SAMPLES; i++)
		count += made[i].tid == want->tid && made[i].depth == want->depth &&
			 memcmp(made[i].ips, want->ips, want->depth * sizeof(*want->ips)) == 0;
	return count;
}

/* The row's stack is @want's; return addresses are looked up a little before. */
static bool is_stack(const struct profile *p, const struct profile_sample *row,
		     const struct made *want)
{
	uint32_t stack = row->stack;

	if (p->threads.items[row->thread].tid != want->tid)
		return false;
	for (uint32_t d = 0; d < want->depth; d++, stack = p->stacks.items[stack].parent) {
		if (stack == 0)
			return false;
		if (p->locations.items[p->stacks.items[stack].location].vaddr !=
		    want->ips[d] - (d != 0))
			return false;
	}
	return stack == 0;
}

static uint64_t found(const struct profile *p, const struct made *want)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->samples.len; i++)
		if (is_stack(p, &p->samples.items[i], want))
			count += p->samples.items[i].count;
	return count;
}

TEST(session_profile_holds_every_stack_as_often_as_it_was_recorded)
{
	struct session_args args;
	struct filter filter = { 0 };
	struct session s;

	make_samples();
	session_args_init(&args);
	args.input = write_trace();
	CHECK_OK(session_open(&s, &args));
	CHECK_OK(session_load(&s, &filter));
	CHECK_UINT(profile_total(s.profile, 0).count, SAMPLES);
	CHECK_UINT(profile_total(s.profile, 0).weight, SAMPLES * 1000);
	for (size_t i = 0; i < SAMPLES; i++)
		CHECK_UINT(found(s.profile, &made[i]), expected(&made[i]));
	for (size_t i = 0; i < s.profile->locations.len; i++)
		CHECK(s.profile->locations.items[i].nlines == 1);
	CHECK_UINT(s.facts.first_type, 0);
	CHECK_UINT(session_duration_ns(&s), SAMPLES * 1000);
	CHECK_UINT(s.stream.samples, SAMPLES);
	session_close(&s);
}

TEST(session_counts_what_passes_the_filter_and_what_was_lost)
{
	struct session_args args;
	struct filter filter = { 0 };
	struct trust trust;
	struct session s;
	uint64_t on_cpus = 0;

	make_samples();
	session_args_init(&args);
	args.input = write_trace();
	vec_push(&filter.cpus.ranges, ((struct filter_range){ 1, 2 }));
	CHECK_OK(session_open(&s, &args));
	CHECK_OK(session_load(&s, &filter));
	for (size_t i = 0; i < SAMPLES; i++)
		on_cpus += i % 4 == 1 || i % 4 == 2;
	CHECK_UINT(s.matched.count, on_cpus);
	CHECK_UINT(s.stream.samples, SAMPLES);
	trust_judge(&trust, s.profile, &s.facts);
	CHECK_UINT(trust.lost, 500);
	CHECK_UINT(trust.samples, on_cpus);
	CHECK(trust_unnamed(&trust) > 0.999); /* the JIT wrote no map */
	CHECK_UINT(trust.broken + trust.complete, on_cpus);
	session_close(&s);
	filter_deinit(&filter);
}

/* Mappings and names that the kernel had no room for are no samples; sums of what a file says do not wrap. */
TEST(session_tells_lost_mappings_from_lost_samples)
{
	struct session_args args;
	struct filter filter = { 0 };
	struct session_losses losses;
	struct session s;

	for (int huge = 0; huge < 2; huge++) {
		make_samples();
		session_args_init(&args);
		args.input = write_trace_with(0, huge ? 1ULL << 62 : 1000);
		CHECK_OK(session_open(&s, &args));
		CHECK_OK(session_load(&s, &filter));
		losses = session_losses(&s);
		CHECK_UINT(losses.by_kernel + losses.by_recorder, 0);
		CHECK(huge ? losses.side_band >= 1ULL << 60 : losses.side_band == 4000);
		session_close(&s);
	}
}

static struct err *count_in_order(void *context, const struct walked_event *event)
{
	uint64_t *last_ns = context;

	CHECK(event->ev->time_ns >= *last_ns);
	CHECK((event->ev->kind == EVENT_SAMPLE) == (event->chain != NULL));
	*last_ns = event->ev->time_ns;
	return NULL;
}

TEST(session_each_hands_out_events_in_order)
{
	struct session_args args;
	struct filter filter = { 0 };
	uint64_t last_ns = 0;
	struct loader_listener listener = { .event = count_in_order, .context = &last_ns };
	struct session s;

	make_samples();
	session_args_init(&args);
	args.input = write_trace();
	CHECK_OK(session_open(&s, &args));
	CHECK_OK(session_each(&s, &filter, &listener));
	CHECK_UINT(last_ns, START_NS + (SAMPLES - 1) * 1000);
	CHECK_UINT(s.profile->samples.len, 0);
	session_close(&s);
}
