/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record_sample.c - chains and branches are copied, a few hundred bytes, so that neither alignment nor byte order of
 * the source matters afterwards; the stack, tens of kilobytes, stays where it is.
 */
#include "formats/perf/perf_record_sample.h"

#include <linux/perf_event.h>
#include <string.h>

#define FORMAT_LOST           (1U << 4) /* PERF_FORMAT_LOST, Linux 6.0 */
#define CONTEXT_FIRST         ((uint64_t)-4095) /* PERF_CONTEXT_MAX: addresses from here on are markers */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640) /* Linux 6.19: a cookie follows, no address */
#define BRANCH_COUNTERS       (1U << 19) /* PERF_SAMPLE_BRANCH_COUNTERS, Linux 6.8: a word for each branch */

static void read_regs(struct reader *r, const struct perf_layout *layout, struct perf_record *rec)
{
	const struct arch *arch = layout->arch;
	uint64_t abi = reader_u64(r, "register ABI");

	if (!abi)
		return;
	rec->regs.mask = 0;
	for (uint64_t left = layout->regs_user; left; left &= left - 1) {
		unsigned kernel_reg = (unsigned)__builtin_ctzll(left);
		uint64_t value = reader_u64(r, "register");

		if (kernel_reg >= arch->nkernel_regs || arch->kernel_regs[kernel_reg] == 0xff)
			continue;
		rec->regs.values[arch->kernel_regs[kernel_reg]] = value;
		rec->regs.mask |= 1ULL << arch->kernel_regs[kernel_reg];
	}
	rec->event.sample.regs = &rec->regs;
}

static void read_stack(struct reader *r, struct perf_record *rec)
{
	uint64_t room = reader_u64(r, "stack size");

	if (!room)
		return;
	const uint8_t *bytes = reader_bytes(r, room, "stack");
	uint64_t len = reader_u64(r, "copied stack size");

	if (len > room) {
		reader_fail(r, "copied stack size");
		return;
	}
	rec->stack = bytes;
	rec->stack_len = len;
	rec->stack_room = room;
}

/* Room for @count words that the event may point to; a record holds no more than fit. */
static uint64_t *take_words(struct perf_record *rec, struct reader *r, uint64_t count, size_t size)
{
	if (count > reader_left(r) / size ||
	    count * (size / 8) > PERF_RECORD_WORDS_MAX - rec->nwords) {
		reader_fail(r, "count");
		return NULL;
	}
	uint64_t *words = rec->words + rec->nwords;

	rec->nwords += count * (size / 8);
	return words;
}

static void read_words(struct reader *r, uint64_t *words, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		words[i] = reader_u64(r, "word");
}

/* Split "marker, addresses, marker, addresses" by what the markers say. */
static void split_chain(struct event_sample *sample, const uint64_t *ips, size_t count)
{
	uint64_t context = sample->mode == EVENT_MODE_USER ? (uint64_t)PERF_CONTEXT_USER
							   : (uint64_t)PERF_CONTEXT_KERNEL;

	for (size_t i = 0; i < count;) {
		if (ips[i] >= CONTEXT_FIRST) {
			context = ips[i++];
			i += context == CONTEXT_USER_DEFERRED;
			continue;
		}
		size_t first = i;

		while (i < count && ips[i] < CONTEXT_FIRST)
			i++;
		if (context == (uint64_t)PERF_CONTEXT_USER) {
			sample->user_ips = ips + first;
			sample->nuser_ips = i - first;
		} else if (context == (uint64_t)PERF_CONTEXT_KERNEL) {
			sample->kernel_ips = ips + first;
			sample->nkernel_ips = i - first;
		}
	}
}

static void read_chain(struct reader *r, struct perf_record *rec)
{
	uint64_t count = reader_u64(r, "chain length");
	uint64_t *ips = take_words(rec, r, count, 8);

	if (!ips)
		return;
	read_words(r, ips, count);
	split_chain(&rec->event.sample, ips, count);
}

static void read_branches(struct reader *r, const struct perf_layout *layout,
			  struct perf_record *rec)
{
	uint64_t count = reader_u64(r, "branch count");

	reader_skip(r, layout->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX ? 8 : 0, "branch index");
	uint64_t *words = take_words(rec, r, count, sizeof(struct event_branch));

	if (!words)
		return;
	read_words(r, words, count * (sizeof(struct event_branch) / 8));
	reader_skip(r, layout->branch_sample_type & BRANCH_COUNTERS ? count * 8 : 0, "branch counters");
	rec->event.sample.branches = (const struct event_branch *)(const void *)words;
	rec->event.sample.nbranches = count;
}

static void read_raw(struct reader *r, struct event_sample *sample)
{
	uint32_t len = reader_u32(r, "raw size");

	sample->raw = reader_bytes(r, len, "raw data");
	sample->raw_len = sample->raw ? len : 0;
}

