/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/fake_sysfs.h"

#include "record/event/event_spec.h"

#include <linux/perf_event.h>
#include <string.h>

static struct event_list plain(void)
{
	return (struct event_list){ .sysfs = fake_sysfs_plain(), .tracefs = fake_tracefs() };
}

/* @text must be one event, which is returned; valid as long as @list. */
static const struct event_desc *one(struct event_list *list, const char *text)
{
	CHECK_OK(event_list_add(list, text));
	CHECK_UINT(list->len - list->last_option, 1);
	return &list->items[list->last_option];
}

static void check_event(struct event_list *list, const char *text, const char *name, uint32_t type,
			uint64_t config)
{
	const struct event_desc *desc = one(list, text);

	CHECK_STR(desc->name, name);
	CHECK_UINT(desc->type, type);
	CHECK_UINT(desc->config, config);
	CHECK(desc->samples);
	CHECK_UINT(desc->leader, list->last_option);
}

TEST(event_spec_knows_every_kind_of_event)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();

	check_event(&list, "cycles", "cycles", PERF_TYPE_HARDWARE, 0);
	check_event(&list, "cpu-cycles", "cpu-cycles", PERF_TYPE_HARDWARE, 0);
	check_event(&list, "cs", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	check_event(&list, "L1-dcache-load-misses", "L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
		    0x10000);
	check_event(&list, "branches", "branches", PERF_TYPE_HARDWARE, 4); /* not the cache's */
	check_event(&list, "r01c2", "r01c2", PERF_TYPE_RAW, 0x1c2);
	check_event(&list, "rffffffffffffffff", "rffffffffffffffff", PERF_TYPE_RAW, UINT64_MAX);
	check_event(&list, "sched:sched_switch", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 316);
	check_event(&list, "mem-loads", "mem-loads", 4, 0x1cd);
	check_event(&list, "cpu/mem-loads/", "cpu/mem-loads/", 4, 0x1cd);
	check_event(&list, "cpu/event=0x3c,umask=0x1,inv/", "cpu/event=0x3c,umask=0x1,inv/", 4,
		    0x80013c);
	check_event(&list, "cpu/config=0x1234/", "cpu/config=0x1234/", 4, 0x1234);
	check_event(&list, "cpu/instructions/u", "cpu/instructions/u", PERF_TYPE_HARDWARE, 1);
	check_event(&list, "amd/event=0x1a0/", "amd/event=0x1a0/", 11, 0x1000000a0);
	CHECK_UINT(one(&list, "cpu/mem-loads,ldlat=30/")->config1, 30);
	CHECK_STR(one(&list, "cpu-clock")->unit, "ns");
}

TEST(event_spec_reads_breakpoints)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();
	const struct event_desc *desc = one(&list, "mem:0x601040");

	CHECK_UINT(desc->type, PERF_TYPE_BREAKPOINT);
	CHECK_UINT(desc->config1, 0x601040);
	CHECK_UINT(desc->config2, 4);
	CHECK_UINT(desc->breakpoint, 3);
	desc = one(&list, "mem:0x601040/8:w:u");
	CHECK_UINT(desc->config2, 8);
	CHECK_UINT(desc->breakpoint, 2);
	CHECK(desc->exclude_kernel);
	CHECK_STR(desc->name, "mem:0x601040/8:w:u");
	desc = one(&list, "mem:0x401000:x");
	CHECK_UINT(desc->breakpoint, 4);
	CHECK_UINT(desc->config2, sizeof(long));
	desc = one(&list, "mem:0x401000:k"); /* a modifier, not an access */
	CHECK_UINT(desc->breakpoint, 3);
	CHECK(desc->exclude_user);
	CHECK_OK(event_list_add(&list, "{mem:0x1000/4:rw,cycles}"));
	CHECK_ERR(event_list_add(&list, "mem:main"), ERR_USAGE, "'main' is not an address");
	CHECK_ERR(event_list_add(&list, "mem:0x10/3"), ERR_USAGE, "1, 2, 4 or 8 bytes long, not 3");
	CHECK_ERR(event_list_add(&list, "mem:0x10/"), ERR_USAGE, "not an address");
	CHECK_ERR(event_list_add(&list, "mem:0x10:rr"), ERR_USAGE, "access letters");
	CHECK_ERR(event_list_add(&list, "mem:0x10:q"), ERR_USAGE, "no modifier 'q'");
}

