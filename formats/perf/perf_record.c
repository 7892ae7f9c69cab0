/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record.c - fields in the order in which perf_event_open(2) lists them.
 */
#include "formats/perf/perf_record.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/* ---- samples ---- */

/*
 * Chains and branches are copied, a few hundred bytes, so that neither alignment nor byte order of
 * the source matters afterwards; the stack, tens of kilobytes, stays where it is.
 */

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
		/* The kernel has no stream 0. */
	rec->event.throttle.by_recorder = !reader_u64(r, "stream id") && rec->about_id;
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

/* Read what follows the header into @rec, whose @misc is set, user registers last. */
static void read_sample_head(struct reader *r, const struct perf_layout *layout, struct perf_record *rec)
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
}

static void perf_record_sample_read(struct reader *r, const struct perf_layout *layout, struct perf_record *rec)
{
	read_sample_head(r, layout, rec);
	if (layout->sample_type & PERF_SAMPLE_STACK_USER)
		read_stack(r, rec);
	read_sample_tail(r, layout, &rec->event.sample);
}

/* The sample id that ends other records under sample_id_all: thread, time, event and CPU, as far as @type has them. */
static void perf_record_sample_read_id(struct reader *r, uint64_t type, struct perf_record *rec)
{
	read_identity(r, type, rec);
	read_cpu(r, type, rec);
	if (type & PERF_SAMPLE_IDENTIFIER)
		rec->id = reader_u64(r, "event id");
}

/* ---- records ---- */

#define MISC_BUILD_ID        (1U << 14)
#define KSYMBOL_UNREGISTERED 1U

uint64_t perf_record_id(const uint8_t *data, size_t len, bool big_endian)
{
	struct reader r;

	reader_init(&r, data, len, big_endian);
	uint32_t type = reader_u32(&r, "record type");

	reader_skip(&r, 4, "record header");
	if (type != PERF_RECORD_SAMPLE && reader_left(&r) >= 8)
		reader_skip(&r, reader_left(&r) - 8, "record");
	return reader_u64(&r, "event id");
}

static void read_mmap(struct reader *r, struct perf_record *rec)
{
	struct event_mmap *map = &rec->event.mmap;
	unsigned mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	rec->event.kind = EVENT_MMAP;
	rec->event.pid = reader_u32(r, "process");
	rec->event.tid = reader_u32(r, "thread");
	map->start = reader_u64(r, "mapping address");
	if (__builtin_add_overflow(map->start, reader_u64(r, "mapping size"), &map->end))
		map->end = UINT64_MAX;
	map->file_offset = reader_u64(r, "file offset");
	if (mode == PERF_RECORD_MISC_KERNEL)
		map->flags |= EVENT_MMAP_KERNEL;
	if (rec->type == PERF_RECORD_MMAP && !(rec->misc & PERF_RECORD_MISC_MMAP_DATA))
		map->flags |= EVENT_MMAP_EXEC;
}

static void read_mmap_build_id(struct reader *r, struct event_mmap *map)
{
	uint8_t len = reader_u8(r, "build ID size");

	reader_skip(r, 3, "reserved");
	const uint8_t *id = reader_bytes(r, sizeof(map->build_id), "build ID");

	if (!id || len > sizeof(map->build_id))
		return;
	memcpy(map->build_id, id, len);
	map->build_id_len = len;
}

static void read_mmap2(struct reader *r, struct perf_record *rec)
{
	struct event_mmap *map = &rec->event.mmap;

	read_mmap(r, rec);
	if (rec->misc & MISC_BUILD_ID) {
		read_mmap_build_id(r, map);
	} else {
		uint32_t major_number = reader_u32(r, "device");
		uint32_t minor_number = reader_u32(r, "device");

		map->device = makedev(major_number, minor_number);
		map->inode = reader_u64(r, "inode");
		map->generation = reader_u64(r, "inode generation");
	}
	if (reader_u32(r, "protection") & PROT_EXEC)
		map->flags |= EVENT_MMAP_EXEC;
	reader_u32(r, "mapping flags");
	map->path = reader_string(r, "path");
}

static void read_mmap1(struct reader *r, struct perf_record *rec)
{
	read_mmap(r, rec);
	rec->event.mmap.path = reader_string(r, "path");
}

