/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown.c - the tables.
 *
 * x86 configs are event[7:0] | umask[15:8] | edge<<18 | any<<21 | inv<<23 | cmask<<24, AMD's event bits 11:8 at 35:32.
 * Intel: Linux tools/perf/pmu-events and pmu-tools' *_server_ratios.py. AMD: Linux pmu-events amdzen4, amdzen5. Arm: the
 * Neoverse files of Arm's telemetry-solution. Thresholds are those of TMA in pmu-tools.
 */
#include "formats/topdown.h"

#include "formats/base/compiler.h"

#include <string.h>

#define ADVICE_FETCH \
	"code layout: hot code apart from cold, less of it (fewer specialisations), huge pages for text, profile-guided layout"
#define ADVICE_BRANCHES "unpredictable branches: replace them by arithmetic, sort the data, merge conditions"
#define ADVICE_MEMORY   "loads that wait: access pattern, smaller data, fewer pointers to follow, prefetching"
#define ADVICE_CORE     "long dependency chains, divisions, or a crowded execution port"
#define ADVICE_BACKEND  "memory access and long dependency chains"
#define ADVICE_RETIRE   "doing less: a better algorithm, vector instructions"

/* The four of level 1, which every model has; formulas differ. */
#define L1(fe, bs, ret, be)                                                                     \
	{ "frontend", "front end bound", NULL, 0.15, fe, ADVICE_FETCH },                        \
	{ "bad-spec", "bad speculation", NULL, 0.15, bs, ADVICE_BRANCHES },                     \
	{ "retiring", "retiring", NULL, 0.70, ret, ADVICE_RETIRE },                             \
	{ "backend", "back end bound", NULL, 0.20, be, ADVICE_BACKEND }

#define LATENCY(f) \
	{ "fetch-latency", "fetch latency", "frontend", 0.10, f, ADVICE_FETCH }
#define BANDWIDTH \
	{ "fetch-bandwidth", "fetch bandwidth", "frontend", 0.20, "max(0, frontend - fetch-latency)", "decoding: shorter instructions, loops that fit the micro-op cache" }
#define MISPREDICT(f) \
	{ "mispredict", "branch mispredicts", "bad-spec", 0.10, f, ADVICE_BRANCHES }
#define CLEARS(name) \
	{ "clears", name, "bad-spec", 0.10, "max(0, bad-spec - mispredict)", "memory ordering clashes between threads, self-modifying code" }
#define MEMORY(f) \
	{ "memory", "memory bound", "backend", 0.20, f, ADVICE_MEMORY }
#define CORE(name) \
	{ "core", name, "backend", 0.10, "max(0, backend - memory)", ADVICE_CORE }
#define HEAVY(name, f) \
	{ "heavy", name, "retiring", 0.10, f, "instructions of many micro-ops: divisions, gathers, string and system instructions" }
#define LIGHT(name) \
	{ "light", name, "retiring", 0.60, "max(0, retiring - heavy)", ADVICE_RETIRE }

#define SKL_NODES(width_cycles, recover)                                                         \
	L1("not-delivered / slots",                                                             \
	   "max(0, (issued - retired + " recover ") / slots)", "retired / slots",               \
	   "max(0, 1 - frontend - bad-spec - retiring)"),                                       \
	LATENCY("min(frontend, 4 * none-delivered / slots2)"), BANDWIDTH,                       \
	MISPREDICT("bad-spec * mispredicted / (mispredicted + cleared)"),                       \
	CLEARS("machine clears"),                                                               \
	MEMORY("backend * min(1, (memory-stalls + store-stalls) / "                             \
	       "(stalls + ports1 + retiring * ports2 + store-stalls))"),                        \
	CORE("core bound"),                                                                     \
	HEAVY("heavy operations", "max(0, (retired4 + fused - instructions4) / slots4)"),       \
	LIGHT("light operations")

