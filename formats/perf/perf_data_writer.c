/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_writer.c - the header is written last, when the length of the data is known; records one by one as they come.
 *
 *	header | ids, 8 bytes an event | attributes | records | sections of the features | features
 */
#include "formats/perf/perf_data_writer.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "formats/base/writer.h"
#include "formats/perf/perf_data_feature_writer.h"
#include "formats/perf/perf_data_types.h"
#include "formats/recording.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#define HEAD_LEN      104
#define ENTRY_LEN     (PERF_DATA_ATTR_LEN + 16) /* an attribute, offset and length of its ids */
#define ROUND_RECORDS 4096 /* after so many, none is older than those before the last mark: readers need not keep more */

#define MISC_BUILD_ID	    (1U << 14) /* PERF_RECORD_MISC_MMAP_BUILD_ID */

#define KERNEL_PATH "[kernel]" /* what mappings call it here, and what perf does */
#define KERNEL_MAP  "[kernel.kallsyms]_text"
#define KERNEL_FILE "[kernel.kallsyms]"

struct perf_data_writer {
	struct perf_data_plan plan;
	FILE *out;
	struct writer record; /* the current one */
	uint64_t records, data_start, at; /* @at: of what was written */
	uint64_t first_ns, last_ns;	  /* of samples; the last switch ends a wait, and counts too */
	uint64_t cut;
	struct perf_data_ids ids;
};

static void emit(struct perf_data_writer *w, const struct writer *bytes)
{
	fwrite(bytes->data, 1, bytes->len, w->out);
	w->at += bytes->len;
}

/* All that stands before the data; the header is for later. */
static void put_beginning(struct perf_data_writer *w)
{
	CLEANUP(writer_deinit) struct writer to = { 0 };
	const struct recording *rec = w->plan.rec;
	uint64_t ids = HEAD_LEN;

	while (to.len < HEAD_LEN)
		writer_u64(&to, 0);
	for (uint32_t i = 0; i < rec->nevents; i++)
		if (perf_data_has_attr(&rec->events[i]))
			writer_u64(&to, perf_data_id(i));
	for (uint32_t i = 0; i < rec->nevents; i++) {
		if (!perf_data_has_attr(&rec->events[i]))
			continue;
		perf_data_put_attr(&w->plan, &to, i);
		writer_u64(&to, ids);
		writer_u64(&to, 8);
		ids += 8;
	}
	emit(w, &to);
	w->data_start = w->at;
}

struct err *perf_data_writer_open(const struct perf_data_plan *plan, FILE *out, struct perf_data_writer **ret)
{
	if (!perf_data_attr_count(plan->rec))
		return err_new(ERR_UNSUPPORTED, "no event of the recording samples");
	if (fseeko(out, 0, SEEK_SET) != 0)
		return err_remedy(err_system(errno, "perf.data begins with what is known at its end, so it needs a file"),
				  "name one with -o");

	struct perf_data_writer *w = memory_zeroed(1, sizeof(*w));

	w->plan = *plan;
	w->out = out;
	put_beginning(w);
	*ret = w;
	return NULL;
}

void perf_data_writer_free(struct perf_data_writer *w)
{
	if (!w)
		return;
	writer_deinit(&w->record);
	perf_data_ids_deinit(&w->ids);
	free(w);
}

/* ---- records ---- */

static void begin_record(struct perf_data_writer *w, uint32_t type, uint16_t misc)
{
	writer_reset(&w->record);
	writer_u32(&w->record, type);
	writer_u16(&w->record, misc);
	writer_u16(&w->record, 0); /* its length: end_record() */
}

static void pad(struct writer *to)
{
	while (to->len % 8)
		writer_u8(to, 0);
}

/* Texts of records are padded, so that what follows is aligned. One that does not fit is cut. */
static void put_text(struct writer *to, const char *text)
{
	writer_bytes(to, text, strnlen(text, PATH_MAX - 1));
	writer_u8(to, 0);
	pad(to);
}

static void end_record(struct perf_data_writer *w)
{
	uint16_t len;

	pad(&w->record);
	len = (uint16_t)w->record.len;
	memcpy(w->record.data + 6, &len, sizeof(len));
	emit(w, &w->record);
	if (++w->records % ROUND_RECORDS)
		return;
	begin_record(w, PERF_DATA_FINISHED_ROUND, 0);
	w->record.data[6] = 8;
	emit(w, &w->record);
}

/* What ends every record but samples: whose it is, and when. */
static void end_side_record(struct perf_data_writer *w, const struct event *ev)
{
	writer_u32(&w->record, ev->pid);
	writer_u32(&w->record, ev->tid);
	writer_u64(&w->record, ev->time_ns);
	writer_u32(&w->record, ev->cpu);
	writer_u32(&w->record, 0);
	for (uint32_t i = 0; i < w->plan.rec->nevents; i++) {
		if (!perf_data_has_attr(&w->plan.rec->events[i]))
			continue;
		writer_u64(&w->record, perf_data_id(i));
		break;
	}
	end_record(w);
}

