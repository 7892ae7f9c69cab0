/* SPDX-License-Identifier: Apache-2.0 */
/*
 * description.c - gathers from the machine, the command line and the plan.
 */
#include "record/description.h"

#include "record/machine.h"

#include <stdio.h>
#include <unistd.h>

static const char *command_line(struct arena *arena)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char text[4096] = "";
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	if (!len)
		return "";
	for (size_t i = 0; i + 1 < len; i++) {
		if (!text[i])
			text[i] = ' ';
	}
	return arena_strdup(arena, text);
}

void description_begin(struct recording *rec, const struct record_args *args,
		       const struct target *target, const struct event_plan *plan)
{
	machine_describe(rec);
	rec->tool = "precord " VERSION;
	rec->cmdline = args->no_cmdline ? "" : command_line(&rec->arena);
	rec->chain = plan->stack_len                              ? RECORDING_CHAIN_DWARF
		     : args->chain.kind == RECORDING_CHAIN_DWARF ? RECORDING_CHAIN_FP
								    : args->chain.kind;
	rec->stack_len = plan->stack_len;
	rec->raw_stacks = args->raw_stacks;
	rec->system_wide = target->system_wide;
	rec->by_cpu = target->by_cpu;
	rec->recorder_pid = (uint32_t)getpid();
	rec->exit_status = -1;
	rec->events = event_plan_describe(plan, &rec->arena);
	rec->nevents = plan->nevents;
	rec->start_ns = rec->clock_ns;
}

static struct recording_note note_of(const struct diag_entry *entry, struct arena *arena)
{
	const char *text = entry->message;

	if (entry->facts)
		return *(const struct recording_note *)entry->facts;
	if (entry->hint)
		text = arena_printf(arena, "%s; %s", entry->message, entry->hint);
	return (struct recording_note){ .subject = "", .text = text };
}

void description_note(struct recording *rec, const struct event_plan *plan,
		      const struct diag *diag)
{
	size_t count = plan->nnotes;

	for (struct diag_entry *entry = diag->entries; entry; entry = entry->next)
		count++;
	rec->nnotes = 0;
	rec->notes = ARENA_ARRAY(&rec->arena, struct recording_note, count);
	for (size_t i = 0; i < plan->nnotes; i++)
		rec->notes[rec->nnotes++] = (struct recording_note){ .subject = "", .text = plan->notes[i] };
	for (struct diag_entry *entry = diag->entries; entry; entry = entry->next)
		rec->notes[rec->nnotes++] = note_of(entry, &rec->arena);
}
