/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_namer.c - which frames of a stack are named.
 */
#include "report/load/namer.h"

#include "report/load/session.h"
#include "symbolize/module/module.h"
#include "tests/unit/event_list.h"
#include "tests/unit/test.h"

/* Root first. */
static const char *const paths[] = { "/usr/bin/app", "/usr/lib/jvm/libjvm.so", "/usr/lib/libm.so.6", "/usr/lib/libc.so.6" };

/* One sample; the leaf is in libc. */
static void add_stack(struct session *s, struct namer *namer)
{
	struct profile_sample sample = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct module *mod = module_table_file(s->binaries.modules, MODULE_FILE, paths[i], NULL, 0);
		uint32_t number = loader_profile_module(s->loader, mod);

		namer_set_module(namer, number, mod);
		sample.stack = profile_add_stack(s->profile, sample.stack,
						 profile_add_location(s->profile, number, 0x1000, PROFILE_FRAME_NATIVE),
						 PROFILE_HOW_SURE);
	}
	profile_add_sample(s->profile, &sample);
}

/* Which of the locations, root first, have a name: "0101". */
static void named(unsigned depth, char ret[ARRAY_LEN(paths) + 1])
{
	struct session_args args;
	struct event_list_source list;
	struct progress progress = { 0 };
	struct session s;

	session_args_init(&args);
	event_list_init(&list, NULL, 0);
	session_open_source(&s, &args, &list.source);

	struct namer namer = { .profile = s.profile, .symbolizer = s.binaries.symbolizer, .depth = depth };

	add_stack(&s, &namer);
	progress_begin(&progress, stderr, false);
	namer_name_samples(&namer, &progress);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		ret[i] = s.profile->locations.items[i].nlines ? '1' : '0';
	ret[ARRAY_LEN(paths)] = '\0';
	namer_deinit(&namer);
	session_close(&s);
}

TEST(namer_names_as_many_frames_as_it_is_asked_for_and_those_of_runtimes)
{
	char is_named[ARRAY_LEN(paths) + 1];

	named(NAMER_NONE, is_named);
	CHECK_STR(is_named, "0000");
	named(NAMER_LEAVES, is_named);
	CHECK_STR(is_named, "0101");
	named(NAMER_CALLERS, is_named);
	CHECK_STR(is_named, "0111");
	named(NAMER_ALL, is_named);
	CHECK_STR(is_named, "1111");
}
