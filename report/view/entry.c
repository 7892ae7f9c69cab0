/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.c - names of functions that only one way into the kernel leads through, for x86-64 and aarch64.
 */
#include "report/view/entry.h"

#include "formats/base/arena.h"

#include <string.h>

enum way {
	WAY_SYSCALL,	   /* what follows the prefix is its name */
	WAY_SYSCALL_ENTRY, /* of an unknown name */
	WAY_FAULT,
	WAY_VECTOR,    /* an interrupt of the processor's own: what follows is its name */
	WAY_DEVICE,    /* another: its handler is the function that was called */
	WAY_SOFTIRQ,   /* its action is the function that was called */
	WAY_THREAD,
	WAY_IDLE,
};

static const struct {
	const char *prefix;
	enum way way;
	bool whole; /* the name is the prefix */
} ways[] = {
	{ "__x64_sys_", WAY_SYSCALL, false },
	{ "__ia32_sys_", WAY_SYSCALL, false },
	{ "__ia32_compat_sys_", WAY_SYSCALL, false },
	{ "__arm64_sys_", WAY_SYSCALL, false },
	{ "__arm64_compat_sys_", WAY_SYSCALL, false },
	{ "__do_sys_", WAY_SYSCALL, false },
	{ "__se_sys_", WAY_SYSCALL, false },
	{ "ksys_", WAY_SYSCALL, false },
	{ "do_syscall_64", WAY_SYSCALL_ENTRY, true },
	{ "entry_SYSCALL_64", WAY_SYSCALL_ENTRY, false },
	{ "syscall_return_via_sysret", WAY_SYSCALL_ENTRY, true },
	{ "entry_SYSRETQ", WAY_SYSCALL_ENTRY, false },
	{ "el0_svc", WAY_SYSCALL_ENTRY, false },
	{ "do_el0_svc", WAY_SYSCALL_ENTRY, false },
	{ "asm_exc_page_fault", WAY_FAULT, true },
	{ "exc_page_fault", WAY_FAULT, true },
	{ "do_user_addr_fault", WAY_FAULT, true },
	{ "do_mem_abort", WAY_FAULT, true },
	{ "el0_da", WAY_FAULT, true },
	{ "el0_ia", WAY_FAULT, true },
	{ "el1_abort", WAY_FAULT, true },
	{ "asm_sysvec_", WAY_VECTOR, false },
	{ "sysvec_", WAY_VECTOR, false },
	{ "asm_common_interrupt", WAY_DEVICE, true },
	{ "common_interrupt", WAY_DEVICE, true },
	{ "__handle_irq_event_percpu", WAY_DEVICE, true },
	{ "gic_handle_irq", WAY_DEVICE, true },
	{ "el1_interrupt", WAY_DEVICE, true },
	{ "el0_interrupt", WAY_DEVICE, true },
	{ "handle_softirqs", WAY_SOFTIRQ, false },
	{ "__do_softirq", WAY_SOFTIRQ, true },
	{ "ret_from_fork", WAY_THREAD, false },
	{ "kthread", WAY_THREAD, true },
	{ "do_idle", WAY_IDLE, true },
	{ "cpu_startup_entry", WAY_IDLE, true },
	{ "rest_init", WAY_IDLE, true },
};

static bool find_way(const char *name, enum way *ret_way, const char **ret_rest)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		size_t len;

		if (*name != *ways[i].prefix)
			continue;
		len = strlen(ways[i].prefix);
		if (strncmp(name, ways[i].prefix, len) != 0 || (ways[i].whole && name[len]))
			continue;
		*ret_way = ways[i].way;
		*ret_rest = name + len;
		return true;
	}
	return false;
}

/* "net_rx_action.isra.0" is "net_rx" */
static const char *action_name(const char *called, struct arena *arena)
{
	static const char *const ends[] = { "_action", "_softirq" };
	size_t len = called ? strcspn(called, ".") : 0;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strncmp(called + len - end, ends[i], end) == 0)
			len -= end;
	}
	return len ? arena_printf(arena, "softirq %.*s", (int)len, called) : "softirq";
}

/* What goes on now, whatever was interrupted; NULL: go on towards the root. */
static const char *interrupt_name(enum way way, const char *rest, const char *called,
				  struct arena *arena)
{
	static const char timer[] = "apic_timer_interrupt";

	if (way == WAY_SOFTIRQ)
		return action_name(called, arena);
	if (way == WAY_VECTOR)
		return strcmp(rest, timer) == 0 ? "interrupt timer"
						: arena_printf(arena, "interrupt %s", rest);
	return way == WAY_DEVICE ? "interrupt of a device" : NULL;
}

static const char *entry_of(enum way way, const char *rest, const char *before, struct arena *arena)
{
	switch (way) {
	case WAY_SYSCALL:
		return arena_printf(arena, "system call %s", rest);
	case WAY_SYSCALL_ENTRY:
		return before && strncmp(before, "system call", 11) == 0 ? before : "system call";
	case WAY_FAULT:
		return "page fault";
	case WAY_THREAD:
		return "kernel thread";
	default:
		return "idle";
	}
}

static const char *name_at(const struct profile *p, const struct profile_location *at)
{
	if (!at->nlines)
		return "";
	return profile_text(p, p->functions.items[p->lines.items[at->first_line + at->nlines - 1].function].name);
}

bool entry_is_kernel(const struct profile *p, uint32_t stack)
{
	const struct profile_location *at = stack ? &p->locations.items[p->stacks.items[stack].location] : NULL;

	return at && (at->kind == PROFILE_FRAME_KERNEL || profile_module(p, at->module)->kind == PROFILE_KERNEL);
}

const char *entry_name(const struct profile *p, const struct profile_sample *row, struct arena *arena)
{
	const char *entry = NULL, *called = NULL;
	bool in_kernel = false;

	for (uint32_t stack = row->stack; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];
		const char *name = name_at(p, at), *rest;
		enum way way;

		if (!entry_is_kernel(p, stack))
			break;
		in_kernel = true;
		if (find_way(name, &way, &rest)) {
			const char *interrupt = interrupt_name(way, rest, called, arena);

			if (interrupt)
				return interrupt;
			entry = entry_of(way, rest, entry, arena);
		}
		called = name;
	}
	if (entry)
		return entry;
	return in_kernel ? ENTRY_UNKNOWN : row->stack || row->user ? ENTRY_USER : "[no stack]";
}
