/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_work.c - functions of HotSpot (JDK 11 to 25), V8 (10 to 13), CoreCLR, Go, BEAM, CPython, PHP and Ruby, as their symbol
 * tables name them; threads as HotSpot and CoreCLR name them, as far as the kernel keeps that (15 bytes).
 */
#include "report/view/runtime_work.h"

#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

#define GC  "garbage collection"
#define JIT "JIT compiler"

/* Within a runtime, what stands first counts. */
static const struct work {
	const char *module;   /* how its name text_begins, without "lib"; "": any, as where a runtime is linked in */
	const char *function; /* how its name text_begins, without what a template returns, or a thread's; "": all of the module's */
	const char *name;
} works[] = {
	{ "jvm.so", "C2Compiler::compile_method", JIT " (C2)" },
	{ "jvm.so", "Compiler::compile_method", JIT " (C1)" },
	{ "jvm.so", "JVMCICompiler::compile_method", JIT " (JVMCI)" },
	{ "jvm.so", "CompileBroker::", JIT },
	{ "jvm.so", "G1EvacuateRegions", GC " (G1 evacuation)" },
	{ "jvm.so", "G1ParScanThreadState::", GC " (G1 evacuation)" },
	{ "jvm.so", "G1YoungCollector::", GC " (G1 evacuation)" },
	{ "jvm.so", "G1CollectedHeap::do_collection_pause", GC " (G1 evacuation)" },
	{ "jvm.so", "G1CMConcurrentMarkingTask::", GC " (G1 marking)" },
	{ "jvm.so", "G1ConcurrentMark", GC " (G1 marking)" },
	{ "jvm.so", "G1CMTask::", GC " (G1 marking)" },
	{ "jvm.so", "G1ConcurrentRefine", GC " (G1 refinement)" },
	{ "jvm.so", "G1Full", GC " (G1 full collection)" },
	{ "jvm.so", "VM_G1", GC " (G1)" },
	{ "jvm.so", "PSScavenge::", GC " (parallel scavenge)" },
	{ "jvm.so", "PSPromotionManager::", GC " (parallel scavenge)" },
	{ "jvm.so", "ScavengeRootsTask::", GC " (parallel scavenge)" },
	{ "jvm.so", "PSParallelCompact::", GC " (parallel compaction)" },
	{ "jvm.so", "ParCompactionManager::", GC " (parallel compaction)" },
	{ "jvm.so", "DefNewGeneration::", GC " (serial)" },
	{ "jvm.so", "TenuredGeneration::", GC " (serial)" },
	{ "jvm.so", "GenMarkSweep::", GC " (serial)" },
	{ "jvm.so", "SerialFullGC::", GC " (serial)" },
	{ "jvm.so", "ZMark::", GC " (Z marking)" },
	{ "jvm.so", "ZRelocate", GC " (Z relocation)" },
	{ "jvm.so", "ZDriver", GC " (Z)" },
	{ "jvm.so", "XMark::", GC " (Z marking)" },
	{ "jvm.so", "XRelocate", GC " (Z relocation)" },
	{ "jvm.so", "XDriver", GC " (Z)" },
	{ "jvm.so", "Shenandoah", GC " (Shenandoah)" },
	{ "jvm.so", "CMSCollector::", GC " (CMS)" },
	{ "jvm.so", "VM_GC_", GC },
	{ "jvm.so", "VM_CollectFor", GC },
	{ "jvm.so", "StringDedup", GC " (string deduplication)" },
	{ "jvm.so", "SafepointSynchronize::", "safepoint" },
	{ "jvm.so", "VM_", "VM operation" },
	{ "jvm.so", "ClassFileParser::", "class loading" },
	{ "jvm.so", "SystemDictionary::load", "class loading" },
	{ "jvm.so", "SystemDictionary::resolve", "class loading" },
	{ "jvm.so", "InstanceKlass::link_class", "class loading" },
	{ "jvm.so", "Deoptimization::", "deoptimization" },
	{ "node", "v8::internal::Scaveng", GC " (scavenge)" },
	{ "node", "v8::internal::MarkCompactCollector::", GC " (mark-compact)" },
	{ "node", "v8::internal::MinorMarkSweep", GC " (minor mark-sweep)" },
	{ "node", "v8::internal::IncrementalMarking::", GC " (marking)" },
	{ "node", "v8::internal::ConcurrentMarking::", GC " (marking)" },
	{ "node", "v8::internal::Evacuator::", GC " (mark-compact)" },
	{ "node", "v8::internal::Sweeper::", GC " (sweeping)" },
	{ "node", "v8::internal::Heap::CollectGarbage", GC },
	{ "node", "v8::internal::Heap::PerformGarbageCollection", GC },
	{ "node", "v8::internal::maglev::", JIT " (Maglev)" },
	{ "node", "v8::internal::compiler::", JIT " (TurboFan)" },
	{ "node", "v8::internal::OptimizingCompileDispatcher::", JIT " (TurboFan)" },
	{ "node", "v8::internal::baseline::", JIT " (Sparkplug)" },
	{ "node", "v8::internal::RegExpImpl::Compile", JIT " (regular expressions)" },
	{ "node", "v8::internal::interpreter::", "bytecode compiler" },
	{ "node", "v8::internal::Parser", "parser" },
	{ "node", "v8::internal::PreParser", "parser" },
	{ "node", "v8::internal::parsing::", "parser" },
	{ "node", "v8::internal::Compiler::Compile(", "bytecode compiler" },
	{ "clrjit.so", "", JIT " (RyuJIT)" },
	{ "clrgc", "", GC },
	{ "coreclr.so", "WKS::gc_heap::", GC },
	{ "coreclr.so", "SVR::gc_heap::", GC },
	{ "coreclr.so", "WKS::GCHeap::GarbageCollect", GC },
	{ "coreclr.so", "SVR::GCHeap::GarbageCollect", GC },
	{ "coreclr.so", "UnsafeJitFunction", JIT },
	{ "beam", "erts_garbage_collect", GC },
	{ "beam", "garbage_collect", GC },
	{ "beam", "minor_collection", GC " (minor)" },
	{ "beam", "major_collection", GC " (major)" },
	{ "beam", "BeamModuleAssembler::", JIT " (BeamAsm)" },
	{ "python", "gc_collect", GC },
	{ "python", "_PyGC_Collect", GC },
	{ "python", "_PyPegen_", "parser" },
	{ "python", "_PyAST_Compile", "bytecode compiler" },
	{ "php", "zend_gc_", GC },
	{ "php", "zend_jit", JIT },
	{ "opcache.so", "zend_jit", JIT },
	{ "php", "compile_file", "bytecode compiler" },
	{ "ruby", "gc_", GC },
	{ "ruby", "garbage_collect", GC },
	{ "ruby", "yjit::", JIT " (YJIT)" },
	{ "", "(garbage collect", GC }, /* as profiles of V8 and stackprof have it, and stacks of interpreters */
	{ "", "runtime.gcBgMarkWorker", GC " (marking)" },
	{ "", "runtime.gcDrain", GC " (marking)" },
	{ "", "runtime.scanobject", GC " (marking)" },
	{ "", "runtime.greyobject", GC " (marking)" },
	{ "", "runtime.findObject", GC " (marking)" },
	{ "", "runtime.markroot", GC " (marking)" },
	{ "", "runtime.(*gcWork)", GC " (marking)" },
	{ "", "runtime.gcAssistAlloc", GC " (assist of an allocation)" },
	{ "", "runtime.bgsweep", GC " (sweeping)" },
	{ "", "runtime.(*sweepLocked).sweep", GC " (sweeping)" },
	{ "", "runtime.bgscavenge", GC " (return of memory)" },
	{ "", "runtime.gcStart", GC },
	{ "", "runtime.gcMarkTermination", GC },
};

