/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_spec.h - reads what -e LIST asks for into a list of events (event_list.h).
 *
 *	LIST  = ITEM,ITEM...
 *	ITEM  = EVENT | {EVENT,EVENT...}[:MODIFIERS]
 *	EVENT = NAME[/TERM,TERM.../][:MODIFIERS]	cycles, page-faults, L1-dcache-load-misses, r01c2
 *	      | PMU/TERM,TERM.../[MODIFIERS]		cpu/event=0x3c,umask=0x1/u
 *	      | SYSTEM:NAME[/TERM.../][:MODIFIERS]	sched:sched_switch, syscalls:sys_enter_*
 *	      | uprobe:FILE:PLACE, usdt:FILE:NAME, kprobe:FUNCTION and so on: see probe_event.h
 *	      | mem:ADDRESS[/LENGTH][:rwx][:MODIFIERS]	mem:0x601040/8:w
 *	TERM  = EVENT-OF-THE-PMU | FIELD[=VALUE] | config=N | config1=N | config2=N | period=N | freq=N
 *	      | name=TEXT | call-graph=no|fp|dwarf | stack-size=N
 *	MODIFIERS = letters of u k h p P G H I S D W e
 *
 * Nothing here opens an event: see event_plan.h for what the machine makes of the list.
 */
#ifndef RECORD_EVENT_SPEC_H
#define RECORD_EVENT_SPEC_H

#include "formats/base/err.h"
#include "record/event/event_list.h"

#include <stdbool.h>

/*
 * Append the events that @text asks for; on failure the list is as before.
 *
 * ERR_USAGE: not well-formed or an event that does not exist; says at which character, and near names.
 * ERR_SYSTEM: a tracepoint was asked for and tracefs cannot be read.
 */
MUST_USE struct err *event_list_add(struct event_list *list, const char *text);

/* event_list_add() in the shape of opt.parse; @field is the struct event_list. */
MUST_USE struct err *event_list_parse(void *field, const char *text);

/*
 * --filter: keep only those hits of the tracepoints of the last event_list_add() for which @text is
 * true; several filters must all be true. Shape of opt.parse, as above.
 * ERR_USAGE: there is no tracepoint among them.
 */
MUST_USE struct err *event_list_parse_filter(void *field, const char *text);

/* perf's --call-graph lbr, and what to type instead. */
MUST_USE struct err *event_list_refuse_lbr(void);

/* Append "cycles", as precise as can be, if the list is empty. */
void event_list_default(struct event_list *list);

/* Append off-cpu, if it is not there yet, and with @wakers sched_waking. ERR_USAGE, ERR_SYSTEM: as event_list_add(). */
MUST_USE struct err *event_list_add_off_cpu(struct event_list *list, bool wakers);

/* Add the event idle, if it is not there, at @rate Hz. */
MUST_USE struct err *event_list_add_idle(struct event_list *list, uint64_t rate);

/* Append what tells of each system call, if it is not there yet: entry, exit, and stacks of some. ERR_SYSTEM: as event_list_add(). */
MUST_USE struct err *event_list_add_syscalls(struct event_list *list);

/* Append both ends of requests to block devices, or of waits for locks of the kernel, with the stacks of the first. ERR_SYSTEM: likewise. */
MUST_USE struct err *event_list_add_block_io(struct event_list *list);
MUST_USE struct err *event_list_add_kernel_locks(struct event_list *list);

#endif
