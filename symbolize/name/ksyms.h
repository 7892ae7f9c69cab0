/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksyms.h - names for kernel addresses, from the symbols that travel in the recording.
 */
#ifndef SYMBOLIZE_KSYMS_H
#define SYMBOLIZE_KSYMS_H

#include "formats/recording.h"

/* The symbol of the running kernel that covers @addr; NULL if none is known to. Thread-safe. */
const struct recording_ksym *ksyms_find(const struct recording *rec, uint64_t addr);

#endif
