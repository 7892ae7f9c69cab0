/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_trial.c - one ring, one event of this task alone, a loop of loads and stores.
 */
#include "record/event/sample_trial.h"

#include "formats/arch.h"
#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/perf/perf_record.h"
#include "record/sample/ring.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TRY_NS       2000000
#define PERIOD       20011 /* far below the kernel's limit on interrupts, at one event a cycle */
#define PERIOD_RARE  101   /* of events that count single accesses */
#define CLOCK_NS     100000
#define RING_PAGES   4
#define ARRAY_WORDS  (1 << 16)
#define LINE_WORDS   8
/* "Not available": the operation, or what was looked up where (union perf_mem_data_src). */
#define OP_MASK  0x1fu
#define OP_NA    0x1u

struct trial {
	struct ring ring;
	struct perf_layout layout;
	struct perf_record record;
	uint8_t scratch[RING_RECORD_MAX];
	unsigned samples, with_data, with_weight;
	uint64_t words[ARRAY_WORDS];
};

static void look(struct trial *t, const uint8_t *data, size_t len)
{
	CLEANUP(err_freep)
	struct err *err = perf_record_parse(&t->layout, data, len, false, &t->record);
	const struct event_sample *sample = &t->record.event.sample;
	uint64_t op = sample->data_src & OP_MASK;

	if (err || !t->record.known || t->record.event.kind != EVENT_SAMPLE)
		return;
	t->samples++;
	t->with_data += sample->addr || (op && op != OP_NA);
	t->with_weight += sample->weight != 0;
}

static void drain(struct trial *t)
{
	uint64_t head = ring_head(&t->ring);
	const uint8_t *data;
	size_t len;

	while (ring_next(&t->ring, head, t->scratch, &data, &len))
		look(t, data, len);
	ring_release(&t->ring);
}

/* Loads and stores, some of which miss the first caches. */
static void work(struct trial *t)
{
	static const size_t stride = 37 * LINE_WORDS;

	for (size_t i = 0, at = 0; i < 512; i++, at = (at + stride) % ARRAY_WORDS)
		*(volatile uint64_t *)&t->words[at] += i;
}

static void run(struct trial *t, int fd)
{
	uint64_t start = clock_now_ns(CLOCK_MONOTONIC);

	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		return;
	while (t->samples < SAMPLE_TRIAL_LEAST && clock_now_ns(CLOCK_MONOTONIC) - start < TRY_NS) {
		work(t);
		drain(t);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	drain(t);
}

static bool is_fault(uint64_t config)
{
	return config == PERF_COUNT_SW_PAGE_FAULTS || config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	       config == PERF_COUNT_SW_PAGE_FAULTS_MAJ || config == PERF_COUNT_SW_ALIGNMENT_FAULTS;
}

/* What is known of events that the kernel makes itself. */
static bool by_nature(const struct perf_event_attr *attr, struct sample_trial *ret)
{
	bool data = attr->type == PERF_TYPE_BREAKPOINT ||
		    (attr->type == PERF_TYPE_SOFTWARE && is_fault(attr->config));

	*ret = (struct sample_trial){ data ? SAMPLE_TRIAL_SOME : SAMPLE_TRIAL_NONE,
				      SAMPLE_TRIAL_NONE };
	return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
	       attr->type == PERF_TYPE_BREAKPOINT;
}

/* The same event, as small as can be. */
static struct perf_event_attr trial_attr(const struct perf_event_attr *attr)
{
	struct perf_event_attr ret = *attr;
	uint64_t wanted = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT |
			  PERF_SAMPLE_WEIGHT_STRUCT;
	bool frequent = attr->type == PERF_TYPE_HARDWARE &&
			(attr->config == PERF_COUNT_HW_CPU_CYCLES ||
			 attr->config == PERF_COUNT_HW_INSTRUCTIONS);

	ret.sample_type = (attr->sample_type & wanted) | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	ret.read_format = 0;
	ret.branch_sample_type = 0;
	ret.sample_regs_user = 0;
	ret.sample_stack_user = 0;
	ret.freq = 0;
	ret.sample_period = frequent ? PERIOD : PERIOD_RARE;
	ret.inherit = 0;
	ret.enable_on_exec = 0;
	ret.disabled = 1;
	return ret;
}

static enum sample_trial_answer answer(const struct trial *t, unsigned with)
{
	if (with)
		return SAMPLE_TRIAL_SOME;
	return t->samples < SAMPLE_TRIAL_LEAST ? SAMPLE_TRIAL_UNKNOWN : SAMPLE_TRIAL_NONE;
}

struct sample_trial sample_trial_run(const struct event_kernel *kernel,
				     const struct perf_event_attr *attr)
{
	static const struct event_target self = { .pid = 0, .cpu = -1, .cgroup_fd = -1 };
	struct perf_event_attr small = trial_attr(attr);
	struct sample_trial ret;
	struct trial *t;
	int fd;

	if (by_nature(attr, &ret))
		return ret;
	ret = (struct sample_trial){ SAMPLE_TRIAL_UNKNOWN, SAMPLE_TRIAL_UNKNOWN };
	fd = event_open_try(kernel, &small, &self, -1);
	if (fd < 0)
		return ret;
	t = memory_zeroed(1, sizeof(*t));
	t->layout = (struct perf_layout){ .sample_type = small.sample_type,
					  .period = small.sample_period,
					  .arch = arch_native() };
	CLEANUP(err_freep)
	struct err *err = ring_open(&t->ring, fd, 0, RING_PAGES * (uint64_t)sysconf(_SC_PAGESIZE));

	if (!err) {
		run(t, fd);
		ret = (struct sample_trial){ answer(t, t->with_data), answer(t, t->with_weight) };
	}
	ring_close(&t->ring);
	close(fd);
	free(t);
	return ret;
}