#define SKL_LEVEL2                                                                               \
	{ "none-delivered", 0x400019c, 1, 2, false }, { "mispredicted", 0xc5, 1, 2, false },    \
	{ "cleared", 0x10401c3, 1, 2, false }

#define ICL_STALLS(group)                                                                        \
	{ "cycles3", 0x3c, group, 2, false }, { "memory-stalls", 0x140014a3, group, 2, false }, \
	{ "store-stalls", 0x20040a6, group, 2, false }, { "stalls", 0x40004a3, group, 2, false }, \
	{ "ports1", 0x02a6, group, 2, false }, { "ports2", 0x04a6, group, 2, false }

/* All of level 2 but fetch latency. */
#define ICL_LEVEL2                                                                               \
	BANDWIDTH, MISPREDICT("bad-spec * mispredicted / (mispredicted + cleared)"),             \
	CLEARS("machine clears"),                                                               \
	MEMORY("backend * min(1, (memory-stalls + store-stalls) / (stalls + ports1 + "           \
	       "retiring * ports2 + store-stalls))"),                                            \
	CORE("core bound")

#define ZEN_EVENTS(all_lanes, resync)                                                            \
	{ "cycles", 0x76, 0, 1, false }, { "no-ops", 0x1000001a0, 0, 1, false },                \
	{ "backend-stalls", 0x100001ea0, 0, 1, false }, { "dispatched", 0x07aa, 0, 1, false },  \
	{ "retired", 0xc1, 0, 1, false }, { "smt-stalls", 0x1000060a0, 0, 1, true },            \
	{ "cycles2", 0x76, 1, 2, false }, { "no-ops-at-all", all_lanes, 1, 2, false },          \
	{ "mispredicted", 0xc3, 1, 2, false }, { "resyncs", resync, 1, 2, false },              \
	{ "load-waits", 0xa2d6, 1, 2, false }, { "waits", 0x02d6, 1, 2, false },                \
	{ "cycles3", 0x76, 2, 2, false }, { "retired3", 0xc1, 2, 2, false },                    \
	{ "microcode-ops", 0x1000000c2, 2, 2, false }

#define ZEN_NODES(width)                                                                         \
	L1("no-ops / slots", "max(0, (dispatched - retired) / slots)", "retired / slots",       \
	   "backend-stalls / slots"),                                                           \
	{ "smt", "SMT contention", NULL, 0.15, "smt-stalls / slots",                            \
	  "the other thread of the core: fewer threads, or others beside this one" },           \
	LATENCY("min(frontend, " width " * no-ops-at-all / (" width " * cycles2))"), BANDWIDTH, \
	MISPREDICT("bad-spec * mispredicted / (mispredicted + resyncs)"),                       \
	CLEARS("pipeline restarts"), MEMORY("backend * min(1, load-waits / waits)"),            \
	CORE("CPU bound"),                                                                      \
	HEAVY("microcode", "retiring * min(1, microcode-ops / retired3)"), LIGHT("fast path")

#define ARM_EVENTS                                                                               \
	{ "cycles", 0x11, 0, 1, false }, { "stall-slot", 0x3f, 0, 1, false },                   \
	{ "stall-slot-frontend", 0x3e, 0, 1, false },                                           \
	{ "stall-slot-backend", 0x3d, 0, 1, false }, { "op-spec", 0x3b, 0, 1, false },          \
	{ "op-retired", 0x3a, 0, 1, false }, { "mispredicted", 0x10, 0, 1, false },             \
	{ "cycles2", 0x11, 1, 2, false }, { "stall-backend", 0x24, 1, 2, false },               \
	{ "stall-backend-mem", 0x4005, 1, 2, false }

