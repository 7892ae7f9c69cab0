/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_list.h - sets of CPUs as the kernel and the user write them: "0-3,8".
 */
#ifndef RECORD_CPU_LIST_H
#define RECORD_CPU_LIST_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than Linux supports; a higher number is an error. */
#define CPU_LIST_MAX 65536

struct cpu_list {
	uint32_t *cpus; /* ascending, each once */
	size_t len;
};

/*
 * Parse @text; blanks and line feeds at its end are fine, and so is an empty list.
 * ERR_USAGE: not a list of CPUs.
 */
MUST_USE struct err *cpu_list_parse(const char *text, struct arena *arena, struct cpu_list *ret);

/* Parse the file at @path. ERR_SYSTEM: it cannot be read. */
MUST_USE struct err *cpu_list_read(const char *path, struct arena *arena, struct cpu_list *ret);

/* The CPUs online now; only CPU 0 if sysfs cannot be read. */
void cpu_list_online(struct arena *arena, struct cpu_list *ret);

bool cpu_list_has(const struct cpu_list *list, uint32_t cpu);

/* "0-3,8" */
const char *cpu_list_text(const struct cpu_list *list, struct arena *arena);

#endif
