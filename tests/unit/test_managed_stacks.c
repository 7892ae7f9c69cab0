/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_stacks.c - frames of an interpreter in the place of the calls that ran them.
 */
#include "report/load/managed_stacks.h"
#include "report/load/namer.h"

#include "formats/arch.h"
#include "report/load/session.h"
#include "tests/unit/event_list.h"
#include "tests/unit/test.h"
#include "symbolize/module/module.h"

#include <limits.h>
#include <string.h>

#define PYTHON	0x100000u
#define LIBC	0x200000u
#define EXT	0x300000u
#define LOOP	(PYTHON + 0x1000) /* 0x100 bytes */
#define GLUE	(PYTHON + 0x2000)
#define T	1000000000u

/* A native stack, innermost first, one interpreter's stack, and the sample that both belong to. */
struct scene {
	const uint64_t *ips;
	size_t nips;
	struct event managed, sample;
	struct event_managed_frame frames[8];
	bool broken; /* the native stack does not reach its root */
};

static void scene_init(struct scene *scene, const uint64_t *ips, size_t nips,
		       const struct event_managed_frame *frames, size_t nframes)
{
	*scene = (struct scene){ .ips = ips, .nips = nips, .sample = event_list_sample(ips[0], T + 10) };
	for (size_t i = 0; i < nframes; i++)
		scene->frames[i] = frames[i];
	scene->managed = (struct event){
		.kind = EVENT_MANAGED,
		.time_ns = T + 9,
		.cpu = EVENT_NO_CPU,
		.pid = scene->sample.pid,
		.tid = scene->sample.tid,
		.managed = { .runtime = EVENT_MANAGED_PYTHON,
			     .module = "/usr/bin/python3.11",
			     .nloops = 1,
			     .loops = { { 0x1000, 0x100 } },
			     .nframes = nframes,
			     .frames = scene->frames },
	};
}

static char shown[512];
static bool completed;

/* The stack of the sample, root first: "main:3 handler:7 ext.so". */
static const char *show(struct session *s, uint32_t stack)
{
	const struct profile *p = s->profile;
	const char *parts[32];
	size_t count = 0;

	for (; stack && count < 32; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];
		const struct profile_line *line = &p->lines.items[at->first_line];

		if (at->nlines)
			parts[count++] = arena_printf(
				&s->arena, "%s:%u",
				profile_text(p, p->functions.items[line->function].name),
				(unsigned)line->line);
		else
			parts[count++] = profile_text(p, p->modules.items[at->module].name);
	}
	shown[0] = '\0';
	while (count-- > 0) {
		strcat(shown, parts[count]);
		strcat(shown, count ? " " : "");
	}
	return shown;
}

static uint32_t native_stack(struct session *s, struct namer *namer, const struct scene *scene)
{
	static const char *const paths[] = { "", "/usr/bin/python3.11", "/lib/libc.so.6", "/lib/ext.so", "[jit 1]" };
	uint32_t stack = 0;

	for (size_t i = scene->nips; i-- > 0;) {
		struct module *mod = module_table_file(s->binaries.modules, MODULE_FILE,
						       paths[scene->ips[i] >> 20], NULL, 0);
		uint32_t number = loader_profile_module(s->loader, mod);
		uint32_t location = profile_add_location(s->profile, number, scene->ips[i] & 0xfffff,
							 scene->ips[i] >> 20 == 4 ? PROFILE_FRAME_JIT : PROFILE_FRAME_NATIVE);

		namer_set_module(namer, number, mod);

		stack = profile_add_stack(s->profile, stack, location, PROFILE_HOW_SURE);
	}
	return stack;
}

static struct managed_counts merge_scene(const struct scene *scene, bool native)
{
	struct session_args args;
	struct managed_counts counts;
	struct event_list_source list;
	struct session s;

	session_args_init(&args);
	args.native = native;
	event_list_init(&list, NULL, 0);
	session_open_source(&s, &args, &list.source);

	struct namer namer = { .profile = s.profile, .symbolizer = s.binaries.symbolizer, .depth = UINT_MAX };
	struct managed_stacks *managed =
		managed_stacks_new(&namer, module_table_unknown(s.binaries.modules), native);

	managed_stacks_event(managed, &scene->managed);
	show(&s, managed_stacks_merge(managed, &scene->sample, native_stack(&s, &namer, scene), !scene->broken));
	counts = managed_stacks_counts(managed);
	completed = managed_stacks_completed(managed, &scene->sample);
	managed_stacks_free(managed);
	namer_deinit(&namer);
	session_close(&s);
	return counts;
}