/* Threads that a runtime has for one thing: where its functions have no names, as in a stripped one, these tell. */
static const struct work threads[] = {
	{ "jvm.so", "C1 Compiler", JIT " (C1)" },
	{ "jvm.so", "C2 Compiler", JIT " (C2)" },
	{ "jvm.so", "JVMCI", JIT " (JVMCI)" },
	{ "jvm.so", "GC Thread#", GC },
	{ "jvm.so", "GC task thread#", GC },
	{ "jvm.so", "ParGC Thread#", GC " (parallel)" },
	{ "jvm.so", "G1 Conc#", GC " (G1 marking)" },
	{ "jvm.so", "G1 Main", GC " (G1 marking)" },
	{ "jvm.so", "G1 Refine#", GC " (G1 refinement)" },
	{ "jvm.so", "G1 ", GC " (G1)" },
	{ "jvm.so", "ZWorker", GC " (Z)" },
	{ "jvm.so", "ZDriver", GC " (Z)" },
	{ "jvm.so", "ZDirector", GC " (Z)" },
	{ "jvm.so", "XWorker", GC " (Z)" },
	{ "jvm.so", "XDriver", GC " (Z)" },
	{ "jvm.so", "Shenandoah", GC " (Shenandoah)" },
	{ "jvm.so", "StrDedup", GC " (string deduplication)" },
	{ "jvm.so", "VM Thread", "VM operation" },
	{ "jvm.so", "Sweeper thread", "code sweeper" },
	{ "coreclr.so", ".NET Server GC", GC " (server)" },
	{ "coreclr.so", ".NET BGC", GC " (background)" },
	{ "coreclr.so", ".NET Tiered", JIT " (tiered)" },
};