/* @stalls is what the slots that stalled are taken to be, @flush and @back the corrections for mispredicted branches. */
#define ARM_NODES(front, stalls, flush, back)                                                    \
	L1("max(0, " front " / slots - " flush ")",                                             \
	   "max(0, (1 - op-retired / op-spec) * (1 - " stalls " / slots) + 4 * mispredicted / cycles)", \
	   "max(0, op-retired / op-spec * (1 - " stalls " / slots))",                                \
	   "max(0, stall-slot-backend / slots" back ")"),                                       \
	MEMORY("backend * min(1, stall-backend-mem / stall-backend)"), CORE("core bound")

const struct topdown_model topdown_models[] = {
	{
		.name = "skl",
		.title = "Intel Skylake to Cascade Lake",
		.source = "Linux pmu-events skylakex, pmu-tools skx_server_ratios",
		.width = 4,
		.events = { { "cycles", 0x3c, 0, 1, false }, { "not-delivered", 0x019c, 0, 1, false },
			    { "issued", 0x010e, 0, 1, false }, { "retired", 0x02c2, 0, 1, false },
			    { "recovery", 0x010d, 0, 1, false }, { "cycles2", 0x3c, 1, 2, false }, SKL_LEVEL2,
			    { "cycles3", 0x3c, 2, 2, false }, { "memory-stalls", 0x140014a3, 2, 2, false },
			    { "store-stalls", 0x40a6, 2, 2, false }, { "stalls", 0x40004a3, 2, 2, false },
			    { "ports1", 0x02a6, 2, 2, false }, { "ports2", 0x04a6, 2, 2, false },
			    { "cycles4", 0x3c, 3, 2, false }, { "retired4", 0x02c2, 3, 2, false },
			    { "fused", 0x04c2, 3, 2, false }, { "instructions4", 0xc0, 3, 2, false } },
		.defs = { { "slots", "4 * cycles" }, { "slots2", "4 * cycles2" }, { "slots4", "4 * cycles4" } },
		.nodes = { SKL_NODES("4", "4 * recovery") },
	},
	{
		/* Both threads of a core share its slots: counted of any of them, half for each. */
		.name = "skl-smt",
		.title = "Intel Skylake to Cascade Lake with two threads a core",
		.source = "Linux pmu-events skylakex, pmu-tools skx_server_ratios",
		.width = 4,
		.events = { { "cycles", 0x20003c, 0, 1, false }, { "not-delivered", 0x019c, 0, 1, false },
			    { "issued", 0x010e, 0, 1, false }, { "retired", 0x02c2, 0, 1, false },
			    { "recovery", 0x20010d, 0, 1, false }, { "cycles2", 0x20003c, 1, 2, false }, SKL_LEVEL2,
			    { "cycles3", 0x3c, 2, 2, false }, { "memory-stalls", 0x140014a3, 2, 2, false },
			    { "store-stalls", 0x40a6, 2, 2, false }, { "stalls", 0x40004a3, 2, 2, false },
			    { "ports1", 0x02a6, 2, 2, false }, { "ports2", 0x04a6, 2, 2, false },
			    { "cycles4", 0x20003c, 3, 2, false }, { "retired4", 0x02c2, 3, 2, false },
			    { "fused", 0x04c2, 3, 2, false }, { "instructions4", 0xc0, 3, 2, false } },
		.defs = { { "slots", "4 * cycles / 2" }, { "slots2", "4 * cycles2 / 2" }, { "slots4", "4 * cycles4 / 2" } },
		.nodes = { SKL_NODES("4", "4 * recovery / 2") },
	},
	{
		.name = "icl",
		.title = "Intel Ice Lake to Rocket Lake",
		.source = "Linux pmu-events icelakex, pmu-tools icx_server_ratios",
		.width = 5,
		.metrics = true,
		.events = { { "slots", 0x0400, 0, 1, false }, { "cycles", 0x3c, 0, 1, false },
			    { "m-retiring", 0x8000, 0, 1, false }, { "m-bad-spec", 0x8100, 0, 1, false },
			    { "m-frontend", 0x8200, 0, 1, false }, { "m-backend", 0x8300, 0, 1, false },
			    { "dropping", 0x100d, 0, 1, false }, { "clears-count", 0x104010d, 0, 1, false },
			    { "none-delivered", 0x500019c, 0, 2, false }, { "mispredicted", 0xc5, 0, 2, false },
			    { "cleared", 0x10401c3, 0, 2, false }, ICL_STALLS(1) },
		.defs = { { "all", "m-retiring + m-bad-spec + m-frontend + m-backend" } },
		.nodes = { L1("max(0, m-frontend / all - dropping / slots)",
			      "max(0, 1 - frontend - retiring - backend)", "m-retiring / all",
			      "m-backend / all + 5 * clears-count / slots"),
			   LATENCY("max(0, min(frontend, (5 * none-delivered - dropping) / slots))"), ICL_LEVEL2 },
	},
	{
		.name = "icl-gp",
		.title = "Intel Ice Lake to Rocket Lake, without PERF_METRICS (a virtual machine)",
		.source = "Linux pmu-events icelakex: the programmable TOPDOWN events; pmu-tools icx_server_ratios",
		.width = 5,
		.events = { { "cycles", 0x3c, 0, 1, false }, { "slots", 0x01a4, 0, 1, false },
			    { "backend-slots", 0x02a4, 0, 1, false }, { "retired", 0x02c2, 0, 1, false },
			    { "bubbles", 0x019c, 0, 1, false }, { "dropping", 0x100d, 0, 1, true },
			    { "clears-count", 0x104010d, 0, 1, true },
			    { "slots2", 0x01a4, 1, 2, false }, { "none-delivered", 0x500019c, 1, 2, false },
			    { "mispredicted", 0xc5, 1, 2, false }, { "cleared", 0x10401c3, 1, 2, false }, ICL_STALLS(2) },
		.defs = { { "dropping", "0" }, { "clears-count", "0" } },
		.nodes = { L1("max(0, (bubbles - dropping) / slots)", "max(0, 1 - frontend - retiring - backend)",
			      "retired / slots", "(backend-slots + 5 * clears-count) / slots"),
			   LATENCY("max(0, min(frontend, 5 * none-delivered / slots2 - dropping / slots))"), ICL_LEVEL2 },
	},
	{
		.name = "spr",
		.title = "Intel Golden Cove and later (Alder Lake P-cores, Sapphire to Granite Rapids)",
		.source = "Linux pmu-events sapphirerapids, graniterapids, pmu-tools spr_server_ratios",
		.width = 6,
		.metrics = true,
		.events = { { "slots", 0x0400, 0, 1, false }, { "cycles", 0x3c, 0, 1, false },
			    { "m-retiring", 0x8000, 0, 1, false }, { "m-bad-spec", 0x8100, 0, 1, false },
			    { "m-frontend", 0x8200, 0, 1, false }, { "m-backend", 0x8300, 0, 1, false },
			    { "m-heavy", 0x8400, 0, 2, false }, { "m-mispredict", 0x8500, 0, 2, false },
			    { "m-latency", 0x8600, 0, 2, false }, { "m-memory", 0x8700, 0, 2, false },
			    { "dropping", 0x10ad, 0, 1, false } },
		.defs = { { "all", "m-retiring + m-bad-spec + m-frontend + m-backend" } },
		.nodes = { L1("max(0, m-frontend / all - dropping / slots)",
			      "max(0, 1 - frontend - retiring - backend)", "m-retiring / all",
			      "m-backend / all"),
			   LATENCY("max(0, m-latency / all - dropping / slots)"), BANDWIDTH,
			   MISPREDICT("min(bad-spec, m-mispredict / all)"), CLEARS("machine clears"),
			   MEMORY("m-memory / all"), CORE("core bound"),
			   HEAVY("heavy operations", "m-heavy / all"), LIGHT("light operations") },
	},
	{
		.name = "spr-gp",
		.title = "Intel Golden Cove and later, without PERF_METRICS (a virtual machine)",
		.source = "Linux pmu-events sapphirerapids: the programmable TOPDOWN events",
		.width = 6,
		.events = { { "cycles", 0x3c, 0, 1, false }, { "slots", 0x01a4, 0, 1, false },
			    { "backend-slots", 0x02a4, 0, 1, false }, { "retired", 0x02c2, 0, 1, false },
			    { "bubbles", 0x019c, 0, 1, false }, { "dropping", 0x10ad, 0, 1, false },
			    { "slots2", 0x01a4, 1, 2, false }, { "memory-slots", 0x10a4, 1, 2, false },
			    { "mispredict-slots", 0x08a4, 1, 2, false }, { "heavy-slots", 0x01c2, 1, 2, false },
			    { "none-delivered", 0x600019c, 1, 2, false } },
		.nodes = { L1("max(0, (bubbles - dropping) / slots)", "max(0, 1 - frontend - retiring - backend)",
			      "retired / slots", "backend-slots / slots"),
			   LATENCY("max(0, min(frontend, 6 * none-delivered / slots2 - dropping / slots))"), BANDWIDTH,
			   MISPREDICT("min(bad-spec, mispredict-slots / slots2)"), CLEARS("machine clears"),
			   MEMORY("min(backend, memory-slots / slots2)"), CORE("core bound"),
			   HEAVY("heavy operations", "min(retiring, heavy-slots / slots2)"), LIGHT("light operations") },
	},
	{
		.name = "zen4",
		.title = "AMD Zen 4",
		.source = "Linux pmu-events amdzen4 (pipeline)",
		.width = 6,
		.events = { ZEN_EVENTS(0x1060001a0, 0x96) },
		.defs = { { "slots", "6 * cycles" },
			  { "smt-stalls", "max(0, slots - no-ops - backend-stalls - dispatched)" } },
		.nodes = { ZEN_NODES("6") },
	},
	{
		.name = "zen5",
		.title = "AMD Zen 5",
		.source = "Linux pmu-events amdzen5 (pipeline)",
		.width = 8,
		.events = { ZEN_EVENTS(0x1080001a0, 0x019f) },
		.defs = { { "slots", "8 * cycles" },
			  { "smt-stalls", "max(0, slots - no-ops - backend-stalls - dispatched)" } },
		.nodes = { ZEN_NODES("8") },
	},
	{
		.name = "neoverse-n1",
		.title = "Arm Neoverse N1",
		.source = "Arm telemetry-solution neoverse-n1",
		.lacking = "this core counts no slots, only cycles in which nothing came in or nothing could go on",
		.events = { { "cycles", 0x11, 0, 1, false }, { "stall-frontend", 0x23, 0, 1, false },
			    { "stall-backend", 0x24, 0, 1, false } },
		.nodes = { { "frontend", "front end stalls", NULL, 0.15, "stall-frontend / cycles", ADVICE_FETCH },
			   { "backend", "back end stalls", NULL, 0.20, "stall-backend / cycles", ADVICE_BACKEND },
			   { "retiring", "neither", NULL, 0.70, "max(0, 1 - frontend - backend)", ADVICE_RETIRE } },
	},
	{
		.name = "neoverse-v1",
		.title = "Arm Neoverse V1",
		.source = "Arm telemetry-solution neoverse-v1",
		.width = 8,
		.events = { ARM_EVENTS },
		.defs = { { "slots", "8 * cycles" } },
		.nodes = { ARM_NODES("stall-slot-frontend", "stall-slot", "4 * mispredicted / cycles", "") },
	},
	{
		.name = "neoverse-v2",
		.title = "Arm Neoverse V2",
		.source = "Arm telemetry-solution neoverse-v2",
		.width = 8,
		.events = { ARM_EVENTS },
		.defs = { { "slots", "8 * cycles" } },
		.nodes = { ARM_NODES("stall-slot-frontend", "stall-slot", "mispredicted / cycles", " - 3 * mispredicted / cycles") },
	},
	{
		.name = "neoverse-n2",
		.title = "Arm Neoverse N2",
		.source = "Arm telemetry-solution neoverse-n2-v2",
		.width = 5,
		.events = { ARM_EVENTS },
		.defs = { { "slots", "5 * cycles" } },
		.nodes = { ARM_NODES("stall-slot-frontend", "stall-slot", "mispredicted / cycles", " - 3 * mispredicted / cycles") },
	},
	{
		/* Its stall counters count one slot too many in each cycle. */
		.name = "neoverse-n2-r0p2",
		.title = "Arm Neoverse N2 up to r0p2",
		.source = "Arm telemetry-solution neoverse-n2",
		.width = 5,
		.events = { ARM_EVENTS },
		.defs = { { "slots", "5 * cycles" } },
		.nodes = { ARM_NODES("(stall-slot-frontend - cycles)", "(stall-slot - cycles)", "mispredicted / cycles",
				     " - 3 * mispredicted / cycles") },
	},
};

