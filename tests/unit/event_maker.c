/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_maker.c - random events, some of them repeating what came before.
 */
#include "tests/unit/event_maker.h"

#include "formats/base/compiler.h"

#include <string.h>

#define MAKER_EVENTS 3

uint64_t maker_random(struct event_maker *m, uint64_t below)
{
	m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
	return (m->state >> 33 ^ m->state >> 17) % below;
}

static uint64_t any_word(struct event_maker *m)
{
	uint64_t high = maker_random(m, 1ull << 32);
	unsigned shift = (unsigned)maker_random(m, 64);

	return (high << 32 | maker_random(m, 1ull << 32)) >> shift;
}

/* A return address: one of few. */
static uint64_t any_code(struct event_maker *m)
{
	if (maker_random(m, 20) == 0)
		return any_word(m);
	return 0x555555554000 + 0x40 * maker_random(m, 50) + (maker_random(m, 2) << 40);
}

static const char *any_text(struct event_maker *m)
{
	static const char *const texts[] = { "",
					     "a",
					     "/usr/lib/libc.so.6",
					     "[vdso]",
					     "naïve\x1b[31m",
					     "a rather long name / with blanks" };

	if (maker_random(m, 4) == 0)
		return arena_printf(&m->arena, "text-%u", (unsigned)maker_random(m, 1000));
	return texts[maker_random(m, ARRAY_LEN(texts))];
}

static const uint64_t *any_chain(struct event_maker *m, size_t *ret_count)
{
	size_t count = maker_random(m, 12);
	uint64_t *ips = ARENA_ARRAY(&m->arena, uint64_t, count);

	for (size_t i = 0; i < count; i++)
		ips[i] = any_code(m);
	*ret_count = count;
	return ips;
}

static uint64_t any_stack_word(struct event_maker *m, const struct event_stack *stack)
{
	switch (maker_random(m, 4)) {
	case 0:
		return stack->base + maker_random(m, stack->end - stack->base);
	case 1:
		return any_word(m);
	default:
		return any_code(m);
	}
}

/* The word that the thread's last stack had at @address, if any. */
static bool old_word(const struct event_stack *old, uint64_t address, uint64_t *ret)
{
	for (size_t i = 0; i < old->nwords; i++) {
		if (old->base + 8 * (uint64_t)old->slots[i] == address) {
			*ret = old->words[i];
			return true;
		}
	}
	return false;
}

static struct event_stack any_stack(struct event_maker *m, size_t task)
{
	const struct event_stack *old = &m->stacks[task];
	uint64_t top = 0x7ffc00000000 + task * 0x10000000 + 8 * maker_random(m, 8) / 7 * 0x400;
	size_t nslots = maker_random(m, 200);
	struct event_stack stack = { .base = top - 8 * nslots, .end = top };
	uint32_t *slots = ARENA_ARRAY(&m->arena, uint32_t, nslots);
	uint64_t *words = ARENA_ARRAY(&m->arena, uint64_t, nslots);

	for (size_t i = 0; i < nslots; i++) {
		uint64_t word;

		if (maker_random(m, 10) == 0 || !old_word(old, stack.base + 8 * i, &word)) {
			if (maker_random(m, 3))
				continue;
			word = any_stack_word(m, &stack);
		}
		slots[stack.nwords] = (uint32_t)i;
		words[stack.nwords++] = word;
	}
	stack.slots = slots;
	stack.words = words;
	stack.cut = maker_random(m, 2);
	stack.shortened = maker_random(m, 9) == 0;
	m->stacks[task] = stack;
	return stack;
}

static const struct event_regs *any_regs(struct event_maker *m, size_t task, uint64_t ip)
{
	struct event_regs *regs = ARENA_NEW(&m->arena, struct event_regs);

	*regs = m->regs[task];
	if (maker_random(m, 5) == 0 || !regs->mask)
		regs->mask = maker_random(m, 1 << 17);
	for (unsigned i = 0; i < 17; i++) {
		if (maker_random(m, 3) == 0)
			regs->values[i] = any_stack_word(m, &(struct event_stack){ .end = 4096 });
		if (maker_random(m, 20) == 0)
			regs->values[i] = ip;
		if (!(regs->mask >> i & 1))
			regs->values[i] = 0;
	}
	m->regs[task] = *regs;
	return regs;
}

