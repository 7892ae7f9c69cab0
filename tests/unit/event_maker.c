/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_maker.c - random events and the comparison of what came back.
 */
#include "tests/unit/event_maker.h"

#include "tests/unit/test.h"

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
			regs->values[i] =
				any_stack_word(m, &(struct event_stack){ 0, 4096, 0, 0, 0, 0, 0 });
		if (maker_random(m, 20) == 0)
			regs->values[i] = ip;
		if (!(regs->mask >> i & 1))
			regs->values[i] = 0;
	}
	m->regs[task] = *regs;
	return regs;
}

static void any_extras(struct event_maker *m, struct event_sample *s)
{
	struct event_branch *branches;
	struct event_count *counts;

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
		ev->throttle = (struct event_throttle){ 2, maker_random(m, 2) };
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

	counts[0] = (struct recording_count){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
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
	rec->jit_maps = maps;
	rec->njit_maps = 1;
}

void maker_recording(struct recording *rec)
{
	const char **notes;

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
	rec->notes = notes = ARENA_ARRAY(&rec->arena, const char *, 2);
	notes[0] = "no PMU: cpu-clock instead of cycles";
	notes[1] = "";
	rec->nnotes = 2;
	rec->complete = true;
}

static void check_ips(const uint64_t *got, size_t ngot, const uint64_t *want, size_t nwant)
{
	CHECK_UINT(ngot, nwant);
	for (size_t i = 0; i < nwant; i++)
		CHECK_UINT(got[i], want[i]);
}

static void check_stack(const struct event_stack *got, const struct event_stack *want)
{
	if (want->base == want->end) {
		CHECK(got->base == got->end && got->nwords == 0);
		return;
	}
	CHECK_UINT(got->base, want->base);
	CHECK_UINT(got->end, want->end);
	CHECK_UINT(got->cut, want->cut);
	CHECK_UINT(got->shortened, want->shortened);
	CHECK_UINT(got->nwords, want->nwords);
	for (size_t i = 0; i < want->nwords; i++) {
		CHECK_UINT(got->slots[i], want->slots[i]);
		CHECK_UINT(got->words[i], want->words[i]);
	}
}

static void check_extras(const struct event_sample *got, const struct event_sample *want)
{
	CHECK_UINT(got->addr, want->addr);
	CHECK_UINT(got->weight, want->weight);
	CHECK_UINT(got->data_src, want->data_src);
	CHECK_UINT(got->cgroup, want->cgroup);
	CHECK_UINT(got->raw_len, want->raw_len);
	CHECK_MEM(got->raw, want->raw, want->raw_len);
	CHECK_UINT(got->nbranches, want->nbranches);
	CHECK_MEM(got->branches, want->branches, want->nbranches * sizeof(*want->branches));
	CHECK_UINT(got->ncounts, want->ncounts);
	for (size_t i = 0; i < want->ncounts; i++) {
		CHECK_UINT(got->counts[i].event, want->counts[i].event);
		CHECK_UINT(got->counts[i].value, want->counts[i].value);
		CHECK_UINT(got->counts[i].enabled_ns, want->counts[i].enabled_ns);
		CHECK_UINT(got->counts[i].running_ns, want->counts[i].running_ns);
	}
}

static void check_sample(const struct event_sample *got, const struct event_sample *want)
{
	CHECK_UINT(got->event, want->event);
	CHECK_UINT(got->mode, want->mode);
	CHECK_UINT(got->ip, want->ip);
	CHECK_UINT(got->period, want->period);
	check_ips(got->kernel_ips, got->nkernel_ips, want->kernel_ips, want->nkernel_ips);
	check_ips(got->user_ips, got->nuser_ips, want->user_ips, want->nuser_ips);
	CHECK_UINT(!got->regs, !want->regs);
	if (want->regs) {
		CHECK_UINT(got->regs->mask, want->regs->mask);
		for (unsigned i = 0; i < ARCH_REGS_MAX; i++)
			CHECK_UINT(got->regs->values[i], want->regs->values[i]);
	}
	check_stack(&got->stack, &want->stack);
	check_extras(got, want);
}

static void check_mmap(const struct event_mmap *got, const struct event_mmap *want)
{
	CHECK_UINT(got->start, want->start);
	CHECK_UINT(got->end, want->end);
	CHECK_UINT(got->file_offset, want->file_offset);
	CHECK_UINT(got->device, want->device);
	CHECK_UINT(got->inode, want->inode);
	CHECK_UINT(got->generation, want->generation);
	CHECK_UINT(got->flags, want->flags);
	CHECK_UINT(got->build_id_len, want->build_id_len);
	CHECK_MEM(got->build_id, want->build_id, sizeof(want->build_id));
	CHECK_STR(got->path, want->path);
}

static void check_text_poke(const struct event_text_poke *got, const struct event_text_poke *want)
{
	CHECK_UINT(got->addr, want->addr);
	CHECK_UINT(got->old_len, want->old_len);
	CHECK_UINT(got->new_len, want->new_len);
	CHECK_MEM(got->old_code, want->old_code, want->old_len);
	CHECK_MEM(got->new_code, want->new_code, want->new_len);
}

static void check_payload(const struct event *got, const struct event *want)
{
	switch (want->kind) {
	case EVENT_SAMPLE:
		check_sample(&got->sample, &want->sample);
		break;
	case EVENT_MMAP:
		check_mmap(&got->mmap, &want->mmap);
		break;
	case EVENT_COMM:
		CHECK_STR(got->comm.comm, want->comm.comm);
		CHECK_UINT(got->comm.exec, want->comm.exec);
		break;
	case EVENT_FORK:
		CHECK_UINT(got->fork.parent_pid, want->fork.parent_pid);
		CHECK_UINT(got->fork.parent_tid, want->fork.parent_tid);
		break;
	case EVENT_SWITCH:
		CHECK_UINT(got->cpu_switch.in, want->cpu_switch.in);
		CHECK_UINT(got->cpu_switch.preempted, want->cpu_switch.preempted);
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		CHECK_UINT(got->lost.event, want->lost.event);
		CHECK_UINT(got->lost.count, want->lost.count);
		CHECK_UINT(got->lost.by_recorder, want->lost.by_recorder);
		break;
	case EVENT_THROTTLE:
		CHECK_UINT(got->throttle.event, want->throttle.event);
		CHECK_UINT(got->throttle.stopped, want->throttle.stopped);
		break;
	case EVENT_KSYMBOL:
		CHECK_UINT(got->ksymbol.addr, want->ksymbol.addr);
		CHECK_UINT(got->ksymbol.len, want->ksymbol.len);
		CHECK_UINT(got->ksymbol.type, want->ksymbol.type);
		CHECK_UINT(got->ksymbol.removed, want->ksymbol.removed);
		CHECK_STR(got->ksymbol.name, want->ksymbol.name);
		break;
	case EVENT_BPF:
		CHECK_UINT(got->bpf.id, want->bpf.id);
		CHECK_UINT(got->bpf.type, want->bpf.type);
		CHECK_MEM(got->bpf.tag, want->bpf.tag, sizeof(want->bpf.tag));
		break;
	case EVENT_CGROUP:
		CHECK_UINT(got->cgroup.id, want->cgroup.id);
		CHECK_STR(got->cgroup.path, want->cgroup.path);
		break;
	case EVENT_TEXT_POKE:
		check_text_poke(&got->text_poke, &want->text_poke);
		break;
	case EVENT_EXIT:
	case EVENT_KINDS:
		break;
	}
}

void check_event(const struct event *got, const struct event *want)
{
	CHECK_UINT(got->kind, want->kind);
	CHECK_UINT(got->time_ns, want->time_ns);
	CHECK_UINT(got->cpu, want->cpu);
	CHECK_UINT(got->pid, want->pid);
	CHECK_UINT(got->tid, want->tid);
	check_payload(got, want);
}

static void check_machine(const struct recording *got, const struct recording *want)
{
	CHECK_STR(got->tool, want->tool);
	CHECK_STR(got->cmdline, want->cmdline);
	CHECK_STR(got->hostname, want->hostname);
	CHECK_STR(got->os_release, want->os_release);
	CHECK_STR(got->cpu_model, want->cpu_model);
	CHECK_STR(got->container, want->container);
	CHECK(got->arch == want->arch);
	CHECK_UINT(got->ncpus_online, want->ncpus_online);
	CHECK_UINT(got->ncpus_possible, want->ncpus_possible);
	CHECK_UINT(got->page_size, want->page_size);
	CHECK_UINT(got->memory_len, want->memory_len);
	CHECK_UINT(got->kernel_text, want->kernel_text);
	CHECK_UINT(got->kernel_text_end, want->kernel_text_end);
	CHECK_UINT(got->kernel_build_id_len, want->kernel_build_id_len);
	CHECK_MEM(got->kernel_build_id, want->kernel_build_id, sizeof(want->kernel_build_id));
}

static void check_request(const struct recording *got, const struct recording *want)
{
	CHECK_UINT(got->clock, want->clock);
	CHECK_UINT(got->clock_ns, want->clock_ns);
	CHECK_UINT(got->wall_ns, want->wall_ns);
	CHECK_UINT(got->start_ns, want->start_ns);
	CHECK_UINT(got->chain, want->chain);
	CHECK_UINT(got->stack_len, want->stack_len);
	CHECK_UINT(got->raw_stacks, want->raw_stacks);
	CHECK_UINT(got->system_wide, want->system_wide);
	CHECK_UINT(got->recorder_pid, want->recorder_pid);
	CHECK_UINT(got->nevents, want->nevents);
	for (size_t i = 0; i < want->nevents; i++) {
		const struct recording_event *x = &got->events[i], *y = &want->events[i];

		CHECK_STR(x->name, y->name);
		CHECK_STR(x->unit, y->unit);
		CHECK_STR(x->format, y->format);
		CHECK_UINT(x->type, y->type);
		CHECK_UINT(x->config, y->config);
		CHECK_UINT(x->config1, y->config1);
		CHECK_UINT(x->config2, y->config2);
		CHECK_UINT(x->is_freq, y->is_freq);
		CHECK_UINT(x->rate, y->rate);
		CHECK_UINT(x->precise, y->precise);
		CHECK_UINT(x->exclude_user, y->exclude_user);
		CHECK_UINT(x->exclude_kernel, y->exclude_kernel);
		CHECK_UINT(x->exclude_hv, y->exclude_hv);
		CHECK_UINT(x->samples, y->samples);
		CHECK_UINT(x->leader, y->leader);
	}
}

static void check_attached(const struct recording *got, const struct recording *want)
{
	CHECK_UINT(got->nimages, want->nimages);
	for (size_t i = 0; i < want->nimages; i++) {
		CHECK_STR(got->images[i].path, want->images[i].path);
		CHECK_UINT(got->images[i].build_id_len, want->images[i].build_id_len);
		CHECK_MEM(got->images[i].build_id, want->images[i].build_id, 20);
		CHECK_UINT(got->images[i].partial, want->images[i].partial);
		CHECK_UINT(got->images[i].elf_len, want->images[i].elf_len);
		CHECK_MEM(got->images[i].elf, want->images[i].elf, want->images[i].elf_len);
	}
	CHECK_UINT(got->nksyms, want->nksyms);
	for (size_t i = 0; i < want->nksyms; i++) {
		CHECK_UINT(got->ksyms[i].addr, want->ksyms[i].addr);
		CHECK_UINT(got->ksyms[i].len, want->ksyms[i].len);
		CHECK_STR(got->ksyms[i].name, want->ksyms[i].name);
		CHECK_STR(got->ksyms[i].module, want->ksyms[i].module);
	}
	CHECK_UINT(got->njit_maps, want->njit_maps);
	for (size_t i = 0; i < want->njit_maps; i++) {
		CHECK_UINT(got->jit_maps[i].pid, want->jit_maps[i].pid);
		CHECK_UINT(got->jit_maps[i].len, want->jit_maps[i].len);
		CHECK_MEM(got->jit_maps[i].text, want->jit_maps[i].text, want->jit_maps[i].len);
	}
}

void check_recording(const struct recording *got, const struct recording *want)
{
	check_machine(got, want);
	check_request(got, want);
	check_attached(got, want);
	CHECK_UINT(got->end_ns, want->end_ns);
	CHECK_INT(got->exit_status, want->exit_status);
	CHECK_UINT(got->ncounts, want->ncounts);
	CHECK_MEM(got->counts, want->counts, want->ncounts * sizeof(*want->counts));
	CHECK_UINT(got->nnotes, want->nnotes);
	for (size_t i = 0; i < want->nnotes; i++)
		CHECK_STR(got->notes[i], want->notes[i]);
	CHECK_UINT(got->complete, want->complete);
	CHECK_UINT(got->damaged_at, want->damaged_at);
}