const size_t topdown_models_len = ARRAY_LEN(topdown_models);

const struct topdown_model *topdown_find(const char *name, size_t len)
{
	for (size_t i = 0; i < topdown_models_len; i++)
		if (strlen(topdown_models[i].name) == len &&
		    strncmp(topdown_models[i].name, name, len) == 0)
			return &topdown_models[i];
	return NULL;
}

static const struct topdown_model *named(const char *name)
{
	return name ? topdown_find(name, strlen(name)) : NULL;
}

/* Intel, family 6: the model numbers of each kind. */
static const struct topdown_model *intel(const struct topdown_cpu *cpu)
{
	static const uint8_t skl[] = { 0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6, 0x55 };
	static const uint8_t icl[] = { 0x7d, 0x7e, 0x8c, 0x8d, 0xa7, 0x6a, 0x6c };
	static const uint8_t spr[] = { 0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xaa, 0xac, 0x8f, 0xcf, 0xad, 0xae };

	if (cpu->family != 6 || cpu->model > 0xff)
		return NULL;
	if (memchr(skl, (int)cpu->model, sizeof(skl)))
		return named(cpu->smt ? "skl-smt" : "skl");
	if (memchr(icl, (int)cpu->model, sizeof(icl)))
		return named(cpu->has_slots ? "icl" : "icl-gp");
	if (memchr(spr, (int)cpu->model, sizeof(spr)))
		return named(cpu->has_slots ? "spr" : "spr-gp");
	return NULL;
}

/* Family 0x19 is Zen 3 and 4, 0x1a Zen 5 and 6. */
static const struct topdown_model *amd(const struct topdown_cpu *cpu)
{
	uint32_t row = cpu->model >> 4;

	if (cpu->family == 0x19 && row != 0 && row != 2 && row != 4 && row != 5)
		return named("zen4");
	return cpu->family == 0x1a ? named("zen5") : NULL;
}

static const struct topdown_model *arm(const struct topdown_cpu *cpu)
{
	bool old_n2 = cpu->variant == 0 && cpu->revision < 3;

	switch (cpu->part) {
	case 0xd0c:
		return named("neoverse-n1");
	case 0xd40:
		return named("neoverse-v1");
	case 0xd49:
		return named(old_n2 ? "neoverse-n2-r0p2" : "neoverse-n2");
	case 0xd4f:
		return named("neoverse-v2");
	default:
		return NULL;
	}
}

const struct topdown_model *topdown_for_cpu(const struct topdown_cpu *cpu)
{
	if (cpu->intel)
		return intel(cpu);
	if (cpu->amd)
		return amd(cpu);
	return cpu->arm ? arm(cpu) : NULL;
}