static void read_comm(struct reader *r, struct perf_record *rec)
{
	rec->event.kind = EVENT_COMM;
	rec->event.pid = reader_u32(r, "process");
	rec->event.tid = reader_u32(r, "thread");
	rec->event.comm.comm = reader_string(r, "name");
	rec->event.comm.exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void read_task(struct reader *r, struct perf_record *rec)
{
	rec->event.kind = rec->type == PERF_RECORD_FORK ? EVENT_FORK : EVENT_EXIT;
	rec->event.pid = reader_u32(r, "process");
	uint32_t parent_pid = reader_u32(r, "parent process");

	rec->event.tid = reader_u32(r, "thread");
	uint32_t parent_tid = reader_u32(r, "parent thread");

	rec->event.time_ns = reader_u64(r, "time");
	if (rec->type == PERF_RECORD_FORK)
		rec->event.fork = (struct event_fork){ parent_pid, parent_tid };
}

static void read_lost(struct reader *r, struct perf_record *rec)
{
	rec->event.kind = EVENT_LOST;
	rec->event.lost.event = RECORDING_NO_EVENT;
	rec->about_id = reader_u64(r, "event id");
	rec->event.lost.count = reader_u64(r, "lost records");
}

static void read_lost_samples(struct reader *r, struct perf_record *rec)
{
	rec->event.kind = EVENT_LOST_SAMPLES;
	rec->event.lost.event = RECORDING_NO_EVENT;
	rec->event.lost.count = reader_u64(r, "lost samples");
}

static void read_throttle(struct reader *r, struct perf_record *rec)
{
	rec->event.kind = EVENT_THROTTLE;
	rec->event.throttle.event = RECORDING_NO_EVENT;
	rec->event.throttle.stopped = rec->type == PERF_RECORD_THROTTLE;
	rec->event.time_ns = reader_u64(r, "time");
	rec->about_id = reader_u64(r, "event id");
	reader_u64(r, "stream id");
}

static void read_switch(struct reader *r, struct perf_record *rec)
{
	(void)r;
	rec->event.kind = EVENT_SWITCH;
	rec->event.cpu_switch.in = !(rec->misc & PERF_RECORD_MISC_SWITCH_OUT);
	rec->event.cpu_switch.preempted = rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
}

static void read_ksymbol(struct reader *r, struct perf_record *rec)
{
	struct event_ksymbol *sym = &rec->event.ksymbol;

	rec->event.kind = EVENT_KSYMBOL;
	sym->addr = reader_u64(r, "symbol address");
	sym->len = reader_u32(r, "symbol size");
	sym->type = reader_u16(r, "symbol type");
	sym->removed = reader_u16(r, "symbol flags") & KSYMBOL_UNREGISTERED;
	sym->name = reader_string(r, "symbol name");
}

static void read_bpf(struct reader *r, struct perf_record *rec)
{
	rec->event.kind = EVENT_BPF;
	rec->event.bpf.type = reader_u16(r, "BPF event type");
	reader_u16(r, "BPF event flags");
	rec->event.bpf.id = reader_u32(r, "BPF program");
	const uint8_t *tag = reader_bytes(r, sizeof(rec->event.bpf.tag), "BPF tag");

	if (tag)
		memcpy(rec->event.bpf.tag, tag, sizeof(rec->event.bpf.tag));
}

static void read_cgroup(struct reader *r, struct perf_record *rec)
{
	rec->event.kind = EVENT_CGROUP;
	rec->event.cgroup.id = reader_u64(r, "cgroup id");
	rec->event.cgroup.path = reader_string(r, "cgroup path");
}

static void read_text_poke(struct reader *r, struct perf_record *rec)
{
	struct event_text_poke *poke = &rec->event.text_poke;

	rec->event.kind = EVENT_TEXT_POKE;
	poke->addr = reader_u64(r, "code address");
	poke->old_len = reader_u16(r, "old code size");
	poke->new_len = reader_u16(r, "new code size");
	poke->old_code = reader_bytes(r, poke->old_len, "old code");
	poke->new_code = reader_bytes(r, poke->new_len, "new code");
}

/* Bodies of the records that are no samples, by type. */
static void (*const read_body[])(struct reader *r, struct perf_record *rec) = {
	[PERF_RECORD_MMAP] = read_mmap1,
	[PERF_RECORD_LOST] = read_lost,
	[PERF_RECORD_COMM] = read_comm,
	[PERF_RECORD_EXIT] = read_task,
	[PERF_RECORD_THROTTLE] = read_throttle,
	[PERF_RECORD_UNTHROTTLE] = read_throttle,
	[PERF_RECORD_FORK] = read_task,
	[PERF_RECORD_MMAP2] = read_mmap2,
	[PERF_RECORD_LOST_SAMPLES] = read_lost_samples,
	[PERF_RECORD_SWITCH] = read_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = read_switch,
	[PERF_RECORD_KSYMBOL] = read_ksymbol,
	[PERF_RECORD_BPF_EVENT] = read_bpf,
	[PERF_RECORD_CGROUP] = read_cgroup,
	[PERF_RECORD_TEXT_POKE] = read_text_poke,
};

/* Bytes that sample_id_all appends to a record. */
static size_t trailer_len(const struct perf_layout *layout)
{
	const uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	if (!layout->sample_id_all)
		return 0;
	return 8 * (size_t)__builtin_popcountll(layout->sample_type & fields);
}

/* Pass the body of a record of @type; false if what follows begins where the record's length says. */
static bool skip_body(struct reader *r, uint32_t type)
{
	if (type == PERF_RECORD_KSYMBOL) {
		reader_skip(r, 16, "symbol");
		reader_string(r, "symbol name");
	} else if (type == PERF_RECORD_BPF_EVENT) {
		reader_skip(r, 16, "BPF event");
	} else if (type == PERF_RECORD_TEXT_POKE) {
		reader_skip(r, 8, "code address");
		size_t old_len = reader_u16(r, "old code size"), new_len = reader_u16(r, "new code size");

		reader_skip(r, old_len + new_len, "code");
	} else {
		return false;
	}
	return !r->failed;
}

size_t perf_record_own_len(const struct perf_layout *layout, const uint8_t *data, size_t len, bool big_endian)
{
	struct reader r;

	reader_init(&r, data, len, big_endian);
	uint32_t type = reader_u32(&r, "record type");

	reader_skip(&r, 4, "record size");
	if (!skip_body(&r, type))
		return len;
	size_t body_end = (len - reader_left(&r) + 7) & ~(size_t)7;

	return MIN(body_end + trailer_len(layout), len);
}

static void read_other(struct reader *r, const struct perf_layout *layout, struct perf_record *rec)
{
	size_t trailer = trailer_len(layout);

	if (trailer > reader_left(r)) {
		reader_fail(r, "sample id");
		return;
	}
	struct reader body = reader_slice(r, reader_left(r) - trailer, "record body");

	/* The body comes last, because its thread is the one that a mapping or a fork is about. */
	if (trailer)
		perf_record_sample_read_id(r, layout->sample_type, rec);
	read_body[rec->type](&body, rec);
	if (body.failed && !r->failed)
		*r = body;
}

/* Mappings in a virtual machine's guest (perf kvm record): its addresses are not this machine's. */
static bool is_of_guest(const struct perf_record *rec)
{
	unsigned mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return (rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2) &&
	       (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER);
}

/* Everything but the big arrays. */
static void clear(struct perf_record *rec)
{
	rec->id = rec->about_id = 0;
	rec->stack = NULL;
	rec->stack_len = rec->stack_room = 0;
	rec->nwords = 0;
	rec->known = false;
	rec->event = (struct event){ .cpu = EVENT_NO_CPU, .pid = UINT32_MAX, .tid = UINT32_MAX };
}

static void read_header(struct reader *r, struct perf_record *ret)
{
	clear(ret);
	ret->type = reader_u32(r, "record type");
	ret->misc = reader_u16(r, "record flags");
	reader_skip(r, 2, "record size");
}

const struct event_regs *perf_record_regs(const struct perf_layout *layout, const uint8_t *data, size_t len,
					  bool big_endian, struct perf_record *ret)
{
	struct reader r;

	reader_init(&r, data, len, big_endian);
	read_header(&r, ret);
	if (ret->type != PERF_RECORD_SAMPLE)
		return NULL;
	read_sample_head(&r, layout, ret);
	return r.failed ? NULL : ret->event.sample.regs;
}

struct err *perf_record_parse(const struct perf_layout *layout, const uint8_t *data, size_t len,
			      bool big_endian, struct perf_record *ret)
{
	struct reader r;

	reader_init(&r, data, perf_record_own_len(layout, data, len, big_endian), big_endian);
	read_header(&r, ret);
	if (ret->type == PERF_RECORD_MMAP2 && !layout->build_ids)
		ret->misc &= (uint16_t)~MISC_BUILD_ID;
	if (ret->type == PERF_RECORD_SAMPLE) {
		ret->known = true;
		perf_record_sample_read(&r, layout, ret);
	} else if (ret->type < ARRAY_LEN(read_body) && read_body[ret->type]) {
		ret->known = !is_of_guest(ret);
		read_other(&r, layout, ret);
	}
	return reader_check(&r);
}
