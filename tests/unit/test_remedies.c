/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "report/load/remedies.h"

#include <string.h>

/* A process 7 with a JIT's frame on top of one of @file. Returns the module of what the JIT made. */
static uint32_t make_profile(struct profile *p, const char *file)
{
	struct profile_module jit = { .name = profile_string(p, "[jit 7]"),
				      .path = profile_string(p, "[jit 7]"),
				      .kind = PROFILE_JIT };
	struct profile_module runtime = { .name = profile_string(p, file),
					  .path = profile_string(p, file),
					  .kind = PROFILE_USER };
	struct profile_thread thread = { .pid = 7, .tid = 7 };
	uint32_t below = profile_add_location(p, profile_add_module(p, &runtime), 16,
					      PROFILE_FRAME_NATIVE);
	uint32_t made = profile_add_module(p, &jit);
	uint32_t above = profile_add_location(p, made, 32, PROFILE_FRAME_JIT);
	uint32_t root = profile_add_stack(p, 0, below, PROFILE_HOW_SURE);
	struct profile_sample sample = {
		.stack = profile_add_stack(p, root, above, PROFILE_HOW_SURE),
		.thread = profile_add_thread(p, &thread),
		.count = 1,
		.weight = 1,
	};

	profile_add_sample(p, &sample);
	return made;
}

TEST(a_jit_without_names_is_answered_by_its_own_runtime)
{
	static const struct {
		const char *file, *part;
	} cases[] = {
		{ "libjvm.so", "what java knows" },
		{ "node", "node --perf-basic-prof" },
		{ "libcoreclr.so", "DOTNET_PerfMapEnabled" },
		{ "python3.12", "python -X perf" },
		{ "beam.smp", "JPperf" },
		{ "llvmjit.so", "jit_profiling_support" },
		{ "someprogram", "/tmp/perf-PID.map" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct session s = { .profile = profile_new() };

		uint32_t made = make_profile(s.profile, cases[i].file);
		struct profile_function named = { .name = profile_string(s.profile, "f"), .module = made };

		CHECK(strstr(remedy_for_jit(&s, made, 7), cases[i].part));
		CHECK(strstr(remedy_for_jit(&s, made, 8), "its runtime")); /* another process */
		profile_add_function(s.profile, &named);
		CHECK(strstr(remedy_for_jit(&s, made, 7), "was gone")); /* it does name its code, */
		CHECK_UINT(strstr(remedy_for_jit(&s, made, 7), "WebAssembly") != NULL, strcmp(cases[i].file, "node") == 0); /* or only some */
		profile_free(s.profile);
	}
}

/* No option of a C compiler helps against stacks that end in Haskell code. */
TEST(haskells_stacks_are_known_by_the_names_of_its_code)
{
	static const struct {
		const char *name;
		bool haskell;
	} cases[] = { { "base_GHCziNum_zdfNumInt_info", true }, { "stg_ap_v_info", true }, { "_info", false },
		      { "get_info", false }, { "stg_ap_v_fast", false }, { "x_GHCziNum", false } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct session s = { .profile = profile_new() };
		struct profile_function function = { .name = profile_string(s.profile, cases[i].name), .module = PROFILE_NONE };

		profile_add_function(s.profile, &function);
		CHECK_INT(strstr(remedy_for_stop(&s, STACK_STOP_NO_TABLE), "Haskell") != NULL, cases[i].haskell);
		profile_free(s.profile);
	}
}

TEST(javas_frames_are_not_advised_to_other_runtimes)
{
	struct recording rec = { .chain = RECORDING_CHAIN_DWARF };
	struct session s = { .recording = &rec, .profile = profile_new() };

	make_profile(s.profile, "someprogram");
	CHECK(!strstr(remedy_for_stop(&s, STACK_STOP_NO_FRAME_POINTER), "java"));
	make_profile(s.profile, "libjvm.so");
	CHECK(strstr(remedy_for_stop(&s, STACK_STOP_NO_FRAME_POINTER), "java -XX:+PreserveFramePointer"));
	profile_free(s.profile);
}

TEST(what_was_done_already_is_never_advised)
{
	struct recording rec = { .chain = RECORDING_CHAIN_DWARF, .stack_len = 65528 };
	struct session s = { .recording = &rec };

	for (int stop = 0; stop < STACK_STOPS; stop++) {
		const char *remedy = remedy_for_stop(&s, (enum stack_stop)stop);

		CHECK(!remedy || !strstr(remedy, "-g dwarf"));
		CHECK(remedy_for_stop_in(&s, (enum stack_stop)stop, NULL) == remedy);
	}
	rec.stack_len = 8192;
	CHECK(strstr(remedy_for_stop(&s, STACK_STOP_SNAPSHOT_ENDED), "larger"));
	rec.chain = RECORDING_CHAIN_FP;
	CHECK(strstr(remedy_for_stop(&s, STACK_STOP_NO_FRAME_POINTER), "-g dwarf"));
	struct module jit = { .kind = MODULE_JIT }, file = { .kind = MODULE_FILE };

	CHECK(strstr(remedy_for_stop_in(&s, STACK_STOP_NO_FRAME_POINTER, &file), "-g dwarf"));
	CHECK(strncmp(remedy_for_stop_in(&s, STACK_STOP_NO_FRAME_POINTER, &jit), "the code of this JIT", 20) == 0);
	CHECK_STR(remedy_for_stop_in(&s, STACK_STOP_BAD_TABLE, &jit), remedy_for_stop(&s, STACK_STOP_BAD_TABLE));
	/* The file may be perf's. */
	CHECK(strstr(remedy_for_stop(&s, STACK_STOP_NO_FRAME_POINTER), "perf record --call-graph dwarf"));
}
