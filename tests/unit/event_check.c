/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_check.c - field by field.
 */
#include "tests/unit/event_check.h"

#include "tests/unit/test.h"

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
	CHECK_UINT(!got->other, !want->other);
	if (got->other && want->other)
		check_stack(got->other, want->other);
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

static void check_managed(const struct event_managed *got, const struct event_managed *want)
{
	CHECK_UINT(got->runtime, want->runtime);
	CHECK_UINT(got->state, want->state);
	CHECK_STR(got->module, want->module);
	CHECK_UINT(got->nloops, want->nloops);
	CHECK_MEM(got->loops, want->loops, want->nloops * sizeof(*want->loops));
	CHECK_UINT(got->nframes, want->nframes);
	for (size_t i = 0; i < want->nframes && i < got->nframes; i++) {
		CHECK_STR(got->frames[i].name, want->frames[i].name);
		CHECK_STR(got->frames[i].file, want->frames[i].file);
		CHECK_UINT(got->frames[i].first_line, want->frames[i].first_line);
		CHECK_UINT(got->frames[i].line, want->frames[i].line);
		CHECK_UINT(got->frames[i].entry, want->frames[i].entry);
		CHECK_STR(got->frames[i].locals, want->frames[i].locals);
	}
	CHECK_UINT(got->nlabels, want->nlabels);
	for (size_t i = 0; i < want->nlabels && i < got->nlabels; i++) {
		CHECK_STR(got->labels[i].key, want->labels[i].key);
		CHECK_UINT(got->labels[i].number, want->labels[i].number);
		CHECK_UINT(!got->labels[i].text, !want->labels[i].text);
		if (want->labels[i].text && got->labels[i].text)
			CHECK_STR(got->labels[i].text, want->labels[i].text);
	}
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
		CHECK_UINT(got->throttle.by_recorder, want->throttle.by_recorder);
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
	case EVENT_MANAGED:
		check_managed(&got->managed, &want->managed);
		break;
	case EVENT_PROCESS:
		CHECK_UINT(got->process.uid, want->process.uid);
		CHECK_STR(got->process.cmdline, want->process.cmdline);
		CHECK_STR(got->process.cgroup, want->process.cgroup);
		break;
	case EVENT_TASK_TIMES:
		CHECK_UINT(got->task_times.run_ns, want->task_times.run_ns);
		CHECK_UINT(got->task_times.wait_ns, want->task_times.wait_ns);
		CHECK_UINT(got->task_times.turns, want->task_times.turns);
		break;
	case EVENT_DESCRIPTOR:
		CHECK_UINT(got->descriptor.number, want->descriptor.number);
		CHECK_STR(got->descriptor.name, want->descriptor.name);
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
	CHECK_UINT(got->code_mask, want->code_mask);
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
	CHECK_UINT(got->by_cgroup, want->by_cgroup);
	CHECK_UINT(got->by_cpu, want->by_cpu);
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

static void check_note(const struct recording_note *got, const struct recording_note *want)
{
	CHECK_UINT(got->kind, want->kind);
	CHECK_UINT(got->count, want->count);
	CHECK_UINT(got->share, want->share);
	CHECK_STR(got->subject, want->subject);
	CHECK_STR(got->text, want->text);
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
	CHECK_UINT(got->nlines, want->nlines);
	for (size_t i = 0; i < want->nlines; i++) {
		CHECK_STR(got->lines[i].path, want->lines[i].path);
		CHECK_UINT(got->lines[i].build_id_len, want->lines[i].build_id_len);
		CHECK_MEM(got->lines[i].build_id, want->lines[i].build_id, sizeof(got->lines[i].build_id));
		CHECK_UINT(got->lines[i].table_len, want->lines[i].table_len);
		CHECK_MEM(got->lines[i].table, want->lines[i].table, want->lines[i].table_len);
	}
	CHECK_UINT(got->kernel_code.status, want->kernel_code.status);
	CHECK_UINT(got->kernel_code.time_ns, want->kernel_code.time_ns);
	CHECK_UINT(got->kernel_code.functions, want->kernel_code.functions);
	CHECK_UINT(got->kernel_code.unread, want->kernel_code.unread);
	CHECK_UINT(got->kernel_code.elf_len, want->kernel_code.elf_len);
	CHECK_MEM(got->kernel_code.elf, want->kernel_code.elf, want->kernel_code.elf_len);
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
		check_note(&got->notes[i], &want->notes[i]);
	CHECK_UINT(got->complete, want->complete);
	CHECK_UINT(got->damaged_at, want->damaged_at);
}
