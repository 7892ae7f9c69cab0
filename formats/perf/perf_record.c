/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record.c - fields in the order in which perf_event_open(2) lists them.
 */
#include "formats/perf/perf_record.h"

#include "formats/perf/perf_record_sample.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

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
	if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL)
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
	rec->stream_id = reader_u64(r, "stream id");
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

/* Everything but the big arrays. */
static void clear(struct perf_record *rec)
{
	rec->id = rec->about_id = rec->stream_id = 0;
	rec->stack = NULL;
	rec->stack_len = rec->stack_room = 0;
	rec->nwords = 0;
	rec->known = false;
	rec->event = (struct event){ .cpu = EVENT_NO_CPU, .pid = UINT32_MAX, .tid = UINT32_MAX };
}

struct err *perf_record_parse(const struct perf_layout *layout, const uint8_t *data, size_t len,
			      bool big_endian, struct perf_record *ret)
{
	struct reader r;

	reader_init(&r, data, len, big_endian);
	clear(ret);
	ret->type = reader_u32(&r, "record type");
	ret->misc = reader_u16(&r, "record flags");
	reader_skip(&r, 2, "record size");
	if (ret->type == PERF_RECORD_MMAP2 && !layout->build_ids)
		ret->misc &= (uint16_t)~MISC_BUILD_ID;
	if (ret->type == PERF_RECORD_SAMPLE) {
		ret->known = true;
		perf_record_sample_read(&r, layout, ret);
	} else if (ret->type < ARRAY_LEN(read_body) && read_body[ret->type]) {
		ret->known = true;
		read_other(&r, layout, ret);
	}
	return reader_check(&r);
}