/* Of 0 to 20 slots, with any of them. */
static const struct event_stack *any_other_stack(struct event_maker *m)
{
	struct event_stack *stack = ARENA_ARRAY(&m->arena, struct event_stack, 1);
	uint64_t len = maker_random(m, 20) + 1;
	uint32_t *slots = ARENA_ARRAY(&m->arena, uint32_t, len);
	uint64_t *words = ARENA_ARRAY(&m->arena, uint64_t, len);

	*stack = (struct event_stack){ .base = 8 * (any_word(m) >> 4), .slots = slots, .words = words,
				       .cut = maker_random(m, 2) };
	stack->end = stack->base + 8 * len;
	for (uint32_t i = 0; i < len; i++) {
		if (maker_random(m, 2))
			continue;
		slots[stack->nwords] = i;
		words[stack->nwords++] = any_word(m);
	}
	return stack;
}

static void any_extras(struct event_maker *m, struct event_sample *s)
{
	struct event_branch *branches;
	struct event_count *counts;

	if (maker_random(m, 3) == 0)
		s->other = any_other_stack(m);
	s->addr = any_word(m);
	s->weight = any_word(m);
	s->data_src = any_word(m);
	s->cgroup = maker_random(m, 100);
	s->raw_len = maker_random(m, 40);
	s->raw = (const uint8_t *)arena_memdup(
		&m->arena, "0123456789012345678901234567890123456789", s->raw_len);
	s->nbranches = maker_random(m, 4);
	s->branches = branches = ARENA_ARRAY(&m->arena, struct event_branch, s->nbranches);
	for (size_t i = 0; i < s->nbranches; i++)
		branches[i] = (struct event_branch){ any_code(m), any_code(m), any_word(m) };
	s->ncounts = maker_random(m, 3);
	s->counts = counts = ARENA_ARRAY(&m->arena, struct event_count, s->ncounts);
	for (size_t i = 0; i < s->ncounts; i++)
		counts[i] = (struct event_count){ (uint32_t)maker_random(m, MAKER_EVENTS),
						  any_word(m), any_word(m), any_word(m) };
}

static void any_sample(struct event_maker *m, size_t task, struct event_sample *s)
{
	s->event = (uint32_t)maker_random(m, MAKER_EVENTS);
	s->mode = (enum event_mode)maker_random(m, 6);
	s->ip = any_code(m);
	s->period = maker_random(m, 2) ? 1000000 : any_word(m);
	s->kernel_ips = any_chain(m, &s->nkernel_ips);
	s->user_ips = any_chain(m, &s->nuser_ips);
	if (maker_random(m, 4))
		s->regs = any_regs(m, task, s->ip);
	if (maker_random(m, 4))
		s->stack = any_stack(m, task);
	if (maker_random(m, 4) == 0)
		any_extras(m, s);
}

static void any_mmap(struct event_maker *m, struct event_mmap *map)
{
	map->start = any_word(m) >> 1;
	map->end = map->start + (any_word(m) >> 2);
	map->file_offset = any_word(m);
	map->device = any_word(m);
	map->inode = any_word(m);
	map->generation = any_word(m);
	map->flags = (uint32_t)maker_random(m, 4);
	map->build_id_len = (uint8_t)maker_random(m, 21);
	memset(map->build_id, (int)maker_random(m, 256), map->build_id_len);
	map->path = any_text(m);
}

static void any_text_poke(struct event_maker *m, struct event_text_poke *poke)
{
	poke->addr = any_word(m);
	poke->old_len = maker_random(m, 6);
	poke->new_len = maker_random(m, 6);
	poke->old_code = (const uint8_t *)arena_memdup(&m->arena, "older", poke->old_len);
	poke->new_code = (const uint8_t *)arena_memdup(&m->arena, "newer", poke->new_len);
}

static void any_managed(struct event_maker *m, struct event_managed *managed)
{
	size_t count = maker_random(m, 40);
	bool with_locals = maker_random(m, 2);
	struct event_managed_frame *frames =
		ARENA_ARRAY(&m->arena, struct event_managed_frame, count);

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct event_managed_frame){ .name = any_text(m),
							  .file = any_text(m),
							  .first_line = (uint32_t)any_word(m),
							  .line = (uint32_t)any_word(m),
							  .entry = maker_random(m, 2),
							  .locals = with_locals ? any_text(m) : "" };
	managed->runtime = EVENT_MANAGED_PHP;
	managed->state = (enum event_managed_state)maker_random(m, EVENT_MANAGED_STATES);
	managed->module = any_text(m);
	managed->nloops = maker_random(m, EVENT_MANAGED_LOOPS + 1);
	for (size_t i = 0; i < managed->nloops; i++)
		managed->loops[i] = (struct event_managed_loop){ any_word(m), any_word(m) };
	managed->frames = frames;
	managed->nframes = count;
	managed->nlabels = maker_random(m, EVENT_MANAGED_LABELS + 1);
	struct event_managed_label *labels =
		ARENA_ARRAY(&m->arena, struct event_managed_label, EVENT_MANAGED_LABELS);

	for (size_t i = 0; i < managed->nlabels; i++)
		labels[i] = maker_random(m, 2) ? (struct event_managed_label){ any_text(m), any_text(m), 0 } :
						 (struct event_managed_label){ any_text(m), NULL, any_word(m) };
	managed->labels = labels;
}