static const struct event_managed_frame two_calls[] = {
	{ "scale", "/srv/app.py", 10, 12, true, NULL },
	{ "handler", "/srv/app.py", 30, 40, false, NULL },
	{ "main", "/srv/app.py", 90, 99, true, NULL },
};

TEST(managed_stacks_take_the_place_of_the_loops_that_ran_them)
{
	static const uint64_t ips[] = { LIBC + 8, EXT + 8,  GLUE,      LOOP + 16,
					GLUE,	  LOOP + 16, GLUE + 64, LIBC + 64 };
	struct scene scene;
	struct managed_counts counts;

	scene_init(&scene, ips, ARRAY_LEN(ips), two_calls, ARRAY_LEN(two_calls));
	counts = merge_scene(&scene, false);
	CHECK_STR(shown, "main:99 handler:40 scale:12 ext.so libc.so.6");
	CHECK_UINT(counts.merged, 1);
	CHECK_UINT(counts.mismatched, 0);
	merge_scene(&scene, true);
	CHECK_STR(shown, "libc.so.6 python3.11 main:99 handler:40 python3.11 scale:12 python3.11 ext.so "
			 "libc.so.6");
}

TEST(managed_stacks_that_collect_garbage_say_so_below_what_is_not_the_interpreters)
{
	static const uint64_t ips[] = { LIBC + 8, GLUE, LOOP + 16, GLUE, LOOP + 16, GLUE + 64, LIBC + 64 };
	static const uint64_t broken[] = { LIBC + 8, GLUE, GLUE };
	static const struct event_managed_label collecting = { .key = "gc", .text = "collecting" };
	struct scene scene;

	scene_init(&scene, ips, ARRAY_LEN(ips), two_calls, ARRAY_LEN(two_calls));
	scene.managed.managed.labels = &collecting;
	scene.managed.managed.nlabels = 1;
	merge_scene(&scene, false);
	CHECK_STR(shown, "main:99 handler:40 scale:12 (garbage collection):0 libc.so.6");
	/* Its own functions are there instead. */
	merge_scene(&scene, true);
	CHECK_STR(shown, "libc.so.6 python3.11 main:99 handler:40 python3.11 scale:12 python3.11 libc.so.6");
	scene.ips++, scene.nips--;
	merge_scene(&scene, false);
	CHECK_STR(shown, "main:99 handler:40 scale:12 (garbage collection):0");
	scene.ips = broken;
	scene.nips = ARRAY_LEN(broken);
	scene.broken = true;
	merge_scene(&scene, false);
	CHECK_STR(shown, "main:99 handler:40 scale:12 (garbage collection):0 libc.so.6");
}

TEST(managed_stacks_forgive_a_loop_that_has_no_frame_yet)
{
	static const uint64_t ips[] = { LOOP + 1, GLUE, LOOP + 16, GLUE, LOOP + 16, GLUE };
	struct scene scene;

	scene_init(&scene, ips, ARRAY_LEN(ips), two_calls, ARRAY_LEN(two_calls));
	CHECK_UINT(merge_scene(&scene, false).merged, 1);
	CHECK_STR(shown, "main:99 handler:40 scale:12");
	CHECK(!completed);
}

TEST(managed_stacks_keep_both_where_the_calls_do_not_fit)
{
	static const uint64_t ips[] = { EXT + 8, LOOP + 16, GLUE, LOOP + 16, GLUE, LOOP + 16, GLUE, LOOP + 16 };
	struct scene scene;
	struct managed_counts counts;

	scene_init(&scene, ips, ARRAY_LEN(ips), two_calls, ARRAY_LEN(two_calls));
	counts = merge_scene(&scene, false);
	CHECK_STR(shown, "main:99 handler:40 scale:12 ext.so");
	CHECK_UINT(counts.merged, 0);
	CHECK_UINT(counts.mismatched, 1);
}

TEST(managed_stacks_leave_a_program_that_embeds_an_interpreter_its_own_frames)
{
	static const uint64_t ips[] = { LOOP + 16, GLUE, LOOP + 16, GLUE, EXT + 64, LIBC + 64 };
	struct scene scene;

	scene_init(&scene, ips, ARRAY_LEN(ips), two_calls, ARRAY_LEN(two_calls));
	CHECK_UINT(merge_scene(&scene, false).merged, 1);
	CHECK_STR(shown, "libc.so.6 ext.so main:99 handler:40 scale:12");
}

TEST(managed_stacks_of_another_moment_are_left_out)
{
	static const uint64_t ips[] = { LOOP + 16, GLUE };
	struct scene scene;

	scene_init(&scene, ips, ARRAY_LEN(ips), two_calls, ARRAY_LEN(two_calls));
	scene.managed.time_ns--;
	CHECK_UINT(merge_scene(&scene, false).merged, 0);
	CHECK_STR(shown, "python3.11 python3.11");
}

