/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_code.h - is a frame the user's own code, or the kernel, the C library, a runtime or a package that was installed?
 */
#ifndef REPORT_OWN_CODE_H
#define REPORT_OWN_CODE_H

#include "formats/profile/profile.h"

#include <stdbool.h>

/* Is @line (PROFILE_NONE: not named) of @location someone's own? */
bool own_code_is(const struct profile *p, uint32_t location, uint32_t line);

/* Is it a function of a script, as an interpreter tells them? */
bool own_code_is_script(const struct profile *p, uint32_t location);

#endif