TEST(event_spec_applies_modifiers)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();
	const struct event_desc *desc = one(&list, "cycles:u");

	CHECK(!desc->exclude_user && desc->exclude_kernel && desc->exclude_hv &&
	      desc->levels_given);
	desc = one(&list, "cycles:khpp");
	CHECK(desc->exclude_user && !desc->exclude_kernel && !desc->exclude_hv);
	CHECK_UINT(desc->precise, 2);
	CHECK_STR(desc->name, "cycles:khpp");
	desc = one(&list, "cycles:pppHI");
	CHECK_UINT(desc->precise, 3);
	CHECK(desc->exclude_guest && !desc->exclude_host && desc->exclude_idle);
	CHECK(!desc->levels_given);
	desc = one(&list, "cycles:G");
	CHECK(!desc->exclude_guest && desc->exclude_host);
	desc = one(&list, "cycles:PD");
	CHECK(desc->precise_max && desc->pinned);
	desc = one(&list, "cpu/event=1/:k"); /* with a colon or without */
	CHECK_STR(desc->name, "cpu/event=1/k");
	desc = one(&list, "sched:sched_switch:u");
	CHECK(desc->exclude_kernel);
	CHECK_STR(desc->name, "sched:sched_switch:u");
	CHECK_ERR(event_list_add(&list, "cycles:upppp"), ERR_USAGE,
		  "more than three modifiers 'p'");
	CHECK_ERR(event_list_add(&list, "cycles:ub"), ERR_USAGE, "no modifier 'b'");
}

TEST(event_spec_applies_terms_of_each_event)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();
	const struct event_desc *desc =
		one(&list, "cycles/period=1000,name=hot,call-graph=no,stack-size=8K/u");

	CHECK_STR(desc->name, "hot");
	CHECK_UINT(desc->rate.kind, EVENT_RATE_PERIOD);
	CHECK_UINT(desc->rate.value, 1000);
	CHECK_UINT(desc->chain, EVENT_CHAIN_NONE);
	CHECK_UINT(desc->stack_len, 8192);
	CHECK(desc->exclude_kernel);
	CHECK_STR(one(&list, "cycles/period=1/")->name, "cycles");
	CHECK_UINT(one(&list, "cpu/event=2,freq=10/")->rate.value, 10);
	CHECK_UINT(one(&list, "sched:sched_switch/call-graph=fp/")->chain, EVENT_CHAIN_FP);
	CHECK_ERR(event_list_add(&list, "cycles/period=0/"), ERR_USAGE, "term 'period=0'");
	CHECK_ERR(event_list_add(&list, "cycles/call-graph=caller/"), ERR_USAGE, "no, fp or dwarf");
	CHECK_ERR(event_list_add(&list, "cycles/call-graph=lbr/"), ERR_USAGE, "'lbr'");
	CHECK_ERR(event_list_add(&list, "cycles/stack-size=12/"), ERR_USAGE, "multiple of 8");
	CHECK_ERR(event_list_add(&list, "cycles/stack-size=65536/"), ERR_USAGE, "65528");
	CHECK_ERR(event_list_add(&list, "cycles/umask=1/"), ERR_USAGE, "no term 'umask'");
	CHECK_ERR(event_list_add(&list, "cycles/overwrite/"), ERR_UNSUPPORTED, "'overwrite'");
	CHECK_ERR(event_list_add(&list, "cpu/event=0x100/"), ERR_USAGE, "'event' has 8 bits");
	CHECK_ERR(event_list_add(&list, "cpu/event=two/"), ERR_USAGE, "it must be a number");
	CHECK_ERR(event_list_add(&list, "cpu/umsk=1/"), ERR_USAGE, "no term 'umsk'");
	CHECK_ERR(event_list_add(&list, "cpu/wants/"), ERR_USAGE, "needs a value");
}

