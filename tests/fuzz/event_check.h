/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_check.h - what must be true of every event and every recording, whatever file they were read from.
 */
#ifndef FUZZ_EVENT_CHECK_H
#define FUZZ_EVENT_CHECK_H

#include "formats/event.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static inline void check_string(const char *text)
{
	CHECK(text && strlen(text) < SIZE_MAX);
}

static inline void check_stack(const struct event_stack *stack)
{
	uint64_t nslots = (stack->end - stack->base) / 8;

	CHECK(stack->base <= stack->end && stack->base % 8 == 0 && stack->end % 8 == 0);
	for (size_t i = 0; i < stack->nwords; i++) {
		CHECK(stack->slots[i] < nslots);
		CHECK(!i || stack->slots[i] > stack->slots[i - 1]);
	}
}

/* Every byte that an event promises can be read. */
static inline void check_sample(const struct event_sample *s, const struct recording *rec)
{
	uint64_t sum = 0;

	CHECK(s->event < rec->nevents && s->mode <= EVENT_MODE_GUEST_USER);
	CHECK(!s->regs || s->regs->mask >> rec->arch->nregs == 0);
	check_stack(&s->stack);
	if (s->other)
		check_stack(s->other);
	for (size_t i = 0; s->other && i < s->other->nwords; i++)
		sum += s->other->words[i];
	for (size_t i = 0; i < s->nkernel_ips; i++)
		sum += s->kernel_ips[i];
	for (size_t i = 0; i < s->nuser_ips; i++)
		sum += s->user_ips[i];
	for (size_t i = 0; i < s->raw_len; i++)
		sum += s->raw[i];
	for (size_t i = 0; i < s->nbranches; i++)
		sum += s->branches[i].from + s->branches[i].flags;
	for (size_t i = 0; i < s->ncounts; i++)
		CHECK(s->counts[i].event < rec->nevents || s->counts[i].event == RECORDING_NO_EVENT);
	for (size_t i = 0; i < s->stack.nwords; i++)
		sum += s->stack.words[i];
	CHECK(sum != 0x123456789abcdef1);
}

static inline void check_event(const struct event *ev, const struct recording *rec)
{
	CHECK(ev->kind < EVENT_KINDS);
	switch (ev->kind) {
	case EVENT_SAMPLE:
		check_sample(&ev->sample, rec);
		break;
	case EVENT_MMAP:
		check_string(ev->mmap.path);
		CHECK(ev->mmap.start <= ev->mmap.end && ev->mmap.build_id_len <= 20);
		break;
	case EVENT_COMM:
		check_string(ev->comm.comm);
		break;
	case EVENT_KSYMBOL:
		check_string(ev->ksymbol.name);
		break;
	case EVENT_CGROUP:
		check_string(ev->cgroup.path);
		break;
	case EVENT_PROCESS:
		check_string(ev->process.cmdline);
		check_string(ev->process.cgroup);
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		CHECK(ev->lost.event < rec->nevents || ev->lost.event == RECORDING_NO_EVENT);
		break;
	default:
		break;
	}
}

static inline void check_recording(const struct recording *rec)
{
	check_string(rec->tool);
	check_string(rec->cmdline);
	for (size_t i = 0; i < rec->nevents; i++) {
		check_string(rec->events[i].name);
		CHECK(rec->events[i].leader < rec->nevents);
	}
	for (size_t i = 0; i < rec->ncounts; i++)
		CHECK(rec->counts[i].event < rec->nevents);
	for (size_t i = 0; i < rec->nimages; i++)
		CHECK(rec->images[i].build_id_len <= 20);
	for (size_t i = 0; i < rec->nksyms; i++) {
		check_string(rec->ksyms[i].name);
		check_string(rec->ksyms[i].module);
		CHECK(!i || rec->ksyms[i].addr >= rec->ksyms[i - 1].addr);
	}
	for (size_t i = 0; i < rec->nnotes; i++) {
		check_string(rec->notes[i].subject);
		check_string(rec->notes[i].text);
	}
}

#endif