static void fill(struct event_maker *m, size_t task, struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SAMPLE:
		any_sample(m, task, &ev->sample);
		break;
	case EVENT_MMAP:
		any_mmap(m, &ev->mmap);
		break;
	case EVENT_COMM:
		ev->comm = (struct event_comm){ any_text(m), maker_random(m, 2) };
		break;
	case EVENT_FORK:
		ev->fork.parent_pid = (uint32_t)any_word(m);
		ev->fork.parent_tid = (uint32_t)any_word(m);
		break;
	case EVENT_SWITCH:
		ev->cpu_switch = (struct event_switch){ maker_random(m, 2), maker_random(m, 2) };
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		ev->lost.event = maker_random(m, 2) ? 1 : RECORDING_NO_EVENT;
		ev->lost.count = any_word(m);
		ev->lost.by_recorder = maker_random(m, 2);
		break;
	case EVENT_THROTTLE:
		ev->throttle = (struct event_throttle){ 2, maker_random(m, 2), maker_random(m, 2) };
		break;
	case EVENT_KSYMBOL:
		ev->ksymbol.addr = any_word(m);
		ev->ksymbol.len = any_word(m);
		ev->ksymbol.type = (uint32_t)any_word(m);
		ev->ksymbol.removed = maker_random(m, 2);
		ev->ksymbol.name = any_text(m);
		break;
	case EVENT_BPF:
		ev->bpf.id = (uint32_t)any_word(m);
		ev->bpf.type = (uint32_t)any_word(m);
		memset(ev->bpf.tag, (int)maker_random(m, 256), sizeof(ev->bpf.tag));
		break;
	case EVENT_CGROUP:
		ev->cgroup.id = any_word(m);
		ev->cgroup.path = any_text(m);
		break;
	case EVENT_TEXT_POKE:
		any_text_poke(m, &ev->text_poke);
		break;
	case EVENT_MANAGED:
		any_managed(m, &ev->managed);
		break;
	case EVENT_PROCESS:
		ev->process.uid = (uint32_t)any_word(m);
		ev->process.cmdline = any_text(m);
		ev->process.cgroup = any_text(m);
		break;
	case EVENT_TASK_TIMES:
		ev->task_times.run_ns = any_word(m);
		ev->task_times.wait_ns = any_word(m);
		ev->task_times.turns = any_word(m);
		break;
	case EVENT_DESCRIPTOR:
		ev->descriptor.number = (uint32_t)any_word(m);
		ev->descriptor.name = any_text(m);
		break;
	case EVENT_EXIT:
	case EVENT_KINDS:
		break;
	}
}

void maker_kind(struct event_maker *m, enum event_kind kind, struct event *ret)
{
	size_t task = maker_random(m, MAKER_TASKS);

	m->time_ns += maker_random(m, 1000);
	*ret = (struct event){
		.kind = kind,
		.time_ns = m->time_ns,
		.cpu = maker_random(m, 9) ? (uint32_t)maker_random(m, 4) : EVENT_NO_CPU,
		.pid = task ? 100 + (uint32_t)task / 2 : UINT32_MAX,
		.tid = task ? 100 + (uint32_t)task : UINT32_MAX,
	};
	fill(m, task, ret);
}

void maker_any(struct event_maker *m, struct event *ret)
{
	bool sample = maker_random(m, 2);

	maker_kind(m, sample ? EVENT_SAMPLE : (enum event_kind)maker_random(m, EVENT_KINDS), ret);
}

void maker_deinit(struct event_maker *m)
{
	arena_deinit(&m->arena);
}

static void make_events(struct recording *rec)
{
	struct recording_event *events =
		ARENA_ARRAY(&rec->arena, struct recording_event, MAKER_EVENTS);

	events[0] = (struct recording_event){ .name = "cycles:u",
					      .unit = "events",
					      .type = 0,
					      .config = 1,
					      .config1 = 2,
					      .config2 = 3,
					      .is_freq = true,
					      .rate = 999,
					      .precise = 2,
					      .exclude_kernel = true,
					      .exclude_hv = true,
					      .samples = true,
					      .format = "" };
	events[1] = (struct recording_event){ .name = "instructions",
					      .unit = "events",
					      .config = 1ull << 63,
					      .exclude_user = true,
					      .leader = 0,
					      .format = "" };
	events[2] = (struct recording_event){ .name = "sched:sched_switch",
					      .unit = "events",
					      .type = 2,
					      .rate = 1,
					      .samples = true,
					      .leader = 2,
					      .format = "name: sched_switch\nID: 1\n" };
	rec->events = events;
	rec->nevents = MAKER_EVENTS;
}

