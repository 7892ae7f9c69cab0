/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedies.c - a runtime is known by a file that its processes have on their stacks.
 */
#include "report/load/remedies.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define STACK_LEN_MAX 65528 /* the kernel's limit for PERF_SAMPLE_STACK_USER, perf_event_open(2) */

#define NODE                                                                                         \
	"node --perf-basic-prof; one that cannot be restarted: kill -USR1 PID starts its inspector, " \
	"whose .cpuprofile preport reads"

/* Files by their names, without folder. */
static const struct {
	const char *glob, *names; /* file; what makes it name its code */
} runtimes[] = {
	{ "libjvm.so", "record as root, so that precord can read what java knows of its code, or with --jvm-perfmap" },
	{ "node", NODE },
	{ "libnode.so*", NODE },
	{ "libcoreclr.so", "DOTNET_PerfMapEnabled=1" },
	{ "libmonosgen*.so*", "mono --jitmap" },
	{ "mono", "mono --jitmap" },
	{ "mono-sgen", "mono --jitmap" },
	{ "libpython3*.so*", "python -X perf (3.12)" },
	{ "python3*", "python -X perf (3.12)" },
	{ "libluajit*.so*", "luajit built with -DLUAJIT_USE_PERFTOOLS" },
	{ "luajit*", "luajit built with -DLUAJIT_USE_PERFTOOLS" },
	{ "ruby", "ruby --yjit --yjit-perf" },
	{ "libruby*.so*", "ruby --yjit --yjit-perf" },
	{ "php*", "php -d opcache.jit_debug=0x10" },
	{ "beam.smp", "erl +JPperf true" },
	{ "llvmjit.so", "PostgreSQL's jit_profiling_support = on" },
	{ "wasmtime", "wasmtime --profile=perfmap" },
	{ "libv8.so*", "--perf-basic-prof" },
	{ "chrome", "--js-flags=--perf-basic-prof" },
	{ "qemu-*", "qemu -perfmap" },
};

/* Is a file like @glob on a stack of process @pid? */
static bool has_file(const struct profile *p, uint32_t pid, const bool *like)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		if (p->threads.items[row->thread].pid != pid)
			continue;
		for (uint32_t stack = row->stack; stack; stack = p->stacks.items[stack].parent) {
			uint32_t module = p->locations.items[p->stacks.items[stack].location].module;

			if (module != PROFILE_NONE && like[module])
				return true;
		}
	}
	return false;
}

/* Is any of the code of @module known by name? */
static bool has_names(const struct profile *p, uint32_t module)
{
	for (size_t i = 0; i < p->functions.len; i++) {
		if (p->functions.items[i].module == module && !p->functions.items[i].unnamed)
			return true;
	}
	return false;
}

/* What makes the runtime of process @pid name its code; NULL: it is none that is known. */
static const char *namer_of(const struct profile *p, uint32_t pid)
{
	bool *like = memory_zeroed(p->modules.len + 1, sizeof(*like));
	const char *names = NULL;

	for (size_t i = 0; i < ARRAY_LEN(runtimes) && !names; i++) {
		bool any = false;

		for (size_t j = 0; j < p->modules.len; j++) {
			const char *name = profile_text(p, p->modules.items[j].name);

			like[j] = fnmatch(runtimes[i].glob, name, 0) == 0;
			any |= like[j];
		}
		if (any && has_file(p, pid, like))
			names = runtimes[i].names;
	}
	free(like);
	return names;
}

const char *remedy_for_jit(const struct session *s, uint32_t module, uint32_t pid)
{
	const char *names = namer_of(s->profile, pid);

	if (!has_names(s->profile, module))
		return names ? names : "its runtime must write /tmp/perf-PID.map or a jitdump";
	if (names && text_begins(names, "node "))
		return "the rest of its code has names: this is WebAssembly, which node --perf-basic-prof names, or was gone when it was read";
	return "the rest of its code has names: this was gone when it was read, or made after that";
}

/* Against stacks whose snapshot ended. */
static const char *for_short_snapshot(const struct recording *rec)
{
	if (rec && rec->stack_len && rec->stack_len < STACK_LEN_MAX)
		return "record larger stack snapshots (precord -g dwarf), or build with "
		       "-fno-omit-frame-pointer";
	return "the snapshots are the largest there are; build with -fno-omit-frame-pointer, which reaches "
	       "beyond them";
}

/* Is a file of this name on any stack? */
static bool has_module(const struct profile *p, const char *name)
{
	for (size_t i = 0; p && i < p->modules.len; i++) {
		if (strcmp(profile_text(p, p->modules.items[i].name), name) == 0)
			return true;
	}
	return false;
}

/* Is code that GHC made on any stack? Its names are those of info tables: ghczmprim_GHCziClasses_zeze_info, stg_ap_v_info. */
static bool has_haskell(const struct profile *p)
{
	static const char end[] = "_info";

	for (size_t i = 0; p && i < p->functions.len; i++) {
		const char *name = profile_text(p, p->functions.items[i].name);
		size_t len = strlen(name);

		if (len > strlen(end) && strcmp(name + len - strlen(end), end) == 0 && (strstr(name, "_GHCzi") || strncmp(name, "stg_", 4) == 0))
			return true;
	}
	return false;
}

const char *remedy_for_stop(const struct session *s, enum stack_stop stop)
{
	const struct recording *rec = s->recording;
	bool dwarf = rec && rec->chain == RECORDING_CHAIN_DWARF;

	switch (stop) {
	case STACK_STOP_SNAPSHOT_ENDED:
		return for_short_snapshot(rec);
	case STACK_STOP_NO_FRAME_POINTER:
		if (dwarf && has_module(s->profile, "libjvm.so"))
			return "record as root to read java's code while it runs; code that is freed at once "
			       "needs java -XX:+PreserveFramePointer";
		return dwarf ? "code without unwind tables; a JIT may have an option that keeps frame pointers"
			     : stack_stop_remedy(stop);
	case STACK_STOP_NO_TABLE:
		return has_haskell(s->profile) ? "the machine's stack below Haskell code (GHC) was not captured far enough, as of a program's first "
						 "samples; as root, precord reads the rest later on"
					       : stack_stop_remedy(stop);
	case STACK_STOP_NO_STACK:
		return dwarf ? "the kernel gave none for these; nothing needs to be done"
			     : stack_stop_remedy(stop);
	default:
		return stack_stop_remedy(stop);
	}
}

const char *remedy_for_stop_in(const struct session *s, enum stack_stop stop, const struct module *mod)
{
	if (stop == STACK_STOP_NO_FRAME_POINTER && mod && mod->kind == MODULE_JIT)
		return "the code of this JIT has no unwind tables; it may have an option that keeps frame pointers";
	return remedy_for_stop(s, stop);
}