/* The file's name, the same for a program and the library that it may be built as. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "lib", 3) == 0 ? name + 3 : name;
}

/* Does @name begin with @with, where a template's name may have its result in front ("void a::b<c>(d)")? */
static bool is_named(const char *name, const char *with)
{
	const char *at = name;

	if (text_begins(name, with))
		return true;
	while ((at = strstr(at + 1, with))) {
		bool in_arguments = memchr(name, '(', (size_t)(at - name));

		if (in_arguments)
			return false;
		if (at[-1] == ' ')
			return true;
	}
	return false;
}

static const char *work_of(const char *module, const char *function)
{
	for (size_t i = 0; i < ARRAY_LEN(works); i++)
		if (text_begins(module, works[i].module) && is_named(function, works[i].function))
			return works[i].name;
	return NULL;
}

/* Of a file that is no runtime's: what may be linked into any. */
static const char *linked_work_of(const char *function)
{
	for (size_t i = 0; i < ARRAY_LEN(works); i++)
		if (!*works[i].module && is_named(function, works[i].function))
			return works[i].name;
	return NULL;
}

struct runtime_work {
	const struct profile *p;
	const char **by_function; /* NULL: none */
	bool any;		  /* of them is not NULL */
	const char **by_stack;	  /* of its frames, the innermost's; NULL: none. Itself NULL without @any */
	const char **runtimes;	  /* by stack: of those with threads of their own, the one that it runs in, as threads[] has it. NULL: there is none */
};

static const char *work_at(const struct runtime_work *work, const struct profile_location *at)
{
	const char *found = NULL;

	if (at->kind != PROFILE_FRAME_NATIVE && at->kind != PROFILE_FRAME_RUNTIME && at->kind != PROFILE_FRAME_MARKER)
		return NULL;
	for (uint32_t i = 0; i < at->nlines && !found; i++)
		found = work->by_function[work->p->lines.items[at->first_line + i].function];
	return found;
}

static void look_at_functions(struct runtime_work *work)
{
	const struct profile *p = work->p;
	struct map runtimes = { 0 }; /* module -> is it a runtime's? */

	for (size_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *f = &p->functions.items[i];
		const char *path = profile_text(p, profile_module(p, f->module)->path), *name = profile_text(p, f->name);
		bool is_new;
		uint64_t *is_runtime = map_put(&runtimes, f->module, &is_new);

		if (is_new)
			*is_runtime = runtime_work_is_module(path);
		work->by_function[i] = *is_runtime ? work_of(base_name(path), name) : linked_work_of(name);
		work->any |= work->by_function[i] != NULL;
	}
	map_deinit(&runtimes);
}

