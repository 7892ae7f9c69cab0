/* SPDX-License-Identifier: Apache-2.0 */
#include "report/view/runtime_work.h"

#include "tests/unit/test.h"

#include <string.h>

/* What a sample of @thread does whose functions are @names, the root first, of the file at @path; the last is of kind @leaf. */
static const char *work_in(const char *thread, const char *path, const char *names, enum profile_frame_kind leaf)
{
	struct profile *p = profile_new();
	struct profile_module module = { .name = profile_string(p, path), .path = profile_string(p, path) };
	uint32_t number = profile_add_module(p, &module), stack = 0;
	char *copy = memory_strdup(names), *rest = copy;

	while (rest) {
		const char *name = strsep(&rest, ";");
		struct profile_function function = { .name = profile_string(p, name), .module = number };
		struct profile_line line = { .function = profile_add_function(p, &function) };
		enum profile_frame_kind kind = rest ? PROFILE_FRAME_NATIVE : leaf;

		stack = profile_add_stack(p, stack, profile_add_named_location(p, kind, number, &line, 1),
					  PROFILE_HOW_SURE);
	}
	struct runtime_work *all = runtime_work_new(p);
	struct profile_thread its_thread = { .comm = profile_string(p, thread) };
	struct profile_sample row = { .stack = stack, .thread = profile_add_thread(p, &its_thread) };
	const char *found = runtime_work_name(all, &row);

	runtime_work_free(all);
	profile_free(p);
	free(copy);
	return found;
}

static const char *work(const char *path, const char *names, enum profile_frame_kind leaf)
{
	return work_in("main", path, names, leaf);
}

#define NATIVE PROFILE_FRAME_NATIVE

TEST(what_a_runtime_does_is_told_by_its_functions)
{
	static const char jvm[] = "/usr/lib/jvm/lib/server/libjvm.so", node[] = "/usr/bin/node";

	CHECK_STR(work(jvm, "start;CompileBroker::compiler_thread_loop();C2Compiler::compile_method(ciEnv*);Matcher::xform()", NATIVE),
		  "JIT compiler (C2)");
	CHECK_STR(work(jvm, "start;CompileBroker::compiler_thread_loop();os::sleep()", NATIVE), "JIT compiler");
	CHECK_STR(work(jvm, "start;WorkerThread::run();G1EvacuateRegionsBaseTask::work(unsigned int)", NATIVE),
		  "garbage collection (G1 evacuation)");
	/* a template's name has its result in front; arguments name nothing */
	CHECK_STR(work(node, "main;void v8::internal::Scavenger::Process<false>(int)", NATIVE), "garbage collection (scavenge)");
	CHECK_STR(work(node, "main;Print(int, v8::internal::Scavenger*)", NATIVE), "native code");
	CHECK_STR(work("/usr/bin/other", "main;v8::internal::Scavenger::Process()", NATIVE), "native code");
	CHECK_STR(work("/home/x/service", "runtime.goexit;runtime.gcBgMarkWorker;runtime.scanobject", NATIVE),
		  "garbage collection (marking)");
	/* what a collection has the kernel do is the collection's */
	CHECK_STR(work("/usr/bin/python3.11", "main;gc_collect_main;clear_page_erms", PROFILE_FRAME_KERNEL), "garbage collection");
}

TEST(what_a_stripped_runtime_does_is_told_by_its_threads)
{
	static const char jvm[] = "/usr/lib/jvm/lib/server/libjvm.so";

	CHECK_STR(work_in("GC Thread#1", jvm, "start;libjvm.so;memcpy", NATIVE), "garbage collection");
	CHECK_STR(work_in("G1 Refine#0", jvm, "libjvm.so", PROFILE_FRAME_KERNEL), "garbage collection (G1 refinement)");
	CHECK_STR(work_in("C2 CompilerThread0", jvm, "libjvm.so", NATIVE), "JIT compiler (C2)");
	/* a function that is known tells more; the application may call its threads as it likes */
	CHECK_STR(work_in("GC Thread#1", jvm, "start;G1EvacuateRegionsBaseTask::work(unsigned int)", NATIVE), "garbage collection (G1 evacuation)");
	CHECK_STR(work_in("C2 CompilerThread0", jvm, "start;G1EvacuateRegionsBaseTask::work(unsigned int)", NATIVE),
		  "garbage collection (G1 evacuation)");
	CHECK_STR(work_in("GC Thread#1", "/usr/bin/other", "main;f", NATIVE), "native code");
	CHECK_STR(work_in("main", jvm, "libjvm.so", NATIVE), "native code");
}

TEST(what_no_runtime_does_is_told_by_the_innermost_frame)
{
	CHECK_STR(work("app", "main;f", NATIVE), "native code");
	CHECK_STR(work("app", "main;f", PROFILE_FRAME_KERNEL), "kernel");
	CHECK_STR(work("app", "main;f", PROFILE_FRAME_JIT), "compiled code");
	CHECK_STR(work("app", "main;gc_collect_main", PROFILE_FRAME_INTERPRETED), "interpreted code"); /* a script's function */
	CHECK(!runtime_work_is_overhead("native code") && !runtime_work_is_overhead("kernel") &&
	      !runtime_work_is_overhead("[no stack]"));
	CHECK(runtime_work_is_overhead("garbage collection") && runtime_work_is_overhead("JIT compiler (C1)") &&
	      runtime_work_is_overhead("class loading") && runtime_work_is_overhead("bytecode compiler"));
}

TEST(a_runtime_is_known_by_its_file)
{
	CHECK(runtime_work_is_module("/opt/jdk/lib/server/libjvm.so") && runtime_work_is_module("/usr/bin/node"));
	CHECK(!runtime_work_is_module("/usr/lib/libc.so.6") && !runtime_work_is_module(""));
}
