/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_derive_block.c - from both ends of requests to block devices to how long they took.
 */
#include "report/load/derive/derive.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <string.h>

#define START	 1000000u
#define END	 2000000u
#define ISSUE	 0
#define COMPLETE 1
#define DEVICE	 (254u << 20 | 16)

static const char issue_format[] = "	field:dev_t dev;	offset:8;	size:4;	signed:0;\n"
				   "	field:sector_t sector;	offset:16;	size:8;	signed:0;\n"
				   "	field:unsigned int nr_sector;	offset:24;	size:4;	signed:0;\n"
				   "	field:char rwbs[10];	offset:34;	size:10;	signed:0;\n";
static const char complete_format[] = "	field:dev_t dev;	offset:8;	size:4;	signed:0;\n"
				      "	field:sector_t sector;	offset:16;	size:8;	signed:0;\n"
				      "	field:unsigned int nr_sector;	offset:24;	size:4;	signed:0;\n"
				      "	field:int error;	offset:28;	size:4;	signed:1;\n";

struct requests {
	struct recording recording;
	struct recording_event events[2];
	struct profile *profile;
	struct derive *derive;
	VEC(struct derived) out;
};

static void keep(void *context, const struct derived *derived)
{
	struct requests *r = context;

	if (derived->state == PROFILE_STATE_REQUEST)
		vec_push(&r->out, *derived);
}

static void requests_begin(struct requests *r, bool system_wide)
{
	*r = (struct requests){ .events = { { .name = "block:block_rq_issue", .type = PERF_TYPE_TRACEPOINT, .rate = 1,
					      .format = issue_format, .samples = true },
					    { .name = "block:block_rq_complete/call-graph=no/", .type = PERF_TYPE_TRACEPOINT,
					      .rate = 1, .format = complete_format, .samples = true } } };
	r->recording = (struct recording){
		.events = r->events, .nevents = 2, .start_ns = START, .end_ns = END, .system_wide = system_wide
	};
	r->profile = profile_new();
	for (int i = 0; i < 2; i++)
		profile_add_value_type(r->profile, &(struct profile_value_type){ 0 });

	struct derive_request request = { .profile = r->profile, .recording = &r->recording, .to_ns = UINT64_MAX,
					  .added = { DERIVE_BLOCK } };

	r->derive = derive_new(&request, &(struct derive_out){ .add = keep, .context = r });
}

static void requests_end(struct requests *r)
{
	derive_free(r->derive);
	profile_free(r->profile);
	vec_deinit(&r->out);
}

static uint32_t deep_stack(struct requests *r)
{
	uint32_t stack = 0;

	for (unsigned i = 0; i < 2; i++)
		stack = profile_add_stack(r->profile, stack, profile_add_location(r->profile, 0, i, PROFILE_FRAME_NATIVE), 0);
	return stack;
}

struct range {
	uint64_t sector;
	uint32_t count;
};

static void feed(struct requests *r, uint32_t event, uint64_t time_ns, struct range range, const char *flags, int32_t error)
{
	uint8_t raw[48] = { 0 };
	uint32_t device = DEVICE, stack = deep_stack(r);
	struct event ev = { .kind = EVENT_SAMPLE, .pid = 1, .tid = event == ISSUE ? 7 : 9, .time_ns = time_ns,
			    .sample = { .event = event, .period = 1, .raw = raw, .raw_len = sizeof(raw) } };

	memcpy(raw + 8, &device, sizeof(device));
	memcpy(raw + 16, &range.sector, sizeof(range.sector));
	memcpy(raw + 24, &range.count, sizeof(range.count));
	if (event == ISSUE)
		memcpy(raw + 34, flags, strlen(flags));
	else
		memcpy(raw + 28, &error, sizeof(error));
	derive_event(r->derive, &(struct derive_event){ .ev = &ev, .thread = ev.tid, .stack = stack, .passes = true });
}

TEST(block_requests_belong_to_who_issued_them)
{
	struct requests r;

	requests_begin(&r, true);
	feed(&r, COMPLETE, START + 50, (struct range){ 900, 8 }, "", 0); /* from before */
	feed(&r, ISSUE, START + 100, (struct range){ 100, 8 }, "WS", 0);
	feed(&r, ISSUE, START + 200, (struct range){ 500, 8 }, "RA", 0);
	feed(&r, COMPLETE, START + 700, (struct range){ 500, 8 }, "", -5);
	feed(&r, COMPLETE, START + 900, (struct range){ 100, 8 }, "", 0);
	feed(&r, ISSUE, START + 1000, (struct range){ 0, 0 }, "FF", 0); /* is not over */
	derive_finish(r.derive);

	CHECK_UINT(r.out.len, 3);
	CHECK_UINT(r.out.items[0].weight, 500);
	CHECK_UINT(r.out.items[0].thread, 7);
	CHECK_UINT(r.out.items[0].stack, deep_stack(&r));
	CHECK_STR(profile_text(r.profile, r.out.items[0].operation), "read ahead");
	CHECK_STR(profile_text(r.profile, r.out.items[0].file), "device 254:16");
	CHECK_STR(profile_text(r.profile, r.out.items[0].error), "EIO");
	CHECK_UINT(r.out.items[1].weight, 800);
	CHECK_UINT(r.out.items[1].error, 0);
	CHECK_STR(profile_text(r.profile, r.out.items[1].operation), "synchronous write");
	CHECK_UINT(r.out.items[2].weight, END - START - 1000);
	CHECK_STR(profile_text(r.profile, r.out.items[2].operation), "flush");
	requests_end(&r);
}

TEST(block_devices_have_the_names_that_the_recorder_listed)
{
	struct requests r;

	requests_begin(&r, true);
	r.recording.block_devices = "254:1 /dev/vda1\n254:16 /dev/mapper/vg-data\n254:160 /dev/vdk\n";
	feed(&r, ISSUE, START + 100, (struct range){ 100, 8 }, "R", 0);
	feed(&r, COMPLETE, START + 900, (struct range){ 100, 8 }, "", 0);
	r.recording.block_devices = "254:1 /dev/vda1\n2254:16 /dev/x\n254:160 /dev/vdk";
	feed(&r, ISSUE, START + 1000, (struct range){ 100, 8 }, "R", 0);
	derive_finish(r.derive);
	CHECK_STR(profile_text(r.profile, r.out.items[0].file), "/dev/mapper/vg-data");
	CHECK_STR(profile_text(r.profile, r.out.items[1].file), "device 254:16");
	requests_end(&r);
}

TEST(block_requests_that_are_completed_in_parts_are_one)
{
	struct requests r;

	requests_begin(&r, true);
	feed(&r, ISSUE, START + 100, (struct range){ 100, 24 }, "R", 0);
	feed(&r, COMPLETE, START + 200, (struct range){ 100, 8 }, "", 0);
	feed(&r, COMPLETE, START + 300, (struct range){ 108, 8 }, "", 0);
	feed(&r, COMPLETE, START + 600, (struct range){ 116, 8 }, "", 0);
	derive_finish(r.derive);
	CHECK_UINT(r.out.len, 1);
	CHECK_UINT(r.out.items[0].weight, 500);
	requests_end(&r);
}

TEST(block_requests_need_all_tasks_recorded)
{
	struct requests r;

	requests_begin(&r, false);
	feed(&r, ISSUE, START + 100, (struct range){ 100, 8 }, "R", 0);
	derive_finish(r.derive);
	CHECK_UINT(r.out.len, 0);
	requests_end(&r);
}
