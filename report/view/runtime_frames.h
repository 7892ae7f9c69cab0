/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_frames.h - stacks of compiled programs without what their runtime put between the functions: V8's builtins, HotSpot's stubs.
 *
 *	Builtins_LoadIC          node                        what it does counts for the function that runs it
 *	scale                    app.js:12       scale    app.js:12
 *	Builtins_ArrayMap        node            handler  app.js:40
 *	handler                  app.js:40       Invoke   node
 *	Builtins_JSEntry         node
 *	Invoke                   node
 *
 * Only of stacks that have a compiled function; a runtime's own functions in C++ stay, for they have names that say what they do. So do
 * frames that stand for a function whose name is not known.
 */
#ifndef REPORT_RUNTIME_FRAMES_H
#define REPORT_RUNTIME_FRAMES_H

#include "formats/profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime_frames;

struct runtime_frames *runtime_frames_new(void);
void runtime_frames_free(struct runtime_frames *r);

/* Has @stack code that a runtime made, and was not asked for before? Then all its locations must be named first. */
bool runtime_frames_wants(const struct runtime_frames *r, const struct profile *p, uint32_t stack);

/* The stack that stands for @stack in @p, which may be new. */
uint32_t runtime_frames_fold(struct runtime_frames *r, struct profile *p, uint32_t stack);

#endif