/* Of a file whose runtime has threads of its own, how its name begins; else NULL. */
static const char *runtime_with_threads(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		if (text_begins(base_name(path), threads[i].module))
			return threads[i].module;
	return NULL;
}

/* Which runtime with threads of its own do the frames of each stack lead to? */
static void look_for_threads(struct runtime_work *work)
{
	const struct profile *p = work->p;
	const char **by_module = memory_zeroed(p->modules.len + 1, sizeof(*by_module));
	bool any = false;

	for (size_t i = 0; i < p->modules.len; i++) {
		by_module[i] = runtime_with_threads(profile_text(p, p->modules.items[i].path));
		any |= by_module[i] != NULL;
	}
	if (any)
		work->runtimes = memory_zeroed(p->stacks.len + 1, sizeof(*work->runtimes));
	for (size_t i = 1; any && i < p->stacks.len; i++) {
		uint32_t module = p->locations.items[p->stacks.items[i].location].module;
		const char *found = module == PROFILE_NONE ? NULL : by_module[module];

		work->runtimes[i] = found ? found : work->runtimes[p->stacks.items[i].parent];
	}
	free(by_module);
}

static const char *work_of_thread(const struct runtime_work *work, const struct profile_sample *row)
{
	const char *runtime = work->runtimes ? work->runtimes[row->stack] : NULL;

	for (size_t i = 0; runtime && i < ARRAY_LEN(threads); i++)
		if (strcmp(threads[i].module, runtime) == 0 && text_begins(profile_text(work->p, work->p->threads.items[row->thread].comm), threads[i].function))
			return threads[i].name;
	return NULL;
}

static void look_at_stacks(struct runtime_work *work)
{
	const struct profile *p = work->p;

	work->by_stack = memory_zeroed(p->stacks.len + 1, sizeof(*work->by_stack));
	for (size_t i = 1; i < p->stacks.len; i++) {
		const struct profile_stack *stack = &p->stacks.items[i];
		const char *found = work_at(work, &p->locations.items[stack->location]);

		work->by_stack[i] = found ? found : work->by_stack[stack->parent];
	}
}

struct runtime_work *runtime_work_new(const struct profile *p)
{
	struct runtime_work *work = memory_zeroed(1, sizeof(*work));

	work->p = p;
	work->by_function = memory_zeroed(p->functions.len + 1, sizeof(*work->by_function));
	look_at_functions(work);
	if (work->any)
		look_at_stacks(work);
	look_for_threads(work);
	return work;
}

void runtime_work_free(struct runtime_work *work)
{
	if (!work)
		return;
	free(work->by_function);
	free(work->by_stack);
	free(work->runtimes);
	free(work);
}

bool runtime_work_is_seen(const struct runtime_work *work)
{
	return work->any || work->runtimes;
}

/* The program's own work, by the kind of its innermost frame. */
static const char *code_of(const struct profile_location *leaf)
{
	switch (leaf->kind) {
	case PROFILE_FRAME_INTERPRETED:
		return "interpreted code";
	case PROFILE_FRAME_JIT:
		return "compiled code";
	case PROFILE_FRAME_KERNEL:
		return "kernel";
	case PROFILE_FRAME_MARKER:
		return "[no code]";
	default:
		return "native code";
	}
}

const char *runtime_work_name(const struct runtime_work *work, const struct profile_sample *row)
{
	const struct profile *p = work->p;
	const char *found = work->any ? work->by_stack[row->stack] : NULL;

	if (!found)
		found = work_of_thread(work, row);
	if (found)
		return found;
	return row->stack ? code_of(&p->locations.items[p->stacks.items[row->stack].location]) : "[no stack]";
}

bool runtime_work_is_module(const char *path)
{
	const char *name = base_name(path);
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(works) && !found; i++)
		found = *works[i].module && text_begins(name, works[i].module);
	return found;
}

bool runtime_work_is_overhead(const char *name)
{
	return *name != '[' && !strstr(name, " code") && strcmp(name, "kernel") != 0;
}
