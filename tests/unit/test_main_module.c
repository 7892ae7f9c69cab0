/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_main_module.c - a shell that becomes an interpreter with a busy thread, beside work of the kernel:
 *
 *	process     weight   its main thread begins in
 *	kworker      1,000   the kernel
 *	python3        605   /usr/bin/python3.11 (5), the other thread in the C library
 *	sh              70   /bin/dash
 */
#include "formats/profile/main_module.h"
#include "tests/unit/test.h"

static uint32_t add_module(struct profile *p, const char *path, enum profile_module_kind kind)
{
	struct profile_module module = { .name = profile_string(p, path),
					 .path = profile_string(p, path),
					 .build_id = profile_string(p, ""),
					 .kind = kind };

	return profile_add_module(p, &module);
}

/* A stack of two frames, the outer one in @module, and its weight. */
static void add_work(struct profile *p, const struct profile_thread *thread, uint32_t module,
		     uint8_t stop, uint64_t weight)
{
	uint32_t first = profile_add_location(p, module, 0x1000, PROFILE_FRAME_NATIVE);
	uint32_t leaf = profile_add_location(p, 0, 0x2000, PROFILE_FRAME_NATIVE);
	uint32_t outer = profile_add_stack(p, 0, first, PROFILE_HOW_SURE);
	struct profile_sample sample = {
		.stack = profile_add_stack(p, outer, leaf, PROFILE_HOW_SURE),
		.thread = profile_add_thread(p, thread),
		.stop = stop,
		.count = 1,
		.weight = weight,
	};

	profile_add_sample(p, &sample);
}

TEST(the_main_module_is_where_the_heaviest_program_begins)
{
	struct profile *p = profile_new();
	struct profile_value_type event = { .name = profile_string(p, "cycles"),
				       .unit = profile_string(p, "") };
	uint32_t shell = profile_string(p, "sh"), python = profile_string(p, "python3");
	struct profile_thread before = { .pid = 7, .tid = 7, .comm = shell, .process = shell };
	struct profile_thread main_thread = { .pid = 7, .tid = 7, .comm = python, .process = python };
	struct profile_thread other = { .pid = 7, .tid = 8, .comm = python, .process = python };
	struct profile_thread kernel = { .pid = 2, .tid = 2, .comm = profile_string(p, "kworker"),
					 .process = profile_string(p, "kworker") };

	profile_add_value_type(p, &event);
	CHECK_UINT(main_module(p, 0), 0); /* nothing was sampled */

	uint32_t libc = add_module(p, "/lib/libc.so.6", PROFILE_USER);
	uint32_t dash = add_module(p, "/bin/dash", PROFILE_USER);
	uint32_t interpreter = add_module(p, "/usr/bin/python3.11", PROFILE_USER);

	add_work(p, &kernel, add_module(p, "[kernel]", PROFILE_KERNEL), 0, 1000);
	CHECK_UINT(main_module(p, 0), libc);
	add_work(p, &before, dash, 0, 70);
	CHECK_UINT(main_module(p, 0), dash);
	add_work(p, &other, libc, 0, 500);
	add_work(p, &main_thread, libc, 1, 100); /* a broken stack does not tell where it began */
	CHECK_UINT(main_module(p, 0), dash);
	add_work(p, &main_thread, interpreter, 0, 5);
	CHECK_UINT(main_module(p, 0), interpreter);
	CHECK_UINT(main_module(p, 1), 0); /* of another event */
	profile_free(p);
}