TEST(event_spec_expands_globs_and_stems)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();

	CHECK_OK(event_list_add(&list, "sched:sched_*"));
	CHECK_UINT(list.len, 2);
	CHECK_STR(list.items[1].name, "sched:sched_wakeup");
	CHECK_UINT(list.items[1].leader, 1);
	CHECK_OK(event_list_add(&list, "uncore_imc/cas_count_read/"));
	CHECK_UINT(list.len, 4);
	CHECK_STR(list.items[2].name, "uncore_imc_0/cas_count_read/");
	CHECK_UINT(list.items[3].type, 21);
	CHECK_UINT(list.last_option, 2);
	CHECK_ERR(event_list_add(&list, "sched:nothing_*"), ERR_USAGE,
		  "no tracepoint 'sched:nothing_*'");
}

TEST(event_spec_makes_groups)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();

	CHECK_OK(event_list_add(&list, "page-faults,{cycles,instructions:u}:S,{cs,faults}"));
	CHECK_UINT(list.len, 5);
	CHECK_UINT(list.items[0].leader, 0);
	CHECK_UINT(list.items[1].leader, 1);
	CHECK_UINT(list.items[2].leader, 1);
	CHECK(list.items[1].samples && list.items[1].read_group);
	CHECK(!list.items[2].samples && list.items[2].read_group);
	CHECK(list.items[2].exclude_kernel && !list.items[1].exclude_kernel);
	CHECK_UINT(list.items[4].leader, 3);
	CHECK(list.items[4].samples && !list.items[4].read_group);

	CHECK_OK(event_list_add(&list, "{ cycles , cpu/event=1,umask=2/ }:uW"));
	CHECK_STR(list.items[5].name, "cycles:u");
	CHECK_STR(list.items[6].name, "cpu/event=1,umask=2/u");
	CHECK(list.items[6].weak);
	CHECK_UINT(list.items[6].leader, 5);
}

TEST(event_spec_splits_generic_events_on_hybrid_machines)
{
	CLEANUP(event_list_deinit) struct event_list list = { .sysfs = fake_sysfs_hybrid() };

	CHECK_OK(event_list_add(&list, "cycles:u,page-faults,r3c,{instructions,LLC-loads}:S"));
	CHECK_UINT(list.len, 9);
	CHECK_STR(list.items[0].name, "cpu_atom/cycles/u");
	CHECK_UINT(list.items[0].config, 10ull << 32);
	CHECK_STR(list.items[1].name, "cpu_core/cycles/u");
	CHECK_UINT(list.items[1].config, 4ull << 32);
	CHECK_STR(list.items[2].name, "page-faults");
	CHECK_UINT(list.items[3].type, 10); /* a raw code is the PMU's own */
	CHECK_UINT(list.items[3].config, 0x3c);
	CHECK_UINT(list.items[5].leader, 5);
	CHECK_UINT(list.items[6].leader, 5);
	CHECK_UINT(list.items[6].config, 10ull << 32 | 2);
	CHECK_UINT(list.items[8].leader, 7);
	CHECK(!event_desc_runs_on(&list.items[0], 3));
	CHECK(event_desc_runs_on(&list.items[0], 4));
	CHECK(event_desc_runs_on(&list.items[2], 99));
	CHECK_OK(event_list_add(&list, "slots,cpu_core/cycles/"));
	CHECK_UINT(list.len, 11); /* only one kind of core has slots */
	CHECK_UINT(list.items[10].config, 4ull << 32);
}

static void check_wrong(struct event_list *list, const char *text, const char *message)
{
	size_t len = list->len;

	CHECK_ERR(event_list_add(list, text), ERR_USAGE, message);
	CHECK_UINT(list->len, len); /* untouched on failure */
}

