/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pprof_read.c - what pprof_write() writes comes back, and no cut copy does harm.
 */
#include "formats/profile/pprof.h"
#include "formats/profile/pprof_read.h"
#include "tests/unit/test.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* main calls work, 7 samples of 10 ns each, and is sampled itself once. */
static struct profile *example(void)
{
	struct profile *p = profile_new();
	struct profile_value_type event = { .name = profile_string(p, "cpu-clock"),
				       .unit = profile_string(p, "ns") };
	struct profile_module mod = { .name = profile_string(p, "prog"),
				      .path = profile_string(p, "/bin/prog") };
	struct profile_thread thread = { .pid = 4711,
					 .tid = 4712,
					 .comm = profile_string(p, "worker"),
					 .process = profile_string(p, "prog") };
	uint32_t module = profile_add_module(p, &mod), stack = 0;
	struct profile_sample sample = { .cpu = 3, .user = true };

	profile_add_value_type(p, &event);
	sample.thread = profile_add_thread(p, &thread);
	for (uint64_t i = 0; i < 2; i++) {
		struct profile_function function = { .name = profile_string(p, i ? "work" : "main"),
						     .module = module,
						     .file = profile_string(p, "/src/prog.c"),
						     .line = 10 };
		struct profile_line line = { profile_add_function(p, &function), function.file, 12 };
		uint32_t location = profile_add_location(p, module, 0x1000 + i, PROFILE_FRAME_NATIVE);

		profile_set_lines(p, location, &line, 1);
		stack = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);
		sample.stack = stack;
		sample.count = i ? 7 : 1;
		sample.weight = 10 * (int64_t)sample.count;
		sample.weight_sq = 100 * (double)sample.count;
		profile_add_sample(p, &sample);
	}
	return p;
}

static char *written(size_t *ret_len)
{
	const struct pprof_about about = { .wall_ns = 5, .duration_ns = 6 };
	struct profile *p = example();
	char *data = NULL;
	FILE *out = open_memstream(&data, ret_len);
	struct err *err = pprof_write(p, &about, out);

	CHECK(!err);
	err_free(err);
	fclose(out);
	profile_free(p);
	return data;
}

TEST(pprof_comes_back_as_it_was)
{
	size_t len;
	char *data = written(&len);
	struct profile *p = profile_new();
	struct pprof_facts facts = { 0 };
	struct err *err = pprof_read(data, len, p, &facts);

	CHECK(!err);
	CHECK(pprof_is(data, len));
	CHECK_UINT(facts.wall_ns, 5);
	CHECK_UINT(facts.duration_ns, 6);
	CHECK_UINT(p->types.len, 1);
	CHECK_STR(profile_text(p, p->types.items[0].name), "cpu-clock");
	CHECK_STR(profile_text(p, p->types.items[0].unit), "ns");
	CHECK_UINT(profile_total(p, 0).count, 8);
	CHECK_UINT(profile_total(p, 0).weight, 80);
	CHECK(profile_total(p, 0).weight_sq == 800);
	CHECK_UINT(p->samples.len, 2);
	CHECK_UINT(p->samples.items[1].cpu, 3);
	CHECK_UINT(p->threads.items[p->samples.items[1].thread].tid, 4712);
	CHECK_STR(profile_text(p, p->threads.items[p->samples.items[1].thread].comm), "worker");

	const struct profile_stack *stack = &p->stacks.items[p->samples.items[1].stack];
	const struct profile_location *at = &p->locations.items[stack->location];
	const struct profile_function *function =
		&p->functions.items[p->lines.items[at->first_line].function];

	CHECK_UINT(at->vaddr, 0x1001);
	CHECK_UINT(p->lines.items[at->first_line].line, 12);
	CHECK_STR(profile_text(p, function->name), "work");
	CHECK_STR(profile_text(p, function->file), "/src/prog.c");
	CHECK_STR(profile_text(p, profile_module(p, function->module)->path), "/bin/prog");
	profile_free(p);
	free(data);
}

TEST(pprof_rejects_every_truncation)
{
	size_t len;
	char *data = written(&len);

	for (size_t cut = 0; cut < len; cut++) {
		struct profile *p = profile_new();
		struct pprof_facts facts;
		CLEANUP(err_freep) struct err *err = pprof_read(guarded(data, cut), cut, p, &facts);

		CHECK(err && err_kind(err) == ERR_CORRUPT);
		profile_free(p);
	}
	free(data);
}
