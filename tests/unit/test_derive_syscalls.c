/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_derive_syscalls.c - from entries and exits to system calls with their lengths, errors and stacks.
 */
#include "formats/arch.h"
#include "formats/syscall_name.h"
#include "report/load/derive/derive.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <string.h>

#define START 1000000u
#define END   2000000u
#define ENTER 0
#define EXIT  1
#define STACK 2

enum { READ = 0, OPENAT = 257, EXIT_GROUP = 231 }; /* on x86-64 */

static const char enter_format[] = "	field:int common_pid;	offset:4;	size:4;	signed:1;\n\n"
				   "	field:long id;	offset:8;	size:8;	signed:1;\n"
				   "	field:unsigned long args[6];	offset:16;	size:48;	signed:0;\n";
static const char exit_format[] = "	field:long id;	offset:8;	size:8;	signed:1;\n"
				  "	field:long ret;	offset:16;	size:8;	signed:1;\n";

struct calls {
	struct recording recording;
	struct recording_event events[3];
	struct profile *profile;
	struct derive *derive;
	VEC(struct derived) out;
};

static void keep(void *context, const struct derived *derived)
{
	struct calls *c = context;

	vec_push(&c->out, *derived);
}

static uint32_t same_number(void *context, uint32_t pid, uint32_t tid)
{
	(void)context;
	(void)pid;
	return tid;
}

static void calls_begin(struct calls *c, bool each)
{
	*c = (struct calls){ .events = {
				     { .name = "raw_syscalls:sys_enter", .type = PERF_TYPE_TRACEPOINT, .rate = 1,
				       .format = enter_format, .samples = true },
				     { .name = "raw_syscalls:sys_exit", .type = PERF_TYPE_TRACEPOINT, .rate = 1,
				       .format = exit_format, .samples = true },
				     { .name = "raw_syscalls:sys_enter", .type = PERF_TYPE_TRACEPOINT, .rate = 499,
				       .is_freq = true, .format = enter_format, .samples = true } } };
	c->recording = (struct recording){
		.events = c->events, .nevents = 3, .start_ns = START, .end_ns = END, .arch = &arch_x86_64
	};
	c->profile = profile_new();
	for (int i = 0; i < 3; i++)
		profile_add_value_type(c->profile, &(struct profile_value_type){ 0 });

	struct derive_request request = { .profile = c->profile, .recording = &c->recording, .to_ns = UINT64_MAX,
					  .added = { DERIVE_SYSCALLS }, .each_wait = each };

	c->derive = derive_new(&request, &(struct derive_out){ .add = keep, .thread = same_number, .context = c });
}

static void calls_end(struct calls *c)
{
	derive_free(c->derive);
	profile_free(c->profile);
	vec_deinit(&c->out);
}

static void feed(struct calls *c, uint32_t event, uint64_t time_ns, uint64_t call, int64_t result)
{
	uint64_t raw[8] = { 0, call, (uint64_t)result };
	struct event ev = { .kind = EVENT_SAMPLE, .pid = 1, .tid = 7, .cpu = 3, .time_ns = time_ns,
			    .sample = { .event = event, .period = 1, .raw = (const uint8_t *)raw,
					.raw_len = event == EXIT ? 24 : sizeof(raw) } };

	derive_event(c->derive, &(struct derive_event){ .ev = &ev, .thread = 7, .stack = event == STACK ? 42 : 0, .passes = true });
}

static const char *text(const struct calls *c, uint32_t string)
{
	return profile_text(c->profile, string);
}

TEST(syscalls_have_their_length_name_error_and_stack)
{
	struct calls c;

	calls_begin(&c, true);
	feed(&c, STACK, START + 100, READ, 0);
	feed(&c, ENTER, START + 100, READ, 0);
	feed(&c, EXIT, START + 350, READ, 8);
	feed(&c, ENTER, START + 400, OPENAT, 0);
	feed(&c, STACK, START + 400, OPENAT, 0); /* in this order, too */
	feed(&c, EXIT, START + 500, OPENAT, -2);
	feed(&c, ENTER, START + 600, READ, 0);
	feed(&c, EXIT, START + 610, READ, -4096); /* is no error */
	derive_finish(c.derive);

	CHECK_UINT(c.out.len, 3);
	CHECK_UINT(c.out.items[0].weight, 250);
	CHECK_UINT(c.out.items[0].stack, 42);
	CHECK_UINT(c.out.items[0].state, PROFILE_STATE_CALL);
	CHECK_STR(text(&c, c.out.items[0].call), "read");
	CHECK_UINT(c.out.items[0].error, 0);
	CHECK_UINT(c.out.items[1].weight, 100);
	CHECK_UINT(c.out.items[1].stack, 42);
	CHECK_STR(text(&c, c.out.items[1].call), "openat");
	CHECK_STR(text(&c, c.out.items[1].error), "ENOENT");
	CHECK_UINT(c.out.items[2].weight, 10);
	CHECK_UINT(c.out.items[2].stack, 0);
	CHECK_UINT(c.out.items[2].error, 0);
	calls_end(&c);
}

