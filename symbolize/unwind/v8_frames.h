/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_frames.h - frames of functions that V8's interpreter executes; x86-64.
 *
 *	rbp ─► | caller's rbp | return address |
 *	rbp-32   | the bytecode |       array and offset, which the recorder has added up (record/sample/bytecode_words.h)
 *
 * Its code lies in the file of the program, with symbols and without unwind tables: a trampoline that makes the frame and
 * calls, and a handler for each bytecode, which most often has no frame of its own.
 */
#ifndef RUNTIME_V8_FRAMES_H
#define RUNTIME_V8_FRAMES_H

#include <stdbool.h>

#define V8_FRAMES_BYTECODE (-32) /* from rbp */

/* May the frame pointer in the function of this name be that of an interpreted function? */
bool v8_frames_interprets(const char *name);

#endif
