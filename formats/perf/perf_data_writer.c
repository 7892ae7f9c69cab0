/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_writer.c - the header is written last, when the length of the data is known; records one by one as they come.
 *
 *	header | ids, 8 bytes an event | attributes | records | sections of the features | features
 */
#include "formats/perf/perf_data_writer.h"

#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/strtab.h"
#include "formats/base/writer.h"
#include "formats/perf/perf_data_types.h"
#include "formats/recording.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/*
 * The formats of tracepoints as perf.data has them: the header of a trace-cmd file (trace-cmd.dat.v6(5)).
 *
 *	17 08 44 "tracing" "0.5" 0	byte order 0, bytes of a long 8, bytes of a page (32 bits)
 *	"header_page" 0	    length, text		of a ring's page; all lengths 64 bits, counts 32
 *	"header_event" 0    length, text
 *	count		    of ftrace's own events: none
 *	count		    of systems: name 0, count of events, for each length and text of its format
 *	length, length	    of kallsyms and of printk's texts: none; 32 bits
 *
 * Each event is a system of its own: names may come twice.
 */

#define PAGE_LEN 4096

/* perf has it parsed, though no page of a ring follows. */
static const char page_format[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char event_format[] = "# compressed entry header\n";

static void put_part(struct writer *to, const char *text, size_t len)
{
	writer_u64(to, len);
	writer_bytes(to, text, len);
}

static void put_event(struct writer *to, const struct recording_event *event)
{
	size_t len = strcspn(event->name, ":");

	writer_bytes(to, event->name, len);
	writer_u8(to, 0);
	writer_u32(to, 1);
	put_part(to, event->format, strlen(event->format));
}

/* Nothing is written where no event of @rec has a format. */
static void perf_data_trace_formats_write(const struct recording *rec, struct writer *to)
{
	uint32_t count = 0;

	for (size_t i = 0; i < rec->nevents; i++)
		count += *rec->events[i].format != 0;
	if (!count)
		return;
	writer_bytes(to, "\x17\x08\x44tracing", 10);
	writer_string(to, "0.5");
	writer_u8(to, 0);
	writer_u8(to, 8);
	writer_u32(to, PAGE_LEN);
	writer_string(to, "header_page");
	put_part(to, page_format, sizeof(page_format) - 1);
	writer_string(to, "header_event");
	put_part(to, event_format, sizeof(event_format) - 1);
	writer_u32(to, 0);
	writer_u32(to, count);
	for (size_t i = 0; i < rec->nevents; i++)
		if (*rec->events[i].format)
			put_event(to, &rec->events[i]);
	writer_u32(to, 0);
	writer_u32(to, 0);
}

#define HEAD_LEN      104
#define ATTR_LEN      PERF_ATTR_SIZE_VER7
#define ENTRY_LEN     (ATTR_LEN + 16) /* an attribute, offset and length of its ids */
#define RECORD_MAX    65528
#define NAME_ALIGN    64   /* texts of features are padded to */
#define ROUND_RECORDS 4096 /* after so many, none is older than those before the last mark: readers need not keep more */

#define MISC_BUILD_ID	    (1U << 14) /* PERF_RECORD_MISC_MMAP_BUILD_ID */
#define MISC_BUILD_ID_SIZE (1U << 15) /* of perf's own record of build IDs */

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

#define KERNEL_PATH "[kernel]" /* what mappings call it here, and what perf does */
#define KERNEL_MAP  "[kernel.kallsyms]_text"
#define KERNEL_FILE "[kernel.kallsyms]"

struct file_id {
	uint32_t path; /* in paths */
	bool kernel;
	uint8_t len, id[20];
};

struct perf_data_writer {
	struct perf_data_plan plan;
	FILE *out;
	struct writer record; /* the current one */
	uint64_t records, data_start, at; /* @at: of what was written */
	uint64_t first_ns, last_ns;	  /* of samples; the last switch ends a wait, and counts too */
	uint64_t cut;
	struct strtab paths;
	struct map ids_seen; /* path -> index in ids + 1 */
	VEC(struct file_id) ids;
};

void perf_data_fields_add(struct perf_data_fields *fields, const struct event_sample *sample)
{
	fields->addr |= sample->addr != 0;
	fields->weight |= sample->weight != 0;
	fields->data_src |= sample->data_src != 0;
	fields->cgroup |= sample->cgroup != 0;
	fields->branches |= sample->nbranches != 0;
}

static void emit(struct perf_data_writer *w, const struct writer *bytes)
{
	fwrite(bytes->data, 1, bytes->len, w->out);
	w->at += bytes->len;
}

/* ---- attributes ---- */

/* Events that only are read with others have none. */
static bool has_attr(const struct recording_event *event)
{
	return event->samples;
}

static uint64_t id_of(uint32_t event)
{
	return (uint64_t)event + 1;
}

static bool is_tracepoint(const struct recording_event *event)
{
	return event->type == PERF_TYPE_TRACEPOINT;
}

static uint64_t sample_type(const struct perf_data_writer *w, uint32_t event)
{
	const struct perf_data_fields *fields = &w->plan.fields[event];
	uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;

	if (w->plan.snapshots)
		type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	if (is_tracepoint(&w->plan.rec->events[event]))
		type |= PERF_SAMPLE_RAW;
	type |= fields->addr ? PERF_SAMPLE_ADDR : 0;
	type |= fields->weight ? PERF_SAMPLE_WEIGHT : 0;
	type |= fields->data_src ? PERF_SAMPLE_DATA_SRC : 0;
	type |= fields->cgroup ? PERF_SAMPLE_CGROUP : 0;
	type |= fields->branches ? PERF_SAMPLE_BRANCH_STACK : 0;
	return type;
}

static uint64_t flags_of(const struct perf_data_writer *w, const struct recording_event *event)
{
	uint64_t flags = FLAG_MMAP | FLAG_COMM | FLAG_TASK | FLAG_SAMPLE_ID_ALL | FLAG_MMAP2 | FLAG_COMM_EXEC | FLAG_KSYMBOL |
			 FLAG_CGROUP | FLAG_BUILD_ID;

	flags |= event->exclude_user ? FLAG_EXCLUDE_USER : 0;
	flags |= event->exclude_kernel ? FLAG_EXCLUDE_KERNEL : 0;
	flags |= event->exclude_hv ? FLAG_EXCLUDE_HV : 0;
	flags |= event->is_freq ? FLAG_FREQ : 0;
	flags |= (uint64_t)event->precise << PRECISE_SHIFT;
	flags |= w->plan.snapshots ? FLAG_NO_USER_CHAIN : 0;
	flags |= w->plan.rec->clock != UINT32_MAX ? FLAG_USE_CLOCKID : 0;
	flags |= w->plan.switches ? FLAG_SWITCHES : 0;
	return flags;
}

/* The whole structure of linux/perf_event.h, ATTR_LEN bytes. */
static void put_attr(const struct perf_data_writer *w, struct writer *to, uint32_t number)
{
	const struct recording *rec = w->plan.rec;
	const struct recording_event *event = &rec->events[number];
	uint32_t stack_len = (uint32_t)MIN(rec->stack_len ? rec->stack_len : EVENT_STACK_MAX, (uint64_t)RECORD_MAX) & ~7U;

	writer_u32(to, event->type);
	writer_u32(to, ATTR_LEN);
	writer_u64(to, event->config);
	writer_u64(to, event->rate ? event->rate : 1);
	writer_u64(to, sample_type(w, number));
	writer_u64(to, 0); /* counts */
	writer_u64(to, flags_of(w, event));
	writer_u32(to, 0); /* wake-up */
	writer_u32(to, 0); /* type of breakpoint */
	writer_u64(to, event->config1);
	writer_u64(to, event->config2);
	writer_u64(to, w->plan.fields[number].branches ? PERF_SAMPLE_BRANCH_ANY : 0);
	writer_u64(to, w->plan.snapshots ? rec->arch->regs_mask : 0);
	writer_u32(to, w->plan.snapshots ? stack_len : 0);
	writer_u32(to, rec->clock != UINT32_MAX ? rec->clock : 0);
	writer_u64(to, 0); /* registers at interrupts */
	writer_u32(to, 0); /* AUX area */
	writer_u16(to, 0); /* depth of chains: whatever there is */
	writer_u16(to, 0);
	writer_u32(to, 0);
	writer_u32(to, 0);
	writer_u64(to, 0); /* data of signals */
}

static uint64_t attr_count(const struct recording *rec)
{
	uint64_t count = 0;

	for (size_t i = 0; i < rec->nevents; i++)
		count += has_attr(&rec->events[i]);
	return count;
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
		if (has_attr(&rec->events[i]))
			writer_u64(&to, id_of(i));
	for (uint32_t i = 0; i < rec->nevents; i++) {
		if (!has_attr(&rec->events[i]))
			continue;
		put_attr(w, &to, i);
		writer_u64(&to, ids);
		writer_u64(&to, 8);
		ids += 8;
	}
	emit(w, &to);
	w->data_start = w->at;
}

struct err *perf_data_writer_open(const struct perf_data_plan *plan, FILE *out, struct perf_data_writer **ret)
{
	if (!attr_count(plan->rec))
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
	strtab_deinit(&w->paths);
	map_deinit(&w->ids_seen);
	vec_deinit(&w->ids);
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
		if (!has_attr(&w->plan.rec->events[i]))
			continue;
		writer_u64(&w->record, id_of(i));
		break;
	}
	end_record(w);
}

