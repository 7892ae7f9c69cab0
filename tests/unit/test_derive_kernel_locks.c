/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_derive_kernel_locks.c - from the beginning and end of contention to waits for locks of the kernel.
 */
#include "report/load/derive/derive.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <string.h>

#define START 1000000u
#define END   2000000u
#define FIRST 0
#define LAST  1
#define NAMELESS 2 /* LAST, of a thread that has no number any more */
#define SPIN  1u
#define MUTEX 32u

static const char first_format[] = "	field:void * lock_addr;	offset:8;	size:8;	signed:0;\n"
				   "	field:unsigned int flags;	offset:16;	size:4;	signed:0;\n";
static const char last_format[] = "	field:void * lock_addr;	offset:8;	size:8;	signed:0;\n"
				  "	field:int ret;	offset:16;	size:4;	signed:1;\n";

struct locks {
	struct recording recording;
	struct recording_event events[2];
	struct profile *profile;
	struct derive *derive;
	VEC(struct derived) out;
};

static void keep(void *context, const struct derived *derived)
{
	struct locks *l = context;

	if (derived->state == PROFILE_STATE_CONTENDED)
		vec_push(&l->out, *derived);
}

static void locks_begin(struct locks *l)
{
	*l = (struct locks){ .events = { { .name = "lock:contention_begin", .type = PERF_TYPE_TRACEPOINT, .rate = 1,
					   .format = first_format, .samples = true },
					 { .name = "lock:contention_end", .type = PERF_TYPE_TRACEPOINT, .rate = 1,
					   .format = last_format, .samples = true } } };
	l->recording = (struct recording){ .events = l->events, .nevents = 2, .start_ns = START, .end_ns = END };
	l->profile = profile_new();
	for (int i = 0; i < 2; i++)
		profile_add_value_type(l->profile, &(struct profile_value_type){ 0 });

	struct derive_request request = { .profile = l->profile, .recording = &l->recording, .to_ns = UINT64_MAX,
					  .added = { DERIVE_KERNEL_LOCK } };

	l->derive = derive_new(&request, &(struct derive_out){ .add = keep, .context = l });
}

static void locks_end(struct locks *l)
{
	derive_free(l->derive);
	profile_free(l->profile);
	vec_deinit(&l->out);
}

/* @extra: flags of the beginning, what came of it at the end. */
static void feed(struct locks *l, uint32_t event, uint64_t time_ns, uint64_t lock, uint32_t extra)
{
	uint8_t raw[20] = { 0 };
	struct event ev = { .kind = EVENT_SAMPLE, .pid = 1, .tid = event == NAMELESS ? UINT32_MAX : 7, .time_ns = time_ns,
			    .sample = { .event = event == FIRST ? FIRST : LAST, .period = 1, .raw = raw, .raw_len = sizeof(raw) } };

	memcpy(raw + 8, &lock, sizeof(lock));
	memcpy(raw + 16, &extra, sizeof(extra));
	derive_event(l->derive, &(struct derive_event){ .ev = &ev, .thread = 7, .passes = true });
}

TEST(kernel_locks_are_waits_by_lock_and_kind)
{
	struct locks l;

	locks_begin(&l);
	feed(&l, FIRST, START + 100, 0xffff0000, MUTEX | SPIN);
	feed(&l, FIRST, START + 300, 0xffff0000, MUTEX); /* it sleeps now */
	feed(&l, FIRST, START + 350, 0xffff8888, SPIN);	 /* an interrupt meanwhile */
	feed(&l, LAST, START + 360, 0xffff8888, 0);
	feed(&l, LAST, START + 900, 0xffff0000, (uint32_t)-4);
	feed(&l, LAST, START + 950, 0xffff0000, 0); /* of nobody */
	derive_finish(l.derive);

	CHECK_UINT(l.out.len, 2);
	CHECK_UINT(l.out.items[0].weight, 10);
	CHECK_STR(profile_text(l.profile, l.out.items[0].lock), "spinlock 0xffff8888");
	CHECK_UINT(l.out.items[1].weight, 800);
	CHECK_UINT(l.out.items[1].time_ns, START + 100);
	CHECK_STR(profile_text(l.profile, l.out.items[1].lock), "mutex 0xffff0000");
	CHECK_STR(profile_text(l.profile, l.out.items[1].error), "EINTR");
	locks_end(&l);
}

TEST(kernel_locks_of_a_thread_that_ends_meanwhile)
{
	struct locks l;

	locks_begin(&l);
	feed(&l, FIRST, START + 100, 0xffff0000, SPIN);
	feed(&l, NAMELESS, START + 130, 0xffff0000, 0);
	derive_finish(l.derive);
	CHECK_UINT(l.out.len, 1);
	CHECK_UINT(l.out.items[0].weight, 30);
	locks_end(&l);
}

TEST(kernel_locks_whose_end_was_lost_are_left_out)
{
	struct locks l;

	locks_begin(&l);
	feed(&l, FIRST, START + 100, 0xffff0000, SPIN);
	feed(&l, FIRST, START + 5000, 0xffff0000, SPIN);
	feed(&l, LAST, START + 5020, 0xffff0000, 0);
	derive_finish(l.derive);
	CHECK_UINT(l.out.len, 1);
	CHECK_UINT(l.out.items[0].weight, 20);
	locks_end(&l);
}