TEST(syscalls_that_are_not_whole_count_as_far_as_they_are_known)
{
	struct calls c;

	calls_begin(&c, true);
	feed(&c, EXIT, START + 300, READ, 1); /* since before the recording */
	feed(&c, EXIT, START + 400, READ, 1); /* its entry was lost */
	feed(&c, ENTER, START + 500, READ, 0); /* its exit was lost */
	feed(&c, ENTER, START + 600, READ, 0);
	feed(&c, EXIT, START + 650, OPENAT, 1); /* of another call */
	feed(&c, ENTER, START + 700, EXIT_GROUP, 0);
	derive_finish(c.derive);

	CHECK_UINT(c.out.len, 2);
	CHECK_UINT(c.out.items[0].weight, 300);
	CHECK_UINT(c.out.items[0].time_ns, START);
	CHECK_UINT(c.out.items[1].weight, END - START - 700);
	CHECK_STR(text(&c, c.out.items[1].call), "exit_group");
	calls_end(&c);
}

TEST(syscalls_of_a_new_thread_do_not_begin_with_the_fork_that_made_it)
{
	struct event fork = { .kind = EVENT_FORK, .pid = 1, .tid = 7, .time_ns = START + 50 };
	struct calls c;

	calls_begin(&c, true);
	derive_event(c.derive, &(struct derive_event){ .ev = &fork, .thread = PROFILE_NONE, .passes = true });
	feed(&c, EXIT, START + 300, 56, 0);
	derive_finish(c.derive);
	CHECK_UINT(c.out.len, 0);
	calls_end(&c);
}

TEST(syscalls_without_a_stack_add_to_those_that_took_about_as_long)
{
	struct calls c;
	uint64_t all = 0, with_stack = 0;

	calls_begin(&c, false);
	feed(&c, STACK, START + 100, READ, 0);
	feed(&c, ENTER, START + 100, READ, 0);
	feed(&c, EXIT, START + 400, READ, 8);
	feed(&c, ENTER, START + 500, READ, 0);
	feed(&c, EXIT, START + 900, READ, 8);
	feed(&c, ENTER, START + 1000, READ, 0);
	feed(&c, EXIT, START + 91000, READ, 8); /* like none */
	derive_finish(c.derive);
	for (size_t i = 0; i < c.out.len; i++) {
		all += c.out.items[i].weight;
		with_stack += c.out.items[i].stack ? c.out.items[i].weight : 0;
	}
	CHECK_UINT(all, 300 + 400 + 90000);
	CHECK_UINT(with_stack, 300 + 400);
	calls_end(&c);
}

TEST(syscalls_with_a_payload_that_is_too_short_are_left_out)
{
	struct event ev = { .kind = EVENT_SAMPLE, .pid = 1, .tid = 7, .time_ns = START + 1,
			    .sample = { .event = ENTER, .raw = (const uint8_t *)"", .raw_len = 0 } };
	struct calls c;

	calls_begin(&c, true);
	derive_event(c.derive, &(struct derive_event){ .ev = &ev, .thread = 7, .passes = true });
	derive_finish(c.derive);
	CHECK_UINT(c.out.len, 0);
	calls_end(&c);
}

TEST(syscall_names_differ_between_processors)
{
	CHECK_STR(syscall_name(&arch_x86_64, 0), "read");
	CHECK_STR(syscall_name(&arch_aarch64, 63), "read");
	CHECK_STR(syscall_name(&arch_aarch64, 435), "clone3");
	CHECK_STR(syscall_name(&arch_x86_64, 435), "clone3");
	CHECK(!syscall_name(&arch_aarch64, 1000));
	CHECK(!syscall_name(&arch_x86_64, UINT16_MAX));
	CHECK(!syscall_name(NULL, 0));
}
