/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reshape.h - stacks with some of their frames taken out, and samples chosen by any frame of theirs: --focus, --ignore,
 * --hide, --show, --show-from and --merge-recursion, each by regular expressions of function names.
 *
 * It works on stacks before samples are added to the profile, so every view, page and export sees the same.
 */
#ifndef REPORT_RESHAPE_H
#define REPORT_RESHAPE_H

#include "formats/base/opt.h"
#include "formats/profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Embedded in struct filter; the options are reshape_opts. */
struct reshape_args {
	struct opt_list focus, ignore, hide, show, show_from;
	bool merge_recursion;
};

extern const struct opt reshape_opts[];

void reshape_args_deinit(struct reshape_args *args);

/* Was anything of it given? */
bool reshape_is_given(const struct reshape_args *args);

struct reshape;

/* @args must outlive it; their expressions are known to be sound. */
struct reshape *reshape_new(const struct reshape_args *args);
void reshape_free(struct reshape *r);

/* Was @stack asked for before? Otherwise all its locations must be named first. */
bool reshape_knows(const struct reshape *r, uint32_t stack);

/* The stack that stands for @stack in @p, which may be new; false: samples with it are left out. */
bool reshape_stack(struct reshape *r, struct profile *p, uint32_t stack, uint32_t *ret);

#endif