/* The counters of the event, or of its whole group. */
static void read_counts(struct reader *r, uint64_t format, struct perf_record *rec)
{
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t count = group ? reader_u64(r, "group size") : 1;
	struct event_count times = { .event = RECORDING_NO_EVENT };
	uint64_t single = group ? 0 : reader_u64(r, "count");

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		times.enabled_ns = reader_u64(r, "time enabled");
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		times.running_ns = reader_u64(r, "time running");
	if (count > PERF_RECORD_COUNTS_MAX) {
		reader_fail(r, "group size");
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		rec->counts[i] = times;
		rec->counts[i].value = group ? reader_u64(r, "count") : single;
		rec->count_ids[i] =
			format & PERF_FORMAT_ID ? reader_u64(r, "count's event") : rec->id;
		if (format & FORMAT_LOST)
			reader_u64(r, "count's losses");
	}
	rec->event.sample.counts = rec->counts;
	rec->event.sample.ncounts = count;
}

static void read_identity(struct reader *r, uint64_t type, struct perf_record *rec)
{
	struct event *ev = &rec->event;

	if (type & PERF_SAMPLE_TID) {
		ev->pid = reader_u32(r, "process");
		ev->tid = reader_u32(r, "thread");
	}
	if (type & PERF_SAMPLE_TIME)
		ev->time_ns = reader_u64(r, "time");
}

static void read_cpu(struct reader *r, uint64_t type, struct perf_record *rec)
{
	if (type & PERF_SAMPLE_ID)
		rec->id = reader_u64(r, "event id");
	if (type & PERF_SAMPLE_STREAM_ID)
		rec->stream_id = reader_u64(r, "stream id");
	if (type & PERF_SAMPLE_CPU) {
		rec->event.cpu = reader_u32(r, "CPU");
		reader_skip(r, 4, "reserved");
	}
}

/* What follows the stack. */
static void read_sample_tail(struct reader *r, const struct perf_layout *layout,
			     struct event_sample *sample)
{
	uint64_t type = layout->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		sample->weight = reader_u64(r, "weight");
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		sample->weight &= UINT32_MAX; /* the first of its three parts */
	if (type & PERF_SAMPLE_DATA_SRC)
		sample->data_src = reader_u64(r, "data source");
	if (type & PERF_SAMPLE_TRANSACTION)
		reader_u64(r, "transaction");
	if (type & PERF_SAMPLE_REGS_INTR && reader_u64(r, "register ABI"))
		reader_skip(r, 8 * (size_t)__builtin_popcountll(layout->regs_intr), "registers");
	if (type & PERF_SAMPLE_PHYS_ADDR)
		reader_u64(r, "physical address");
	if (type & PERF_SAMPLE_CGROUP)
		sample->cgroup = reader_u64(r, "cgroup");
}

void perf_record_sample_read(struct reader *r, const struct perf_layout *layout, struct perf_record *rec)
{
	struct event_sample *sample = &rec->event.sample;
	uint64_t type = layout->sample_type;

	rec->event.kind = EVENT_SAMPLE;
	sample->event = RECORDING_NO_EVENT;
	sample->mode = (enum event_mode)MIN(rec->misc & PERF_RECORD_MISC_CPUMODE_MASK,
					    (unsigned)EVENT_MODE_GUEST_USER);
	if (type & PERF_SAMPLE_IDENTIFIER)
		rec->id = reader_u64(r, "event id");
	if (type & PERF_SAMPLE_IP)
		sample->ip = reader_u64(r, "address");
	read_identity(r, type, rec);
	if (type & PERF_SAMPLE_ADDR)
		sample->addr = reader_u64(r, "data address");
	read_cpu(r, type, rec);
	sample->period = type & PERF_SAMPLE_PERIOD ? reader_u64(r, "period") : layout->period;
	if (type & PERF_SAMPLE_READ)
		read_counts(r, layout->read_format, rec);
	if (type & PERF_SAMPLE_CALLCHAIN)
		read_chain(r, rec);
	if (type & PERF_SAMPLE_RAW)
		read_raw(r, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		read_branches(r, layout, rec);
	if (type & PERF_SAMPLE_REGS_USER)
		read_regs(r, layout, rec);
	if (type & PERF_SAMPLE_STACK_USER)
		read_stack(r, rec);
	read_sample_tail(r, layout, sample);
}

void perf_record_sample_read_id(struct reader *r, uint64_t type, struct perf_record *rec)
{
	read_identity(r, type, rec);
	read_cpu(r, type, rec);
	if (type & PERF_SAMPLE_IDENTIFIER)
		rec->id = reader_u64(r, "event id");
}
