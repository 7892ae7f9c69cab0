/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_attr_writer.c - all samples of an event have the same fields, so those that any of them has.
 */
#include "formats/perf/perf_data_attr_writer.h"

#include "formats/arch.h"
#include "formats/base/compiler.h"
#include "formats/recording.h"

/* Bits of an attribute's word of flags. */
#define FLAG_EXCLUDE_USER   (1ULL << 4)
#define FLAG_EXCLUDE_KERNEL (1ULL << 5)
#define FLAG_EXCLUDE_HV	    (1ULL << 6)
#define FLAG_MMAP	    (1ULL << 8)
#define FLAG_COMM	    (1ULL << 9)
#define FLAG_FREQ	    (1ULL << 10)
#define FLAG_TASK	    (1ULL << 13)
#define PRECISE_SHIFT	    15
#define FLAG_SAMPLE_ID_ALL  (1ULL << 18)
#define FLAG_NO_USER_CHAIN  (1ULL << 22)
#define FLAG_MMAP2	    (1ULL << 23)
#define FLAG_COMM_EXEC	    (1ULL << 24)
#define FLAG_USE_CLOCKID    (1ULL << 25)
#define FLAG_SWITCHES	    (1ULL << 26)
#define FLAG_KSYMBOL	    (1ULL << 29)
#define FLAG_CGROUP	    (1ULL << 32)
#define FLAG_BUILD_ID	    (1ULL << 34)

void perf_data_fields_add(struct perf_data_fields *fields, const struct event_sample *sample)
{
	fields->addr |= sample->addr != 0;
	fields->weight |= sample->weight != 0;
	fields->data_src |= sample->data_src != 0;
	fields->cgroup |= sample->cgroup != 0;
	fields->branches |= sample->nbranches != 0;
}

bool perf_data_has_attr(const struct recording_event *event)
{
	return event->samples;
}

uint64_t perf_data_attr_count(const struct recording *rec)
{
	uint64_t count = 0;

	for (size_t i = 0; i < rec->nevents; i++)
		count += perf_data_has_attr(&rec->events[i]);
	return count;
}

static bool is_tracepoint(const struct recording_event *event)
{
	return event->type == PERF_TYPE_TRACEPOINT;
}

static uint64_t sample_type(const struct perf_data_plan *plan, uint32_t number)
{
	const struct perf_data_fields *fields = &plan->fields[number];
	uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;

	if (plan->snapshots)
		type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	if (is_tracepoint(&plan->rec->events[number]))
		type |= PERF_SAMPLE_RAW;
	type |= fields->addr ? PERF_SAMPLE_ADDR : 0;
	type |= fields->weight ? PERF_SAMPLE_WEIGHT : 0;
	type |= fields->data_src ? PERF_SAMPLE_DATA_SRC : 0;
	type |= fields->cgroup ? PERF_SAMPLE_CGROUP : 0;
	type |= fields->branches ? PERF_SAMPLE_BRANCH_STACK : 0;
	return type;
}

static uint64_t flags_of(const struct perf_data_plan *plan, const struct recording_event *event)
{
	uint64_t flags = FLAG_MMAP | FLAG_COMM | FLAG_TASK | FLAG_SAMPLE_ID_ALL | FLAG_MMAP2 | FLAG_COMM_EXEC | FLAG_KSYMBOL |
			 FLAG_CGROUP | FLAG_BUILD_ID;

	flags |= event->exclude_user ? FLAG_EXCLUDE_USER : 0;
	flags |= event->exclude_kernel ? FLAG_EXCLUDE_KERNEL : 0;
	flags |= event->exclude_hv ? FLAG_EXCLUDE_HV : 0;
	flags |= event->is_freq ? FLAG_FREQ : 0;
	flags |= (uint64_t)event->precise << PRECISE_SHIFT;
	flags |= plan->snapshots ? FLAG_NO_USER_CHAIN : 0;
	flags |= plan->rec->clock != UINT32_MAX ? FLAG_USE_CLOCKID : 0;
	flags |= plan->switches ? FLAG_SWITCHES : 0;
	return flags;
}

/* The whole structure of linux/perf_event.h. */
void perf_data_put_attr(const struct perf_data_plan *plan, struct writer *to, uint32_t number)
{
	const struct recording *rec = plan->rec;
	const struct recording_event *event = &rec->events[number];
	uint32_t stack_len = (uint32_t)MIN(rec->stack_len ? rec->stack_len : EVENT_STACK_MAX, (uint64_t)PERF_DATA_RECORD_MAX) & ~7U;

	writer_u32(to, event->type);
	writer_u32(to, PERF_DATA_ATTR_LEN);
	writer_u64(to, event->config);
	writer_u64(to, event->rate ? event->rate : 1);
	writer_u64(to, sample_type(plan, number));
	writer_u64(to, 0); /* counts */
	writer_u64(to, flags_of(plan, event));
	writer_u32(to, 0); /* wake-up */
	writer_u32(to, 0); /* type of breakpoint */
	writer_u64(to, event->config1);
	writer_u64(to, event->config2);
	writer_u64(to, plan->fields[number].branches ? PERF_SAMPLE_BRANCH_ANY : 0);
	writer_u64(to, plan->snapshots ? rec->arch->regs_mask : 0);
	writer_u32(to, plan->snapshots ? stack_len : 0);
	writer_u32(to, rec->clock != UINT32_MAX ? rec->clock : 0);
	writer_u64(to, 0); /* registers at interrupts */
	writer_u32(to, 0); /* AUX area */
	writer_u16(to, 0); /* depth of chains: whatever there is */
	writer_u16(to, 0);
	writer_u32(to, 0);
	writer_u32(to, 0);
	writer_u64(to, 0); /* data of signals */
}