TEST(managed_stacks_that_were_torn_leave_the_native_one)
{
	static const uint64_t ips[] = { LOOP + 16, GLUE };
	struct scene scene;
	struct managed_counts counts;

	scene_init(&scene, ips, ARRAY_LEN(ips), NULL, 0);
	scene.managed.managed.state = EVENT_MANAGED_TORN;
	counts = merge_scene(&scene, false);
	CHECK_UINT(counts.merged + counts.mismatched, 0);
	CHECK_STR(shown, "python3.11 python3.11");
}

TEST(managed_stacks_stand_below_what_is_left_of_a_native_one_that_broke_off)
{
	static const uint64_t ips[] = { 0x200100, 0x300100, GLUE };
	struct scene scene;
	struct managed_counts counts;

	scene_init(&scene, ips, ARRAY_LEN(ips), two_calls, ARRAY_LEN(two_calls));
	scene.broken = true;
	counts = merge_scene(&scene, false);
	CHECK_UINT(counts.merged, 1);
	CHECK_UINT(counts.mismatched, 0);
	CHECK_STR(shown, "main:99 handler:40 scale:12 ext.so libc.so.6");
	CHECK(completed);
	scene.managed.managed.state = EVENT_MANAGED_CUT;
	merge_scene(&scene, false);
	CHECK(!completed);
	scene.managed.managed.state = EVENT_MANAGED_WHOLE;

	/* One that is whole and has no call of the loop is another's. */
	scene.broken = false;
	counts = merge_scene(&scene, false);
	CHECK_UINT(counts.mismatched, 1);
	CHECK_STR(shown, "main:99 handler:40 scale:12");
}

TEST(managed_stacks_have_the_place_of_code_that_the_interpreters_own_jit_made)
{
	static const uint64_t ips[] = { 0x200100, 0x400100, LOOP + 16, GLUE };
	static const struct event_managed_frame frames[] = { { "work", "/srv/site.php", 1, 2, true, NULL } };
	struct scene scene;

	scene_init(&scene, ips, ARRAY_LEN(ips), frames, ARRAY_LEN(frames));
	scene.managed.managed.runtime = EVENT_MANAGED_PHP;
	CHECK_UINT(merge_scene(&scene, false).merged, 1);
	CHECK_STR(shown, "work:0 libc.so.6");
	/* It is entered without the loop, and how often cannot be told. */
	scene.nips = 2;
	CHECK_UINT(merge_scene(&scene, false).mismatched, 0);
	CHECK_STR(shown, "work:0 libc.so.6");
	scene.nips = ARRAY_LEN(ips);
	/* Of a Python program it may be numba's. */
	scene.managed.managed.runtime = EVENT_MANAGED_PYTHON;
	merge_scene(&scene, false);
	CHECK_STR(shown, "work:2 [jit 1] libc.so.6");
}

TEST(managed_stacks_have_no_line_where_compiled_code_may_not_have_written_its_own)
{
	static const uint64_t ips[] = { 0x200100, 0x400100, LOOP + 16, GLUE };
	static const struct event_managed_frame frames[] = {
		{ "strlen", "[internal]", 0, 0, false, NULL },
		{ "work", "/srv/site.php", 1, 2, false, NULL },
		{ "run", "/srv/site.php", 10, 12, true, NULL },
	};
	struct scene scene;

	/* A function of PHP's own was called: its caller has written where it is, as have all before it. */
	scene_init(&scene, ips, ARRAY_LEN(ips), frames, ARRAY_LEN(frames));
	scene.managed.managed.runtime = EVENT_MANAGED_PHP;
	merge_scene(&scene, false);
	CHECK_STR(shown, "run:12 work:2 strlen:0 libc.so.6");

	scene_init(&scene, ips + 1, ARRAY_LEN(ips) - 1, frames + 1, ARRAY_LEN(frames) - 1);
	scene.managed.managed.runtime = EVENT_MANAGED_PHP;
	merge_scene(&scene, false);
	CHECK_STR(shown, "run:12 work:0");

	/* It is called by compiled code, and interpreted. */
	static const uint64_t interpreted[] = { 0x200100, LOOP + 32, 0x400100, LOOP + 16, GLUE };

	scene_init(&scene, interpreted, ARRAY_LEN(interpreted), frames + 1, ARRAY_LEN(frames) - 1);
	scene.managed.managed.runtime = EVENT_MANAGED_PHP;
	merge_scene(&scene, false);
	CHECK(strstr(shown, "work:2"));
}
