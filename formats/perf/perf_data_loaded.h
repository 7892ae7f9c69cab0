/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_loaded.h - names of kernel code that was loaded at some time: BPF programs, trampolines.
 *
 * perf reads /proc/kallsyms elsewhere and later, if at all, so only the records of its loading name the code.
 */
#ifndef FORMATS_PERF_DATA_LOADED_H
#define FORMATS_PERF_DATA_LOADED_H

#include "formats/base/vec.h"
#include "formats/event.h"

/* A zeroed one is ready. */
struct perf_data_loaded {
	VEC(struct recording_ksym) symbols; /* what recording.loaded points to */
};

/*
 * @symbol appeared, or went, which is no change: add its name to @rec->loaded. Where something else was before, both are
 * named, for an address alone does not say of which time it is.
 */
void perf_data_loaded_add(struct perf_data_loaded *loaded, struct recording *rec, const struct event_ksymbol *symbol);

void perf_data_loaded_deinit(struct perf_data_loaded *loaded);

#endif
