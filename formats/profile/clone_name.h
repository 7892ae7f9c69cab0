/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone_name.h - the endings by which compilers tell their copies of a function apart: step.isra.0, step.constprop.1,
 * step.cold, "step(int) [clone .part.2]".
 */
#ifndef FORMATS_CLONE_NAME_H
#define FORMATS_CLONE_NAME_H

#include <stddef.h>

/* The length of name[0 .. len) without one such ending, @len if it has none. */
size_t clone_name_cut(const char *name, size_t len);

/* The length of @name without any of them. */
size_t clone_name_base(const char *name);

#endif
