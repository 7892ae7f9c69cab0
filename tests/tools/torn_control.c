/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torn_control.c - what reading an interpreter's stack costs that does not wait for the process: the control group of precord's readers.
 *
 *	torn_control PID CPU READS TORN   read the stack of PID from CPU, while it runs on another, until TORN stacks were torn, READS at most
 *
 * The program calls functions left_1 to left_N, one another, and then right_1 to right_N: a stack that has both never was.
 * Printed: "reads N torn N failed N".
 */
#include "formats/base/memory.h"
#include "record/managed/managed_table.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 600 /* of 50 ms, until the interpreter is known */

/* Tell of the code that the process has mapped, as precord does when it begins. */
static bool tell_mappings(struct managed_table *table, uint32_t pid)
{
	char path[64], line[4096];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	FILE *maps = fopen(path, "re");

	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps)) {
		const char *name = strchr(line, '/');
		struct event ev = { .kind = EVENT_MMAP, .pid = pid, .tid = pid };

		if (!name || !strstr(line, " r-xp "))
			continue;
		line[strcspn(line, "\n")] = 0;
		ev.mmap.path = name;
		ev.mmap.flags = EVENT_MMAP_EXEC;
		managed_table_event(table, &ev);
	}
	fclose(maps);
	return true;
}

static struct managed_process *find_process(struct managed_table *table, uint32_t pid)
{
	for (int i = 0; i < TRIES; i++) {
		if (managed_table_look(table, pid) == MANAGED_KNOWN)
			return managed_table_hold(table, pid);
		usleep(50000);
	}
	return NULL;
}

static bool is_torn(const struct managed_stack *stack)
{
	bool left = false, right = false;

	for (size_t i = 0; i < stack->nframes; i++) {
		left |= strncmp(stack->frames[i].name, "left_", 5) == 0;
		right |= strncmp(stack->frames[i].name, "right_", 6) == 0;
	}
	return left && right;
}

static void read_stacks(struct managed_process *p, uint32_t pid, unsigned long reads, unsigned long enough)
{
	struct managed_view *view = memory_zeroed(1, sizeof(*view));
	struct managed_stack *stack = memory_zeroed(1, sizeof(*stack));
	unsigned long n = 0, torn = 0, failed = 0;

	for (; n < reads && torn < enough; n++) {
		managed_process_read(p, pid, /* regs= */ NULL, view, stack);
		torn += stack->state == EVENT_MANAGED_WHOLE && is_torn(stack);
		failed += stack->state != EVENT_MANAGED_WHOLE;
	}
	printf("reads %lu torn %lu failed %lu\n", n, torn, failed);
	free(view);
	free(stack);
}

int main(int argc, char **argv)
{
	cpu_set_t cpu;

	if (argc != 5)
		return 2;
	CPU_ZERO(&cpu);
	CPU_SET(strtoul(argv[2], NULL, 10), &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) != 0)
		return 2;
	uint32_t pid = (uint32_t)strtoul(argv[1], NULL, 10);
	struct managed_table *table = managed_table_new(-1, NULL);
	struct managed_process *p = tell_mappings(table, pid) ? find_process(table, pid) : NULL;

	if (p) {
		read_stacks(p, pid, strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
		managed_process_release(table, p);
	}
	managed_table_free(table);
	return !p;
}
