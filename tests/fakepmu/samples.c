/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - records as the kernel lays them out, and counts that can be worked out by hand.
 *
 * Sample i (from 0) was taken after i + 1 milliseconds. Until then an event has counted (i + 1) times its
 * rate: 1000 plus its number in the table's group, of slots 6000, of the metrics of 6000 slots a part each
 * (FAKE_PARTS), less what it did not run. Three of four samples are in fakepmu_hot, one in fakepmu_cold. Every
 * fifth load of a precise event comes from RAM in 300 cycles, the others from level 1 in 5; they go to 16 lines of fakepmu_table.
 */
#include "tests/fakepmu/fakepmu.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS       1000000ULL
#define RECORD_MAX    8192
#define BRANCHES      8
#define FORMAT_LOST   (1U << 4)
#define SLOTS_A_STEP  6000
#define COUNT_A_STEP  1000
#define METRIC_SHIFT  8
#define MEMORY_L1_HIT 0x68100142ULL /* a load that hit level 1, no snoop, TLB hit */
/* A load that local memory answered, no cache had it, the page was walked for; as arch/x86/events/intel/ds.c puts it. */
#define MEMORY_RAM                                                                        \
	(PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, LOC_RAM) |         \
	 PERF_MEM_S(LVLNUM, RAM) | PERF_MEM_S(SNOOP, MISS) | PERF_MEM_S(TLB, MISS) | \
	 PERF_MEM_S(TLB, WK))
/* What every kernel says of an event that does not know. */
#define MEMORY_NA                                                                     \
	(PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) | \
	 PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA))

/* Of 1000: retiring, bad speculation, front end, back end; then heavy, mispredicts, latency, memory. */
static const uint64_t FAKE_PARTS[8] = { 400, 100, 200, 300, 50, 80, 120, 200 };

struct record {
	uint8_t bytes[RECORD_MAX];
	size_t len;
};

/* Functions and data of this library, for samples to be in. */
uint64_t fakepmu_table[512] __attribute__((aligned(64)));
void fakepmu_hot(void);
void fakepmu_cold(void);

/* A loop whose jump back, and what is taken for a call, have addresses that we know: only the same assembly file sees the names. */
#if defined(__aarch64__)
#define LOOP "mov x9, #3\n.Lfake_loop: subs x9, x9, #1\n.Lfake_back: b.ne .Lfake_loop\n.Lfake_call: nop\n"
#define LOOP_CLOBBERS "x9", "cc"
#else
#define LOOP "movl $3, %%ecx\n.Lfake_loop: subl $1, %%ecx\n.Lfake_back: jnz .Lfake_loop\n.Lfake_call: nop\n"
#define LOOP_CLOBBERS "ecx", "cc"
#endif
extern const char fake_loop[] __asm__(".Lfake_loop") __attribute__((visibility("hidden")));
extern const char fake_back[] __asm__(".Lfake_back") __attribute__((visibility("hidden")));
extern const char fake_call[] __asm__(".Lfake_call") __attribute__((visibility("hidden")));

__attribute__((noinline, aligned(256))) void fakepmu_hot(void)
{
	__asm__ volatile(LOOP : : : LOOP_CLOBBERS);
	for (volatile int i = 0; i < 100; i++)
		fakepmu_table[i & 7] += (uint64_t)i * 3;
	fakepmu_cold();
}

__attribute__((noinline, aligned(256))) void fakepmu_cold(void)
{
	for (volatile int i = 0; i < 100; i++)
		fakepmu_table[i & 63] ^= (uint64_t)i;
}

static void put(struct record *r, const void *data, size_t len)
{
	if (r->len + len > RECORD_MAX)
		return;
	memcpy(r->bytes + r->len, data, len);
	r->len += len;
}

static void put_u64(struct record *r, uint64_t value)
{
	put(r, &value, sizeof(value));
}

