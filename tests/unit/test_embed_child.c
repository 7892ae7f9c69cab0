/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_embed_child.c - one user's files that take long.
 */
#include "record/embed/embed_child.h"

#include "tests/unit/test.h"

#include <fcntl.h>
#include <unistd.h>

#define SLOW  7
#define OTHER 8

static void read_one(struct embed_child *child, enum embed_step kind, uint32_t owner, unsigned ms)
{
	embed_child_owner(child, owner);
	embed_child_step(child, kind, "file");
	usleep(ms * 1000);
}

/* The answers, as bits of a count. */
static struct err *run(void *context, struct embed_child *child, struct trace_writer *w, struct diag *notes, struct attach_report *report)
{
	uint64_t bits = 0;

	(void)context;
	(void)w;
	(void)notes;
	read_one(child, EMBED_LOOK, SLOW, 60);
	read_one(child, EMBED_LOOK, OTHER, 0);
	bits |= (uint64_t)embed_child_has_share(child) << 6;
	bits |= (uint64_t)embed_child_is_last(child, EMBED_LOOK, 0, OTHER) << 0;
	bits |= (uint64_t)embed_child_is_last(child, EMBED_LOOK, 1, SLOW) << 1;
	read_one(child, EMBED_WRITE, OTHER, 0);
	bits |= (uint64_t)embed_child_is_last(child, EMBED_WRITE, 2, SLOW) << 2;
	/* As a second child would, which looks again. */
	bits |= (uint64_t)embed_child_is_last(child, EMBED_LOOK, 3, SLOW) << 3;
	embed_child_begin_last(child);
	bits |= (uint64_t)embed_child_is_last(child, EMBED_WRITE, 4, SLOW) << 4;
	bits |= (uint64_t)embed_child_is_last(child, EMBED_WRITE, 1, SLOW) << 5;
	report->images = bits;
	return NULL;
}

#define SLOW_USERS 12

/* Each of many users has a file on which the child is stuck: the last user's file is read all the same. */
static struct err *run_many(void *context, struct embed_child *child, struct trace_writer *w, struct diag *notes, struct attach_report *report)
{
	(void)context;
	(void)w;
	(void)notes;
	for (uint32_t i = 0; i < SLOW_USERS; i++) {
		embed_child_owner(child, i);
		if (embed_child_step(child, EMBED_WRITE, "slow") && embed_child_has_share(child))
			while (embed_child_goes_on(child))
				usleep(1000);
	}
	embed_child_owner(child, OTHER + SLOW_USERS);
	report->images = embed_child_step(child, EMBED_WRITE, "other") && embed_child_has_share(child);
	return NULL;
}

TEST(embed_child_keeps_time_for_others_beside_many_slow_users)
{
	const struct embed_limits limits = { .time_ns = 100000000, .len = 1 << 20 };
	const struct embed_job job = { .run = run_many };
	struct attach_report report = { 0 };
	struct diag notes = { 0 };
	int fd = open("/dev/null", O_RDWR);
	struct trace_writer *w = trace_writer_new(fd);

	/* A busy machine may not let it end in time. */
	for (int i = 0; i < 10 && !report.images; i++)
		CHECK_OK(embed_child_run(&job, &limits, w, &notes, &report));
	CHECK_UINT(report.images, 1);
	trace_writer_free(w);
	close(fd);
	diag_deinit(&notes);
}

TEST(embed_child_leaves_the_rest_of_a_slow_users_files_to_the_last_round)
{
	const struct embed_limits limits = { .time_ns = 400000000, .len = 1 << 20 };
	const struct embed_job job = { .run = run };
	struct attach_report report = { 0 };
	struct diag notes = { 0 };
	int fd = open("/dev/null", O_RDWR);
	struct trace_writer *w = trace_writer_new(fd);

	/* A busy machine may not let it end in time. */
	for (int i = 0; i < 10 && !report.images; i++)
		CHECK_OK(embed_child_run(&job, &limits, w, &notes, &report));
	CHECK_UINT(report.images, 1 << 1 | 1 << 2 | 1 << 5 | 1 << 6);
	trace_writer_free(w);
	close(fd);
	diag_deinit(&notes);
}