TEST(event_spec_says_where_a_list_is_wrong)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();

	CHECK_OK(event_list_add(&list, "cs"));
	check_wrong(&list, "", "an event is missing");
	check_wrong(&list, "cycles,", "at character 8: an event is missing");
	check_wrong(&list, "cycles,,cs", "at character 8: an event is missing");
	check_wrong(&list, "cycles, foo", "at character 9: no event 'foo'");
	check_wrong(&list, "{cycles,cs", "no '}' ends the group");
	check_wrong(&list, "{}", "at character 2: an event is missing");
	check_wrong(&list, "{cycles,}", "at character 9: an event is missing");
	check_wrong(&list, "{cycles,{cs}}", "at character 9: an event is missing");
	check_wrong(&list, "cycles}", "at character 7: '}' instead of a comma");
	check_wrong(&list, "{cs}x", "at character 5: 'x' instead of a comma");
	check_wrong(&list, "{cs}:X", "at character 6: no modifier 'X'");
	check_wrong(&list, "cs,cpu/event=1", "at character 4: no '/' ends the terms");
	check_wrong(&list, "/event=1/", "an event is missing");
	check_wrong(&list, "nope/event=1/", "no PMU and no event 'nope'");
	check_wrong(&list, "intel_pt//u", "'intel_pt' is a hardware trace");
	check_wrong(&list, "cs,arm_spe_0/ts_enable=1/", "'arm_spe_0' is a hardware trace");
	check_wrong(&list, "intel_ptx//", "no PMU and no event 'intel_ptx'");
	check_wrong(&list, "probe:vfs_read", "there is no probe 'probe:vfs_read'");
	check_wrong(&list, "probe_libc:malloc", "there is no probe 'probe_libc:malloc'");
	check_wrong(&list, "probe:*", "no tracepoint 'probe:*'");
	check_wrong(&list, "sched:", "a tracepoint is SYSTEM:NAME");
	check_wrong(&list, ":sched_switch", "a tracepoint is SYSTEM:NAME");
	check_wrong(&list, "rxyz", "no event 'rxyz'");
	check_wrong(&list, "r", "no event 'r'");
	check_wrong(&list, "r11112222333344445", "no event 'r11112222333344445'");
}

static void check_hint(struct event_list *list, const char *text, const char *hint)
{
	CLEANUP(err_freep) struct err *err = event_list_add(list, text);

	CHECK(err && err_hint(err));
	CHECK(strstr(err_hint(err), hint));
}

TEST(event_spec_offers_near_names)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();

	check_hint(&list, "cycels", "'cycles'");
	check_hint(&list, "L1-dcache-load-mises", "'L1-dcache-load-misses'");
	check_hint(&list, "mem-load", "'mem-loads'");
	check_hint(&list, "sched:sched_swich", "'sched:sched_switch'");
	check_hint(&list, "sced:sched_switch", "'sched:sched_switch'");
	check_hint(&list, "sched_switch", "'sched:sched_switch'");
	check_hint(&list, "cpu/umsk=1/", "'umask'");
	check_hint(&list, "zzzzzzzzzzzz", "precord list");
}

TEST(event_spec_gives_filters_to_the_tracepoints_before_them)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();

	CHECK_ERR(event_list_parse_filter(&list, "x > 1"), ERR_USAGE, "no tracepoint before it");
	CHECK_OK(event_list_parse(&list, "irq:irq_handler_entry"));
	CHECK_OK(event_list_parse(&list, "cs,sched:sched_*"));
	CHECK_OK(event_list_parse_filter(&list, "prev_pid > 1"));
	CHECK(!list.items[0].filter && !list.items[1].filter);
	CHECK_STR(list.items[2].filter, "prev_pid > 1");
	CHECK_OK(event_list_parse_filter(&list, "prev_prio < 9"));
	CHECK_STR(list.items[3].filter, "(prev_pid > 1) && (prev_prio < 9)");
	CHECK_OK(event_list_parse(&list, "cs"));
	CHECK_ERR(event_list_parse_filter(&list, "x > 1"), ERR_USAGE, "no tracepoint before it");
}

TEST(event_spec_asks_for_cycles_if_nothing_else_was)
{
	CLEANUP(event_list_deinit) struct event_list list = plain();

	event_list_default(&list);
	CHECK_UINT(list.len, 1);
	CHECK_STR(list.items[0].name, "cycles");
	CHECK(list.items[0].precise_max && list.items[0].is_default);
	event_list_default(&list);
	CHECK_UINT(list.len, 1);
}