static void put_pair(struct record *r, uint32_t a, uint32_t b)
{
	put(r, &a, sizeof(a));
	put(r, &b, sizeof(b));
}

/* What member @index has counted after @steps. */
static uint64_t count_after(const struct fake_table *t, int index, uint64_t steps)
{
	const struct fake_event *e = &t->events[index];
	uint64_t running = fake_running(t, e);
	uint64_t number = (uint64_t)(index - e->leader);
	uint64_t rate = COUNT_A_STEP + number;

	if (e->is_slots)
		rate = SLOTS_A_STEP;
	else if (e->is_metric)
		rate = SLOTS_A_STEP * FAKE_PARTS[e->attr.config >> METRIC_SHIFT & 7] / 1000;
	return rate * steps * running / 1000;
}

static void put_times(struct record *r, const struct fake_table *t, const struct fake_event *e,
		      uint64_t steps)
{
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(r, steps * STEP_NS);
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(r, steps * STEP_NS * fake_running(t, &t->events[e->leader]) / 1000);
}

static void put_member(struct record *r, const struct fake_table *t, int index, uint64_t format,
		       uint64_t steps)
{
	put_u64(r, count_after(t, index, steps));
	if (format & PERF_FORMAT_ID)
		put_u64(r, t->events[index].id);
	if (format & FORMAT_LOST)
		put_u64(r, 0);
}

/* What a read of @index gives after @steps. */
static void put_read(struct record *r, const struct fake_table *t, int index, uint64_t steps)
{
	const struct fake_event *e = &t->events[index];
	uint64_t format = e->attr.read_format, members = 0;

	if (!(format & PERF_FORMAT_GROUP)) {
		put_u64(r, count_after(t, index, steps));
		put_times(r, t, e, steps);
		if (format & PERF_FORMAT_ID)
			put_u64(r, e->id);
		if (format & FORMAT_LOST)
			put_u64(r, 0);
		return;
	}
	for (int i = 0; i < t->len; i++)
		members += t->events[i].fd >= 0 && t->events[i].leader == e->leader;
	put_u64(r, members);
	put_times(r, t, e, steps);
	for (int i = e->leader; i < t->len; i++)
		if (t->events[i].fd >= 0 && t->events[i].leader == e->leader)
			put_member(r, t, i, format, steps);
}

/* From the end of a loop back to its start, mispredicted each fourth time; then a call to fakepmu_cold. */
static void put_branches(struct record *r, const struct perf_event_attr *attr)
{
	uint64_t cold = (uint64_t)(uintptr_t)fakepmu_cold;

	put_u64(r, BRANCHES);
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		put_u64(r, 0);
	for (uint64_t i = 0; i < BRANCHES; i++) {
		bool call = i == BRANCHES - 1, missed = i % 4 == 0;

		put_u64(r, (uint64_t)(uintptr_t)(call ? fake_call : fake_back));
		put_u64(r, call ? cold : (uint64_t)(uintptr_t)fake_loop);
		put_u64(r, (missed ? 1 : 2) | (10 + i) << 4);
	}
}

/* Precise events of Intel's; other PMUs leave zeros. */
static bool knows_data(const struct fake_table *t, const struct fake_event *e)
{
	bool intel = t->machine->vendor == FAKE_INTEL || t->machine->vendor == FAKE_HYBRID;

	return intel && e->pmu && e->attr.precise_ip;
}

