/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_names.h - functions of one name in one module are distinguished.
 *
 * Two files of a program may each have a static step(). They get the names "step (parse.c)" and "step (lex.c)"; where the
 * files are not known, "step (0x1f40)" by where they begin; two of one script "step (app.js:3)" and "step (app.js:9)". So every table and export keeps them apart without knowing it.
 */
#ifndef FORMATS_SAME_NAMES_H
#define FORMATS_SAME_NAMES_H

#include "formats/base/arena.h"
#include "formats/profile/profile.h"

/* Functions that have been distinguished keep their names; it may be called again when more have been named. */
void same_names_tell_apart(struct profile *p);

/* The name of function @number as it was before. */
const char *same_names_plain(const struct profile *p, uint32_t number);

/* The name of function @number, "step (app.js)" of "step (app.js:3)"; its name if it is not distinguished by its line. */
const char *same_names_without_line(const struct profile *p, uint32_t number, struct arena *arena);

#endif
