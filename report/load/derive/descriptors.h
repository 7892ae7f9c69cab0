/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.h - what a descriptor of a process was at a moment, from the looks that the recorder took at it.
 *
 * Looks that follow each other and agree say what it was from the first to the last of them. A wait is known if it overlaps
 * such a run. Between two runs that differ nothing is known. Before the first look and behind the last one, a descriptor
 * is taken for what it was if at least two looks were taken and all agree. Not thread-safe.
 */
#ifndef REPORT_DESCRIPTORS_H
#define REPORT_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

struct descriptors;

struct descriptors *descriptors_new(void);
void descriptors_free(struct descriptors *d);

/* It was @name (a number of the caller's) at @time_ns, in order of time. */
void descriptors_look(struct descriptors *d, uint32_t pid, uint32_t number, uint64_t time_ns, uint32_t name);

/* Process @pid begins: what was known under its number is another's, and nothing is known about its own. */
void descriptors_forget(struct descriptors *d, uint32_t pid);

/* Is there a look at or behind @time_ns already, so that nothing is won by asking later? */
bool descriptors_settled(const struct descriptors *d, uint32_t pid, uint32_t number, uint64_t time_ns);

/* What it was while a thread waited for it from @from_ns to @to_ns; false if that is not known. */
bool descriptors_find(const struct descriptors *d, uint32_t pid, uint32_t number, uint64_t from_ns, uint64_t to_ns,
		      uint32_t *ret);

#endif