static void make_counts(struct recording *rec)
{
	struct recording_count *counts = ARENA_ARRAY(&rec->arena, struct recording_count, 2);

	counts[0] = (struct recording_count){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	counts[1] =
		(struct recording_count){ .event = 2, .cpu = EVENT_NO_CPU, .value = UINT64_MAX };
	rec->counts = counts;
	rec->ncounts = 2;
}

static void make_attached(struct recording *rec)
{
	struct recording_image *images = ARENA_ARRAY(&rec->arena, struct recording_image, 2);
	struct recording_ksym *ksyms = ARENA_ARRAY(&rec->arena, struct recording_ksym, 3);
	struct recording_jit_map *maps = ARENA_ARRAY(&rec->arena, struct recording_jit_map, 1);

	images[0] = (struct recording_image){ .path = "/bin/x",
					      .build_id_len = 3,
					      .build_id = { 1, 2, 3 },
					      .partial = true,
					      .elf = (const uint8_t *)"\177ELF",
					      .elf_len = 4 };
	images[1] = (struct recording_image){ .path = "[vdso]",
					      .elf = (const uint8_t *)"",
					      .elf_len = 0 };
	ksyms[0] = (struct recording_ksym){ 0xffffffff81000000, 0x100, "_text", "" };
	ksyms[1] = (struct recording_ksym){ 0xffffffff81000000, 0, "startup_64", "" };
	ksyms[2] = (struct recording_ksym){ 0xffffffffc0000000, 16, "init", "ext4" };
	maps[0] = (struct recording_jit_map){ .pid = 42, .text = "1000 10 f\n", .len = 10 };
	rec->images = images;
	rec->nimages = 2;
	rec->ksyms = ksyms;
	rec->nksyms = 3;
	rec->kernel_code = (struct recording_kernel_code){ .status = RECORDING_CODE_EMBEDDED,
							   .time_ns = 123456,
							   .functions = 2,
							   .unread = 1,
							   .elf = (const uint8_t *)"\177ELF",
							   .elf_len = 4 };
	rec->lines = ARENA_NEW(&rec->arena, struct recording_lines);
	*rec->lines = (struct recording_lines){ .path = "/usr/lib/libc.so.6",
						.build_id_len = 2,
						.build_id = { 7, 8 },
						.table = (const uint8_t *)"\0\0\0\0",
						.table_len = 4 };
	rec->nlines = 1;
	rec->jit_maps = maps;
	rec->njit_maps = 1;
}

void maker_recording(struct recording *rec)
{

	*rec = (struct recording){
		.tool = "precord 0.1",
		.cmdline = "precord -a",
		.hostname = "host",
		.os_release = "6.1.0",
		.cpu_model = "A CPU",
		.container = "docker",
		.arch = &arch_x86_64,
		.ncpus_online = 2,
		.ncpus_possible = 128,
		.page_size = 4096,
		.code_mask = (1ULL << 39) - 1,
		.memory_len = 1ull << 36,
		.clock = 1,
		.clock_ns = 5,
		.wall_ns = 1700000000000000000,
		.start_ns = 6,
		.end_ns = 7,
		.chain = RECORDING_CHAIN_DWARF,
		.stack_len = 65528,
		.raw_stacks = true,
		.system_wide = true,
		.by_cgroup = true,
		.by_cpu = true,
		.recorder_pid = 99,
		.exit_status = 256,
		.kernel_text = 0xffffffff81000000,
		.kernel_text_end = 0xffffffff82000000,
		.kernel_build_id_len = 20,
		.kernel_build_id = { 9, 8, 7 },
	};
	make_events(rec);
	make_counts(rec);
	make_attached(rec);
	rec->notes = ARENA_ARRAY(&rec->arena, struct recording_note, 3);
	rec->notes[0] = (struct recording_note){ .subject = "", .text = "no PMU: cpu-clock instead of cycles" };
	rec->notes[1] = (struct recording_note){ .subject = "", .text = "" };
	rec->notes[2] = (struct recording_note){ .kind = RECORDING_NOTE_MULTIPLEXED,
						 .count = 4,
						 .share = 4987,
						 .subject = "cycles",
						 .text = "the NMI watchdog" };
	rec->nnotes = 3;
	rec->complete = true;
}
