/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_targets.h - the addresses in a file's code that calls, "lea" and "mov" lead to, where a function may begin; x86-64.
 *
 * A target counts if it stands behind padding, a return or a jump, or, with a prologue, behind a call. That is a good guess, not a proof: data between
 * functions may look like a call, and a function that is only called through a pointer in data is not found.
 */
#ifndef ELF_CODE_TARGETS_H
#define ELF_CODE_TARGETS_H

#include "symbolize/elf/image.h"

#include <stdint.h>

/* Of a file's executable segments so many bytes are looked at, at the most. */
#define CODE_TARGETS_LEN_MAX (16u << 20)

struct code_targets;

/* Bytes of code that are looked at; 0 where nothing is found since the code is another machine's. */
uint64_t code_targets_cost(const struct image *img);

/* Those of @img, which looks at its code once and keeps them until it is closed. Never NULL. Thread-safe. */
const struct code_targets *code_targets_of(struct image *img);

/* All of them, ascending. */
const uint64_t *code_targets_list(const struct code_targets *targets, size_t *ret_count);

#endif