static void remember_id(struct perf_data_writer *w, const char *path, bool kernel, const uint8_t *id, size_t len)
{
	struct file_id item = { .path = strtab_add(&w->paths, path), .kernel = kernel, .len = (uint8_t)len };
	bool is_new;
	uint64_t *index = map_put(&w->ids_seen, item.path, &is_new);

	if (!len || !is_new)
		return;
	memcpy(item.id, id, len);
	vec_push(&w->ids, item);
	*index = w->ids.len;
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
	remember_id(w, KERNEL_FILE, /* kernel= */ true, rec->kernel_build_id, rec->kernel_build_id_len);
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
		remember_id(w, map->path, kernel, map->build_id, map->build_id_len);
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
		writer_u64(&w->record, ev->lost.event == RECORDING_NO_EVENT ? 0 : id_of(ev->lost.event));
	writer_u64(&w->record, ev->lost.count);
	end_side_record(w, ev);
}

static void put_throttle(struct perf_data_writer *w, const struct event *ev)
{
	uint64_t id = ev->throttle.event == RECORDING_NO_EVENT ? 0 : id_of(ev->throttle.event);

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
	size_t len = MIN(sample->raw_len, (size_t)RECORD_MAX / 2), padded = ((len + 4 + 7) & ~(size_t)7) - 4;

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
	uint64_t room = (RECORD_MAX - to->len - 16 - tail) & ~7ULL;
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
	writer_u64(to, id_of(sample->event));
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

	if (sample->event >= w->plan.rec->nevents || !has_attr(&w->plan.rec->events[sample->event]))
		return;

	const struct perf_data_fields *fields = &w->plan.fields[sample->event];

	put_sample_head(w, ev);
	put_chain(&w->record, chain ? chain : &own);
	if (is_tracepoint(&w->plan.rec->events[sample->event]))
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

/* ---- features ---- */

static void put_feature_text(struct writer *to, const char *text)
{
	size_t len = strlen(text) + 1, padded = (len + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

	writer_u32(to, (uint32_t)padded);
	writer_bytes(to, text, len);
	for (size_t i = len; i < padded; i++)
		writer_u8(to, 0);
}

static void put_hostname(const struct perf_data_writer *w, struct writer *to)
{
	put_feature_text(to, w->plan.rec->hostname);
}

static void put_release(const struct perf_data_writer *w, struct writer *to)
{
	put_feature_text(to, w->plan.rec->os_release);
}

static void put_version(const struct perf_data_writer *w, struct writer *to)
{
	put_feature_text(to, w->plan.rec->tool);
}

static void put_arch(const struct perf_data_writer *w, struct writer *to)
{
	put_feature_text(to, w->plan.rec->arch->name);
}

static void put_ncpus(const struct perf_data_writer *w, struct writer *to)
{
	writer_u32(to, w->plan.rec->ncpus_possible);
	writer_u32(to, w->plan.rec->ncpus_online);
}

static void put_cpu_model(const struct perf_data_writer *w, struct writer *to)
{
	put_feature_text(to, w->plan.rec->cpu_model);
}

static void put_memory(const struct perf_data_writer *w, struct writer *to)
{
	writer_u64(to, w->plan.rec->memory_len / 1024);
}

static void put_cmdline(const struct perf_data_writer *w, struct writer *to)
{
	writer_u32(to, 1);
	put_feature_text(to, w->plan.rec->cmdline);
}

static void put_events(const struct perf_data_writer *w, struct writer *to)
{
	const struct recording *rec = w->plan.rec;

	writer_u32(to, (uint32_t)attr_count(rec));
	writer_u32(to, ATTR_LEN);
	for (uint32_t i = 0; i < rec->nevents; i++) {
		if (!has_attr(&rec->events[i]))
			continue;
		put_attr(w, to, i);
		writer_u32(to, 1);
		put_feature_text(to, rec->events[i].name);
		writer_u64(to, id_of(i));
	}
}

static void put_build_ids(const struct perf_data_writer *w, struct writer *to)
{
	for (size_t i = 0; i < w->ids.len; i++) {
		const struct file_id *id = &w->ids.items[i];
		const char *path = strtab_get(&w->paths, id->path);
		size_t len = strnlen(path, PATH_MAX - 1) + 1, padded = (len + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

		writer_u32(to, PERF_DATA_BUILD_ID);
		writer_u16(to, (uint16_t)((id->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) | MISC_BUILD_ID_SIZE));
		writer_u16(to, (uint16_t)(8 + 4 + 24 + padded));
		writer_u32(to, UINT32_MAX); /* the machine that was recorded */
		writer_bytes(to, id->id, sizeof(id->id));
		writer_u8(to, id->len);
		writer_u8(to, 0);
		writer_u16(to, 0);
		writer_bytes(to, path, len - 1);
		for (size_t j = len - 1; j < padded; j++)
			writer_u8(to, 0);
	}
}

static void put_sample_time(const struct perf_data_writer *w, struct writer *to)
{
	writer_u64(to, w->first_ns);
	writer_u64(to, w->last_ns);
}

static void put_clock(const struct perf_data_writer *w, struct writer *to)
{
	const struct recording *rec = w->plan.rec;

	if (rec->clock == UINT32_MAX || !rec->wall_ns)
		return;
	writer_u32(to, 1); /* version */
	writer_u32(to, rec->clock);
	writer_u64(to, rec->wall_ns);
	writer_u64(to, rec->clock_ns);
}

static void put_trace_formats(const struct perf_data_writer *w, struct writer *to)
{
	perf_data_trace_formats_write(w->plan.rec, to);
}

/* In order of numbers. One that writes nothing is not there. */
static const struct feature {
	unsigned number;
	void (*put)(const struct perf_data_writer *w, struct writer *to);
} features[] = {
	{ PERF_DATA_FEATURE_TRACING_DATA, put_trace_formats }, { PERF_DATA_FEATURE_BUILD_ID, put_build_ids },
	{ PERF_DATA_FEATURE_HOSTNAME, put_hostname },	       { PERF_DATA_FEATURE_OSRELEASE, put_release },
	{ PERF_DATA_FEATURE_VERSION, put_version },	       { PERF_DATA_FEATURE_ARCH, put_arch },
	{ PERF_DATA_FEATURE_NRCPUS, put_ncpus },	       { PERF_DATA_FEATURE_CPUDESC, put_cpu_model },
	{ PERF_DATA_FEATURE_TOTAL_MEM, put_memory },	       { PERF_DATA_FEATURE_CMDLINE, put_cmdline },
	{ PERF_DATA_FEATURE_EVENT_DESC, put_events },	       { PERF_DATA_FEATURE_SAMPLE_TIME, put_sample_time },
	{ PERF_DATA_FEATURE_CLOCK_DATA, put_clock },
};

/* Where each feature is, and behind that the features; *@ret_bits are those that are there. */
static void put_features(struct perf_data_writer *w, uint64_t *ret_bits)
{
	CLEANUP(writer_deinit) struct writer bodies = { 0 };
	CLEANUP(writer_deinit) struct writer places = { 0 };
	size_t starts[ARRAY_LEN(features) + 1];
	uint64_t count = 0;

	*ret_bits = 0;
	for (size_t i = 0; i < ARRAY_LEN(features); i++) {
		starts[i] = bodies.len;
		features[i].put(w, &bodies);
		count += bodies.len > starts[i];
	}
	starts[ARRAY_LEN(features)] = bodies.len;
	for (size_t i = 0; i < ARRAY_LEN(features); i++) {
		if (starts[i + 1] == starts[i])
			continue;
		*ret_bits |= 1ULL << features[i].number;
		writer_u64(&places, w->at + 16 * count + starts[i]);
		writer_u64(&places, starts[i + 1] - starts[i]);
	}
	emit(w, &places);
	emit(w, &bodies);
}

struct err *perf_data_writer_finish(struct perf_data_writer *w)
{
	CLEANUP(writer_deinit) struct writer head = { 0 };
	uint64_t count = attr_count(w->plan.rec), data_len = w->at - w->data_start, bits;

	put_features(w, &bits);
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