static void put_body(struct record *r, const struct fake_table *t, int index, uint64_t steps,
		     uint64_t now_ns)
{
	const struct fake_event *e = &t->events[index];
	const struct perf_event_attr *attr = &e->attr;
	uint64_t type = attr->sample_type;
	bool cold = steps % 4 == 0, ram = steps % 5 == 0;
	uint64_t ip = (uint64_t)(uintptr_t)(cold ? fakepmu_cold : fakepmu_hot) + 16;
	uint32_t pid = e->pid > 0 ? (uint32_t)e->pid : (uint32_t)getpid();
	uint64_t counted = count_after(t, index, steps) - count_after(t, index, steps - 1);
	uint64_t period = attr->freq ? counted : attr->sample_period;
	bool knows = knows_data(t, e);
	uint64_t data = knows ? (uint64_t)(uintptr_t)fakepmu_table + 64 * (steps % 16) : 0;

	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(r, e->id);
	if (type & PERF_SAMPLE_IP)
		put_u64(r, ip);
	if (type & PERF_SAMPLE_TID)
		put_pair(r, pid, pid);
	if (type & PERF_SAMPLE_TIME)
		put_u64(r, now_ns + steps);
	if (type & PERF_SAMPLE_ADDR)
		put_u64(r, data);
	if (type & PERF_SAMPLE_ID)
		put_u64(r, e->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_u64(r, e->id);
	if (type & PERF_SAMPLE_CPU)
		put_pair(r, (uint32_t)(e->cpu < 0 ? 0 : e->cpu), 0);
	if (type & PERF_SAMPLE_PERIOD)
		put_u64(r, period);
	if (type & PERF_SAMPLE_READ)
		put_read(r, t, index, steps);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(r, 2);
		put_u64(r, (uint64_t)PERF_CONTEXT_USER);
		put_u64(r, ip);
	}
	if (type & PERF_SAMPLE_RAW)
		put_pair(r, 4, 0);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(r, attr);
	if (type & PERF_SAMPLE_REGS_USER)
		put_u64(r, PERF_SAMPLE_REGS_ABI_NONE);
	if (type & PERF_SAMPLE_STACK_USER)
		put_u64(r, 0);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put_u64(r, !knows ? 0 : ram ? 300 : 5);
	if (type & PERF_SAMPLE_DATA_SRC)
		put_u64(r, !knows ? MEMORY_NA : ram ? MEMORY_RAM : MEMORY_L1_HIT);
	if (type & PERF_SAMPLE_TRANSACTION)
		put_u64(r, 0);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put_u64(r, 0x100000000 + (data & 0xfff));
	if (type & PERF_SAMPLE_CGROUP)
		put_u64(r, 1);
}

static void write_ring(struct fake_event *to, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;
	uint64_t head = to->page->data_head;

	if (head - to->page->data_tail + len > to->data_len)
		return;
	for (size_t i = 0; i < len; i++)
		to->data[(head + i) & (to->data_len - 1)] = from[i];
	__atomic_store_n(&to->page->data_head, head + len, __ATOMIC_RELEASE);
}

void fake_emit(struct fake_table *t, int index)
{
	struct fake_event *e = &t->events[index];
	struct fake_event *to = &t->events[e->output];
	struct timespec ts;

	if (!e->attr.sample_period || !e->enabled || e->emitted || !to->page ||
	    !fake_running(t, e))
		return;
	e->emitted = true;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	uint64_t now_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;

	for (uint64_t i = 1; i <= t->nsamples; i++) {
		struct record r = { .len = sizeof(struct perf_event_header) };
		struct perf_event_header header = {
			.type = PERF_RECORD_SAMPLE,
			.misc = PERF_RECORD_MISC_USER,
		};

		if (t->deaf && i % t->deaf)
			continue;
		put_body(&r, t, index, i, now_ns);
		header.size = (uint16_t)r.len;
		memcpy(r.bytes, &header, sizeof(header));
		write_ring(to, r.bytes, r.len);
	}
}

size_t fake_read(const struct fake_table *t, int index, uint64_t *words, size_t max)
{
	struct record r = { 0 };
	uint64_t steps = t->events[t->events[index].leader].enabled ? t->nsamples : 0;

	put_read(&r, t, index, steps);
	if (r.len > max * sizeof(*words))
		r.len = max * sizeof(*words);
	memcpy(words, r.bytes, r.len);
	return r.len / sizeof(*words);
}