/* perf finds the kernel by a mapping whose offset is the address of the symbol that its path ends in. */
static void put_kernel_map(struct perf_data_writer *w, const struct event *ev)
{
	const struct recording *rec = w->plan.rec;
	uint64_t text = rec->kernel_text ? rec->kernel_text : ev->mmap.start;

	begin_record(w, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	writer_u32(&w->record, UINT32_MAX);
	writer_u32(&w->record, 0);
	writer_u64(&w->record, ev->mmap.start);
	writer_u64(&w->record, ev->mmap.end - ev->mmap.start);
	writer_u64(&w->record, text);
	put_text(&w->record, KERNEL_MAP);
	end_side_record(w, ev);
	perf_data_ids_add(&w->ids, KERNEL_FILE, /* kernel= */ true, rec->kernel_build_id, rec->kernel_build_id_len);
}

static void put_map_file(struct writer *to, const struct event_mmap *map)
{
	if (map->build_id_len) {
		writer_u8(to, map->build_id_len);
		writer_u8(to, 0);
		writer_u16(to, 0);
		writer_bytes(to, map->build_id, sizeof(map->build_id));
		return;
	}
	writer_u32(to, major(map->device));
	writer_u32(to, minor(map->device));
	writer_u64(to, map->inode);
	writer_u64(to, map->generation);
}

static void put_map(struct perf_data_writer *w, const struct event *ev)
{
	const struct event_mmap *map = &ev->mmap;
	bool kernel = map->flags & EVENT_MMAP_KERNEL, code = map->flags & EVENT_MMAP_EXEC;

	if (kernel && strcmp(map->path, KERNEL_PATH) == 0) {
		put_kernel_map(w, ev);
		return;
	}
	begin_record(w, PERF_RECORD_MMAP2,
		     (uint16_t)((kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
				(code ? 0 : PERF_RECORD_MISC_MMAP_DATA) | (map->build_id_len ? MISC_BUILD_ID : 0)));
	writer_u32(&w->record, ev->pid);
	writer_u32(&w->record, ev->tid);
	writer_u64(&w->record, map->start);
	writer_u64(&w->record, map->end - map->start);
	writer_u64(&w->record, map->file_offset);
	put_map_file(&w->record, map);
	writer_u32(&w->record, PROT_READ | (code ? PROT_EXEC : 0));
	writer_u32(&w->record, MAP_PRIVATE);
	put_text(&w->record, map->path);
	end_side_record(w, ev);
	if (code)
		perf_data_ids_add(&w->ids, map->path, kernel, map->build_id, map->build_id_len);
}

static void put_comm(struct perf_data_writer *w, const struct event *ev)
{
	begin_record(w, PERF_RECORD_COMM, ev->comm.exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	writer_u32(&w->record, ev->pid);
	writer_u32(&w->record, ev->tid);
	put_text(&w->record, ev->comm.comm);
	end_side_record(w, ev);
}

static void put_task(struct perf_data_writer *w, const struct event *ev)
{
	bool fork = ev->kind == EVENT_FORK;

	begin_record(w, fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0);
	writer_u32(&w->record, ev->pid);
	writer_u32(&w->record, fork ? ev->fork.parent_pid : ev->pid);
	writer_u32(&w->record, ev->tid);
	writer_u32(&w->record, fork ? ev->fork.parent_tid : ev->tid);
	writer_u64(&w->record, ev->time_ns);
	end_side_record(w, ev);
}

static void put_switch(struct perf_data_writer *w, const struct event *ev)
{
	begin_record(w, PERF_RECORD_SWITCH,
		     (uint16_t)((ev->cpu_switch.in ? 0 : PERF_RECORD_MISC_SWITCH_OUT) |
				(ev->cpu_switch.preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0)));
	end_side_record(w, ev);
	w->last_ns = MAX(w->last_ns, ev->time_ns);
}

static void put_lost(struct perf_data_writer *w, const struct event *ev)
{
	bool records = ev->kind == EVENT_LOST;

	begin_record(w, records ? PERF_RECORD_LOST : PERF_RECORD_LOST_SAMPLES, 0);
	if (records)
		writer_u64(&w->record, ev->lost.event == RECORDING_NO_EVENT ? 0 : perf_data_id(ev->lost.event));
	writer_u64(&w->record, ev->lost.count);
	end_side_record(w, ev);
}

static void put_throttle(struct perf_data_writer *w, const struct event *ev)
{
	uint64_t id = ev->throttle.event == RECORDING_NO_EVENT ? 0 : perf_data_id(ev->throttle.event);

	begin_record(w, ev->throttle.stopped ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0);
	writer_u64(&w->record, ev->time_ns);
	writer_u64(&w->record, id);
	writer_u64(&w->record, ev->throttle.by_recorder ? 0 : id);
	end_side_record(w, ev);
}

static void put_ksymbol(struct perf_data_writer *w, const struct event *ev)
{
	begin_record(w, PERF_RECORD_KSYMBOL, 0);
	writer_u64(&w->record, ev->ksymbol.addr);
	writer_u32(&w->record, (uint32_t)MIN(ev->ksymbol.len, (uint64_t)UINT32_MAX));
	writer_u16(&w->record, (uint16_t)ev->ksymbol.type);
	writer_u16(&w->record, ev->ksymbol.removed);
	put_text(&w->record, ev->ksymbol.name);
	end_side_record(w, ev);
}

static void put_cgroup(struct perf_data_writer *w, const struct event *ev)
{
	begin_record(w, PERF_RECORD_CGROUP, 0);
	writer_u64(&w->record, ev->cgroup.id);
	put_text(&w->record, ev->cgroup.path);
	end_side_record(w, ev);
}

/* ---- samples ---- */

static bool has_snapshot(const struct perf_data_writer *w, const struct event_sample *sample)
{
	return w->plan.snapshots && sample->regs && sample->stack.end > sample->stack.base;
}

static void put_chain(struct writer *to, const struct perf_data_chain *chain)
{
	writer_u64(to, chain->nkernel + chain->nuser + !!chain->nkernel + !!chain->nuser);
	if (chain->nkernel)
		writer_u64(to, (uint64_t)PERF_CONTEXT_KERNEL);
	for (size_t i = 0; i < chain->nkernel; i++)
		writer_u64(to, chain->kernel[i]);
	if (chain->nuser)
		writer_u64(to, (uint64_t)PERF_CONTEXT_USER);
	for (size_t i = 0; i < chain->nuser; i++)
		writer_u64(to, chain->user[i]);
}

static void put_raw(struct writer *to, const struct event_sample *sample)
{
	size_t len = MIN(sample->raw_len, (size_t)PERF_DATA_RECORD_MAX / 2), padded = ((len + 4 + 7) & ~(size_t)7) - 4;

	writer_u32(to, (uint32_t)padded);
	writer_bytes(to, sample->raw, len);
	for (size_t i = len; i < padded; i++)
		writer_u8(to, 0);
}

static void put_branches(struct writer *to, const struct event_sample *sample)
{
	writer_u64(to, sample->nbranches);
	for (size_t i = 0; i < sample->nbranches; i++) {
		writer_u64(to, sample->branches[i].from);
		writer_u64(to, sample->branches[i].to);
		writer_u64(to, sample->branches[i].flags);
	}
}

/* Those that were recorded, the others as 0: they are what no rule reads. */
static void put_regs(const struct arch *arch, struct writer *to, const struct event_regs *regs)
{
	writer_u64(to, regs ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (unsigned i = 0; regs && i < arch->nkernel_regs; i++) {
		uint8_t number = arch->kernel_regs[i];

		if (!(arch->regs_mask >> i & 1))
			continue;
		writer_u64(to, number != 0xff && regs->mask >> number & 1 ? regs->values[number] : 0);
	}
}

/* The copy begins at the stack pointer, which need not be aligned, and is as long as what is left of the record. */
static void put_stack(struct perf_data_writer *w, const struct event_sample *sample, size_t tail)
{
	const struct event_stack *stack = &sample->stack;
	struct writer *to = &w->record;
	uint64_t sp = sample->regs->values[w->plan.rec->arch->sp];
	uint64_t lead = stack->base - sp < 8 ? stack->base - sp : 0; /* bytes before the first whole word */
	uint64_t room = (PERF_DATA_RECORD_MAX - to->len - 16 - tail) & ~7ULL;
	uint64_t len = MIN(stack->end - stack->base + (lead ? 8 : 0), room);
	size_t start;

	writer_u64(to, len);
	start = to->len;
	writer_reserve(to, len);
	memset(to->data + start, 0, len);
	to->len += len;
	for (size_t i = 0; i < stack->nwords; i++) {
		uint64_t at = lead + 8 * (uint64_t)stack->slots[i];

		if (at + 8 <= len)
			memcpy(to->data + start + at, &stack->words[i], 8);
		else
			w->cut++;
	}
	writer_u64(to, MIN(stack->end - stack->base + lead, len));
}

static size_t tail_len(const struct perf_data_fields *fields)
{
	return 8 * ((size_t)fields->weight + fields->data_src + fields->cgroup);
}

static void put_snapshot(struct perf_data_writer *w, const struct event_sample *sample)
{
	put_regs(w->plan.rec->arch, &w->record, sample->regs);
	if (has_snapshot(w, sample))
		put_stack(w, sample, tail_len(&w->plan.fields[sample->event]));
	else
		writer_u64(&w->record, 0);
}

/* With a snapshot the user's part of the chain is left to those who unwind it. */
static struct perf_data_chain chain_of(const struct perf_data_writer *w, const struct event_sample *sample)
{
	struct perf_data_chain chain = { sample->kernel_ips, sample->user_ips, sample->nkernel_ips, sample->nuser_ips };

	if (has_snapshot(w, sample))
		chain.nuser = 0;
	return chain;
}

static void put_sample_head(struct perf_data_writer *w, const struct event *ev)
{
	const struct event_sample *sample = &ev->sample;
	struct writer *to = &w->record;

	begin_record(w, PERF_RECORD_SAMPLE, (uint16_t)sample->mode);
	writer_u64(to, perf_data_id(sample->event));
	writer_u64(to, sample->ip);
	writer_u32(to, ev->pid);
	writer_u32(to, ev->tid);
	writer_u64(to, ev->time_ns);
	if (w->plan.fields[sample->event].addr)
		writer_u64(to, sample->addr);
	writer_u32(to, ev->cpu);
	writer_u32(to, 0);
	writer_u64(to, sample->period);
}

static void put_sample(struct perf_data_writer *w, const struct event *ev, const struct perf_data_chain *chain)
{
	const struct event_sample *sample = &ev->sample;
	struct perf_data_chain own = chain_of(w, sample);

	if (sample->event >= w->plan.rec->nevents || !perf_data_has_attr(&w->plan.rec->events[sample->event]))
		return;

	const struct perf_data_fields *fields = &w->plan.fields[sample->event];

	put_sample_head(w, ev);
	put_chain(&w->record, chain ? chain : &own);
	if (w->plan.rec->events[sample->event].type == PERF_TYPE_TRACEPOINT)
		put_raw(&w->record, sample);
	if (fields->branches)
		put_branches(&w->record, sample);
	if (w->plan.snapshots)
		put_snapshot(w, sample);
	if (fields->weight)
		writer_u64(&w->record, sample->weight);
	if (fields->data_src)
		writer_u64(&w->record, sample->data_src);
	if (fields->cgroup)
		writer_u64(&w->record, sample->cgroup);
	end_record(w);
	if (!w->first_ns)
		w->first_ns = ev->time_ns;
	w->last_ns = ev->time_ns;
}

static void (*const put_side[EVENT_KINDS])(struct perf_data_writer *w, const struct event *ev) = {
	[EVENT_MMAP] = put_map,	       [EVENT_COMM] = put_comm,		[EVENT_FORK] = put_task,
	[EVENT_EXIT] = put_task,       [EVENT_SWITCH] = put_switch,	[EVENT_LOST] = put_lost,
	[EVENT_LOST_SAMPLES] = put_lost, [EVENT_THROTTLE] = put_throttle, [EVENT_KSYMBOL] = put_ksymbol,
	[EVENT_CGROUP] = put_cgroup,
};

void perf_data_writer_add(struct perf_data_writer *w, const struct event *ev, const struct perf_data_chain *chain)
{
	if (ev->kind == EVENT_SAMPLE)
		put_sample(w, ev, chain);
	else if (put_side[ev->kind])
		put_side[ev->kind](w, ev);
}

uint64_t perf_data_writer_cut(const struct perf_data_writer *w)
{
	return w->cut;
}

struct err *perf_data_writer_finish(struct perf_data_writer *w)
{
	const struct perf_data_features features = { &w->plan, &w->ids, w->first_ns, w->last_ns };
	CLEANUP(writer_deinit) struct writer behind = { 0 };
	CLEANUP(writer_deinit) struct writer head = { 0 };
	uint64_t count = perf_data_attr_count(w->plan.rec), data_len = w->at - w->data_start, bits;

	bits = perf_data_features_write(&features, w->at, &behind);
	emit(w, &behind);
	writer_bytes(&head, "PERFILE2", 8);
	writer_u64(&head, HEAD_LEN);
	writer_u64(&head, ENTRY_LEN);
	writer_u64(&head, HEAD_LEN + 8 * count);
	writer_u64(&head, ENTRY_LEN * count);
	writer_u64(&head, w->data_start);
	writer_u64(&head, data_len);
	writer_u64(&head, 0); /* types of events: of before 2010 */
	writer_u64(&head, 0);
	writer_u64(&head, bits);
	while (head.len < HEAD_LEN)
		writer_u64(&head, 0);
	if (fseeko(w->out, 0, SEEK_SET) != 0)
		return err_system(errno, "cannot go back to the header of the perf.data");
	fwrite(head.data, 1, head.len, w->out);
	if (fseeko(w->out, 0, SEEK_END) != 0 || ferror(w->out))
		return err_system(errno, "cannot write the perf.data");
	return NULL;
}
